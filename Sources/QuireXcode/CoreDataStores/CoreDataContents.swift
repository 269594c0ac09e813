import Foundation
import QuireModel

/// The objects of a store, read as objects of one version of a model.
///
/// Made by one pass over the tables, which reads only keys and references and determines which
/// references are valid. ``objects`` is the second pass, which reads values, one object at a time:
/// memory grows with the number of objects and links, some 30 bytes each, not with their content.
public final class CoreDataContents {
  /// The model as the version has it that the store is read by.
  public let model: ManagedObjectModel
  /// The name of that version.
  public let versionName: String
  /// Objects by the name of their entity, subentities counted for themselves.
  public let objectCounts: [String: Int]
  /// For each entity without a parent, the highest key ever given to an object of it or its
  /// subentities: what Core Data wrote down or what is in the table, whichever is higher.
  public let maximumPrimaryKeys: [String: Int64]

  let store: CoreDataStore
  /// The store's entities, by the model's names.
  let entities: CoreDataEntityTable
  let layout: CoreDataLayout
  let links: CoreDataLinkTable
  let keys: [String: CoreDataKeys]
  let initialReport: ImportReport

  init(
    of store: CoreDataStore, as version: VersionedModel.Version, in history: VersionedModel,
    notes: [String]
  ) throws(CoreDataStoreError) {
    let entities = store.entities(of: version.model, in: history.versions.map(\.model))
    let tables = store.database.tables
    let layout = CoreDataLayout(of: version.model, entities, tables: tables)
    let plans = CoreDataLinkPlanner(
      model: version.model, numbers: entities.numbers, tables: tables
    ).plans()
    var scan = CoreDataKeyScan(store: store, entities: entities, layout: layout, plans: plans)
    try scan.run()
    var report = ImportReport(
      source: store.url.path, storeUUID: store.metadata.uuid, version: version.name)
    report.notes = notes + scan.notes
    for (name, formerName) in entities.formerNames.sorted(by: { $0.key < $1.key }) {
      report.notes.append(
        "\(name) was renamed in place, and the store's list of entities still calls it \(formerName)"
      )
    }
    if let remark = store.logRemark { report.notes.append(remark) }
    let settlement = CoreDataSettlement(model: version.model, keys: scan.keys, plans: plans)
    links = settlement.settle(scan.claims, &report)
    keys = scan.keys
    objectCounts = scan.objectCounts
    report.linkCounts = links.counts
    var maximumKeys: [String: Int64] = [:]
    for table in layout.tables {
      let noted = entities.maximumKeys[table.root.name] ?? 0
      maximumKeys[table.root.name] = max(0, noted, scan.keys[table.root.name]?.keys.last ?? 0)
    }
    maximumPrimaryKeys = maximumKeys
    model = version.model
    versionName = version.name
    initialReport = report
    self.store = store
    self.entities = entities
    self.layout = layout
  }

  /// The number of all objects.
  public var objectCount: Int { objectCounts.values.reduce(0, +) }

  /// The objects: by the name of their root entity, and in a hierarchy by key.
  public var objects: CoreDataObjects { CoreDataObjects(of: self) }

  /// All objects at once, for stores that fit into memory.
  public func readAll() throws(CoreDataStoreError) -> ([CoreDataObject], ImportReport) {
    var objects = objects
    var result: [CoreDataObject] = []
    while let object = try objects.next() { result.append(object) }
    return (result, objects.report)
  }
}

extension CoreDataStore {
  /// The objects of the store, read as objects of the version of `model` that has the store's
  /// structure.
  ///
  /// - Parameter name: the version to use, if it is known; it is checked too.
  /// - Throws: ``CoreDataStoreError``; if no version fits, with the nearest one and its
  ///   differences.
  public func contents(
    in model: VersionedModel, version name: String? = nil
  ) throws(CoreDataStoreError) -> CoreDataContents {
    if let name {
      let version = try version(named: name, in: model)
      return try CoreDataContents(of: self, as: version, in: model, notes: [])
    }
    let versions = try ranking(in: model)
    var notes: [String] = []
    if versions.count > 1 {
      let others = versions.dropFirst().map { "“\($0.name)”" }.joined(separator: ", ")
      notes.append(
        "taken for “\(versions[0].name)”; of the same structure: \(others). Name the version to choose"
      )
    }
    return try CoreDataContents(of: self, as: versions[0], in: model, notes: notes)
  }

  /// The objects of the store, read through a model that has to have its structure.
  public func contents(
    of model: ManagedObjectModel
  ) throws(CoreDataStoreError) -> CoreDataContents {
    try contents(in: VersionedModel(model))
  }
}
