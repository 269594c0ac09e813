import QuireModel

/// Why a model of Xcode could not be loaded.
///
/// Content that Xcode writes and this loader does not know is no error: it becomes a
/// ``XcodeModelNote``.
public struct XcodeModelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with the file or folder.
  public enum Reason: Hashable, Sendable {
    /// The operating system refused to read the file; its message follows.
    case unreadable(String)
    /// The file is no model; a description of it follows.
    case notAModel(String)
    /// The keyed archive that Xcode wrote before version 4.3.
    case binaryForm
    /// Text that is not XML.
    case malformed(line: Int, column: Int, String)
    /// An element without something it cannot be without.
    case incomplete(line: Int, String)
    /// The entities do not make a model.
    case inconsistent(ModelError)
    /// `.xccurrentversion` names a version that is not there.
    case noSuchVersion(String, versions: [String])
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
    case .notAModel(let words): "\(file) is not a model: \(words)"
    case .binaryForm:
      """
      \(file) is a model in the binary form that Xcode wrote before version 4.3. Open it in a newer \
      Xcode and set its tools version to 4.3 or later in the file inspector; it is then saved as XML
      """
    case .malformed(let line, let column, let words): "\(file):\(line):\(column): \(words)"
    case .incomplete(let line, let words): "\(file):\(line): \(words)"
    case .inconsistent(let error): "\(file): \(error)"
    case .noSuchVersion(let name, let versions):
      """
      \(file) says that its current version is “\(name)”, but has only \
      \(versions.map { "“\($0)”" }.joined(separator: ", "))
      """
    }
  }
}

/// Something in a model that was not understood, or not taken as it is written.
public struct XcodeModelNote: Hashable, Sendable, CustomStringConvertible {
  /// The line of the model's `contents`.
  public var line: Int
  /// What the loader did not know, and what it made of it.
  public var text: String

  /// - Parameter line: of the model's `contents`, counted from 1.
  public init(line: Int, _ text: String) {
    self.line = line
    self.text = text
  }

  public var description: String { "line \(line): \(text)" }
}
