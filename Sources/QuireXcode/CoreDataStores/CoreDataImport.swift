import Foundation
import Quire
import QuireModel

/// Makes a Quire store of a Core Data store.
///
/// Primary keys, versions and the UUID are kept, so that object URIs stay valid. The source is only
/// read.
///
/// ```swift
/// let model = try VersionedModel(contentsOf: modelURL)
/// let report = try CoreDataImport(of: sqliteURL, in: model).write(to: storeURL)
/// ```
public struct CoreDataImport {
  /// The input of the import, with the version of the model that fits and the number of objects.
  public let contents: CoreDataContents
  private let versionName: String?

  /// Opens the source and finds the version of the model that it was written with.
  ///
  /// - Parameter name: the version, where it is known; its structure is compared all the same.
  /// - Throws: ``CoreDataStoreError`` when the source cannot be read, or no version fits it: then
  ///   with the nearest version and its differences.
  public init(
    of source: URL, in model: VersionedModel, version name: String? = nil
  ) throws(CoreDataStoreError) {
    contents = try CoreDataStore(contentsOf: source).contents(in: model, version: name)
    versionName = model.hasNamedVersions ? contents.versionName : nil
  }

  /// Writes all objects to a new store, in one transaction.
  ///
  /// - Returns: what was imported, and what was left out.
  /// - Throws: ``CoreDataStoreError`` when the source cannot be read to its end, `PersistenceError`
  ///   when the store cannot be made, also when there is a file already. There is no file then that
  ///   was not there before.
  public func write(to url: URL) throws -> ImportReport { try write(to: url) { _, _ in } }

  /// Writes all objects, and tells how far it is.
  ///
  /// - Parameter progress: called with the number of objects that are written, and of all, from
  ///   time to time. What it throws ends the import, with no file left, and is thrown on.
  package func write(
    to url: URL, progress: (_ done: Int, _ total: Int) throws -> Void
  ) throws -> ImportReport {
    var objects = contents.objects
    guard let uuid = UUID(uuidString: objects.report.storeUUID) else {
      throw CoreDataStoreError(
        file: objects.report.source,
        reason: .notACoreDataStore("its UUID is “\(objects.report.storeUUID)”"))
    }
    let builder = try StoreBuilder(
      creating: url, model: contents.model, versionName: versionName, uuid: uuid)
    let total = contents.objectCount
    var done = 0
    while let object = try objects.next() {
      if done % 100 == 0 { try progress(done, total) }
      done += 1
      let key = StoreBuilder.ObjectKey(object.entity.name, object.primaryKey)
      try builder.insert(
        key, version: UInt32(clamping: object.version), attributes: object.attributes,
        toOne: object.toOne.mapValues { StoreBuilder.ObjectKey($0.entity, $0.key) })
      for (relationship, members) in object.toMany.sorted(by: { $0.key < $1.key }) {
        try builder.link(
          key, relationship, to: members.map { StoreBuilder.ObjectKey($0.entity, $0.key) })
      }
    }
    for (root, key) in contents.maximumPrimaryKeys.sorted(by: { $0.key < $1.key }) {
      for entity in contents.model.entities where entity.root.name == root && !entity.isAbstract {
        try builder.reserveKeys(upTo: key, forEntityNamed: entity.name)
      }
    }
    try progress(done, total)
    try builder.finish()
    return objects.report
  }
}
