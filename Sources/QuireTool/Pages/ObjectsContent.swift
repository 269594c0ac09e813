import Foundation
import Quire
import QuireModel
import QuireStorage

/// The part of a store's page that is about objects. It is empty for a store of the engine alone;
/// of a damaged store it has every object that a salvage would keep, and says what is missing.
struct ObjectsContent {
  private let store: URL
  /// Of a store whose own content cannot be counted: that of its salvage.
  private(set) var summary: StoreSummary?
  /// `nil` if there is none, or if it cannot be read.
  private(set) var history: PersistentHistorySummary?
  private(set) var model: ManagedObjectModel?
  /// As the script takes them.
  private(set) var entities: [JSONValue] = []
  /// What trees hold, by their names.
  private(set) var titles: [String: String] = [:]
  private(set) var problems: [String] = []

  private typealias Listing = (model: ManagedObjectModel, results: [EntityListing.Result])

  init(of store: URL, _ anatomy: StoreAnatomy, limit: Int, _ console: Console) {
    self.store = store
    let hasSchema = anatomy.trees.contains { $0.name == "schema" }
    if hasSchema {
      summary = attempt { try StoreSummary(of: store) }
      history = summary?.history
    }
    let countsLost = summary != nil
    var listing = anatomy.findings.isEmpty ? nil : salvaged(limit: limit, console)
    if listing == nil, hasSchema { listing = opened(limit: limit) ?? unlisted }
    for tree in summary?.trees ?? [] { titles[tree.name] = tree.content.title }
    guard let (model, results) = listing else { return }
    self.model = model
    let counts = Dictionary(
      (summary?.entities ?? []).map { ($0.name, $0.objectCount) }, uniquingKeysWith: +)
    let sizes = EntitySizes(summary?.trees ?? [], anatomy)
    for (entity, result) in zip(model.entities, results) {
      // What a salvage misses is listed already, with the links of all entities in short.
      for failure in result.lostCount == nil ? result.failures : []
      where !problems.contains(where: { $0.hasSuffix(failure) }) {
        problems.append("\(entity.name): \(failure)")
      }
      let count = counts[entity.name].map { $0 + (countsLost ? 0 : result.lostCount ?? 0) }
      entities.append(
        Self.json(entity, result, count: count, sizes: sizes.json(of: entity.name)))
    }
  }

  /// The objects of the store itself.
  private mutating func opened(limit: Int) -> Listing? {
    let store = store
    return attempt {
      try Tool.reading(store) { context, model in
        (model, Self.results(of: model, in: context, of: store, limit: limit))
      }
    }
  }

  /// The objects that a salvage keeps, and what it misses; `nil` if nothing can be salvaged.
  private mutating func salvaged(limit: Int, _ console: Console) -> Listing? {
    try? Tool.salvaging(store, InputError(""), console) { copy, report in
      if summary == nil { summary = try StoreSummary(of: copy) }
      let text = SalvageText(report)
      problems += text.missing
      return try Tool.reading(copy) { context, model in
        var results = Self.results(of: model, in: context, of: copy, limit: limit)
        for (index, entity) in model.entities.enumerated() {
          results[index].failures += text.missing(ofEntity: entity.name)
          let loss = report.entities.first { $0.name == entity.name }
          results[index].lostCount = loss?.lostCount ?? 0
        }
        return (model, results)
      }
    }
  }

  /// The entities of a store that cannot be opened, each with that failure. The model can be whole
  /// all the same.
  private var unlisted: Listing? {
    guard let model = try? PersistentStoreCoordinator.managedObjectModel(storedAt: store) else {
      return nil
    }
    let failed = EntityListing.Result(failure: problems.last ?? "the store cannot be opened")
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
      "lost": result.lostCount.map { JSONValue($0) } ?? .null,
      "errors": JSONValue(result.failures),
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
