import QuireModel
import QuireStorage

/// The schema of a damaged store, as far as it can be read, and its model.
struct SalvagedSchema {
  let schema: StoreSchema
  let model: ManagedObjectModel
  let binding: ModelBinding
  let entities: StoreEntities
  /// What is lost of it.
  private(set) var notes: [String] = []

  /// - Parameters:
  ///   - salvage: the trees; a fragment that is the schema is given its name.
  ///   - path: of the store, for errors.
  ///   - given: the model to use if that of the store is lost.
  init(from salvage: inout TreeSalvage, path: String, model given: ManagedObjectModel?) throws {
    if salvage.tree(named: StoreSchema.tree) == nil,
      let fragment = salvage.fragments.first(where: {
        SalvagedSchema.isSchema($0, salvage)
      })
    {
      salvage.take(fragment, asTree: StoreSchema.tree)
    }
    // The engine's own reading of trees is used, on a copy in memory of what was found.
    let copy = try PageStore.open("schema", options: PageStoreOptions(), in: MemoryFileSystem())
    defer { try? copy.close() }
    let found = salvage
    if let tree = found.tree(named: StoreSchema.tree) {
      try copy.write { transaction in _ = try transaction.build(tree, of: found) { _ in } }
    } else {
      try copy.write { transaction in _ = try transaction.createIndexTree(StoreSchema.tree) }
    }
    let snapshot = try copy.snapshot()
    guard let tree = try snapshot.indexTree(StoreSchema.tree) else {
      throw StoreSchema.damaged("is missing")
    }
    if try tree.contains(Array("format".utf8)) { _ = try StoreSchema.checkedFormat(in: tree) }
    if let stored = try? StoreSchema.model(in: snapshot) {
      model = stored
    } else if let given {
      model = given
      notes.append("the model in the store is lost; the one given was used")
    } else {
      throw PersistenceError(
        .persistentStoreIncompatibleSchema,
        "the model in the store at \(path) is lost, so that its objects cannot be read without one: "
          + "give the model that the store was last opened with")
    }
    var lost: [String] = []
    var schema = try StoreSchema(salvagedFrom: tree, model: model, lost: &lost)
    binding = ModelBinding(model)
    do {
      entities = try StoreEntities(binding, schema: schema, identity: salvage.identity)
    } catch {
      // What no checksum verifies may be readable and wrong.
      lost.append(try schema.numberEntitiesAnew(for: model))
      entities = try StoreEntities(binding, schema: schema, identity: salvage.identity)
    }
    self.schema = schema
    notes += lost.map { "the \($0) of the store cannot be read" }
  }

  private static func isSchema(_ fragment: TreeFragment, _ salvage: TreeSalvage) -> Bool {
    guard fragment.kind == .index else { return false }
    let known = ["format", "model", "hashes", "entities"].map { Array($0.utf8) }
    var count = 0
    salvage.visit(fragment) { key, _ in
      if case .bytes(let bytes) = key, known.contains(bytes) { count += 1 }
    }
    return count >= 2
  }
}
