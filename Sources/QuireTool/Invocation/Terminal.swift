import Foundation

/// A terminal that text is shown on, with what it can do.
package struct Terminal: Sendable {
  /// The columns of a line; `nil` when that is not known.
  package var columnCount: Int?
  /// Whether colours are wanted.
  package var hasColor = false
  /// Whether a line can be wiped and written again.
  package var canRewriteLine = false

  package init(columnCount: Int? = nil, hasColor: Bool = false, canRewriteLine: Bool = false) {
    self.columnCount = columnCount
    self.hasColor = hasColor
    self.canRewriteLine = canRewriteLine
  }
}

extension Terminal {
  /// The terminal behind a file descriptor; `nil` when there is something else.
  ///
  /// `COLUMNS` says the width where it is set. There is no colour when `NO_COLOR` is set and not
  /// empty (no-color.org), nor on a terminal of the type `dumb`.
  init?(descriptor: Int32, environment: [String: String]) {
    guard isatty(descriptor) != 0 else { return nil }
    let isDumb = environment["TERM"] == "dumb"
    let named = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    columnCount = named ?? Self.columnCount(of: descriptor)
    hasColor = !isDumb && environment["NO_COLOR", default: ""].isEmpty
    canRewriteLine = !isDumb
  }

  private static func columnCount(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, numericCast(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return nil
    }
    return Int(size.ws_col)
  }
}

/// The look of a part of the text on a terminal.
enum TextStyle: String {
  // The parameters of the sequence "select graphic rendition" of ECMA-48.
  case error = "1;31"
  case note = "33"
  case heading = "1"
}

extension String {
  /// The text with a style, where the terminal has colours.
  func styled(_ style: TextStyle, on terminal: Terminal?) -> String {
    guard let terminal, terminal.hasColor, !isEmpty else { return self }
    return "\u{1B}[\(style.rawValue)m\(self)\u{1B}[0m"
  }
}
