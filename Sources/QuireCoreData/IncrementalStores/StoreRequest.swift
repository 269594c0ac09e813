import Foundation
import Quire
import QuireModel

/// A fetch of Quire's as a request for an ``NSIncrementalStore``.
struct StoreRequest {
  private let request: IncrementalStoreFetch
  private let entity: NSEntityDescription?
  private let includesSubentities: Bool
  /// Whether the request is for the entities of the fetch, and no others.
  let isExact: Bool

  init(_ request: IncrementalStoreFetch, _ adapter: StoreAdapter) {
    self.request = request
    let names = Set(request.entityNames)
    var ancestor = request.entityNames.first.flatMap { adapter.model.entity(named: $0) }
    func family(of ancestor: EntityDescription?) -> Set<String> {
      guard let ancestor else { return names }
      return Set(
        adapter.model.entities.filter { !$0.isAbstract && $0.isKindOf(entity: ancestor) }
          .map(\.name))
    }
    while let present = ancestor, !family(of: present).isSuperset(of: names) {
      ancestor = present.parent
    }
    let family = family(of: ancestor)
    let isAlone = names.count == 1 && ancestor.map { names.contains($0.name) } ?? false
    entity = ancestor.flatMap { adapter.descriptions.entity($0.name) }
    includesSubentities = !isAlone || family == names
    isExact = isAlone || family == names
  }

  func fetchRequest(
    _ store: NSIncrementalStore, _ resultType: NSFetchRequestResultType
  ) -> NSFetchRequest<NSFetchRequestResult> {
    let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: entity?.name ?? "")
    fetch.entity = entity
    fetch.includesSubentities = includesSubentities
    fetch.predicate = request.predicate.map(NSPredicate.typed)
    if !request.sortDescriptors.isEmpty {
      fetch.sortDescriptors = request.sortDescriptors.map(NSSortDescriptor.init)
    }
    fetch.fetchLimit = isExact ? request.limit : 0
    fetch.resultType = resultType
    fetch.affectedStores = [store]
    return fetch
  }
}

/// A model's descriptions by name, each looked up once.
final class Descriptions {
  private let model: NSManagedObjectModel
  private lazy var entities = model.entitiesByName
  private var relationships: [String: [String: NSRelationshipDescription]] = [:]

  init(_ model: NSManagedObjectModel) { self.model = model }

  func entity(_ name: String) -> NSEntityDescription? { entities[name] }

  func relationship(_ name: String, _ entityName: String) throws -> NSRelationshipDescription {
    let known = relationships[entityName] ?? entities[entityName]?.relationshipsByName ?? [:]
    relationships[entityName] = known
    guard let relationship = known[name] else {
      throw PersistenceError(.undefinedKey, "\(entityName) has no relationship \(name)")
    }
    return relationship
  }
}
