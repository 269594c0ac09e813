#if canImport(Darwin)
  import Darwin
  import Synchronization
#elseif canImport(Glibc)
  import Glibc
  import Synchronization
#elseif canImport(Musl)
  import Musl
  import Synchronization
#elseif canImport(Android)
  import Android
  import Synchronization
#endif

// A child made by `fork` has a copy of its parent's memory, one thread, and descriptors that share
// the parent's locks. Three things follow for the engine: it must know that a store is the
// parent's (`ForkCount`), it must not keep the parent's files open (`OpenDescriptors`), and it must
// never wait for a lock that a thread of the parent held at that moment (`PerProcess`).

/// Counts the forks that led to this process, so that a store can detect that it is its parent's.
enum ForkCount {
  private static let count = Atomic(0)

  /// The handlers run on the thread that forks, and in the child there is no other one. They touch
  /// what is made already, and allocate nothing.
  private static let isWatching: Bool = {
    _ = (count.load(ordering: .relaxed), OpenDescriptors.shared)
    OpenDescriptors.prepare()
    return pthread_atfork(
      { OpenDescriptors.shared.lock() }, { OpenDescriptors.shared.unlock() },
      {
        ForkCount.count.add(1, ordering: .relaxed)
        OpenDescriptors.shared.closeAll()
        OpenDescriptors.shared.unlock()
      }) == 0
  }()

  /// Watches for forks from the first call on.
  static var current: Int { isWatching ? count.load(ordering: .relaxed) : 0 }
  /// The count, as far as it is known.
  static var known: Int { count.load(ordering: .relaxed) }
}

/// The descriptors of the engine's files. A child of `fork` closes its copies at once, so that it
/// cannot write to its parent's files, and the parent's lock ends with the parent, however long the
/// child lives.
///
/// Closing a copy does not unlock: a `flock` lock ends when the last copy of the descriptor is
/// closed, and the parent has its own.
///
/// `@unchecked Sendable`: the list is accessed only while the monitor is locked, also by a fork.
final class OpenDescriptors: @unchecked Sendable {
  static let shared = OpenDescriptors()

  private let monitor = Monitor()
  private var descriptors: [Int32] = []

  /// Keeps a descriptor that `open` makes. No fork comes between the two.
  func add(_ open: () throws(StorageError) -> Int32) throws(StorageError) -> Int32 {
    monitor.lock()
    defer { monitor.unlock() }
    let descriptor = try open()
    descriptors.append(descriptor)
    return descriptor
  }

  func close(_ descriptor: Int32) {
    monitor.lock()
    defer { monitor.unlock() }
    guard let index = descriptors.lastIndex(of: descriptor) else { return }
    descriptors.swapAt(index, descriptors.count - 1)
    descriptors.removeLast()
    Posix.close(descriptor)
  }

  fileprivate func lock() { monitor.lock() }
  fileprivate func unlock() { monitor.unlock() }

  /// Does once what a child does, on a list of its own: Swift finds out about a generic type when
  /// it is first used, with a lock, and a thread of the parent may have had that lock at the fork.
  fileprivate static func prepare() {
    let example = OpenDescriptors()
    example.descriptors.append(-1)
    example.closeAll()
  }

  /// In a child.
  fileprivate func closeAll() {
    for descriptor in descriptors { Posix.close(descriptor) }
    descriptors.removeAll(keepingCapacity: true)
  }
}

/// An object of which each process has its own: a child made by `fork` makes another on first use.
///
/// The child never touches its copy of the parent's object. A thread of the parent may have been
/// changing it, with a lock that is never released in the child.
final class PerProcess<Value: AnyObject & Sendable>: Sendable {
  private final class Holder: Sendable {
    let forkCount: Int
    let value: Value

    init(_ forkCount: Int, _ value: Value) {
      self.forkCount = forkCount
      self.value = value
    }

    func value(in process: Int) -> Value? { forkCount == process ? value : nil }
  }

  /// Never released: there is one for each process in a line of children.
  private let holder = Atomic<Unmanaged<Holder>?>(nil)
  private let make: @Sendable () -> Value

  init(_ make: @escaping @Sendable () -> Value) { self.make = make }

  var value: Value {
    let known = holder.load(ordering: .acquiring)
    // Sound: it is never released. It is read for each new page, without reference counting. A
    // process in which the object was made has observed forks since.
    if let known, let value = known._withUnsafeGuaranteedRef({ $0.value(in: ForkCount.known) }) {
      return value
    }
    let forkCount = ForkCount.current
    let new = Unmanaged.passRetained(Holder(forkCount, make()))
    let (isOurs, other) = holder.compareExchange(
      expected: known, desired: new, ordering: .acquiringAndReleasing)
    guard !isOurs, let other else { return new.takeUnretainedValue().value }
    new.release()
    return other.takeUnretainedValue().value
  }
}
