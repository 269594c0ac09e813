import Foundation
import QuireModel

/// A store that Core Data wrote, read without Core Data and without SQLite.
///
/// Core Data keeps objects in tables of its own making: one for each entity without a parent, which
/// holds the objects of its subentities too; a column for each attribute and each to-one
/// relationship; a table for each pair of to-many relationships. `docs/import.md` describes them.
/// The tables do not record their model in a published format, so the version is found by comparing
/// structures:
///
/// ```swift
/// let store = try CoreDataStore(contentsOf: url)
/// let contents = try store.contents(in: VersionedModel(contentsOf: modelURL))
/// var objects = contents.objects
/// while let object = try objects.next() { … }
/// print(objects.report)
/// ```
///
/// It guarantees that
/// - the store, its log and its folder of external data are never written to, and never locked
///   against other programs;
/// - a store that fits no version is refused, with the nearest one and its differences, without
///   guessing;
/// - both sides of a relationship agree in the result, whatever the file contains: a reference to a
///   missing row is left out on both sides, and reported;
/// - a value that cannot be read as its attribute's type is left out and reported, never changed
///   silently.
public final class CoreDataStore {
  /// The file.
  public let url: URL
  /// What the store says about itself.
  public let metadata: CoreDataMetadata
  let database: SQLiteDatabase
  let entityTable: CoreDataEntityTable

  /// Opens a store and reads what it says about itself.
  public init(contentsOf url: URL) throws(CoreDataStoreError) {
    self.url = url
    do {
      database = try SQLiteDatabase(contentsOf: url)
    } catch {
      throw CoreDataStoreError(error)
    }
    metadata = try CoreDataMetadata(of: database)
    entityTable = try CoreDataEntityTable(of: database)
  }

  /// The names of the entities whose objects the store holds, without Core Data's own for its
  /// history.
  ///
  /// An entity that Core Data has renamed in place is listed by its former name.
  public var entityNames: [String] { entityTable.numbers.keys.sorted() }

  /// A remark on how the store's write-ahead log was used, for a report; `nil` when there is none.
  public var logRemark: String? { database.logRemark }
}

/// The rows of a table of a store.
struct CoreDataRows {
  private var rows: SQLiteRows

  fileprivate init(_ rows: SQLiteRows) { self.rows = rows }

  mutating func next() throws(CoreDataStoreError) -> SQLiteRow? {
    do { return try rows.next() } catch { throw CoreDataStoreError(error) }
  }
}

extension CoreDataStore {
  /// The entities of the store, by the names that a version of a model gives them.
  func entities(
    of model: ManagedObjectModel, in history: [ManagedObjectModel]
  ) -> CoreDataEntityTable {
    entityTable.renamed(
      as: model, hashedNames: Set(metadata.versionHashes.keys), history: history)
  }

  func rows(of table: SQLiteTable) throws(CoreDataStoreError) -> CoreDataRows {
    do { return CoreDataRows(try database.rows(of: table)) } catch {
      throw CoreDataStoreError(error)
    }
  }

  /// Throws if another program has written to the store since it was opened.
  func checkUnchanged() throws(CoreDataStoreError) {
    do { try database.checkUnchanged() } catch { throw CoreDataStoreError(error) }
  }
}
