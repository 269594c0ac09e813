import QuireModel

/// The listeners to a context's notices, and the event that the next notice is made of.
///
/// A context has one only while there are listeners, so that other contexts have no cost.
final class NoticeCenter: NoticePoster {
  struct Listener {
    enum Receiver {
      case callback((ContextNotice) -> Void)
      case stream(AsyncStream<ObjectIDNotice>.Continuation)
    }

    let number: Int
    let kinds: Set<ContextNotice.Kind>
    let receiver: Receiver
    /// Called when there are no more notices for now.
    var whenDone: (() -> Void)?
  }

  // Sound: the context calls `leaveContext()` before it ends or drops its center. Tokens may
  // outlive both.
  private unowned(unsafe) var context: ManagedObjectContext?
  private var listeners: [Listener] = []
  private var lastNumber = 0
  // Replacing an event may release what it holds and run a `deinit`: by then the next one is set.
  private(set) var event = ContextEvent()
  /// The event of the notice that is being posted.
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
    // The callback may retain notices, and by them have the last reference to the context.
    let former = listeners
    listeners.removeAll { $0.number == number }
    if listeners.isEmpty {
      context?.dropNoticeCenter(self)
      leaveContext()
    }
    withExtendedLifetime(former) {}
  }

  /// Called before the context ends or drops the center.
  func leaveContext() { context = nil }

  private func wants(_ kind: ContextNotice.Kind) -> Bool {
    listeners.contains { $0.kinds.contains(kind) }
  }

  private func post(_ notice: ContextNotice) {
    // Listeners may be added and removed meanwhile.
    for listener in listeners where listener.kinds.contains(notice.kind) {
      switch listener.receiver {
      case .callback(let body):
        if listeners.contains(where: { $0.number == listener.number }) { body(notice) }
      case .stream(let continuation):
        // A stream may end in any thread; that is noticed here.
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

  // MARK: Recording

  func willChange(_ property: String, of object: ManagedObject, by change: SlotChange) {
    if event.recordAgain(property, of: object, change) { return }
    // The former value is read at the first change of the event, when the object still shows it.
    // Reading a relationship may make its destination, whose class may change something in turn.
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
    event.recordDeletion(
      of: object, noticesDropped: context?.noticesDeletionsOfNewObjects ?? false)
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

  /// Posts a notice of the changes since the last one. Changes by listeners are in the next notice.
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

  /// Whether there is a listener to notices of saves.
  var wantsSaves: Bool { wants(.didSaveObjects) || wants(.didSaveObjectIDs) }

  /// Posts the two notices of a save, with objects and with IDs alone.
  func postDidSave(_ notice: ContextNotice) {
    post(notice)
    var ids = ContextNotice(.didSaveObjectIDs, notice.context)
    ids.objectIDs = notice.objectIDs
    ids.objectIDs.kind = .didSaveObjectIDs
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

  /// The IDs of all objects, for the notice of a reset.
  ///
  /// - Returns: `nil` when there is no listener to it.
  func idsBeforeReset() -> Set<ManagedObjectID>? {
    guard wants(.didChangeObjects), let context else { return nil }
    return Set(context.registeredObjects.lazy.map(\.objectID))
  }

  /// - Parameter objectIDs: of all objects that the context has forgotten; `nil` when there is no
  ///   listener.
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
