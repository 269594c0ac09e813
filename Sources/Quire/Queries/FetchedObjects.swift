import QuireModel

/// What a fetch does with each object that it has found.
struct FetchIntake {
  private let context: ManagedObjectContext
  private let refreshesObjects: Bool
  /// Whether the context's parent may have values of an object that are newer than its row.
  private let isChild: Bool
  private let resultClass: ManagedObject.Type
  private let isResult: (ManagedObject) -> Bool

  init<Result: ManagedObject>(
    _ resultClass: Result.Type, in context: ManagedObjectContext, refreshesObjects: Bool
  ) {
    self.context = context
    self.refreshesObjects = refreshesObjects
    self.resultClass = resultClass
    isChild = context.parent != nil
    isResult = { $0 is Result }
  }

  /// - Parameter row: the object's, when the store had it.
  /// - Returns: the object, of the class that was asked for.
  @inline(__always)
  func take(_ object: ManagedObject, _ row: RowBytes?) throws -> ManagedObject {
    if refreshesObjects, !object.isFault { context.refresh(object, mergeChanges: true) }
    if !object.hasRow, object.slots.isEmpty, let row, !isChild || !isKnownToParent(object) {
      object.fulfil(with: row)
    }
    if type(of: object) != resultClass { try check(object) }
    return object
  }

  /// The same of an object that was made for the row.
  @inline(__always)
  func give(_ row: RowBytes, to object: ManagedObject) throws {
    // Its class may have looked at it.
    if isChild || object.hasRow || !object.slots.isEmpty {
      _ = try take(object, row)
    } else {
      object.fulfil(with: row)
      if type(of: object) != resultClass { try check(object) }
    }
  }

  private func isKnownToParent(_ object: ManagedObject) -> Bool {
    object.session?.view?.parentRows?.isKnown(object.reference) ?? false
  }

  @inline(never)
  private func check(_ object: ManagedObject) throws {
    if isResult(object) { return }
    throw PersistenceError(
      .unacceptableValue,
      "\(object.objectID) is a \(type(of: object)), not a \(resultClass): register the class for "
        + "its entity with the coordinator")
  }
}

/// Makes objects of what a fetch finds, where that comes in the order of the request.
struct FetchedObjects: MatchVisitor {
  private let intake: FetchIntake
  /// Of the store that is asked.
  var session: StoreSession
  // Sound: the session is held above, and keeps its homes.
  /// Whose rows are taken.
  private var source: (session: Unmanaged<StoreSession>, home: Unmanaged<ObjectHome>)?
  /// How many are still to be passed over.
  private var offset: Int
  /// How many are wanted at most.
  private let limit: Int
  private(set) var objects = ObjectBuffer()

  /// - Parameter limit: 0 for all.
  init(_ intake: FetchIntake, _ session: StoreSession, offset: Int, limit: Int) {
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
    source = (.passUnretained(session), .passUnretained(session.home(of: storage)))
    let wanted = min(max(0, count - offset), limit - objects.count)
    objects.reserve(objects.count + wanted)
    session.register.reserve(wanted)
  }

  @inline(__always)
  mutating func take(_ row: RowBytes, at reference: Reference) throws -> Bool {
    if offset > 0 {
      offset -= 1
      return true
    }
    guard let source else { return false }
    // Rows have no temporary references.
    if let object = source.session._withUnsafeGuaranteedRef({ $0.register[reference] }) {
      objects.append(try intake.take(object.takeUnretainedValue(), row))
    } else {
      let object = source.session._withUnsafeGuaranteedRef { session in
        source.home._withUnsafeGuaranteedRef { home in
          Unmanaged.passRetained(session.makeObject(at: reference, home))
        }
      }
      objects.append(retained: object)
      try object._withUnsafeGuaranteedRef { try intake.give(row, to: $0) }
    }
    return objects.count < limit
  }
}

extension Array where Element: ManagedObject {
  /// The same objects as elements of their class.
  ///
  /// - Parameter objects: each of which is an `Element`, as was checked when it was found.
  init(checked objects: [ManagedObject]) {
    self.init(unsafeUninitializedCapacity: objects.count) { elements, count in
      // Sound: a reference to an object is the same whatever its class is called.
      let memory = UnsafeMutableRawPointer(elements.baseAddress)
      objects.withUnsafeBufferPointer { objects in
        guard let memory, let first = objects.baseAddress else { return }
        memory.initializeMemory(as: ManagedObject.self, from: first, count: objects.count)
      }
      count = objects.count
    }
  }
}
