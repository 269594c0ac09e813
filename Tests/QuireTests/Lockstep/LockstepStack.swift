import Quire
import QuireTesting

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Something is not as it should be.
struct LockstepMismatch: Error, CustomStringConvertible {
  let description: String
}

/// One store, with the contexts that work on it.
final class LockstepStack {
  enum Place {
    case file(URL)
    case memory
    /// A store of another make, whose rows a server has.
    case elsewhere(RowServer)
  }

  private let place: Place
  private(set) var context: ManagedObjectContext
  /// Another context of the same store.
  private(set) var other: ManagedObjectContext
  var undoManager = UndoManager()
  private var ids: [Int: ManagedObjectID] = [:]
  private var created: [Int: ManagedObject] = [:]
  /// Those that somebody holds.
  private var held: [ManagedObject] = []
  var holds = true
  /// The numbers of all objects in the order in which they were fetched last.
  private(set) var order: [Int] = []

  init(_ place: Place) throws {
    self.place = place
    let coordinator = try Self.open(place)
    (context, other) = (
      GotchaHome.context(of: coordinator), GotchaHome.context(of: coordinator)
    )
    context.undoManager = undoManager
  }

  var name: String {
    switch place {
    case .file: "in a file"
    case .memory: "in memory"
    case .elsewhere: "elsewhere"
    }
  }

  var isOfOurMake: Bool { if case .elsewhere = place { false } else { true } }

  private static func open(_ place: Place) throws -> PersistentStoreCoordinator {
    let model = LockstepModel.model
    switch place {
    case .elsewhere(let server): return try server.coordinator(.plain, model, classes: [])
    case .memory:
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(type: .inMemory, at: nil)
      return coordinator
    case .file(let url):
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(type: .quire, at: url)
      return coordinator
    }
  }

  /// Closes a store and opens it again; of one in memory, forgets all that was read.
  func reopen() throws {
    (held, created) = ([], [:])
    if case .memory = place {
      context.reset()
      other.reset()
      return
    }
    try close()
    let coordinator = try Self.open(place)
    context = GotchaHome.context(of: coordinator)
    other = GotchaHome.context(of: coordinator)
    undoManager = UndoManager()
    context.undoManager = undoManager
  }

  func close() throws {
    guard let coordinator = context.persistentStoreCoordinator,
      let store = coordinator.persistentStores.first
    else { return }
    try coordinator.remove(store)
    let findings =
      switch place {
      case .file(let url): try StoreInspection(of: url).findings
      case .memory: [String]()
      case .elsewhere(let server): server.now.findings(LockstepModel.model)
      }
    if !findings.isEmpty { throw LockstepMismatch(description: "\(name), closed: \(findings)") }
  }

  // MARK: Changes

  func object(_ number: Int, in context: ManagedObjectContext) throws -> ManagedObject {
    if let object = created[number], object.managedObjectContext === context { return object }
    guard let id = ids[number], let object = context.object(with: id) else {
      throw LockstepMismatch(description: "there is no \(number)")
    }
    return object
  }

  func apply(_ change: LockstepChange, in context: ManagedObjectContext) throws {
    func object(_ number: Int) throws -> ManagedObject { try self.object(number, in: context) }
    switch change {
    case .insert(let number, let entity, let owner):
      let new = try context.insert(entity, ["number": number])
      created[number] = new
      ids[number] = new.objectID
      if let owner { try new.setValue(object(owner), forKey: "owner") }
    case .set(let number, let value): try object(number).setValue(value, forKey: "weight")
    case .one(let number, let key, let destination):
      try object(number).setValue(destination.map(object), forKey: key)
    case .add(let number, let key, let member, let index?):
      try object(number).insertIntoRelationship(object(member), at: index, forKey: key)
    case .add(let number, let key, let member, nil):
      try object(number).addToRelationship(object(member), forKey: key)
    case .remove(let number, let key, let member):
      try object(number).removeFromRelationship(object(member), forKey: key)
    case .members(let number, let key, let members):
      let owner = try object(number)
      let list = try members.map(object)
      let isOrdered = owner.entity.relationships.first { $0.name == key }?.isOrdered ?? false
      try owner.setValue(isOrdered ? list as Any : Set(list) as Any, forKey: key)
    case .delete(let number): context.delete(try object(number))
    }
  }

  /// What was created elsewhere is known by its ID from now on.
  func settleCreated() {
    for (number, object) in created where object.managedObjectContext != nil {
      ids[number] = object.objectID
    }
    created = [:]
  }

  // MARK: What is shown

  /// All objects by their numbers, as they are fetched.
  func lines(of context: ManagedObjectContext) throws -> [Int: String] {
    var lines: [Int: String] = [:]
    var all: [ManagedObject] = []
    var order: [Int] = []
    for entity in LockstepModel.roots {
      for object in try context.fetch(FetchRequest<ManagedObject>(entityName: entity)) {
        let number = try Self.number(object)
        guard lines[number] == nil else {
          throw LockstepMismatch(description: "\(name): \(number) is found twice")
        }
        lines[number] = try Self.line(object)
        all.append(object)
        order.append(number)
        if context === self.context { ids[number] = object.objectID }
      }
    }
    if context === self.context { (held, self.order) = (holds ? all : [], order) }
    return lines
  }

  /// The properties that differ from what the store has, whatever objects of some numbers are in
  /// relationships.
  static func changes(
    of object: ManagedObject, leavingOut isLeftOut: (Int) -> Bool
  ) throws -> [String] {
    let present = object.changedValues()
    let former = try object.committedValues(forKeys: Array(present.keys))
    return try present.keys.sorted().filter { key in
      guard let relationship = object.entity.relationships.first(where: { $0.name == key }) else {
        return true
      }
      func numbers(_ value: Any?) throws -> [Int] {
        let objects: [ManagedObject] =
          switch value {
          case let list as [ManagedObject]: list
          case let set as Set<ManagedObject>: Array(set)
          case let object as ManagedObject: [object]
          default: []
          }
        let numbers = try objects.map(number).filter { !isLeftOut($0) }
        return relationship.isOrdered ? numbers : numbers.sorted()
      }
      return try numbers(present[key] ?? nil) != numbers(former[key])
    }
  }

  static func number(_ object: ManagedObject) throws -> Int {
    try object.value(forKey: "number") as? Int ?? -1
  }

  private static func line(_ object: ManagedObject) throws -> String {
    let weight = try object.value(forKey: "weight") as? Int
    var line = "\(object.entity.name) weight=\(weight.map(String.init) ?? "nil")"
    for relationship in object.entity.relationships {
      let ids = try object.objectIDs(forRelationshipNamed: relationship.name)
      let members: [ManagedObject] =
        switch try object.value(forKey: relationship.name) {
        case let list as [ManagedObject]: list
        case let set as Set<ManagedObject>: Array(set)
        case let one as ManagedObject: [one]
        default: []
        }
      let shown = members.map(\.objectID)
      guard relationship.isOrdered ? ids == shown : Set(ids) == Set(shown) else {
        throw LockstepMismatch(
          description: "\(object.objectID).\(relationship.name) leads to \(shown), by IDs to \(ids)"
        )
      }
      if members.isEmpty { continue }
      let numbers = try members.map(number)
      line += " \(relationship.name)=\(relationship.isOrdered ? numbers : numbers.sorted())"
    }
    return line
  }

  /// The saved objects of which something is to be written.
  var changedNumbers: Set<Int> {
    get throws { try numbers(context.updatedObjects.filter(\.hasPersistentChangedValues)) }
  }

  /// The numbers of objects that may have lost them, as their insertion was undone.
  func numbers(_ objects: Set<ManagedObject>) throws -> Set<Int> {
    let numbers = Dictionary(ids.map { ($1, $0) }) { max($0, $1) }
    return Set(try objects.map { try numbers[$0.objectID] ?? Self.number($0) })
  }
}
