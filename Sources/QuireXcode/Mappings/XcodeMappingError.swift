/// Why a mapping model of Xcode could not be loaded.
///
/// Content that Xcode writes and this loader does not know is no error: it becomes a
/// ``XcodeModelNote``.
public struct XcodeMappingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with the file or folder.
  public enum Reason: Hashable, Sendable {
    /// The operating system refused to read the file; its message follows.
    case unreadable(String)
    /// The file is no mapping model; a description of it follows.
    case notAMapping(String)
    /// Text that is not XML.
    case malformed(line: Int, column: Int, String)
    /// An object of the document without something it cannot be without, or with what cannot be
    /// read. Lines are 0 in compiled mapping models.
    case incomplete(line: Int, String)
    /// It maps entities or properties that the models do not have; which, follows.
    case otherModels(String)
  }

  /// The path of the file or folder.
  public var file: String
  /// What is wrong with it.
  public var reason: Reason

  /// - Parameter file: the path of the file or folder.
  public init(file: String, reason: Reason) {
    self.file = file
    self.reason = reason
  }

  public var description: String {
    switch reason {
    case .unreadable(let words): "\(file) cannot be read: \(words)"
    case .notAMapping(let words): "\(file) is not a mapping model: \(words)"
    case .malformed(let line, let column, let words): "\(file):\(line):\(column): \(words)"
    case .incomplete(0, let words): "\(file): \(words)"
    case .incomplete(let line, let words): "\(file):\(line): \(words)"
    case .otherModels(let words): "\(file) is a mapping between other models: \(words)"
    }
  }
}
