import Foundation
import Quire
import QuireModel

/// A context, with Core Data's methods, queues and notifications, around one of Quire's.
///
/// `perform` moves a block to the context's queue, as in Core Data. What is used off the queue is
/// not checked by the compiler, as the class is `Sendable` in Core Data too. A context with a
/// parent shares the queue of its family: see ``perform(_:)``.
///
/// Notifications are posted to `NotificationCenter.default`, on the context's queue.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  /// The context of Quire's, for what has no name in Core Data.
  public let quireContext: ManagedObjectContext
  /// Whether the context works on the main queue, on one of its own, or where it was made.
  public let concurrencyType: NSManagedObjectContextConcurrencyType
  var queue: ContextQueue
  private var notices: ContextObservation?
  /// Anything of the application's.
  public let userInfo = NSMutableDictionary()
  /// The context that this one fetches from and saves to.
  open var parent: NSManagedObjectContext? {
    didSet {
      quireContext.parent = parent?.quireContext
      if let parent { join(parent) }
    }
  }
  private var coordinator: NSPersistentStoreCoordinator?
  /// The objects whose deletion the program has merged since the last save.
  var mergedDeletions: Set<NSManagedObject> = []

  /// A context of a queue.
  public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
    quireContext = ManagedObjectContext(concurrencyType: type)
    concurrencyType = type
    queue = ContextQueue(isMain: type != .privateQueueConcurrencyType)
    super.init()
    connect()
  }

  /// A context of a queue.
  public convenience init(_ type: ConcurrencyType) {
    self.init(
      concurrencyType: type == .mainQueue
        ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
  }

  /// The queue of a context.
  public enum ConcurrencyType: Sendable {
    /// The main queue.
    case mainQueue
    /// A queue of the context's own.
    case privateQueue
  }

  /// Wraps a context that Quire has made.
  private init(_ context: ManagedObjectContext) {
    quireContext = context
    concurrencyType = context.concurrencyType
    queue = ContextQueue(isMain: context.concurrencyType == .mainQueueConcurrencyType)
    super.init()
    // The wrapper may be short-lived: what the context's owner has set up stays.
    let (wake, endOfEvent) = (context.wakeOnCommit, context.requestEndOfEvent)
    connect()
    if let wake { context.wakeOnCommit = wake }
    if let endOfEvent { context.requestEndOfEvent = endOfEvent }
  }

  private struct Connection {
    static let key = "QuireCoreData.context"
    weak var context: NSManagedObjectContext?
  }

  private func connect() {
    quireContext.userInfo[Connection.key] = Connection(context: self)
    quireContext.noticesDeletionsOfNewObjects = true
    notices = quireContext.observe { [weak self] notice in self?.post(notice) }
    quireContext.wakeOnCommit = { [weak self] in
      guard let self else { return }
      self.queue.async { [weak self] in self?.quireContext.processPendingChanges() }
    }
    if concurrencyType == .mainQueueConcurrencyType { endEventsOnMainQueue() }
  }

  /// Lets changes be processed in the next turn of the main queue, here and in the children.
  private func endEventsOnMainQueue() {
    quireContext.requestEndOfEvent = { [weak self] in
      self?.queue.async { [weak self] in self?.quireContext.endEvent() }
    }
  }

  /// The context around one of Quire's.
  static func of(_ context: ManagedObjectContext) -> NSManagedObjectContext {
    (context.userInfo[Connection.key] as? Connection)?.context ?? NSManagedObjectContext(context)
  }

  private func join(_ parent: NSManagedObjectContext) {
    if concurrencyType == .mainQueueConcurrencyType, !parent.queue.isMain {
      var ancestor: NSManagedObjectContext? = parent
      while let context = ancestor {
        context.queue = queue
        context.endEventsOnMainQueue()
        ancestor = context.parent
      }
    } else {
      queue = parent.queue
    }
  }

  // MARK: Settings

  /// The coordinator whose stores the context fetches from and saves to; a child has its root's.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { parent?.persistentStoreCoordinator ?? coordinator ?? adoptedCoordinator() }
    set {
      coordinator = newValue
      quireContext.persistentStoreCoordinator = newValue?.quireCoordinator
    }
  }

  private func adoptedCoordinator() -> NSPersistentStoreCoordinator? {
    quireContext.persistentStoreCoordinator.map(NSPersistentStoreCoordinator.of)
  }

  /// What a save does about conflicts: an `NSMergePolicy`.
  open var mergePolicy: Any {
    get { quireContext.mergePolicy }
    set {
      guard let policy = newValue as? NSMergePolicy else {
        fatalError(
          "NSManagedObjectContext.mergePolicy: a merge policy is an NSMergePolicy, not a "
            + "\(type(of: newValue))")
      }
      quireContext.mergePolicy = policy
    }
  }

  /// Undo and redo; `nil` at first.
  open var undoManager: ContextUndoManager? {
    get {
      guard let manager = quireContext.undoManager else { return nil }
      if let known = knownUndoManager, known.quireManager === manager { return known }
      let new = ContextUndoManager(manager)
      knownUndoManager = new
      return new
    }
    set {
      knownUndoManager = newValue
      quireContext.undoManager = newValue?.quireManager
    }
  }
  private var knownUndoManager: ContextUndoManager?

  /// A name for people.
  open var name: String? {
    get { quireContext.name }
    set { quireContext.name = newValue }
  }

  /// The author that the history keeps of the context's saves.
  open var transactionAuthor: String? {
    get { quireContext.transactionAuthor }
    set { quireContext.transactionAuthor = newValue }
  }

  /// Whether saves of other contexts are merged here.
  open var automaticallyMergesChangesFromParent: Bool {
    get { quireContext.automaticallyMergesChangesFromParent }
    set { quireContext.automaticallyMergesChangesFromParent = newValue }
  }

  /// Whether an object whose row was deleted reads as one without values.
  open var shouldDeleteInaccessibleFaults: Bool {
    get { quireContext.shouldDeleteInaccessibleFaults }
    set { quireContext.shouldDeleteInaccessibleFaults = newValue }
  }

  /// Whether delete rules are applied at the end of an event, or at the save alone.
  open var propagatesDeletesAtEndOfEvent: Bool {
    get { quireContext.propagatesDeletesAtEndOfEvent }
    set { quireContext.propagatesDeletesAtEndOfEvent = newValue }
  }

  /// Whether the context retains all its objects.
  open var retainsRegisteredObjects: Bool {
    get { quireContext.retainsRegisteredObjects }
    set { quireContext.retainsRegisteredObjects = newValue }
  }

  /// How old the state may be that faults are read from, in seconds.
  open var stalenessInterval: TimeInterval {
    get { quireContext.stalenessInterval }
    set { quireContext.stalenessInterval = newValue }
  }

  /// The fixed state that the context reads; `nil` for the newest.
  open var queryGenerationToken: NSQueryGenerationToken? { quireContext.queryGenerationToken }

  /// Fixes the state that the context reads.
  open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
    try translatingErrors { try quireContext.setQueryGeneration(from: generation) }
  }

  // MARK: Changes

  /// Writes all changes to the stores, or to the parent.
  ///
  /// Without changes nothing is written, and the notifications of a save are posted all the same.
  open func save() throws {
    defer { if !hasChanges { mergedDeletions = [] } }
    guard hasChanges else {
      postEmptySave(.NSManagedObjectContextWillSave)
      try translatingErrors(of: self) { try quireContext.save() }
      return postEmptySave(.NSManagedObjectContextDidSave)
    }
    try translatingErrors(of: self) { try quireContext.save() }
  }

  private func postEmptySave(_ name: Notification.Name) {
    NotificationCenter.default.post(
      name: name, object: self, userInfo: [NotificationKey.sourceContext.rawValue: self])
  }

  /// Marks an object to be deleted by the next save.
  open func delete(_ object: NSManagedObject) { quireContext.delete(object) }

  // MARK: Queue

  /// Runs a block on the context's queue, later.
  ///
  /// The queue of a context with a parent is that of its family, as parent and child read each
  /// other's objects: the main queue if one of them is of the main queue. The main thread must not
  /// wait for the block then, but by ``performAndWait(_:)-(()->Void)``; the first block that waits
  /// for two seconds is told of on standard error.
  open func perform(_ block: @escaping () -> Void) {
    run { [self] in quireContext.performAndWait(block) }
  }

  private func run(_ body: @escaping () -> Void) {
    if concurrencyType == .mainQueueConcurrencyType {
      queue.async(body)
    } else {
      queue.asyncOfPrivateContext(body)
    }
  }

  /// Runs a block on the context's queue, and returns its result, or throws what it throws.
  open func perform<Result, Failure>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let box: Box<Swift.Result<Result, Failure>> = await withCheckedContinuation { continuation in
      run { [self] in
        let result = quireContext.performAndWait {
          Swift.Result { () throws(Failure) in try block() }
        }
        continuation.resume(returning: Box(content: result))
      }
    }
    return try box.content.get()
  }

  /// When a block is to run.
  public enum ScheduledTaskType: Sendable {
    /// As soon as the queue is free.
    case immediate
    /// After the blocks that wait: the same here.
    case enqueued
  }

  /// Sound: the queue is done with the value when it is handed over.
  private struct Box<Content>: @unchecked Sendable {
    let content: Content
  }

  /// Runs a block on the context's queue and waits for it: the same without a result, for code that
  /// passes the function on.
  open func performAndWait(_ block: () -> Void) {
    queue.sync { quireContext.performAndWait(block) }
  }

  /// Runs a block on the context's queue and waits for it; in place, where the caller is on the
  /// queue already.
  open func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    try queue.sync { try quireContext.performAndWait(block) }
  }
}
