import Foundation
import Quire

/// Why a SQLite file could not be read.
///
/// The file itself is never at risk: it is opened for reading, and no lock is taken on it.
public struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with the file.
  public enum Reason: Hashable, Sendable {
    /// The operating system refused to read the file; its message follows.
    case unreadable(String)
    /// The file is no SQLite file; a description of it follows.
    case notADatabase(String)
    /// A SQLite file with a feature this reader does not have.
    case unsupported(String)
    /// A rollback journal lies beside the file: the file may hold half a transaction.
    case hotJournal(journal: String)
    /// The file ends before the last page that its header counts.
    case truncated(expectedPages: UInt32, foundPages: UInt32)
    /// A page contains something impossible.
    case damaged(page: UInt32, String)
    /// The database has no table of the name.
    case noTable(String)
    /// A table of a kind that this reader does not read.
    case unsupportedTable(String, String)
    /// Another process wrote to the file while it was read.
    case changedWhileReading
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
    let what =
      switch reason {
      case .unreadable(let words): "cannot be read: \(words)"
      case .notADatabase(let words): "is not a SQLite file: \(words)"
      case .unsupported(let words): "cannot be read by this version of Quire: \(words)"
      case .hotJournal(let journal):
        """
        has a rollback journal, \(journal): it may hold half a transaction. Open it once with the \
        application that wrote it, or with sqlite3, so that the transaction is rolled back
        """
      case .truncated(let expected, let found):
        "is cut off: it should have \(expected) pages and has \(found)"
      case .damaged(let page, let words): "is damaged at page \(page): \(words)"
      case .noTable(let name): "has no table \(name)"
      case .unsupportedTable(let name, let words): "has a table \(name) that \(words)"
      case .changedWhileReading:
        """
        was written to while it was read: an application uses it. Close the application, or make a \
        copy of one moment with sqlite3, which may be done meanwhile: .backup COPY. Then import again
        """
      }
    return "\(file) \(what)"
  }
}

extension SQLiteError: LocalizedError, CustomNSError {
  public var errorDescription: String? { description }

  /// That of Core Data, whose code for errors of SQLite this has (134180).
  public static var errorDomain: String { PersistenceError.domain }
  /// Core Data's code for errors of SQLite, 134180.
  public var errorCode: Int { PersistenceError.Code.sqlite.rawValue }
  /// The description, and the path of the file.
  public var errorUserInfo: [String: Any] {
    [NSLocalizedDescriptionKey: description, NSFilePathErrorKey: file]
  }
}
