import Quire
import Testing

/// What a busy context refuses: to save, roll back, reset, undo, redo, refresh all, merge, run a
/// batch, or move elsewhere, from wherever it calls the program's code.
@Suite(.serialized) struct BusyContextTests {
  /// Where the program's code is called.
  enum Occasion: CaseIterable {
    case awakeFromInsert, awakeFromFetch, makingAnObject
    case willSave, validation, didSave, prepareForDeletion
    case willTurnIntoFault, didTurnIntoFault
    case awakeAfterRefresh, awakeAfterRollback, awakeAfterUndo, undoAction
    case mergePolicy, constraintPolicy
    case observerOfWillSave, observerOfChangesWhileSaving
    case mergedObject, batchHandler, batchProgress
    case parentsObject, parentsObserver
  }

  /// What the code asks for, and what has to wait.
  enum Call: CaseIterable {
    case save, rollback, reset, undo, redo, undoOfManager, refreshAll
    case merge, mergeFromElsewhere, batch, setParent, parent, coordinator, generation

    fileprivate func make(_ context: ManagedObjectContext, _ scene: BusyScene) throws {
      switch self {
      case .save: try context.save()
      case .rollback: context.rollback()
      case .reset: context.reset()
      case .undo: context.undo()
      case .redo: context.redo()
      case .undoOfManager: try context.undoManager?.undo()
      case .refreshAll: context.refreshAllObjects()
      case .merge:
        context.mergeChanges(fromContextDidSave: scene.notice)
      case .mergeFromElsewhere:
        try ManagedObjectContext.mergeChanges(fromRemoteContextSave: [:], into: [context])
      case .batch: try context.execute(BatchUpdateRequest(entityName: "Busy"))
      case .setParent: try context.setParent(scene.other)
      case .parent: context.parent = scene.other
      case .coordinator: context.persistentStoreCoordinator = nil
      case .generation: try context.setQueryGeneration(from: .current)
      }
    }
  }

  @Test(arguments: Occasion.allCases)
  func `a busy context refuses what has to wait, and goes on`(_ occasion: Occasion) throws {
    defer { Busy.forgetHooks() }
    for call in Call.allCases {
      let scene = try BusyScene()
      let context = scene.context
      var refusals: [PersistenceError.Code] = []
      var count = 0
      func meddle(_ busy: ManagedObjectContext) {
        guard count == 0 else { return }
        count += 1
        let before = Situation(busy)
        do {
          try call.make(busy, scene)
          // What cannot throw keeps its error.
          try busy.throwKeptErrors()
        } catch let error as PersistenceError {
          refusals.append(error.code)
          if error.code == .managedObjectContextBusy { #expect("\(error)".contains("call")) }
        } catch {
          Issue.record(error)
        }
        #expect(Situation(busy) == before, "\(occasion), \(call)")
      }
      try scene.come(to: occasion, meddle)
      #expect(count == 1, "\(occasion) comes")
      #expect(refusals == [.managedObjectContextBusy], "\(occasion), \(call)")
      Busy.forgetHooks()
      // Nothing is stuck.
      context.refreshAllObjects()
      try context.save()
      context.reset()
      #expect(try context.fetch(FetchRequest<Busy>()).count >= 2)
    }
  }

  /// Where the context is idle though it calls the program's code.
  enum FreeOccasion: CaseIterable {
    case didSave, didSaveIDs, didMerge, didChange, didRollBack, didReset, parentDidChange
  }

  @Test(arguments: FreeOccasion.allCases)
  func `an observer that is notified when all is over finds the context idle`(
    _ occasion: FreeOccasion
  ) throws {
    defer { Busy.forgetHooks() }
    for call in Call.allCases {
      let scene = try BusyScene()
      let context = scene.context
      let kind: ContextNotice.Kind =
        switch occasion {
        case .didSave: .didSaveObjects
        case .didSaveIDs: .didSaveObjectIDs
        case .didMerge: .didMergeChangesObjectIDs
        case .didChange, .didRollBack, .didReset, .parentDidChange: .didChangeObjects
        }
      var count = 0
      let child = context.newChildContext()
      let observation = context.observe([kind]) { _ in
        guard count == 0 else { return }
        count += 1
        #expect(throws: Never.self, "\(occasion), \(call)") {
          try call.make(context, scene)
          try context.throwKeptErrors()
        }
      }
      switch occasion {
      case .didSave, .didSaveIDs:
        scene.first.number += 1
        try context.save()
      case .didMerge: try scene.mergeAnotherSave()
      case .didChange:
        scene.first.number += 1
        context.processPendingChanges()
      case .didRollBack:
        scene.first.number += 1
        context.rollback()
      case .didReset: context.reset()
      case .parentDidChange:
        let own = try #require(try child.existingObject(with: scene.first.objectID) as? Busy)
        own.number += 1
        try child.save()
      }
      #expect(count == 1, "\(occasion)")
      observation.cancel()
    }
  }

  @Test func `a busy context can be read, fetched from and changed, and tells who is busy`() throws
  {
    defer { Busy.forgetHooks() }
    let scene = try BusyScene()
    let child = scene.context.newChildContext()
    child.name = "form"
    let own = try #require(try child.existingObject(with: scene.first.objectID) as? Busy)
    own.number = 7
    var messages: [String] = []
    Busy.whenSaving = { object in
      guard object === own, messages.isEmpty else { return }
      #expect(throws: Never.self) {
        let count = try child.fetch(FetchRequest<Busy>()).count
        #expect(count == 2)
        child.refresh(object, mergeChanges: true)
        let new = Busy(context: child)
        new.number = 9
        child.delete(new)
        child.processPendingChanges()
      }
      object.name = "by a hook"
      do { try scene.context.save() } catch { messages.append("\(error)") }
    }
    try child.save()
    #expect(messages.count == 1)
    #expect(messages[0].contains("the related context form is being saved"))
    #expect(scene.first.number == 7 && scene.first.name == "by a hook")
  }
}

/// What a refused call leaves as it was.
private struct Situation: Equatable {
  let objects: Set<ManagedObject>
  let changes: [Set<ManagedObject>]
  let parent: ManagedObjectContext?
  let coordinator: ObjectIdentifier?
  let generation: Bool

  init(_ context: ManagedObjectContext) {
    objects = context.registeredObjects
    changes = [context.insertedObjects, context.updatedObjects, context.deletedObjects]
    parent = context.parent
    coordinator = context.persistentStoreCoordinator.map { ObjectIdentifier($0) }
    generation = context.queryGenerationToken != nil
  }
}

/// A store with two objects, a context that knows them, and another context of the store.
private struct BusyScene {
  let context: ManagedObjectContext
  let other: ManagedObjectContext
  let first: Busy
  let second: Busy
  /// Of a save that the context knows.
  let notice: ObjectIDNotice

  init() throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Busy.model, classes: [Busy.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    context = GotchaHome.context(of: coordinator)
    other = GotchaHome.context(of: coordinator)
    (first, second) = (Busy(context: context), Busy(context: context))
    (first.name, second.name) = ("first", "second")
    let book = NoticeBook(context, .didSaveObjectIDs)
    try context.save()
    notice = try #require(book.take().first).objectIDs
    book.close()
    context.undoManager = UndoManager()
  }

  /// Saves another value in the other context.
  private func saveElsewhere() throws {
    let theirs = try #require(try other.existingObject(with: first.objectID) as? Busy)
    theirs.number += 10
    try other.save()
  }

  func mergeAnotherSave() throws {
    let book = NoticeBook(other, .didSaveObjectIDs)
    try saveElsewhere()
    for notice in book.take() { context.mergeChanges(fromContextDidSave: notice) }
  }

  /// Lets the program's code be called.
  func come(
    to occasion: BusyContextTests.Occasion, _ meddle: @escaping (ManagedObjectContext) -> Void
  ) throws {
    func hook(_ object: Busy) {
      guard object.managedObjectContext === context else { return }
      meddle(context)
    }
    func saveChange() throws {
      first.number += 1
      try context.save()
    }
    switch occasion {
    case .awakeFromInsert:
      Busy.whenInserted = hook
      _ = Busy(context: context)
    case .awakeFromFetch:
      context.refreshAllObjects()
      Busy.whenFetched = hook
      _ = first.number
    case .makingAnObject:
      context.reset()
      Busy.whenMade = hook
      _ = try context.fetch(FetchRequest<Busy>())
    case .willSave:
      Busy.whenSaving = hook
      try saveChange()
    case .validation:
      Busy.whenValidating = hook
      try saveChange()
    case .didSave:
      Busy.whenSaved = hook
      try saveChange()
    case .prepareForDeletion:
      Busy.whenDeleted = hook
      context.delete(second)
      context.processPendingChanges()
      context.insert(second)
    case .willTurnIntoFault:
      Busy.beforeFault = hook
      context.refresh(first, mergeChanges: false)
    case .didTurnIntoFault:
      Busy.whenFault = hook
      context.refreshAllObjects()
    case .awakeAfterRefresh:
      first.number = 5
      Busy.whenAwake = hook
      context.refresh(first, mergeChanges: true)
    case .awakeAfterRollback:
      first.number = 5
      Busy.whenAwake = hook
      context.rollback()
    case .awakeAfterUndo:
      first.number = 5
      Busy.whenAwake = hook
      context.undo()
    case .undoAction:
      context.undoManager?.registerUndo(withTarget: first) { _ in meddle(self.context) }
      try context.undoManager?.undo()
    case .mergePolicy:
      try saveElsewhere()
      context.mergePolicy = CallingPolicy { meddle(self.context) }
      try saveChange()
    case .constraintPolicy:
      context.mergePolicy = CallingPolicy { meddle(self.context) }
      Busy(context: context).name = "first"
      try context.save()
    case .observerOfWillSave:
      let observation = context.observe([.willSaveObjects]) { _ in meddle(context) }
      try saveChange()
      observation.cancel()
    case .observerOfChangesWhileSaving:
      let observation = context.observe([.didChangeObjects]) { _ in meddle(context) }
      try saveChange()
      observation.cancel()
    case .mergedObject:
      first.name = "changed"
      Busy.whenAwake = hook
      try mergeAnotherSave()
    case .batchHandler:
      try context.execute(
        BatchInsertRequest(entityName: "Busy") { (row: BatchRow) in
          meddle(context)
          row.set("name", to: "third")
          return true
        })
    case .batchProgress:
      var request = BatchUpdateRequest(entityName: "Busy")
      request.propertiesToUpdate = ["number": 3]
      request.progress = { _ in
        meddle(context)
        return true
      }
      try context.execute(request)
    case .parentsObject:
      let child = context.newChildContext()
      let own = try #require(try child.existingObject(with: first.objectID) as? Busy)
      own.number += 1
      context.refreshAllObjects()
      Busy.whenFetched = hook
      try child.save()
    case .parentsObserver:
      let child = context.newChildContext()
      let own = try #require(try child.existingObject(with: first.objectID) as? Busy)
      own.number += 1
      let observation = context.observe([.didChangeObjects]) { _ in meddle(context) }
      // The parent notifies of this before the child hands over its changes.
      second.number += 1
      try child.save()
      observation.cancel()
    }
  }
}

private final class CallingPolicy: MergePolicy {
  let body: () -> Void

  init(_ body: @escaping () -> Void) {
    self.body = body
    super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  }

  override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
    body()
    try super.resolve(optimisticLockingConflicts: list)
  }

  override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
    body()
    try super.resolve(constraintConflicts: list)
  }
}

private final class Busy: ManagedObject {
  typealias Hook = (Busy) -> Void

  // Sound: the suite runs one test at a time, in one isolation.
  nonisolated(unsafe) static var whenMade: Hook?
  nonisolated(unsafe) static var whenInserted: Hook?
  nonisolated(unsafe) static var whenFetched: Hook?
  nonisolated(unsafe) static var whenAwake: Hook?
  nonisolated(unsafe) static var whenSaving: Hook?
  nonisolated(unsafe) static var whenSaved: Hook?
  nonisolated(unsafe) static var whenValidating: Hook?
  nonisolated(unsafe) static var whenDeleted: Hook?
  nonisolated(unsafe) static var beforeFault: Hook?
  nonisolated(unsafe) static var whenFault: Hook?

  static func forgetHooks() {
    (whenMade, whenInserted, whenFetched, whenAwake, whenSaving) = (nil, nil, nil, nil, nil)
    (whenSaved, whenValidating, whenDeleted, beforeFault, whenFault) = (nil, nil, nil, nil, nil)
  }

  static let model = try! ManagedObjectModel {
    Entity("Busy") {
      Attribute("name", .string)
      Attribute("number", .integer64, optional: false, default: 0)
      UniquenessConstraint("name")
    }
  }

  @Managed var name: String?
  @Managed var number: Int

  required init(_ origin: Origin) {
    super.init(origin)
    Busy.whenMade?(self)
  }

  override func awakeFromInsert() { Busy.whenInserted?(self) }
  override func awakeFromFetch() { Busy.whenFetched?(self) }
  override func awake(fromSnapshotEvents events: SnapshotEventType) { Busy.whenAwake?(self) }
  override func willSave() { Busy.whenSaving?(self) }
  override func didSave() { Busy.whenSaved?(self) }
  override func prepareForDeletion() { Busy.whenDeleted?(self) }
  override func willTurnIntoFault() { Busy.beforeFault?(self) }
  override func didTurnIntoFault() { Busy.whenFault?(self) }

  override func validateForUpdate() throws {
    Busy.whenValidating?(self)
    try super.validateForUpdate()
  }
}
