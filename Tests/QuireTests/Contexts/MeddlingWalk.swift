import Quire
import QuireSimulation

/// An object that calls the walk in every hook.
final class Extra: ManagedObject {
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
  @Managed var line: [Extra]
  @Managed var head: Extra?
  @Managed var cover: Extra?
  @Managed var covered: Extra?

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

final class ExtraPolicy: MergePolicy {
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
    Relationship("line", toMany: "Extra", inverse: "head", ordered: true)
    Relationship("head", toOne: "Extra", inverse: "line")
    Relationship("cover", toOne: "Extra", inverse: "covered", deleteRule: .noAction)
    Relationship("covered", toOne: "Extra", inverse: "cover", deleteRule: .noAction)
    UniquenessConstraint("key")
  }
}

/// What is done at one moment of a walk. Its numbers are its own, so that it does much the same
/// whatever was done before.
struct MeddlingStep: ShrinkableOperation {
  let seed: UInt64
  /// How often it may be meddled with.
  var patience: Int

  static func sequence(seed: UInt64, count: Int) -> [MeddlingStep] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in MeddlingStep(seed: random.next(), patience: random.below(9)) }
  }

  var simpler: [MeddlingStep] {
    Set([0, patience / 2, patience - 1]).filter { $0 >= 0 && $0 < patience }.sorted()
      .map { MeddlingStep(seed: seed, patience: $0) }
  }
}

/// One store and its contexts, and what is done to them.
final class MeddlingWalk {
  private var random: SeededGenerator
  private let coordinator: PersistentStoreCoordinator
  private let contexts: [ManagedObjectContext]
  private var types: [MergePolicyType] = []
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
  private var unexpectedError: (any Error)?
  /// What was done, where a step is meddled with further to the right.
  /// Printed as it grows where one seed was asked for: an assertion ends the process.
  private(set) var trace: [String] = [] {
    didSet { if Seeds.wanted?.count == 1, let line = trace.last { print(line) } }
  }

  init(_ seed: UInt64, isCalm: Bool) throws {
    self.isCalm = isCalm
    random = SeededGenerator(seed: seed)
    coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: [Extra.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let stored = [GotchaHome.context(of: coordinator), GotchaHome.context(of: coordinator)]
    let child = stored[0].newChildContext()
    contexts = stored + [child, child.newChildContext()]
    held = contexts.map { _ in [] }
    for (index, context) in contexts.enumerated() {
      types.append(MergePolicyType(rawValue: random.below(MergePolicyType.allCases.count))!)
      context.mergePolicy = ExtraPolicy(merge: types[index])
      context.automaticallyMergesChangesFromParent = random.below(2) == 0
      if random.below(2) == 0 { context.undoManager = UndoManager() }
      observe(index)
    }
  }

  private func observe(_ index: Int) {
    let observation = contexts[index].observe { [unowned self] notice in
      meddle(Self.first(of: notice.updatedObjects) as? Extra)
    }
    observations.append(observation)
  }

  /// Does one step after the other.
  ///
  /// - Returns: what has gone wrong; `nil` when nothing has.
  func failure(of steps: [MeddlingStep]) -> String? {
    Extra.walk = self
    defer { Extra.walk = nil }
    var failure: String?
    do {
      try go(steps)
      if let unexpectedError { throw unexpectedError }
    } catch {
      failure = "\(error)"
    }
    patience = 0
    observations = []
    for index in contexts.indices { hold([], index) }
    return failure
  }

  private func go(_ steps: [MeddlingStep]) throws {
    for step in steps {
      patience = isCalm ? 0 : step.patience
      random = SeededGenerator(seed: step.seed)
      attempt { try self.act() }
      try check()
    }
    patience = 0
    for (index, context) in contexts.enumerated().reversed() {
      home(index)
      context.mergePolicy = .mergeByPropertyObjectTrump
      note("save at the end", index)
      attempt { try context.save() }
      try check()
    }
  }

  /// How the contexts differ.
  var description: String {
    contexts.enumerated().map { index, context in
      "context \(index): \(types[index])"
        + (context.automaticallyMergesChangesFromParent ? ", merges by itself" : "")
        + (context.undoManager == nil ? "" : ", undo")
    }.joined(separator: "\n")
  }

  private func note(_ act: @autoclosure () -> String, _ index: Int) {
    trace.append(String(repeating: "  ", count: depth) + "context \(index): \(act())")
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
    } catch let error as PersistenceError {
      trace.append(String(repeating: "  ", count: depth) + "refused: \(error)")
    } catch {
      unexpectedError = error
    }
  }

  private func hold(_ objects: [Extra], _ index: Int) {
    let former = held[index]
    held[index] = objects
    withExtendedLifetime(former) {}
  }

  /// The same one in every run.
  private static func first<Object: ManagedObject>(of objects: Set<Object>) -> Object? {
    func order(_ object: Object) -> (Int, Int, String) {
      let name = "\(object.objectID)"
      return (object.objectID.isTemporaryID ? 1 : 0, name.count, name)
    }
    return objects.min { order($0) < order($1) }
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
    switch random.below(34) {
    case 0...3:
      guard context.persistentStoreCoordinator != nil else { return home(index) }
      let new = Extra(context: context)
      note("insert \(new.objectID)", index)
      if random.below(3) == 0 { new.key = "key \(random.below(5))" }
      held[index].append(new)
    case 4...14: if let one { try change(one, index) }
    case 15:
      if let one {
        note("delete \(one.objectID)", index)
        context.delete(one)
      }
    case 16:
      // Undoing an insertion takes the stamp away as well.
      if context.undoManager == nil, let one = held[index].last(where: \.isDeleted) {
        note("insert \(one.objectID) again", index)
        context.insert(one)
      }
    case 17...20:
      note("save", index)
      try context.save()
      saveCount += 1
    case 21...25: look(one, index)
    case 26:
      note("fetch all", index)
      hold(try context.fetch(FetchRequest<Extra>()), index)
    case 27:
      note("fetch some", index)
      var request = FetchRequest<Extra>()
      request.predicate = try FetchPredicate(format: "parent != nil OR number > 50")
      held[index] += try context.fetch(request)
    case 28:
      note("undo", index)
      try context.undoManager?.undo()
    case 29:
      note("redo", index)
      try context.undoManager?.redo()
    case 30:
      note("let go of some", index)
      hold(held[index].filter { _ in random.below(2) == 0 }, index)
    case 31:
      if let one {
        note("obtain an ID for \(one.objectID)", index)
        try context.obtainPermanentIDs(for: [one])
      }
    case 32:
      if observations.isEmpty || random.below(2) == 0 {
        observe(index)
      } else {
        let former = observations.remove(at: random.below(observations.count))
        withExtendedLifetime(former) {}
      }
    default:
      guard random.below(3) == 0 else { return }
      note("leave the store", index)
      if random.below(2) == 0, index != 0 { context.persistentStoreCoordinator = nil }
      home(index)
    }
  }

  private func change(_ one: Extra, _ index: Int) throws {
    let other = any(index)
    func note(_ property: String) {
      self.note(
        "\(one.objectID) \(property) \(other.map { "\($0.objectID)" } ?? "nothing")", index)
    }
    switch random.below(15) {
    case 0, 1: one.number = random.below(100)
    case 2: one.key = random.below(2) == 0 ? nil : "key \(random.below(5))"
    case 3, 4:
      note("parent")
      one.parent = other
    case 5:
      note("twin")
      one.twin = other
    case 6, 7:
      note("new friend")
      if let other { one.friends.insert(other) }
    case 8:
      note("friend less")
      if let other = Self.first(of: one.friends) { one.friends.remove(other) }
    case 9:
      note("ranks")
      one.ranks = others(than: one, index)
    case 10:
      note("line")
      one.line = others(than: one, index)
    case 11:
      note("head")
      one.head = other
    case 12:
      note("cover")
      one.cover = other
    case 13:
      note("covered")
      one.covered = other
    default:
      note("idol")
      one.idol = other
    }
  }

  private func others(than one: Extra, _ index: Int) -> [Extra] {
    held[index].prefix(random.below(4)).filter {
      $0 !== one && $0.managedObjectContext === contexts[index]
    }
  }

  /// What drops changes, or looks at what others have done.
  private func look(_ one: Extra?, _ index: Int) {
    let context = contexts[index]
    switch random.below(5) {
    case 0:
      note("rollback", index)
      context.rollback()
    case 1:
      guard random.below(3) == 0 else { return }
      note("reset", index)
      context.reset()
    case 2:
      guard let one else { return }
      let keepsChanges = random.below(2) == 0
      note("refresh \(one.objectID), keeping changes: \(keepsChanges)", index)
      context.refresh(one, mergeChanges: keepsChanges)
    case 3:
      note("refresh all", index)
      context.refreshAllObjects()
    default:
      note("process", index)
      context.processPendingChanges()
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
  private func check() throws {
    let patience = patience
    self.patience = 0
    defer { self.patience = patience }
    func require(_ holds: Bool, _ what: String) throws {
      if !holds { throw Broken(description: what) }
    }
    for (index, context) in contexts.enumerated() {
      let registered = context.registeredObjects
      try require(
        registered.allSatisfy { $0.managedObjectContext === context },
        "what context \(index) has registered is its own")
      try require(
        Set(registered.map(\.objectID)).count == registered.count,
        "context \(index) has one object for an ID")
      let broken = context.brokenInvariants
      try require(broken.isEmpty, "context \(index) is sound: \(broken.joined(separator: "; "))")
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
        "context \(index) saves what has changes: "
          + registered.subtracting(changed).filter(\.hasChanges).map(describe)
          .joined(separator: ", "))
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
          && object.rankedBy.allSatisfy { $0.ranks.contains(object) }
          && object.line.allSatisfy { $0.head === object }
          && object.head.map { $0.line.contains(object) } != false
          && object.cover.map { $0.covered === object } != false
          && object.covered.map { $0.cover === object } != false,
        "both sides of the relationships of \(describe(object)) agree")
    }
  }
}

private struct Broken: Error, CustomStringConvertible {
  let description: String
}
