import Quire
import Testing

/// What a program's code does to a context in the middle of what the context does, and what a busy
/// context does not refuse (that is `BusyContextTests`).
///
/// The classes here meddle: in their hooks, in `init` and in `deinit` they call whatever a test
/// wants. Nothing may crash, and nothing may be saved that nobody has said.
@Suite(.serialized) struct ReentrancyTests {
  // MARK: One object for a row

  @Test func `an object whose class sets a property in init is the one its hook finds`() throws {
    let coordinator = try Meddler.coordinator(Hasty.self)
    let writer = GotchaHome.context(of: coordinator)
    for number in 1...20 { Hasty(context: writer).number = number }
    try writer.save()
    let reader = GotchaHome.context(of: coordinator)
    var looks = 0
    // What nobody holds would be made again, and would look again.
    var held: [[Hasty]] = []
    Hasty.whenFetched = { object in
      looks += 1
      #expect(reader.registeredObject(for: object.objectID) === object)
      let all = (try? reader.fetch(FetchRequest<Hasty>())) ?? []
      held.append(all)
      #expect(all.count == 20 && all.contains { $0 === object })
      #expect(Set(all.map { ObjectIdentifier($0) }).count == 20)
    }
    defer { Hasty.whenFetched = nil }
    let found = try reader.fetch(FetchRequest<Hasty>())
    #expect(found.map(\.number) == Array(1...20) && looks == 20)
    #expect(reader.registeredObjects == Set(found) && !reader.hasChanges)
    // The same of what a parent has, saved and not.
    let child = writer.newChildContext()
    Hasty(context: writer).number = 21
    var ids: [ManagedObjectID: Set<ObjectIdentifier>] = [:]
    Hasty.whenFetched = { object in
      ids[object.objectID, default: []].insert(ObjectIdentifier(object))
      held.append((try? child.fetch(FetchRequest<Hasty>())) ?? [])
      for other in held[held.count - 1] {
        ids[other.objectID, default: []].insert(ObjectIdentifier(other))
      }
    }
    let children = try child.fetch(FetchRequest<Hasty>())
    #expect(children.count == 21 && ids.count == 21)
    #expect(ids.values.allSatisfy { $0.count == 1 })
  }

  // MARK: Observers

  @Test func `objects that an init changes during another change are in the notice`() throws {
    let coordinator = try Meddler.coordinator()
    let writer = GotchaHome.context(of: coordinator)
    let (boss, report, other) = (
      Meddler(context: writer), Meddler(context: writer), Meddler(context: writer)
    )
    report.boss = boss
    try writer.save()
    let reader = GotchaHome.context(of: coordinator)
    let book = NoticeBook(reader, .didChangeObjects)
    let own = try #require(try reader.existingObject(with: report.objectID) as? Meddler)
    let second = try #require(try reader.existingObject(with: other.objectID) as? Meddler)
    Meddler.whenMade = { object in
      Meddler.whenMade = nil
      second.number += 1
      own.name = "changed within"
    }
    defer { Meddler.whenMade = nil }
    own.willChangeValue(forKey: "boss")
    try own.setPrimitiveValue(nil, forKey: "boss")
    own.didChangeValue(forKey: "boss")
    #expect(Meddler.whenMade == nil)
    #expect(second.number == 1 && own.name == "changed within" && own.boss == nil)
    reader.processPendingChanges()
    let notice = try #require(book.take().first)
    #expect(notice.updatedObjects == [own, second])
    #expect(
      notice.objectIDs.changedProperties[own.objectID]?.isSuperset(of: ["boss", "name"]) == true)
  }

  enum Ending: CaseIterable { case event, refresh, rollback, reset, departure }

  /// What a property was is held by nobody but the event.
  @Test(arguments: Ending.allCases)
  func `an object that only the event kept alive may change others in its deinit`(_ ending: Ending)
    throws
  {
    let context = GotchaHome.context(of: try Meddler.coordinator())
    let (object, other) = (Meddler(context: context), Meddler(context: context))
    try context.save()
    let observation = context.observe([.didChangeObjects]) { _ in }
    var goneCount = 0
    try {
      let gone = Meddler(context: context)
      object.idol = gone
      try context.save()
      gone.whenGone = { [unowned context] in
        goneCount += 1
        other.number += 1
        _ = object.changedValuesForCurrentEvent()
        context.processPendingChanges()
      }
      object.idol = nil
      // Now it is clean in the context: the row says the same.
      if ending == .refresh { try context.save() }
    }()
    #expect(goneCount == 0 || ending == .refresh)
    switch ending {
    case .event: context.processPendingChanges()
    case .refresh: context.refresh(object, mergeChanges: false)
    case .rollback: context.rollback()
    case .reset: context.reset()
    case .departure: context.persistentStoreCoordinator = nil
    }
    #expect(goneCount == 1)
    observation.cancel()
  }

  @Test func `an undo action's captured object may call the manager in its deinit`() throws {
    final class Keeper {
      let body: () -> Void
      init(_ body: @escaping () -> Void) { self.body = body }
      deinit { body() }
    }
    let target = Keeper {}
    let other = Keeper {}
    let manager = UndoManager()
    manager.groupsByEvent = false
    var goneCount = 0
    func register(_ target: Keeper) throws {
      let keeper = Keeper { [unowned manager] in
        goneCount += 1
        manager.removeAllActions(withTarget: other)
        _ = (manager.canUndo, manager.canRedo, manager.undoActionName, manager.groupingLevel)
      }
      manager.beginUndoGrouping()
      manager.registerUndo(withTarget: target) { _ in withExtendedLifetime(keeper) {} }
      try manager.endUndoGrouping()
    }
    for round in 0..<6 {
      goneCount = 0
      for _ in 0..<5 {
        try register(target)
        try register(other)
      }
      switch round {
      case 0: manager.removeAllActions()
      case 1:
        manager.levelsOfUndo = 3
        manager.levelsOfUndo = 0
        #expect(goneCount == 10 - 3 || goneCount == 10 - 1)
      case 2: manager.removeAllActions(withTarget: target)
      case 3:
        try manager.undo()
        try manager.undo()
      case 4:
        try manager.undo()
        // Nothing can be made again after this.
        try register(target)
      default:
        manager.beginUndoGrouping()
        try register(target)
        manager.removeAllActions(withTarget: target)
        try manager.endUndoGrouping()
      }
      #expect(goneCount > 0)
      manager.removeAllActions()
      #expect(!manager.canUndo && !manager.canRedo && manager.groupingLevel == 0)
    }
  }

  // MARK: Saves to a parent

  @Test func `a parent observer's changes in a saving child are in this save or the next`() throws {
    let parent = GotchaHome.context(of: try Meddler.coordinator())
    let (boss, other) = (Meddler(context: parent), Meddler(context: parent))
    try parent.save()
    let child = parent.newChildContext()
    let own = try #require(try child.existingObject(with: boss.objectID) as? Meddler)
    let ownOther = try #require(try child.existingObject(with: other.objectID) as? Meddler)
    own.name = "changed"
    var counts: [Int] = []
    let observation = parent.observe([.didChangeObjects]) { notice in
      counts.append(notice.updatedObjects.count)
      ownOther.number += 1
      own.number += 1
    }
    other.name = "pending"
    try child.save()
    // Once for what was pending, in time; and once for what was handed over, for the next save.
    #expect(counts == [1, 2])
    #expect(boss.name == "changed" && boss.number == 1 && other.number == 1)
    #expect(own.number == 2 && ownOther.number == 2)
    #expect(child.updatedObjects == [own, ownOther])
    observation.cancel()
    try child.save()
    #expect(boss.number == 2 && other.number == 2 && !child.hasChanges)
  }

  /// What undo keeps of a deletion was read when the save had its list of objects already: it made
  /// the context forget an object that a class inserted there.
  @Test(arguments: [false, true])
  func `an object that a class inserts in init during a save is saved`(_ isChild: Bool) throws {
    let coordinator = try Meddler.coordinator()
    let writer = GotchaHome.context(of: coordinator)
    let (idol, fan) = (Meddler(context: writer), Meddler(context: writer))
    fan.idol = idol
    try writer.save()
    let reader = GotchaHome.context(of: coordinator)
    let context = isChild ? reader.newChildContext() : reader
    context.undoManager = UndoManager()
    let own = try #require(try context.existingObject(with: fan.objectID) as? Meddler)
    context.delete(own)
    context.processPendingChanges()
    var made: Meddler?
    Meddler.whenMade = { object in
      guard object.objectID == idol.objectID else { return }
      Meddler.whenMade = nil
      made = Meddler(context: context)
    }
    defer { Meddler.whenMade = nil }
    try context.save()
    let inserted = try #require(made)
    #expect(!inserted.hasChanges && !context.hasChanges)
    if isChild { try reader.save() }
    // The idol and the new one.
    #expect(try writer.count(for: FetchRequest<Meddler>()) == 2)
    context.undo()
    #expect(own.idol?.objectID == idol.objectID)
  }

  /// An object that returns leads back to what others have led to it, which is made for that.
  @Test func `an object that a class inserts in init while another is restored is saved`() throws {
    let coordinator = try Meddler.coordinator()
    let (one, two) = (
      GotchaHome.context(of: coordinator), GotchaHome.context(of: coordinator)
    )
    one.mergePolicy = .mergeByPropertyObjectTrump
    one.undoManager = UndoManager()
    let thing = Meddler(context: one)
    try one.save()
    one.undoManager?.removeAllActions()
    let other = Meddler(context: two)
    try other.setValue(two.existingObject(with: thing.objectID), forKey: "cover")
    one.delete(thing)
    one.processPendingChanges()
    try two.save()
    try one.save()
    one.undo()
    var made: Meddler?
    Meddler.whenMade = { object in
      guard object.objectID == other.objectID else { return }
      Meddler.whenMade = nil
      made = Meddler(context: one)
    }
    defer { Meddler.whenMade = nil }
    try one.save()
    #expect(try !#require(made).hasChanges && !one.hasChanges)
    #expect(try thing.value(forKey: "covered") as? Meddler != nil)
    #expect(try two.count(for: FetchRequest<Meddler>()) == 3)
  }

  @Test func `a parent's observer may save what a child hands over`() throws {
    let coordinator = try Meddler.coordinator()
    let parent = GotchaHome.context(of: coordinator)
    let boss = Meddler(context: parent)
    try parent.save()
    var count = 0
    let observation = parent.observe([.didChangeObjects]) { _ in
      guard parent.hasChanges else { return }
      count += 1
      #expect(throws: Never.self) { try parent.save() }
    }
    let child = parent.newChildContext()
    let own = try #require(try child.existingObject(with: boss.objectID) as? Meddler)
    let new = Meddler(context: child)
    for round in 1...3 {
      (own.number, new.number, new.boss) = (round, 10 + round, round == 2 ? nil : own)
      try child.save()
      #expect(count == round && !parent.hasChanges && !child.hasChanges)
      #expect(try child.fetch(FetchRequest<Meddler>()) == [own, new])
      let check = GotchaHome.context(of: coordinator)
      #expect(try check.fetch(FetchRequest<Meddler>()).map(\.number) == [round, 10 + round])
      #expect(try check.fetch(FetchRequest<Meddler>())[0].reports.count == (round == 2 ? 0 : 1))
      #expect(own.reports == (round == 2 ? [] : [new]))
    }
    child.delete(new)
    try child.save()
    #expect(count == 4)
    #expect(try GotchaHome.context(of: coordinator).count(for: FetchRequest<Meddler>()) == 1)
    observation.cancel()
  }

  // MARK: The end of an object

  /// What looks for objects finds this one too, and must not keep it.
  @Test func `a deinit that asks the context harms nobody, if nothing keeps the object`() throws {
    let coordinator = try Meddler.coordinator()
    let writer = GotchaHome.context(of: coordinator)
    let boss = Meddler(context: writer)
    for _ in 0..<3 { Meddler(context: writer).boss = boss }
    try writer.save()
    let context = GotchaHome.context(of: coordinator)
    var kept: [Meddler] = []
    var goneCount = 0
    try {
      let object = try #require(try context.existingObject(with: boss.objectID) as? Meddler)
      let id = object.objectID
      object.whenGone = {
        goneCount += 1
        #expect(context.registeredObject(for: id)?.objectID == id)
        #expect(context.registeredObjects.count == 1)
        #expect(throws: Never.self) {
          kept = try context.fetch(FetchRequest<Meddler>()).filter { $0.objectID != id }
        }
        #expect(kept.count == 3 && kept.allSatisfy { $0.boss?.objectID == id })
      }
    }()
    #expect(goneCount == 1 && context.registeredObjects == Set(kept))
    let found = try #require(try context.existingObject(with: boss.objectID) as? Meddler)
    #expect(found.reports == Set(kept) && kept.allSatisfy { $0.boss === found })
  }

  // MARK: Other stores

  @Test(arguments: [false, true])
  func `an insertion while a context changes stores goes to the new store or is dropped`(
    _ isOfParent: Bool
  ) throws {
    let (first, second) = (try Meddler.coordinator(), try Meddler.coordinator(Hasty.self))
    let context = GotchaHome.context(of: first)
    let parent = GotchaHome.context(of: second)
    let object = Meddler(context: context)
    object.name = "a"
    try context.save()
    Meddler.whenFault = { _ in
      Meddler(context: context).number = 1
      object.number = 5
    }
    defer { Meddler.whenFault = nil }
    var told = 0
    let observation = context.observe([.didChangeObjects]) { notice in
      guard notice.objectIDs.invalidatedAllObjects else { return }
      told += 1
      #expect(context.registeredObjects.isEmpty && !context.hasChanges)
      #expect(context.persistentStoreCoordinator === second)
      Hasty(context: context).number = 2
    }
    if isOfParent { context.parent = parent } else { context.persistentStoreCoordinator = second }
    withExtendedLifetime(observation) {}
    #expect(told == 1 && object.managedObjectContext == nil)
    #expect(context.insertedObjects.count == 1 && context.registeredObjects.count == 1)
    try context.save()
    if isOfParent { try parent.save() }
    let check = GotchaHome.context(of: second)
    #expect(try check.fetch(FetchRequest<Hasty>()).map(\.number) == [2])
  }

  @Test func `an object that deletes itself when its changes are dropped is not deleted`() throws {
    let context = GotchaHome.context(of: try Meddler.coordinator())
    let object = Meddler(context: context)
    try context.save()
    var count = 0
    Meddler.beforeFault = { object in
      count += 1
      context.delete(object)
    }
    defer { Meddler.beforeFault = nil }
    for isReset in [false, true] {
      object.number = 7
      isReset ? context.reset() : context.rollback()
      #expect(!object.isDeleted && context.deletedObjects.isEmpty && !context.hasChanges)
      try context.save()
    }
    #expect(count == 2)
    Meddler.beforeFault = nil
    #expect(try context.fetch(FetchRequest<Meddler>()).map(\.number) == [0])
  }

  @Test func `an object that changes itself when it is reset has left all the same`() throws {
    let coordinator = try Meddler.coordinator()
    let context = GotchaHome.context(of: coordinator)
    let object = Meddler(context: context)
    try context.save()
    Meddler.whenFault = { $0.number += 1 }
    defer { Meddler.whenFault = nil }
    _ = object.number
    context.reset()
    #expect(object.managedObjectContext == nil && !context.hasChanges)
    try context.save()
    Meddler.whenFault = nil
    #expect(try context.fetch(FetchRequest<Meddler>()).map(\.number) == [0])
  }
}

private final class Meddler: ManagedObject {
  // Sound: the suite runs one test at a time, in one isolation.
  nonisolated(unsafe) static var whenMade: ((Meddler) -> Void)?
  nonisolated(unsafe) static var whenFetched: ((Meddler) -> Void)?
  nonisolated(unsafe) static var beforeFault: ((Meddler) -> Void)?
  nonisolated(unsafe) static var whenFault: ((Meddler) -> Void)?

  static let model = try! ManagedObjectModel {
    Entity("Meddler") {
      Attribute("name", .string)
      Attribute("number", .integer64, optional: false, default: 0)
      Relationship("boss", toOne: "Meddler", inverse: "reports")
      Relationship("reports", toMany: "Meddler", inverse: "boss")
      Relationship("friend", toOne: "Meddler", inverse: "friends")
      Relationship("friends", toMany: "Meddler", inverse: "friend")
      Relationship("idol", toOne: "Meddler")
      Relationship("cover", toOne: "Meddler", inverse: "covered", deleteRule: .noAction)
      Relationship("covered", toOne: "Meddler", inverse: "cover", deleteRule: .noAction)
    }
  }

  static func coordinator(
    _ type: ManagedObject.Type = Meddler.self
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: [type])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return coordinator
  }

  @Managed var name: String?
  @Managed var number: Int
  @Managed var boss: Meddler?
  @Managed var reports: Set<Meddler>
  @Managed var friend: Meddler?
  @Managed var friends: Set<Meddler>
  @Managed var idol: Meddler?
  var whenGone: (() -> Void)?

  required init(_ origin: Origin) {
    super.init(origin)
    Meddler.whenMade?(self)
  }

  deinit { whenGone?() }

  override func awakeFromFetch() { Meddler.whenFetched?(self) }
  override func willTurnIntoFault() { Meddler.beforeFault?(self) }
  override func didTurnIntoFault() { Meddler.whenFault?(self) }
}

/// Another class of the entity, which sets a property before anybody else has the object.
private final class Hasty: ManagedObject {
  override class var modelEntityName: String { "Meddler" }
  // Sound: as in `Meddler`.
  nonisolated(unsafe) static var whenFetched: ((Hasty) -> Void)?

  @Managed var name: String?
  @Managed var number: Int

  required init(_ origin: Origin) {
    super.init(origin)
    name = "set by the class"
  }

  override func awakeFromFetch() { Hasty.whenFetched?(self) }
}
