import Foundation
import Quire
import QuireModel
import Synchronization

/// A validation predicate that is no limit which Quire's models have, and what it says where it
/// does not hold.
struct ValidationCondition: Equatable {
  let predicate: NSPredicate
  /// A text, or the code of an error.
  let warning: Any?

  static func == (left: Self, right: Self) -> Bool {
    left.predicate == right.predicate
      && left.warning.map { "\($0)" } == right.warning.map { "\($0)" }
  }

  /// - Throws: error 1550, or the code of the warning, where the predicate does not hold.
  func check(_ value: Any, of object: NSManagedObject, _ key: String) throws {
    if predicate.evaluate(with: value) { return }
    let code = (warning as? NSNumber)?.intValue ?? warning as? Int
    let words = (warning as? String).map { ": " + $0 } ?? ""
    var error = PersistenceError(
      code.map { PersistenceError.Code(rawValue: $0) } ?? .managedObjectValidation,
      "\(object.entityFacts.name).\(key) does not fulfil the validation predicate "
        + "\(predicate.predicateFormat)\(words)")
    error.entityName = object.entityFacts.name
    error.key = key
    error.objectID = object.objectID
    throw error
  }
}

/// The conditions of a model's properties.
struct ValidationConditions {
  /// Whether any model of the process has conditions: a fast answer for the programs without.
  private static let exist = Atomic(false)
  /// By entity and property, inherited ones included.
  private let byEntity: [String: [String: [ValidationCondition]]]

  /// - Parameter entities: of a model whose descriptions may say more than the model of Quire's.
  init(of entities: [NSEntityDescription]) {
    var found: [String: [String: [ValidationCondition]]] = [:]
    for entity in entities {
      let conditions = entity.propertiesByName.mapValues(\.conditions).filter { !$1.isEmpty }
      if !conditions.isEmpty { found[entity.name ?? ""] = conditions }
    }
    byEntity = found
    if !found.isEmpty { Self.exist.store(true, ordering: .relaxed) }
  }

  /// Checks a value that is about to be saved.
  static func check(_ value: Any?, of object: NSManagedObject, _ key: String) throws {
    guard exist.load(ordering: .relaxed), let value = unwrapped(value),
      let coordinator = object.managedObjectContext?.persistentStoreCoordinator,
      let conditions = coordinator.conditions.byEntity[object.entityFacts.name]?[key]
    else { return }
    for condition in conditions { try condition.check(members(value), of: object, key) }
  }

  /// The objects of a relationship, which arrives as a view of it.
  private static func members(_ value: Any) -> Any {
    switch value {
    case let members as MutableMembers: members.set
    case let members as MutableOrderedMembers: members.array
    default: value
    }
  }
}
