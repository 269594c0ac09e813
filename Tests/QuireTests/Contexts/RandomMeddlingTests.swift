import Quire
import QuireSimulation
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Random changes in two contexts of a store, in a child and in its child. Both sides of what is
/// stored agree, and no object is stored that has lost what it was given; and nothing crashes where
/// classes, observers and policies do anything whenever they are called.
@Suite(.serialized) struct RandomMeddlingTests {
  /// `QUIRE_SEED` runs one seed, `QUIRE_SEEDS` the first so many; `QUIRE_STRICT=1` looks at what
  /// contexts have also where they are meddled with, of which not all is right yet.
  private static var seeds: ClosedRange<UInt64> {
    if let seed = environmentValue("QUIRE_SEED").flatMap(UInt64.init) { return seed...seed }
    if let last = environmentValue("QUIRE_SEEDS").flatMap(UInt64.init) { return 1...last }
    return isExhaustive ? 1...4_000 : 1...60
  }

  /// Without meddling: what every context has, and what is stored, is checked after each step.
  @Test func `whatever contexts of one family and others do, what is stored is whole`() throws {
    for seed in Self.seeds { try MeddlingWalk(seed: seed, url: nil, isCalm: true).run(200) }
  }

  /// The process would end: what the contexts have is not looked at.
  @Test func `whatever a program's code does when it is called, nothing crashes`() throws {
    var (saves, meddlings) = (0, 0)
    for seed in Self.seeds {
      let walk = try MeddlingWalk(seed: seed, url: nil, isCalm: false)
      walk.run(200)
      (saves, meddlings) = (saves + walk.saveCount, meddlings + walk.meddlingCount)
    }
    print("\(Self.seeds.count) seeds: \(saves) saves, \(meddlings) meddlings")
    #expect(saves > 10 * Self.seeds.count && meddlings > 50 * Self.seeds.count)
  }
}

/// An object that calls the walk in every hook.
private final class Extra: ManagedObject {
  // Sound: the suite runs one test at a time, in one isolation.
  nonisolated(unsafe) static weak var walk: MeddlingWalk?

  @Managed var stamp: Int?
  @Managed var number: Int
  @Managed var key: String?
  @Managed var parent: Extra?
  @Managed var children: Set<Extra>
  @Managed var twin: Extra?
  @Managed var friends: Set<Extra>
  @Managed var ranks: [Extra]
  @Managed var rankedBy: Set<Extra>
  @Managed var idol: Extra?

  required init(_ origin: Origin) {
    super.init(origin)
    Extra.walk?.meddle(self)
  }

  override func awakeFromInsert() {
    stamp = Extra.walk?.nextStamp()
    Extra.walk?.meddle(self)
  }
  override func awakeFromFetch() { Extra.walk?.meddle(self) }
  override func awake(fromSnapshotEvents events: SnapshotEventType) { Extra.walk?.meddle(self) }
  override func willSave() { Extra.walk?.meddle(self) }
  override func didSave() { Extra.walk?.meddle(self) }
  override func willTurnIntoFault() { Extra.walk?.meddle(self) }
  override func didTurnIntoFault() { Extra.walk?.meddle(self) }
  override func prepareForDeletion() { Extra.walk?.meddle(self) }

  override func validateForUpdate() throws {
    Extra.walk?.meddle(self)
    try super.validateForUpdate()
  }
}

private final class ExtraPolicy: MergePolicy {
  override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
    Extra.walk?.meddle(list.first?.sourceObject as? Extra)
    try super.resolve(optimisticLockingConflicts: list)
    Extra.walk?.meddle(list.first?.sourceObject as? Extra)
  }

  override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
    Extra.walk?.meddle(nil)
    try super.resolve(constraintConflicts: list)
    Extra.walk?.meddle(nil)
  }
}

private let model = try! ManagedObjectModel {
  Entity("Extra") {
    Attribute("stamp", .integer64)
    Attribute("number", .integer64, optional: false, default: 0)
    Attribute("key", .string)
    Relationship("parent", toOne: "Extra", inverse: "children")
    Relationship("children", toMany: "Extra", inverse: "parent", deleteRule: .cascade)
    Relationship("twin", toOne: "Extra", inverse: "twin")
    Relationship("friends", toMany: "Extra", inverse: "friends")
    Relationship("ranks", toMany: "Extra", inverse: "rankedBy", ordered: true)
    Relationship("rankedBy", toMany: "Extra", inverse: "ranks")
    Relationship("idol", toOne: "Extra")
    UniquenessConstraint("key")
  }
}

/// One store and its contexts, driven by one seed.
private final class MeddlingWalk {
  private let seed: UInt64
  private var random: SeededGenerator
  private let coordinator: PersistentStoreCoordinator
  private let contexts: [ManagedObjectContext]
  private var observations: [ContextObservation] = []
  /// What somebody holds.
  private var held: [[Extra]]
  private var depth = 0
  /// How often a step may still be meddled with.
  private var patience = 0
  private var lastStamp = 0
  private let isCalm: Bool
  private(set) var saveCount = 0
  private(set) var meddlingCount = 0

  init(seed: UInt64, url: URL?, isCalm: Bool) throws {
    self.isCalm = isCalm
    self.seed = seed
    random = SeededGenerator(seed: seed)
    coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: [Extra.self])
    try coordinator.addPersistentStore(type: url == nil ? .inMemory : .quire, at: url)
    let stored = [GotchaHome.context(of: coordinator), GotchaHome.context(of: coordinator)]
    let child = stored[0].newChildContext()
    contexts = stored + [child, child.newChildContext()]
    held = contexts.map { _ in [] }
    let types: [MergePolicyType] = [
      .errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
      .mergeByPropertyStoreTrumpMergePolicyType, .overwriteMergePolicyType,
      .rollbackMergePolicyType,
    ]
    for (index, context) in contexts.enumerated() {
      context.mergePolicy = ExtraPolicy(merge: types[random.below(types.count)])
      context.automaticallyMergesChangesFromParent = random.below(2) == 0
      if random.below(2) == 0 { context.undoManager = UndoManager() }
      observe(index)
    }
  }

  private func observe(_ index: Int) {
    let observation = contexts[index].observe { [unowned self] notice in
      meddle(notice.updatedObjects.first as? Extra)
    }
    observations.append(observation)
  }

  func run(_ stepCount: Int) {
    Extra.walk = self
    defer { Extra.walk = nil }
    do {
      try go(stepCount)
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
    patience = 0
    observations = []
    for index in contexts.indices { hold([], index) }
  }

  private func go(_ stepCount: Int) throws {
    for step in 0..<stepCount {
      patience = isCalm ? 0 : random.below(9)
      attempt { try self.act() }
      try check("step \(step)")
    }
    patience = 0
    for (index, context) in contexts.enumerated().reversed() {
      home(index)
      context.mergePolicy = .mergeByPropertyObjectTrump
      attempt { try context.save() }
    }
    try check("the end")
  }

  func nextStamp() -> Int {
    lastStamp += 1
    return lastStamp
  }

  /// What a program may do whenever it is called.
  func meddle(_ object: Extra?) {
    guard depth > 0, depth < 4, patience > 0, random.below(3) == 0 else { return }
    patience -= 1
    meddlingCount += 1
    attempt { try self.act(object) }
  }

  /// Errors are answers.
  private func attempt(_ body: () throws -> Void) {
    depth += 1
    defer { depth -= 1 }
    do {
      try body()
    } catch is PersistenceError {
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
  }

  private func hold(_ objects: [Extra], _ index: Int) {
    let former = held[index]
    held[index] = objects
    withExtendedLifetime(former) {}
  }

  private func any(_ index: Int) -> Extra? {
    let living = held[index].filter { $0.managedObjectContext === contexts[index] }
    return living.isEmpty ? nil : living[random.below(living.count)]
  }

  private func act(_ object: Extra? = nil) throws {
    let index = random.below(contexts.count)
    let context = contexts[index]
    let one =
      object?.managedObjectContext === context && random.below(2) == 0 ? object : any(index)
    let kind = random.below(34)
    switch kind {
    case 0...3:
      guard context.persistentStoreCoordinator != nil else { return home(index) }
      let new = Extra(context: context)
      if random.below(3) == 0 { new.key = "key \(random.below(5))" }
      held[index].append(new)
    case 4, 5: one?.number = random.below(100)
    case 6: one?.key = random.below(2) == 0 ? nil : "key \(random.below(5))"
    case 7, 8: one?.parent = any(index)
    case 9: one?.twin = any(index)
    case 10, 11: if let one, let other = any(index) { one.friends.insert(other) }
    case 12: if let one, let other = one.friends.first { one.friends.remove(other) }
    case 13:
      if let one {
        one.ranks = held[index].prefix(random.below(4)).filter {
          $0 !== one && $0.managedObjectContext === context
        }
      }
    case 14: one?.idol = any(index)
    case 15: if let one { context.delete(one) }
    case 16:
      // Undoing an insertion takes the stamp away as well.
      if context.undoManager == nil, let one = held[index].last(where: \.isDeleted) {
        context.insert(one)
      }
    case 17...20:
      try context.save()
      saveCount += 1
    case 21: context.rollback()
    case 22: if random.below(3) == 0 { context.reset() }
    case 23: if let one { context.refresh(one, mergeChanges: random.below(2) == 0) }
    case 24: context.refreshAllObjects()
    case 25: context.processPendingChanges()
    case 26:
      hold(try context.fetch(FetchRequest<Extra>()), index)
    case 27:
      var request = FetchRequest<Extra>()
      request.predicate = try FetchPredicate(format: "parent != nil OR number > 50")
      let found = try context.fetch(request)
      held[index] += found
    case 28: try context.undoManager?.undo()
    case 29: try context.undoManager?.redo()
    case 30: hold(held[index].filter { _ in random.below(2) == 0 }, index)
    case 31: if let one { try context.obtainPermanentIDs(for: [one]) }
    case 32:
      if observations.isEmpty || random.below(2) == 0 {
        observe(index)
      } else {
        let former = observations.remove(at: random.below(observations.count))
        withExtendedLifetime(former) {}
      }
    default:
      guard random.below(3) == 0 else { return }
      if random.below(2) == 0, index != 0 { context.persistentStoreCoordinator = nil }
      home(index)
    }
  }

  /// Brings a context back to where it was.
  private func home(_ index: Int) {
    if index < 2 {
      contexts[index].persistentStoreCoordinator = coordinator
    } else {
      contexts[index].parent = contexts[index == 2 ? 0 : 2]
    }
  }

  // MARK: Checking

  private func describe(_ object: ManagedObject) -> String {
    let state = [
      object.isInserted ? "inserted" : nil, object.isUpdated ? "updated" : nil,
      object.isDeleted ? "deleted" : nil, object.isFault ? "fault" : nil,
      object.managedObjectContext == nil ? "outside" : nil,
    ].compactMap(\.self)
    let relationships = object.entity.relationships.compactMap { relationship -> String? in
      let ids = (try? object.objectIDs(forRelationshipNamed: relationship.name)) ?? []
      return ids.isEmpty ? nil : "\(relationship.name)=\(ids.map { "\($0)" }.sorted())"
    }
    return "\(object.objectID) \(state) \(relationships)"
  }

  /// The first thing that is not as it should be.
  private func check(_ place: String) throws {
    guard isCalm || environmentValue("QUIRE_STRICT") == "1" else { return }
    let patience = patience
    self.patience = 0
    defer { self.patience = patience }
    func require(_ holds: Bool, _ what: String) throws {
      if !holds { throw Broken(description: "\(place): \(what)") }
    }
    for (index, context) in contexts.enumerated() {
      let registered = context.registeredObjects
      try require(
        registered.allSatisfy { $0.managedObjectContext === context },
        "what context \(index) has registered is its own")
      try require(
        Set(registered.map(\.objectID)).count == registered.count,
        "context \(index) has one object for an ID")
      let changed = context.insertedObjects.union(context.updatedObjects)
        .union(context.deletedObjects)
      try require(
        changed.isSubset(of: registered),
        "what context \(index) saves is registered: "
          + changed.subtracting(registered).map(describe).joined(separator: ", "))
      try require(
        context.insertedObjects.allSatisfy(\.isInserted)
          && context.updatedObjects.allSatisfy(\.isUpdated)
          && context.deletedObjects.allSatisfy(\.isDeleted),
        "what context \(index) saves says so: "
          + changed.map(describe).joined(separator: ", "))
      try require(
        registered.allSatisfy { !$0.hasChanges || changed.contains($0) || $0.isDeleted },
        "context \(index) saves what has changes")
    }
    let context = GotchaHome.context(of: coordinator)
    for object in try context.fetch(FetchRequest<Extra>()) {
      try require(object.stamp != nil, "\(object.objectID) has its stamp")
      try require(
        object.parent.map { $0.children.contains(object) } != false
          && object.children.allSatisfy { $0.parent === object }
          && object.twin.map { $0.twin === object } != false
          && object.friends.allSatisfy { $0.friends.contains(object) }
          && object.ranks.allSatisfy { $0.rankedBy.contains(object) }
          && object.rankedBy.allSatisfy { $0.ranks.contains(object) },
        "both sides of the relationships of \(describe(object)) agree")
    }
  }
}

private struct Broken: Error, CustomStringConvertible {
  let description: String
}
