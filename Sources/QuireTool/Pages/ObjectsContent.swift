import Foundation
import Quire
import QuireModel
import QuireStorage

/// The part of a store's page that is about objects. It is empty for a store of the engine alone;
/// of a damaged store it has what can be read.
struct ObjectsContent {
  private let store: URL
  private(set) var summary: StoreSummary?
  private(set) var model: ManagedObjectModel?
  /// As the script takes them.
  private(set) var entities: [JSONValue] = []
  /// What trees hold, by their names.
  private(set) var titles: [String: String] = [:]
  private(set) var problems: [String] = []

  init(of store: URL, _ anatomy: StoreAnatomy, limit: Int) {
    self.store = store
    guard anatomy.trees.contains(where: { $0.name == "schema" }) else { return }
    summary = attempt { try StoreSummary(of: store) }
    for tree in summary?.trees ?? [] { titles[tree.name] = tree.content.title }
    let sizes = EntitySizes(summary?.trees ?? [], anatomy)
    let counts = Dictionary(
      (summary?.entities ?? []).map { ($0.name, $0.objectCount) }, uniquingKeysWith: +)
    let listed =
      attempt {
        try Tool.reading(store) { context, model in
          (model, Self.results(of: model, in: context, of: store, limit: limit))
        }
      } ?? unlisted
    guard let (model, results) = listed else { return }
    self.model = model
    for (entity, result) in zip(model.entities, results) {
      let problem = result.failure.map { "\(entity.name): \($0)" }
      if let problem, !problems.contains(where: problem.hasSuffix) { problems.append(problem) }
      let count = counts[entity.name] ?? (problem == nil ? result.objects.count : nil)
      entities.append(Self.json(entity, result, count: count, sizes: sizes.json(of: entity.name)))
    }
  }

  /// The entities of a store that cannot be opened, each with that failure. The model can be whole
  /// all the same.
  private var unlisted: (ManagedObjectModel, [EntityListing.Result])? {
    guard let model = try? PersistentStoreCoordinator.managedObjectModel(storedAt: store) else {
      return nil
    }
    let failed = EntityListing.Result(failure: problems.last)
    return (model, model.entities.map { $0.isAbstract ? EntityListing.Result() : failed })
  }

  private static func results(
    of model: ManagedObjectModel, in context: ManagedObjectContext, of store: URL, limit: Int
  ) -> [EntityListing.Result] {
    var listing = EntityListing(
      store: store,
      numbers: Dictionary(
        uniqueKeysWithValues: model.entities.enumerated().map { ($1.name, $0) }), limit: limit)
    return model.entities.map {
      $0.isAbstract ? EntityListing.Result() : listing.objects(of: $0, in: context)
    }
  }

  /// What a step returns; `nil` when it fails, with its error among the problems.
  private mutating func attempt<Value>(_ step: () throws -> Value) -> Value? {
    do {
      return try step()
    } catch {
      let message = StorePageContent.message(of: error, in: store)
      if !problems.contains(message) { problems.append(message) }
      return nil
    }
  }

  private static func json(
    _ entity: EntityDescription, _ result: EntityListing.Result, count: Int?, sizes: JSONValue
  ) -> JSONValue {
    [
      "name": .string(entity.name),
      "parent": JSONValue(entity.parent?.name),
      "abstract": JSONValue(entity.isAbstract),
      "hash": .string(entity.versionHash.description),
      "count": count.map { JSONValue($0) } ?? .null,
      "error": JSONValue(result.failure),
      "sizes": sizes,
      "attributes": .array(
        EntityListing.attributes(of: entity).map {
          [
            "name": .string($0.name), "type": .string($0.type.plainName),
            "about": .string($0.inWords),
          ]
        }),
      "relationships": .array(
        EntityListing.relationships(of: entity).map {
          [
            "name": .string($0.name), "to": .string($0.destination),
            "many": JSONValue($0.isToMany), "ordered": JSONValue($0.isOrdered),
            "about": .string($0.inWords),
          ]
        }),
      "objects": .array(result.objects),
    ]
  }
}

extension StoredTree.Content {
  /// What a tree holds, in a few words.
  var title: String {
    switch self {
    case .rows(let entity): "Rows of \(entity)"
    case .links(let entity, let relationship): "Links \(entity).\(relationship)"
    case .fetchIndex(let entity, let name): "Index \(entity).\(name)"
    case .uniquenessConstraint(let entity, let properties): "Unique \(entity).\(properties)"
    case .schema: "Model and layouts"
    case .keys: "Counters of keys"
    case .history: "History"
    case .values: "Large values"
    }
  }
}

/// The bytes of trees by entity: of keys and values, without the free room of their pages.
private struct EntitySizes {
  private var rows: [String: Int] = [:]
  private var links: [String: Int] = [:]
  private var indexes: [String: Int] = [:]

  init(_ trees: [StoredTree], _ anatomy: StoreAnatomy) {
    let bytes = Dictionary(
      anatomy.trees.map { ($0.name, $0.keyByteCount + $0.valueByteCount) },
      uniquingKeysWith: { first, _ in first })
    for tree in trees {
      guard let bytes = bytes[tree.name] else { continue }
      switch tree.content {
      case .rows(let entity): rows[entity, default: 0] += bytes
      case .links(let entity, _): links[entity, default: 0] += bytes
      case .fetchIndex(let entity, _), .uniquenessConstraint(let entity, _):
        indexes[entity, default: 0] += bytes
      case .schema, .keys, .history, .values: break
      }
    }
  }

  func json(of entity: String) -> JSONValue {
    [
      "rows": JSONValue(rows[entity] ?? 0), "links": JSONValue(links[entity] ?? 0),
      "indexes": JSONValue(indexes[entity] ?? 0),
    ]
  }
}
