import Quire
import Testing

/// What the random walk over meddling classes has found: changes of which one half was dropped, or
/// saved, by what a hook did in the middle.
@Suite(.serialized) struct HalfChangeTests {
  private static func context() throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Half.model, classes: [Half.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return GotchaHome.context(of: coordinator)
  }

  /// Both sides of everything that the store has agree.
  ///
  /// - Parameter body: gets the objects of the store by their numbers.
  private static func expectWhole(
    _ context: ManagedObjectContext, _ body: ([Half]) throws -> Void
  ) throws {
    let check = SmallGallery.sibling(of: context)
    Half.forgetHooks()
    let found = try check.fetch(FetchRequest<Half>())
    for object in found {
      if let twin = object.twin { #expect(twin.twin === object) }
      if let parent = object.parent { #expect(parent.children.contains(object)) }
      for friend in object.friends { #expect(friend.friends.contains(object)) }
      for child in object.children { #expect(child.parent === object) }
      for rank in object.ranks { #expect(rank.rankedBy.contains(object)) }
      for other in object.rankedBy { #expect(other.ranks.contains(object)) }
    }
    try body(found.sorted { $0.number < $1.number })
    withExtendedLifetime(check) {}
  }

  private static func insert(_ count: Int, _ context: ManagedObjectContext) -> [Half] {
    (0..<count).map { number in
      let object = Half(context: context)
      object.number = number
      return object
    }
  }

  // MARK: Objects that are told that their values go

  enum Loss: CaseIterable { case refresh, merge, automaticMerge, rollback }

  /// The object lost what it had changed of itself. The other side kept it, and was saved.
  @Test(arguments: Loss.allCases)
  func `relationships changed while an object turns into a fault are dropped on both sides`(
    _ loss: Loss
  ) throws {
    let one = try Self.context()
    let two = SmallGallery.sibling(of: one)
    defer { Half.forgetHooks() }
    let theirs = Self.insert(4, one)
    try one.save()
    two.automaticallyMergesChangesFromParent = loss == .automaticMerge
    let own = try theirs.map { try #require(try two.existingObject(with: $0.objectID) as? Half) }
    _ = own.map(\.number)
    var count = 0
    Half.beforeFault = { object in
      guard object === own[0] else { return }
      count += 1
      object.friends = [own[1], own[2]]
      object.twin = own[1]
      object.parent = own[2]
      object.ranks = [own[3], own[1]]
    }
    let book = NoticeBook(one, .didSaveObjectIDs)
    switch loss {
    case .refresh: two.refresh(own[0], mergeChanges: false)
    case .rollback:
      own[0].number = 7
      two.rollback()
    case .merge, .automaticMerge:
      theirs[0].name = "theirs"
      try one.save()
      for notice in book.take() where loss == .merge {
        two.mergeChanges(fromContextDidSave: notice)
      }
      two.processPendingChanges()
    }
    #expect(count == 1)
    Half.beforeFault = nil
    for object in own {
      #expect(object.friends.isEmpty && object.twin == nil && object.parent == nil)
      #expect(object.ranks.isEmpty && object.rankedBy.isEmpty && object.children.isEmpty)
    }
    try two.save()
    try Self.expectWhole(one) { stored in
      #expect(stored.map(\.number) == [0, 1, 2, 3])
      for object in stored {
        #expect(object.friends.isEmpty && object.twin == nil && object.parent == nil)
      }
    }
  }

  @Test func `changes, insertions and deletions made during a rollback are rolled back`() throws {
    let context = try Self.context()
    defer { Half.forgetHooks() }
    let objects = Self.insert(4, context)
    try context.save()
    objects[0].number = 8
    var late: Half?
    Half.beforeFault = { _ in
      Half.beforeFault = nil
      objects[1].number = 9
      context.delete(objects[2])
      late = Half(context: context)
      late?.number = 10
    }
    context.rollback()
    #expect(!context.hasChanges && late?.managedObjectContext == nil && !objects[2].isDeleted)
    try context.save()
    try Self.expectWhole(context) { #expect($0.map(\.number) == [0, 1, 2, 3]) }
  }

  // MARK: Objects whose rows come in the middle

  enum Meddling: CaseIterable { case refresh, delete }
  enum Change: CaseIterable { case twin, parent, children, friends, lessFriends, ranks }

  /// The hook of a destination was called when the other side had changed already: what it dropped
  /// then was half of the change.
  @Test(arguments: Change.allCases, Meddling.allCases)
  func `a hook that drops changes when a row is read meets a whole change, or none`(
    _ change: Change, _ meddling: Meddling
  ) throws {
    let one = try Self.context()
    let two = SmallGallery.sibling(of: one)
    defer { Half.forgetHooks() }
    let theirs = Self.insert(6, one)
    theirs[0].twin = theirs[1]
    theirs[2].twin = theirs[3]
    theirs[0].parent = theirs[4]
    theirs[0].friends = [theirs[1], theirs[2]]
    theirs[0].ranks = [theirs[1], theirs[2]]
    theirs[1].parent = theirs[3]
    try one.save()
    // From the first row that comes to the last.
    for last in 1...6 {
      two.reset()
      two.undoManager = UndoManager()
      var own = try theirs.map { try #require(two.object(with: $0.objectID) as? Half) }
      own[5].name = "\(last)"
      two.processPendingChanges()
      var count = 0
      Half.whenFetched = { object in
        count += 1
        guard count == last, object.managedObjectContext === two else { return }
        switch meddling {
        case .refresh: for object in own { two.refresh(object, mergeChanges: false) }
        case .delete: two.delete(object)
        }
      }
      switch change {
      case .twin: own[0].twin = own[2]
      case .parent: own[0].parent = own[3]
      case .children: own[3].children = [own[0], own[2]]
      case .friends: own[3].friends = [own[0], own[2]]
      case .lessFriends: own[0].friends = []
      case .ranks: own[0].ranks = [own[3], own[2]]
      }
      Half.whenFetched = nil
      // That is what the test is about: later rows may not come, as the change is over.
      #expect(last > 1 || count > 0)
      two.processPendingChanges()
      try? two.save()
      own = []
      var storedCount = 0
      try Self.expectWhole(one) { storedCount = $0.count }
      if meddling == .delete, storedCount < 6 { return }
    }
  }

  /// What the rules had cleared by then was lost: the object came back, and nobody led to it.
  @Test func `who is inserted again while its delete rules are applied is led to as before`() throws
  {
    let one = try Self.context()
    let two = SmallGallery.sibling(of: one)
    defer { Half.forgetHooks() }
    let theirs = Self.insert(5, one)
    theirs[0].friends = Set(theirs[1...])
    theirs[0].twin = theirs[1]
    try one.save()
    let own = try #require(try two.existingObject(with: theirs[0].objectID) as? Half)
    var count = 0
    Half.whenFetched = { _ in
      count += 1
      if count == 3 { two.insert(own) }
    }
    two.delete(own)
    two.processPendingChanges()
    #expect(count >= 3 && !own.isDeleted)
    try two.save()
    try Self.expectWhole(one) { stored in
      #expect(stored[0].friends.count == 4 && stored[0].twin === stored[1])
    }
  }

  /// What it leads to was found first, and led back when it led elsewhere.
  @Test func `who is inserted again is led to by what it leads to after a hook has changed that`()
    throws
  {
    let parent = try Self.context()
    let child = parent.newChildContext()
    defer { Half.forgetHooks() }
    let theirs = Self.insert(3, parent)
    try parent.save()
    let own = try #require(try child.existingObject(with: theirs[0].objectID) as? Half)
    child.delete(own)
    child.processPendingChanges()
    theirs[0].twin = theirs[1]
    var count = 0
    Half.whenFetched = { object in
      guard object.managedObjectContext === child, object.number == 1 else { return }
      count += 1
      theirs[0].twin = theirs[2]
    }
    child.insert(own)
    #expect(count == 1)
    #expect(child.brokenInvariants == [])
    #expect(own.twin?.number == 2)
    #expect((child.object(with: theirs[1].objectID) as? Half)?.twin == nil)
    try child.save()
    try parent.save()
    try Self.expectWhole(parent) { #expect($0[0].twin === $0[2]) }
  }

  // MARK: Deletions of what is gone

  /// It came back without any of its values, and was saved so over the one that the parent had.
  @Test func `undo does not bring back what the parent had deleted when it was deleted here`()
    throws
  {
    let parent = try Self.context()
    let child = parent.newChildContext()
    child.undoManager = UndoManager()
    let object = Half(context: child)
    object.number = 3
    try child.save()
    let counterpart = try #require(
      try parent.fetch(FetchRequest<Half>()).first { $0.number == 3 })
    parent.delete(counterpart)
    parent.processPendingChanges()
    child.refresh(object, mergeChanges: true)
    child.delete(object)
    try child.save()
    child.undo()
    try child.save()
    #expect(!child.hasChanges && object.managedObjectContext == nil)
    try parent.save()
    try Self.expectWhole(parent) { #expect($0.isEmpty) }
  }
}

private final class Half: ManagedObject {
  // Sound: the suite runs one test at a time, in one isolation.
  nonisolated(unsafe) static var whenFetched: ((Half) -> Void)?
  nonisolated(unsafe) static var beforeFault: ((Half) -> Void)?

  static func forgetHooks() {
    (whenFetched, beforeFault) = (nil, nil)
  }

  static let model = try! ManagedObjectModel {
    Entity("Half") {
      Attribute("name", .string)
      Attribute("number", .integer64, optional: false, default: 0)
      Relationship("twin", toOne: "Half", inverse: "twin")
      Relationship("parent", toOne: "Half", inverse: "children")
      Relationship("children", toMany: "Half", inverse: "parent")
      Relationship("friends", toMany: "Half", inverse: "friends")
      Relationship("ranks", toMany: "Half", inverse: "rankedBy", ordered: true)
      Relationship("rankedBy", toMany: "Half", inverse: "ranks")
    }
  }

  @Managed var name: String?
  @Managed var number: Int
  @Managed var twin: Half?
  @Managed var parent: Half?
  @Managed var children: Set<Half>
  @Managed var friends: Set<Half>
  @Managed var ranks: [Half]
  @Managed var rankedBy: Set<Half>

  override func awakeFromFetch() { Half.whenFetched?(self) }
  override func willTurnIntoFault() { Half.beforeFault?(self) }
}
