import QuireModel
import QuireStorage

/// Gives rows to the objects that a fetch finds, and checks their class.
struct FetchIntake {
  private let context: ManagedObjectContext
  private let refreshesObjects: Bool
  /// Whether the context has a parent, whose values of an object may be newer than the row.
  private let isChild: Bool
  private let resultClass: ManagedObject.Type

  init<Result: ManagedObject>(
    _ resultClass: Result.Type, in context: ManagedObjectContext, refreshesObjects: Bool
  ) {
    self.context = context
    self.refreshesObjects = refreshesObjects
    self.resultClass = resultClass
    isChild = context.parent != nil
  }

  /// The object, with its row if it was without values.
  ///
  /// - Parameter row: the object's row; `nil` if the store has none.
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` if the object is not of the requested
  ///   class.
  func take(_ object: ManagedObject, _ row: RowBytes?) throws -> ManagedObject {
    if refreshesObjects, !object.isUnread { context.refresh(object, mergeChanges: true) }
    if !object.hasRow, !object.hasSlots, let row, !isChild || !isKnownToParent(object) {
      object.fulfil(with: row)
    }
    try checkClass(of: object)
    return object
  }

  /// Whether an object that was made for a row can get it without further checks.
  func takesUnseen(_ object: ManagedObject) -> Bool {
    // The class may have read a property while the object was made.
    !isChild && !object.hasRow && !object.hasSlots
  }

  /// Whether objects of the class need no check.
  func isSure(of type: ManagedObject.Type) -> Bool { type == resultClass }

  func checkClass(of object: ManagedObject) throws {
    if type(of: object) != resultClass { try check(object) }
  }

  private func isKnownToParent(_ object: ManagedObject) -> Bool {
    object.session?.view?.parentRows?.isKnown(object.reference) ?? false
  }

  @inline(never)
  private func check(_ object: ManagedObject) throws {
    if resultClass.isClass(of: object) { return }
    throw PersistenceError(
      .unacceptableValue,
      "\(object.objectID) is a \(type(of: object)), not a \(resultClass): register the class for "
        + "its entity with the coordinator")
  }
}

/// Makes objects from the matches of a fetch that come in the order of the request.
struct FetchedObjects: MatchVisitor {
  private let intake: FetchIntake
  /// The session of the store that is searched.
  var session: StoreSession
  // Sound: `session` holds the session, and the session holds the arena.
  /// The session and the arena of the entity whose rows are visited.
  private var source: (session: Unmanaged<StoreSession>, arena: Unmanaged<ObjectArena>)?
  /// Whether all objects made there are of the requested class.
  private var isSure = false
  /// Whether the class may not know its properties yet, which it learns from an object.
  private var isLearning = false
  /// The keeper of the leaf whose rows are visited.
  private var keeper: RowKeeper?
  // Sound: `keeper` holds it.
  private var sharedKeeper: Unmanaged<RowKeeper>?
  /// The number of matches still to be skipped.
  private var offset: Int
  /// The largest number of objects.
  private let limit: Int
  private(set) var objects: ObjectBuffer

  /// - Parameters:
  ///   - limit: 0 for all.
  ///   - room: memory for the objects.
  init(
    _ intake: FetchIntake, _ session: StoreSession, offset: Int, limit: Int,
    _ room: ObjectBuffer.Room?
  ) {
    objects = ObjectBuffer(room)
    self.intake = intake
    self.session = session
    self.offset = offset
    self.limit = limit == 0 ? .max : limit
  }

  var readsKeys: Bool { false }
  static var takesRows: Bool { true }

  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) throws -> Bool {
    if offset > 0 {
      offset -= 1
      return true
    }
    objects.append(try intake.take(try object ?? session.object(at: reference), try row()))
    return objects.count < limit
  }

  mutating func begin(_ storage: EntityStorage, count: Int) {
    let arena = session.arena(of: storage)
    source = (.passUnretained(session), .passUnretained(arena))
    isSure = intake.isSure(of: arena.type)
    isLearning = true
    let wanted = min(max(0, count - offset), limit - objects.count)
    objects.reserve(objects.count + wanted)
    session.identityMap.reserve(wanted)
    let new = min(wanted, IdentityMap.believedCount) - session.identityMap.count
    HeapRoom.prepare(byteCount: max(0, new) * ManagedObject.usualByteCount)
  }

  mutating func enterLeaf(_ owner: AnyObject) {
    // The class learns its properties from the first object, for the objects of the other leaves.
    if let source, isLearning, let object = objects.last {
      isLearning = false
      if source.arena._withUnsafeGuaranteedRef({ $0.type == type(of: object) }) {
        object.learnProperties()
      }
    }
    let keeper = RowKeeper(owner)
    self.keeper = keeper
    sharedKeeper = .passUnretained(keeper)
  }

  mutating func takeInLeaf(
    _ start: UnsafeRawPointer, _ byteCount: Int, at reference: Reference
  ) throws -> Bool {
    guard offset == 0, let sharedKeeper, let source,
      source.session._withUnsafeGuaranteedRef({ $0.identityMap[reference] }) == nil
    else { return try takeSeldom(start, byteCount, at: reference) }
    // Rows have no temporary references.
    let object = source.session._withUnsafeGuaranteedRef { session in
      source.arena._withUnsafeGuaranteedRef { session.makeObject(at: reference, $0) }
    }
    if intake.takesUnseen(object) {
      object.fulfil(start, byteCount, in: sharedKeeper)
      if !isSure { try intake.checkClass(of: object) }
    } else {
      let keeper = sharedKeeper.takeUnretainedValue()
      _ = try intake.take(object, RowBytes(start: start, byteCount: byteCount, owner: keeper))
    }
    objects.append(consume object)
    return objects.count < limit
  }

  /// A row that is skipped, or whose object exists already; kept out of the fast path.
  @inline(never)
  private mutating func takeSeldom(
    _ start: UnsafeRawPointer, _ byteCount: Int, at reference: Reference
  ) throws -> Bool {
    guard let keeper else { return false }
    return try take(
      RowBytes(start: start, byteCount: byteCount, owner: keeper), at: reference)
  }

  mutating func take(_ row: RowBytes, at reference: Reference) throws -> Bool {
    if offset > 0 {
      offset -= 1
      return true
    }
    objects.append(try intake.take(try session.object(at: reference), row))
    return objects.count < limit
  }
}

extension Array where Element: ManagedObject {
  /// The same objects as elements of their class.
  /// - Parameter objects: instances of `Element`, as was checked when they were found.
  init(checked objects: [ManagedObject]) {
    // ``ObjectBuffer/take(as:)`` says why an empty array is not made below.
    if objects.isEmpty {
      self = []
      return
    }
    self.init(unsafeUninitializedCapacity: objects.count) { elements, count in
      // Sound: references to objects have one layout, whatever their class.
      let memory = UnsafeMutableRawPointer(elements.baseAddress)
      objects.withUnsafeBufferPointer { objects in
        guard let memory, let first = objects.baseAddress else { return }
        memory.initializeMemory(as: ManagedObject.self, from: first, count: objects.count)
      }
      count = objects.count
    }
  }
}
