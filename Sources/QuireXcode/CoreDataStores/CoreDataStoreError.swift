import Foundation
import Quire

/// Why a store of Core Data could not be read.
public struct CoreDataStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with the store.
  public enum Reason: Hashable, Sendable {
    /// The SQLite file itself cannot be read.
    case file(SQLiteError)
    /// A SQLite file, but not one that Core Data wrote; what is missing follows.
    case notACoreDataStore(String)
    /// No version of the model has the structure of the store.
    case noVersionFits(nearest: String, StructuralDistance)
    /// The requested version does not have the structure of the store.
    case versionDoesNotFit(String, StructuralDistance)
    /// The model has no version of this name.
    case noSuchVersion(String, versions: [String])
    /// A row of a hierarchy has the number of an entity that it cannot be of.
    case wrongEntity(table: String, row: Int64, number: Int64?, String)
  }

  /// The path of the store.
  public var file: String
  /// What is wrong with the store.
  public var reason: Reason
  /// Another possible cause, as the end of the sentence; mostly empty.
  public var remark = ""

  /// - Parameter file: the path of the store.
  public init(file: String, reason: Reason) {
    self.file = file
    self.reason = reason
  }

  init(_ error: SQLiteError) { self.init(file: error.file, reason: .file(error)) }

  public var description: String {
    switch reason {
    case .file(let error): "\(error)"
    case .notACoreDataStore(let words): "\(file) is not a store of Core Data: \(words)"
    case .noVersionFits(let nearest, let distance):
      """
      no version of the model fits \(file). The nearest is “\(nearest)”, and there \(distance). \
      Add the version of the model that wrote the store\(remark)
      """
    case .versionDoesNotFit(let name, let distance):
      "the version “\(name)” does not fit \(file): \(distance)"
    case .noSuchVersion(let name, let versions):
      """
      the model has no version “\(name)”; it has \
      \(versions.map { "“\($0)”" }.joined(separator: ", "))
      """
    case .wrongEntity(let table, let row, let number, let words):
      """
      \(file): row \(row) of \(table) is of entity number \(number.map { "\($0)" } ?? "NULL"), \
      \(words)
      """
    }
  }
}

extension CoreDataStoreError: LocalizedError, CustomNSError {
  public var errorDescription: String? { description }

  /// That of Core Data, with its code for records that cannot be imported (134200).
  public static var errorDomain: String { PersistenceError.domain }
  /// Core Data's code for records that cannot be imported, 134200.
  public var errorCode: Int { PersistenceError.Code.externalRecordImport.rawValue }
  /// The description, the path of the store, and the error of SQLite where there is one.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [
      NSLocalizedDescriptionKey: description, NSFilePathErrorKey: file,
    ]
    if case .file(let error) = reason { info[NSUnderlyingErrorKey] = error as NSError }
    return info
  }
}
