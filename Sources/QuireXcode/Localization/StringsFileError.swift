/// Why a file of translations could not be loaded.
public struct StringsFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with the file.
  public enum Reason: Hashable, Sendable {
    /// The operating system refused to read the file; its message follows.
    case unreadable(String)
    /// Bytes that are no text in the encoding that the file begins with, or in UTF-8.
    case notText(String)
    /// Text that is not a list of translations.
    case malformed(line: Int, column: Int, String)
    /// A property list of something else.
    case notStrings(String)
  }

  /// The path of the file.
  public var file: String
  /// What is wrong with the file.
  public var reason: Reason

  /// - Parameter file: the path of the file.
  public init(file: String, reason: Reason) {
    self.file = file
    self.reason = reason
  }

  public var description: String {
    switch reason {
    case .unreadable(let words): "\(file) cannot be read: \(words)"
    case .notText(let words): "\(file) is not text: \(words)"
    case .malformed(let line, let column, let words): "\(file):\(line):\(column): \(words)"
    case .notStrings(let words): "\(file) is not a list of translations: it \(words)"
    }
  }
}
