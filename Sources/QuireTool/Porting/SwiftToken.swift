/// A piece of Swift source. The tokens of a file, one after the other, are all of its bytes.
package struct SwiftToken: Equatable, Sendable {
  package enum Kind: Sendable {
    /// Spaces, tabs, and a byte order mark at the beginning of a file.
    case whitespace
    /// LF, CRLF or CR.
    case newline
    /// From `//` to the end of the line, without the newline.
    case lineComment
    /// With all comments inside.
    case blockComment
    /// A name, also between grave accents, or a keyword.
    case identifier
    /// A number sign and a name: `#if`, `#keyPath`.
    case directive
    case number
    /// A part of a literal of text up to an interpolation, or of a regular expression.
    case text
    /// One byte: a bracket, a comma, a part of an operator.
    case punctuation
  }

  package var kind: Kind
  /// In bytes.
  package var range: Range<Int>

  /// Whether the token has no meaning to the compiler.
  var isTrivia: Bool {
    switch kind {
    case .whitespace, .newline, .lineComment, .blockComment: true
    case .identifier, .directive, .number, .text, .punctuation: false
    }
  }
}

/// Why a source cannot be taken apart.
package struct SourceFailure: Error, Equatable, CustomStringConvertible {
  /// From 1.
  package var line: Int
  package var reason: String

  package var description: String { "line \(line): \(reason)" }
}
