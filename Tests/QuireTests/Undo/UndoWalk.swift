import Quire
import QuireSimulation
import QuireTesting

/// Random changes of a few objects, undone and made again.
///
/// What the context shows is remembered after each event as plain values; undoing and redoing have
/// to show the same again, step by step, whatever is saved in between.
final class UndoWalk {
  /// A small model with every shape of relationship, and rules that tell the other side or do not.
  private static let model = try! ManagedObjectModel {
    Entity("Thing") {
      Attribute("number", .integer32)
      Attribute("weight", .integer64, default: 0)
      Attribute("shine", .integer64, transient: true)
      Relationship("parent", toOne: "Thing", inverse: "children")
      Relationship("children", toMany: "Thing", inverse: "parent", deleteRule: .cascade)
      Relationship("twin", toOne: "Thing", inverse: "twin")
      Relationship("cover", toOne: "Thing", inverse: "covered", deleteRule: .noAction)
      Relationship("covered", toOne: "Thing", inverse: "cover", deleteRule: .noAction)
      Relationship("friends", toMany: "Thing", inverse: "friends")
      Relationship("ranks", toMany: "Thing", inverse: "rankedBy", ordered: true)
      Relationship("rankedBy", toMany: "Thing", inverse: "ranks")
      Relationship("parts", toMany: "Part", inverse: "owner", ordered: true, deleteRule: .cascade)
      Relationship("keepers", toMany: "Part", inverse: "kept", deleteRule: .noAction)
      Relationship("users", toMany: "Part", inverse: "used", deleteRule: .noAction)
      Relationship("pointer", toOne: "Thing")
      Relationship("bag", toMany: "Part")
      Relationship("list", toMany: "Thing", ordered: true)
    }
    Entity("Part") {
      Attribute("number", .integer32)
      Relationship("owner", toOne: "Thing", inverse: "parts")
      Relationship("kept", toMany: "Thing", inverse: "keepers", deleteRule: .noAction)
      Relationship("used", toOne: "Thing", inverse: "users", deleteRule: .noAction)
    }
    Entity("Lock") {
      Attribute("number", .integer32)
      Relationship("doors", toMany: "Door", inverse: "lock", deleteRule: .deny)
    }
    Entity("Door") {
      Attribute("number", .integer32)
      Relationship("lock", toOne: "Lock", inverse: "doors")
    }
  }

  /// Counts events, and is undone with them.
  private final class Clock {
    var event = 0
    func set(_ event: Int, _ undoManager: UndoManager) {
      let former = self.event
      undoManager.registerUndo(withTarget: self) { $0.set(former, undoManager) }
      self.event = event
    }
  }

  private var generator: SeededGenerator
  private let context: ManagedObjectContext
  private let undoManager = UndoManager()
  private let clock = Clock()
  /// By their numbers.
  private var objects: [ManagedObject] = []
  private var ids: [ManagedObjectID?] = []
  private var states: [[String]] = []
  private(set) var findings: [String] = []
  private(set) var trace: [String] = []
  private(set) var saves = 0
  /// Which operations are left out, to make what fails short.
  private let skipped: Set<Int>
  private(set) var operationCount = 0

  init(seed: UInt64, skipping skipped: Set<Int> = []) throws {
    generator = SeededGenerator(seed: seed)
    self.skipped = skipped
    context = try ManagedObjectContext.stubbed(Self.model)
    context.undoManager = undoManager
  }

  func run(events: Int) throws {
    states = [state()]
    for event in 1...events where findings.isEmpty { try happen(event) }
    // Back and forth a little, then all the way.
    for _ in 0..<generator.below(6) { try step(isUndo: generator.below(2) == 0) }
    while undoManager.canUndo, findings.isEmpty { try step(isUndo: true) }
    expect(clock.event == 0, "all is undone")
    while undoManager.canRedo, findings.isEmpty { try step(isUndo: false) }
    expect(clock.event == events, "all is made again")
    while undoManager.canUndo, findings.isEmpty { try step(isUndo: true) }
    if findings.isEmpty { save() }
    expect(!context.hasChanges, "something is left to save")
  }

  private func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition, findings.count < 5 { findings.append(what()) }
  }

  // MARK: Steps

  private func happen(_ event: Int) throws {
    trace.append("event \(event)")
    let isGroup = generator.below(5) == 0
    if isGroup { undoManager.beginUndoGrouping() }
    clock.set(event, undoManager)
    for _ in 0...generator.below(6) {
      try change()
      if isGroup, generator.below(4) == 0 { context.processPendingChanges() }
      if isGroup, generator.below(8) == 0 { save() }
    }
    if isGroup { try undoManager.endUndoGrouping() }
    if generator.below(3) == 0 { save() } else { context.processPendingChanges() }
    states.append(state())
    compare("after event \(event)")
  }

  private func step(isUndo: Bool) throws {
    guard isUndo ? undoManager.canUndo : undoManager.canRedo else { return }
    trace.append(isUndo ? "undo" : "redo")
    let former = clock.event
    if isUndo { context.undo() } else { context.redo() }
    expect(clock.event == former + (isUndo ? -1 : 1), "one event at a time")
    compare("\(isUndo ? "undone" : "redone") to event \(clock.event)")
    if generator.below(4) == 0 { save() }
  }

  private func save() {
    do {
      try context.save()
      saves += 1
      trace.append("save")
      for (number, object) in objects.enumerated() where isLiving(object) {
        if let id = ids[number] {
          expect(object.objectID == id, "\(number) is another one")
        } else {
          ids[number] = object.objectID
        }
        expect(!object.objectID.isTemporaryID && !object.hasChanges, "\(number) is not saved")
      }
      let found = try StoreFacts(context).findings
      expect(found.isEmpty, found.joined(separator: "; "))
      let others = try stored()
      expect(others == state(), "the store has \(difference(others, state()))")
    } catch {
      trace.append("no save: \(error)")
      let all = (error as? PersistenceError).map {
        $0.detailedErrors.isEmpty ? [$0] : $0.detailedErrors
      }
      expect(
        all?.allSatisfy { $0.code == .validationRelationshipDeniedDelete } ?? false, "\(error)")
    }
  }

  private func change() throws {
    let kind = generator.below(20)
    let choices = (0..<8).map { _ in generator.below(1 << 20) }
    operationCount += 1
    if skipped.contains(operationCount) { return }
    let living = objects.indices.filter { isLiving(objects[$0]) }
    switch kind {
    case 0..<4 where living.count < 14, _ where living.isEmpty:
      let entity = ["Thing", "Thing", "Thing", "Part", "Part", "Lock", "Door"][choices[0] % 7]
      let object = try context.insert(entity, ["number": objects.count])
      trace.append("\(operationCount): insert \(entity) \(objects.count)")
      objects.append(object)
      ids.append(nil)
    case 4..<7:
      let number = living[choices[0] % living.count]
      guard objects[number].entity.name == "Thing" else { return }
      let key = ["weight", "weight", "shine"][choices[2] % 3]
      try objects[number].setValue(choices[1] % 4, forKey: key)
      trace.append("\(operationCount): \(number).\(key) = \(choices[1] % 4)")
    case 7..<10:
      let number = living[choices[0] % living.count]
      trace.append("\(operationCount): delete \(number)")
      context.delete(objects[number])
    case 10:
      let number = living[choices[0] % living.count]
      trace.append("\(operationCount): refresh \(number)")
      context.refresh(objects[number], mergeChanges: choices[1] % 2 == 0)
    default: try relate(choices, living)
    }
  }

  private func relate(_ choices: [Int], _ living: [Int]) throws {
    let number = living[choices[0] % living.count]
    let all = objects[number].entity.relationships
    let relationship = all[choices[1] % all.count]
    let candidates = living.filter { objects[$0].entity.name == relationship.destination }
    guard !candidates.isEmpty else { return }
    var members: [Int]
    if !relationship.isToMany {
      members = choices[2] % 4 == 0 ? [] : [candidates[choices[3] % candidates.count]]
      try objects[number].setValue(members.first.map { objects[$0] }, forKey: relationship.name)
    } else {
      members = shown(relationship, objects[number])
      let other = candidates[choices[3] % candidates.count]
      switch choices[2] % 5 {
      case 0: members = []
      case 1: members.reverse()
      case 2: members = candidates.filter { choices[4] >> ($0 % 20) & 1 == 1 }
      default:
        if let index = members.firstIndex(of: other) {
          members.remove(at: index)
        } else {
          members.insert(other, at: choices[4] % (members.count + 1))
        }
      }
      let list = members.map { objects[$0] }
      try objects[number].setValue(
        relationship.isOrdered ? list as Any : Set(list) as Any, forKey: relationship.name)
    }
    trace.append("\(operationCount): \(number).\(relationship.name) = \(members)")
  }

  // MARK: What is shown

  private func isLiving(_ object: ManagedObject) -> Bool {
    object.managedObjectContext === context && !object.isDeleted
  }

  private func shown(_ relationship: RelationshipDescription, _ object: ManagedObject) -> [Int] {
    let value = try? object.value(forKey: relationship.name)
    let members: [ManagedObject] =
      switch value {
      case let list as [ManagedObject]: list
      case let set as Set<ManagedObject>: Array(set)
      case let one as ManagedObject: [one]
      default: []
      }
    let numbers = members.filter { $0.managedObjectContext != nil && !$0.isDeleted }
      .map { (try? $0.value(forKey: "number") as? Int) ?? -1 }
    return relationship.isOrdered ? numbers : numbers.sorted()
  }

  private func line(_ object: ManagedObject, isTransient: Bool = true) -> String {
    let number = (try? object.value(forKey: "number") as? Int) ?? -1
    var line = "\(object.entity.name) \(number)"
    for key in ["weight", "shine"] where object.entity.name == "Thing" {
      if key == "shine", !isTransient { continue }
      line += " \(key)=\((try? object.value(forKey: key) as? Int).map { "\($0)" } ?? "nil")"
    }
    for relationship in object.entity.relationships {
      let members = shown(relationship, object)
      if !members.isEmpty { line += " \(relationship.name)=\(members)" }
    }
    return line
  }

  /// Transient values are left out: saves and refreshes need not keep them.
  private func state() -> [String] {
    objects.filter(isLiving).map { line($0, isTransient: false) }.sorted()
  }

  /// What somebody else would find.
  private func stored() throws -> [String] {
    let other = SmallGallery.sibling(of: context)
    return try Self.model.entities.flatMap {
      try other.fetch(FetchRequest<ManagedObject>(entityName: $0.name))
    }.map { line($0, isTransient: false) }.sorted()
  }

  private func difference(_ found: [String], _ expected: [String]) -> String {
    "\(Set(found).subtracting(expected).sorted()), expected "
      + "\(Set(expected).subtracting(found).sorted())"
  }

  private func compare(_ when: String) {
    let (found, expected) = (state(), states[clock.event])
    expect(found == expected, "\(when): \(difference(found, expected))")
    do {
      let fetched = try Self.model.entities.flatMap {
        try context.fetch(FetchRequest<ManagedObject>(entityName: $0.name))
      }
      expect(Set(fetched) == Set(objects.filter(isLiving)), "\(when): a fetch finds others")
      expect(Set(fetched).count == fetched.count, "\(when): a fetch finds one twice")
    } catch {
      expect(false, "\(when): \(error)")
    }
    for (number, object) in objects.enumerated() where isLiving(object) {
      if let id = ids[number] { expect(object.objectID == id, "\(when): \(number) is another one") }
    }
  }
}
