import QuireModel

/// Those who want to know what happens in a context, and what there is to tell them next.
///
/// There is one only while somebody listens, so that nobody else pays for it.
final class NoticeCenter: ContextObserver {
  struct Listener {
    enum Receiver {
      case callback((ContextNotice) -> Void)
      case stream(AsyncStream<ObjectIDNotice>.Continuation)
    }

    let number: Int
    let kinds: Set<ContextNotice.Kind>
    let receiver: Receiver
    /// Called when nothing is left to be told.
    var whenDone: (() -> Void)?
  }

  // Sound: the context takes its center out before it goes, by `leaveContext()`, and a center that
  // the context has dropped has left it. Tokens may outlive both.
  private unowned(unsafe) var context: ManagedObjectContext?
  private var listeners: [Listener] = []
  private var lastNumber = 0
  // What an event holds may go with it, and its `deinit` run: when the next one has its place.
  private(set) var event = ContextEvent()
  /// What is being told.
  private var posted: ContextEvent?

  init(_ context: ManagedObjectContext) { self.context = context }

  deinit {
    for listener in listeners {
      if case .stream(let continuation) = listener.receiver { continuation.finish() }
    }
  }

  func add(
    _ kinds: Set<ContextNotice.Kind>, _ receiver: Listener.Receiver, whenDone: (() -> Void)? = nil
  ) -> Int {
    lastNumber += 1
    listeners.append(
      Listener(number: lastNumber, kinds: kinds, receiver: receiver, whenDone: whenDone))
    return lastNumber
  }

  func remove(_ number: Int) {
    // Its callback may hold the notices it got, and be the last that holds the context by them.
    let former = listeners
    listeners.removeAll { $0.number == number }
    if listeners.isEmpty {
      context?.dropNoticeCenter(self)
      leaveContext()
    }
    withExtendedLifetime(former) {}
  }

  /// The context goes, or has dropped the center.
  func leaveContext() { context = nil }

  private func wants(_ kind: ContextNotice.Kind) -> Bool {
    listeners.contains { $0.kinds.contains(kind) }
  }

  private func post(_ notice: ContextNotice) {
    // Listeners may come and go meanwhile.
    for listener in listeners where listener.kinds.contains(notice.kind) {
      switch listener.receiver {
      case .callback(let body):
        if listeners.contains(where: { $0.number == listener.number }) { body(notice) }
      case .stream(let continuation):
        // The end of a stream is seen here, as it may come from any thread.
        if case .terminated = continuation.yield(notice.objectIDs) { remove(listener.number) }
      }
    }
  }

  func formers(of object: ManagedObject) -> [String: ContextEvent.Former]? {
    posted?.changed[object] ?? event.changed[object]
  }

  func begin(_ next: ContextEvent) {
    let former = event
    event = next
    withExtendedLifetime(former) {}
  }

  // MARK: What happens

  func willChange(_ property: String, of object: ManagedObject, by change: SlotChange) {
    if event.recordAgain(property, of: object, change) { return }
    // The object is asked at the first change of the event alone: it still shows what it had. Asked
    // for an object at the other end it may make one, whose class may change something in turn.
    let former = object.former(property, change)
    if event.recordAgain(property, of: object, change) { return }
    event.record(property, of: object, former)
    context?.awaitEndOfEvent()
  }

  func didInsert(_ object: ManagedObject) {
    event.recordInsertion(of: object)
    context?.awaitEndOfEvent()
  }

  func didDelete(_ object: ManagedObject) {
    event.recordDeletion(of: object)
    context?.awaitEndOfEvent()
  }

  func didRevive(_ object: ManagedObject) {
    event.recordInsertion(of: object)
    context?.awaitEndOfEvent()
  }

  func didRefresh(_ object: ManagedObject) {
    let former = event.recordRefresh(of: object)
    withExtendedLifetime(former) {}
    context?.awaitEndOfEvent()
  }

  func didSave(_ changes: SavedChanges) {}

  // MARK: Posting

  /// Tells what has happened since the last time. What listeners change is told the next time.
  func postEvent() {
    guard posted == nil else { return }
    if !event.isEmpty {
      let told = event
      posted = told
      event = ContextEvent()
      if wants(.didChangeObjects), let context, let notice = told.notice(of: context) {
        post(notice)
      }
      posted = nil
      withExtendedLifetime(told) {}
    }
    callWhenDone()
  }

  private func callWhenDone() {
    for listener in listeners {
      guard let whenDone = listener.whenDone,
        listeners.contains(where: { $0.number == listener.number })
      else { continue }
      whenDone()
    }
  }

  func postWillSave() {
    guard wants(.willSaveObjects), let context else { return }
    var notice = ContextNotice(.willSaveObjects, context)
    notice.insertedObjects = context.insertedObjects
    notice.updatedObjects = context.updatedObjects
    notice.deletedObjects = context.deletedObjects
    notice.completeIDs()
    post(notice)
  }

  /// - Parameter changes: of each store that the save has written.
  func postDidSave(_ parts: some Collection<SaveOperation>, _ changes: [SavedChanges]) {
    guard wants(.didSaveObjects) || wants(.didSaveObjectIDs), let context else { return }
    var notice = ContextNotice(.didSaveObjects, context)
    for save in parts {
      notice.insertedObjects.formUnion(save.inserted.lazy.map(\.object))
      notice.updatedObjects.formUnion(save.updated.lazy.map(\.object))
      notice.deletedObjects.formUnion(save.deleted)
    }
    notice.completeIDs()
    if changes.count == 1 { notice.objectIDs.commitNumber = changes[0].commit.rawValue }
    for (id, names) in changes.lazy.flatMap(\.updatedProperties) {
      notice.objectIDs.changedProperties[id] = Set(names)
    }
    postDidSave(notice)
  }

  /// Tells of a save with and without its objects.
  func postDidSave(_ notice: ContextNotice) {
    post(notice)
    var ids = ContextNotice(.didSaveObjectIDs, notice.context)
    ids.objectIDs.copyIDs(of: notice.objectIDs)
    post(ids)
    callWhenDone()
  }

  func postMerge(_ ids: ObjectIDNotice) {
    guard wants(.didMergeChangesObjectIDs), let context else { return }
    var notice = ContextNotice(.didMergeChangesObjectIDs, context)
    notice.objectIDs = ids
    post(notice)
  }

  func postRollback(of dropped: PendingObjects) {
    var event = event
    event.recordRollback(of: dropped)
    begin(event)
    postEvent()
  }

  /// - Returns: `nil` when nobody wants to know.
  func idsBeforeReset() -> Set<ManagedObjectID>? {
    guard wants(.didChangeObjects), let context else { return nil }
    return Set(context.registeredObjects.lazy.map(\.objectID))
  }

  /// - Parameter objectIDs: of all objects that the context has forgotten; `nil` when nobody wants
  ///   to know.
  func postReset(of objectIDs: Set<ManagedObjectID>?) {
    guard let objectIDs else { return }
    begin(ContextEvent())
    guard let context else { return }
    var notice = ContextNotice(.didChangeObjects, context)
    notice.objectIDs.invalidatedAllObjects = true
    notice.objectIDs.invalidatedObjectIDs = objectIDs
    post(notice)
  }
}

extension ObjectIDNotice {
  fileprivate mutating func copyIDs(of other: ObjectIDNotice) {
    commitNumber = other.commitNumber
    insertedObjectIDs = other.insertedObjectIDs
    updatedObjectIDs = other.updatedObjectIDs
    deletedObjectIDs = other.deletedObjectIDs
    changedProperties = other.changedProperties
  }
}
