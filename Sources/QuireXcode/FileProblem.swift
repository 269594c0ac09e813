import Foundation

/// Why a file cannot be used, in words for people.
///
/// `FileManager` says of a file in a folder that may not be looked into that it does not exist, and
/// Foundation's descriptions of errors are two sentences that name nothing.
package enum FileProblem {
  /// What to do about a file that may not be read or written.
  package static let permissionAdvice =
    "ls -ld shows whose a file or a folder is, and who may read and write it"

  /// Why there is nothing at a path that is said not to exist; `nil` where there is something.
  ///
  /// - Parameter noun: what is missing, if nothing is there.
  package static func absence(of path: String, _ noun: String = "file") -> String? {
    if access(path, F_OK) == 0 { return nil }
    return isPermission(errno) ? denial : "there is no such \(noun)"
  }

  /// Whether the path leads through a folder that may not be looked into.
  package static func isDenied(_ path: String) -> Bool {
    access(path, F_OK) != 0 && isPermission(errno)
  }

  /// Whether the number of an error says that something is not permitted.
  package static func isPermission(_ code: Int32) -> Bool { code == EACCES || code == EPERM }

  /// The cause of an error of Foundation.
  package static func words(for error: any Error) -> String {
    guard let error = error as? CocoaError else { return error.localizedDescription }
    switch error.code {
    case .fileReadNoPermission, .fileWriteNoPermission: return denial
    case .fileNoSuchFile, .fileReadNoSuchFile: return "there is no such file or folder"
    default: return error.localizedDescription
    }
  }

  private static var denial: String { "permission denied: \(permissionAdvice)" }
}
