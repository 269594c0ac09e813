import Synchronization

/// Lets readers use plain addresses of pages without counting references, while pages are removed:
/// a removed page is freed when every operation has ended that may have seen it.
///
/// It is epoch-based reclamation (Fraser, *Practical lock-freedom*, 2004, section 5.2.3) in three
/// phases. An operation counts itself into the present phase and out again; pages that are removed
/// meanwhile wait with the phase. The phase advances when no operation is left in the one before
/// it. Everything that waited there can then be freed, as all operations that may have seen it have
/// ended.
///
/// `@unchecked Sendable`: the counters are atomic and live as long as the object.
final class Reclaimer: @unchecked Sendable {
  // One counter in each cache line, so that readers on different cores do not disturb each other.
  private static let stripeCount = 16
  private static let wordsPerLine = 8

  private let phase = Atomic<Int>(0)
  private let counters: UnsafeMutablePointer<Atomic<Int>>
  private let waiting = Mutex(WaitingLists())
  private let process = ProcessMark(nil)

  /// The counter in which an operation is counted.
  struct Ticket {
    fileprivate let counter: Int
  }

  init() {
    let count = 3 * Reclaimer.stripeCount * Reclaimer.wordsPerLine
    counters = .allocate(capacity: count)
    for index in 0..<count { (counters + index).initialize(to: Atomic(0)) }
  }

  deinit {
    guard process.isCurrent else { return }
    waiting.withLock { lists in
      for phase in 0..<3 { for object in lists[phase] { object.release() } }
    }
    counters.deallocate()
  }

  /// Begins an operation that follows addresses of pages. Never waits.
  @inline(__always)
  func enter() -> Ticket {
    let stripe = ThreadIdentity.stripe(of: Reclaimer.stripeCount)
    while true {
      let phase = phase.load(ordering: .relaxed)
      let counter = (phase &* Reclaimer.stripeCount &+ stripe) &* Reclaimer.wordsPerLine
      counters[counter].wrappingAdd(1, ordering: .sequentiallyConsistent)
      if self.phase.load(ordering: .sequentiallyConsistent) == phase {
        return Ticket(counter: counter)
      }
      counters[counter].wrappingSubtract(1, ordering: .releasing)
    }
  }

  @inline(__always)
  func leave(_ ticket: Ticket) {
    counters[ticket.counter].wrappingSubtract(1, ordering: .releasing)
  }

  /// Releases an object when no operation can be using it any more; its reference passes to the
  /// reclaimer.
  func release(_ object: Unmanaged<AnyObject>) {
    let free: [WaitingObject] = waiting.withLock { waiting in
      waiting[phase.load(ordering: .relaxed)].append(WaitingObject(object))
      return advance(&waiting)
    }
    for object in free { object.release() }
  }

  /// Frees what can be freed now.
  func collect() {
    for _ in 0..<3 {
      let free = waiting.withLock { advance(&$0) }
      for object in free { object.release() }
    }
  }

  private func advance(_ waiting: inout WaitingLists) -> [WaitingObject] {
    let now = phase.load(ordering: .relaxed)
    let before = (now + 2) % 3
    for stripe in 0..<Reclaimer.stripeCount {
      let counter = (before * Reclaimer.stripeCount + stripe) * Reclaimer.wordsPerLine
      if counters[counter].load(ordering: .sequentiallyConsistent) != 0 { return [] }
    }
    let free = waiting[before]
    waiting[before] = []
    phase.store((now + 1) % 3, ordering: .sequentiallyConsistent)
    return free
  }
}

/// The objects that wait with each of the three phases. It is not an array of arrays, which would
/// be one more type for the runtime to instantiate when the first store is opened.
private struct WaitingLists: Sendable {
  private var first: [WaitingObject] = []
  private var second: [WaitingObject] = []
  private var third: [WaitingObject] = []

  subscript(phase: Int) -> [WaitingObject] {
    _read {
      switch phase {
      case 0: yield first
      case 1: yield second
      default: yield third
      }
    }
    _modify {
      switch phase {
      case 0: yield &first
      case 1: yield &second
      default: yield &third
      }
    }
  }
}

/// A reference that only the reclaimer has: it may be passed between threads.
private struct WaitingObject: Sendable {
  private let address: UInt
  init(_ object: Unmanaged<AnyObject>) { address = UInt(bitPattern: object.toOpaque()) }

  func release() {
    guard let object = UnsafeRawPointer(bitPattern: address) else { return }
    Unmanaged<AnyObject>.fromOpaque(object).release()
  }
}
