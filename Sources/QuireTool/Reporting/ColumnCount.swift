// How wide a text is on a terminal.

extension Unicode.Scalar {
  /// The signs that East Asian fonts make twice as wide (UAX #11), in blocks.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x17000...0x18CFF,
    0x1B000...0x1B2FF, 0x20000...0x3FFFD,
  ]

  fileprivate var isWide: Bool {
    properties.isEmojiPresentation || Self.wideRanges.contains { $0.contains(value) }
  }

  fileprivate var isWithoutWidth: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: true
    default: false
    }
  }
}

extension Character {
  /// The columns that the character takes: 0, 1 or 2.
  var columnCount: Int {
    guard let first = unicodeScalars.first else { return 0 }
    // U+FE0F asks for the picture of a sign that is a letter as well.
    if first.isWide || unicodeScalars.contains("\u{FE0F}") { return 2 }
    return first.isWithoutWidth ? 0 : 1
  }
}

extension String {
  /// The columns that the text takes on one line.
  var columnCount: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.columnCount }
  }

  /// The text, or its beginning with “…” after it where it is wider than that.
  func cut(to width: Int) -> String {
    if columnCount <= width { return self }
    if width < 1 { return "" }
    var result = ""
    var rest = width - 1
    for character in self {
      rest -= character.columnCount
      if rest < 0 { break }
      result.append(character)
    }
    return result + "…"
  }
}
