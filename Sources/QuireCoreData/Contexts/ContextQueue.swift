import Foundation
import Synchronization

/// The queue that a context and its parents and children work on.
///
/// A context of Quire belongs to one isolation at a time. Here that is a dispatch queue, as in Core
/// Data: the main queue, or one of the context's own. Parent and child read each other's objects,
/// so a family of contexts has one queue: that of its root, or the main queue where one of them is
/// a context of the main queue.
final class ContextQueue: Sendable {
  private static let key = DispatchSpecificKey<ObjectIdentifier>()
  /// Marks the main queue, which a program of tasks may serve on another thread than the main one.
  private static let mainKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()
  /// A queue of its own; `nil` for the main queue.
  private let own: DispatchQueue?

  init(isMain: Bool) {
    own = isMain ? nil : DispatchQueue(label: "QuireCoreData.context")
    own?.setSpecific(key: Self.key, value: ObjectIdentifier(self))
  }

  var isMain: Bool { own == nil }

  /// Whether the calling code runs on the queue.
  private var isCurrent: Bool {
    guard own != nil else {
      return Thread.isMainThread || DispatchQueue.getSpecific(key: Self.mainKey) ?? false
    }
    return DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self)
  }

  /// Runs `body` on the queue, later.
  func async(_ body: @escaping () -> Void) {
    let work = Work(body)
    (own ?? .main).async { work.body() }
  }

  /// Runs `body` on the queue, later, for a context that is not of the main queue by itself.
  ///
  /// Where a child has brought it there, a main thread that waits for `body` waits for ever: a
  /// family has one queue, and nothing else may touch its objects. So the first time that happens,
  /// or seems to, the program is told.
  func asyncOfPrivateContext(_ body: @escaping () -> Void) {
    guard isMain else { return async(body) }
    let start = Start()
    async {
      start.hasBegun.store(true, ordering: .relaxed)
      body()
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) {
      guard !start.hasBegun.load(ordering: .relaxed),
        !Self.hasWarned.exchange(true, ordering: .relaxed)
      else { return }
      FileHandle.standardError.write(Data(Self.warning.utf8))
    }
  }

  /// Runs `body` on the queue and waits for it; in place, if the calling code runs on the queue, or
  /// if a block of the queue waits for the calling code: nothing else can run there.
  func sync<Result>(_ body: () throws -> Result) rethrows -> Result {
    if isCurrent { return try body() }
    let waiting = Self.waiting
    if waiting.contains(identity) { return try body() }
    let all = waiting.union([Self.current].compactMap { $0 })
    return try (own ?? .main).sync {
      let former = Self.waiting
      Self.waiting = all
      defer { Self.waiting = former }
      return try body()
    }
  }

  private var identity: ObjectIdentifier { own == nil ? Self.main : ObjectIdentifier(self) }

  /// Not that of `DispatchQueue.main`, which is another object each time it is asked for.
  private static var main: ObjectIdentifier { ObjectIdentifier(mainKey) }

  /// The queue that the calling code runs on.
  private static var current: ObjectIdentifier? {
    if let own = DispatchQueue.getSpecific(key: key) { return own }
    let isMain = Thread.isMainThread || DispatchQueue.getSpecific(key: mainKey) ?? false
    return isMain ? main : nil
  }

  private static let waitingKey = "QuireCoreData.ContextQueue.waiting"
  /// The queues whose blocks wait for the calling code, which runs on this thread.
  private static var waiting: Set<ObjectIdentifier> {
    get { Thread.current.threadDictionary[waitingKey] as? Set<ObjectIdentifier> ?? [] }
    set { Thread.current.threadDictionary[waitingKey] = newValue.isEmpty ? nil : newValue }
  }

  private final class Start: Sendable {
    let hasBegun = Atomic(false)
  }

  private static let patience = 2.0
  private static let hasWarned = Atomic(false)
  private static let warning =
    "QuireCoreData: a block of a private context has been waiting for the main queue for two seconds. "
    + "The context has a child of the main queue, and a family of contexts has one queue: where the main "
    + "thread waits for the block, it waits for ever. Call performAndWait there, which runs the block in "
    + "place, or do not wait.\n"

  /// Sound: the queue runs one body at a time, and a context belongs to its queue. That a body
  /// brings along nothing else that is used elsewhere at the same time is the program's promise, as
  /// in Core Data.
  private struct Work: @unchecked Sendable {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
}
