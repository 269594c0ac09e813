import Foundation

/// The description of a Core Data store in its own table `Z_METADATA`.
public struct CoreDataMetadata: Hashable, Sendable {
  /// The identity of the store, which its object IDs contain and which migrations keep.
  public let uuid: String
  /// Apple's hash of each entity, 32 bytes. Opaque: how they are made is not published; two stores
  /// whose hashes of an entity are equal had it from equal definitions.
  public let versionHashes: [String: Data]
  /// Hints that the model's author gave to versions; not reliable.
  public let versionIdentifiers: [String]
  /// Core Data's name of the type, such as `SQLite`; `nil` when the store does not say.
  public let storeType: String?
  /// The number of the Core Data framework that wrote the store last; `nil` when the store does not
  /// say.
  public let frameworkVersion: Int?
  /// All keys of the property list, an application's own among them.
  public let keys: [String]

  init(of database: SQLiteDatabase) throws(CoreDataStoreError) {
    func fail(_ words: String) -> CoreDataStoreError {
      CoreDataStoreError(file: database.path, reason: .notACoreDataStore(words))
    }
    guard let table = database.table(named: "Z_METADATA") else {
      throw fail("it has no table Z_METADATA")
    }
    guard let uuidColumn = table.column(named: "Z_UUID"),
      let plistColumn = table.column(named: "Z_PLIST")
    else { throw fail("its Z_METADATA has no columns Z_UUID and Z_PLIST") }
    let row: SQLiteRow?
    do {
      var rows = try database.rows(of: table)
      row = try rows.next()
    } catch {
      throw CoreDataStoreError(error)
    }
    guard let row, case .text(let uuid) = row[uuidColumn] else {
      throw fail("its Z_METADATA names no UUID")
    }
    self.uuid = uuid
    var list: [String: PropertyList] = [:]
    if case .blob(let data) = row[plistColumn] {
      guard case .dictionary(let entries)? = try? PropertyList(data) else {
        throw fail("the metadata in its Z_METADATA is not a property list")
      }
      list = entries
    }
    versionHashes = list["NSStoreModelVersionHashes"]?.dataByName ?? [:]
    versionIdentifiers = list["NSStoreModelVersionIdentifiers"]?.texts ?? []
    storeType = list["NSStoreType"]?.text
    frameworkVersion = list["NSPersistenceFrameworkVersion"]?.number
    keys = list.keys.sorted()
  }
}
