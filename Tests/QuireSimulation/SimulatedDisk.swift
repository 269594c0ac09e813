import QuireStorage
import Synchronization

// A disk that knows what was synced: it can die after any operation, and shows what could be left.
//
// Writes and changes of names wait in order until a sync of their file or folder makes them
// durable. After a crash any of the waiting ones may have reached the disk, whole or in part, the
// others not (`CrashImages`). An *operation* changes something: it is numbered, can be refused, and
// is where a crash can be. A *query* only looks; it has numbers of its own.

/// Files that survive as little as a real disk's might.
///
/// Everything is behind one mutex, so an engine may use it from several threads; which operation
/// has which number then depends on them.
package final class SimulatedDisk: FileSystem {
  private static let nextVolume = Atomic<UInt64>(1 << 62)

  /// What is to go wrong, and what went by.
  struct Control {
    var disk: DiskState
    var operationCount = 0
    var queryCount = 0
    /// The operation after which the process is dead.
    var crashAfter = Int.max
    var fault: FaultPlan?
    var queryFault: (query: Int, fault: QueryFault, isForGood: Bool)?
    var syncFailure = SyncFailureModel.retained
    var isShutDown = false
    /// The bytes that all files together may have.
    var capacity = Int.max
    var reservesRoom = false
    var networkType: String?
    var ignored: Set<SyncReason> = []
    var reasons: Set<SyncReason> = []
    var failedSyncs: [SyncReason] = []
    var syncOperations: [Int] = []
    var observer: (@Sendable (DiskState, Int) -> Void)?
    /// Who has which file locked, by their numbers.
    var locks: [Int: [ObjectIdentifier: LockMode]] = [:]
    /// The files that wait for a turn, by the number of the file.
    var waiters: [Int: Set<ObjectIdentifier>] = [:]
  }

  let volume: UInt64
  let control: Mutex<Control>
  // In structs: a mutex of a function wraps it once more each time that it is read.
  private struct Interlude {
    var body: (@Sendable () -> Void)?
  }
  struct QueryInterlude {
    var body: (@Sendable (_ name: String?) -> Void)?
  }
  private let interlude = Mutex(Interlude())
  let queryInterlude = Mutex(QueryInterlude())
  let process = Atomic(0)

  /// - Parameter files: what is on the disk, durably, to begin with.
  package convenience init(
    _ files: [String: [UInt8]] = [:], ignoring ignored: Set<SyncReason> = []
  ) {
    self.init(DiskState(files.mapValues { FileContent($0) }), ignoring: ignored)
  }

  /// The disk that a crash left.
  package convenience init(_ image: CrashImage, ignoring ignored: Set<SyncReason> = []) {
    self.init(DiskState(image.files), ignoring: ignored)
  }

  /// The disk of a process that died while the system went on: what waits, waits still.
  package init(_ state: DiskState, ignoring ignored: Set<SyncReason> = []) {
    volume = SimulatedDisk.nextVolume.add(1, ordering: .relaxed).oldValue
    var control = Control(disk: state)
    control.ignored = ignored
    self.control = Mutex(control)
  }

  // MARK: What goes wrong

  package var operationCount: Int { control.withLock { $0.operationCount } }
  package var queryCount: Int { control.withLock { $0.queryCount } }
  /// The labels of the syncs that were asked for.
  package var reasons: Set<SyncReason> { control.withLock { $0.reasons } }
  /// What the syncs that failed were for.
  package var failedSyncs: [SyncReason] { control.withLock { $0.failedSyncs } }
  /// The numbers of the operations that were syncs.
  package var syncOperations: [Int] { control.withLock { $0.syncOperations } }
  package var state: DiskState { control.withLock { $0.disk } }
  package var byteCount: Int { control.withLock { $0.disk.byteCount } }

  /// The files as the system shows them.
  package var files: [String: [UInt8]] {
    state.files.mapValues(\.bytes)
  }

  /// Calls `observer` before each operation with the state it will find, and the number of
  /// operations so far. The disk is locked meanwhile: the observer must not use it.
  package func observe(_ observer: (@Sendable (DiskState, Int) -> Void)?) {
    control.withLock { $0.observer = observer }
  }

  /// Calls `body` before each operation, on the thread that asks for it; other than an observer, it
  /// may use the disk.
  package func interpose(_ body: (@Sendable () -> Void)?) { interlude.withLock { $0.body = body } }

  private func makeWay() { interlude.withLock { $0 }.body?() }

  /// The same before each query.
  ///
  /// - Parameter body: gets the name when it is asked which file has it.
  package func interposeQueries(_ body: (@Sendable (_ name: String?) -> Void)?) {
    queryInterlude.withLock { $0.body = body }
  }

  /// Runs `body` as a child made by `fork` would, which goes on with its parent's memory.
  package func asChild<R>(_ body: () throws -> R) rethrows -> R {
    process.add(1, ordering: .relaxed)
    defer { process.subtract(1, ordering: .relaxed) }
    return try body()
  }

  /// What another process does, or a person: it is on the disk at once, is no operation, and no
  /// fault meets it.
  package func alter(_ body: (inout DiskState) -> Void) { control.withLock { body(&$0.disk) } }

  /// Lets the process die after so many more operations.
  package func crash(after count: Int) {
    control.withLock { $0.crashAfter = $0.operationCount + count }
  }

  /// A new process, on what the system still knows.
  package func revive() {
    control.withLock {
      $0.crashAfter = .max
      $0.locks = [:]
      $0.waiters = [:]
    }
  }

  package func fail(at operation: Int, with fault: Fault) {
    fail(FaultPlan(operation: operation, fault))
  }

  package func fail(_ plan: FaultPlan, syncs model: SyncFailureModel = .retained) {
    control.withLock {
      $0.fault = plan
      $0.syncFailure = model
    }
  }

  package func failQuery(at query: Int, with fault: QueryFault, isForGood: Bool = false) {
    control.withLock { $0.queryFault = (query, fault, isForGood) }
  }

  /// Whether files can reserve room behind their end, which not all file systems have.
  package var reservesRoom: Bool {
    get { control.withLock { $0.reservesRoom } }
    set { control.withLock { $0.reservesRoom = newValue } }
  }

  /// The type of network file system that the disk claims to be; `nil` for one of this machine.
  package var networkType: String? {
    get { control.withLock { $0.networkType } }
    set { control.withLock { $0.networkType = newValue } }
  }
  package func networkType(of path: String) -> String? { networkType }

  package func limit(to capacity: Int) { control.withLock { $0.capacity = capacity } }

  /// Whether writing may fail for lack of room.
  package var mayLackRoom: Bool {
    control.withLock { $0.capacity < .max || $0.fault?.fault.isNoSpace ?? false }
  }

  /// Whether the file system refuses everything until ``heal()``.
  package var isShutDown: Bool { control.withLock { $0.isShutDown } }

  /// Nothing goes wrong any more; a file system that shut down is mounted again.
  package func heal() {
    control.withLock { control in
      (control.fault, control.queryFault, control.capacity) = (nil, nil, .max)
      if control.isShutDown { control.disk.remount() }
      control.isShutDown = false
    }
  }

  /// Memory is short: what nothing waits to write is read from the disk again.
  package func evict() { control.withLock { $0.disk.evict() } }

  // MARK: Operations and queries

  private enum Verdict {
    case proceed
    case refused(StorageError, isShort: Bool)
  }

  /// Counts an operation and decides what becomes of it.
  private static func judge(
    _ control: inout Control, _ path: String, isSync: Bool
  ) -> Verdict {
    guard control.operationCount < control.crashAfter else {
      return .refused(error(path, "the process is dead"), isShort: false)
    }
    control.observer?(control.disk, control.operationCount)
    control.operationCount += 1
    guard !control.isShutDown else {
      return .refused(error(path, "the file system has shut down"), isShort: false)
    }
    guard let plan = control.fault, plan.hits(control.operationCount, isSync: isSync) else {
      return .proceed
    }
    let error: StorageError =
      plan.fault.isNoSpace ? .noSpaceLeft(path: path) : error(path, "injected")
    return .refused(error, isShort: plan.fault.isShort)
  }

  static func error(_ path: String, _ message: String) -> StorageError {
    // The C error is EIO; its number is 5 on every system we know.
    .io(operation: "simulation", path: path, code: 5, message: message)
  }

  /// An operation that happens or does not.
  func change<R: Sendable>(
    _ path: String, _ body: (inout DiskState, Int) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    makeWay()
    let result: Result<R, StorageError> = control.withLock { control in
      if case .refused(let error, _) = SimulatedDisk.judge(&control, path, isSync: false) {
        return .failure(error)
      }
      do throws(StorageError) {
        return .success(try body(&control.disk, control.capacity))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  func perform(
    _ path: String, _ body: (inout DiskState, Int) throws(StorageError) -> Void
  ) throws(StorageError) {
    try change(path, body)
  }

  func write(
    _ bytes: [UInt8], at offset: Int, node: Int, path: String
  ) throws(StorageError) {
    makeWay()
    let failure: StorageError? = control.withLock { control in
      func put(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        control.disk.apply(.write(node: node, offset: offset, bytes: bytes))
      }
      switch SimulatedDisk.judge(&control, path, isSync: false) {
      case .refused(let error, let isShort):
        if isShort { put([UInt8](bytes[..<(bytes.count / 2)])) }
        return error
      case .proceed:
        let old = control.disk.room(of: node)
        let free = control.capacity - control.disk.byteCount
        guard max(0, offset + bytes.count - old) > free else {
          put(bytes)
          return nil
        }
        // As POSIX has it: what there is room for is written.
        put([UInt8](bytes[..<max(0, min(bytes.count, old + max(0, free) - offset))]))
        return .noSpaceLeft(path: path)
      }
    }
    if let failure { throw failure }
  }

  /// - Returns: whether there is as much room.
  func reserve(_ byteCount: Int, for node: Int) -> Bool {
    control.withLock { control in
      let more = byteCount - control.disk.room(of: node)
      guard more > 0 else { return true }
      guard more <= control.capacity - control.disk.byteCount else { return false }
      control.disk.reserve(byteCount, for: node)
      return true
    }
  }

  func sync(node: Int?, path: String, for reason: SyncReason) throws(StorageError) {
    makeWay()
    let failure: StorageError? = control.withLock { control in
      control.reasons.insert(reason)
      control.syncOperations.append(control.operationCount + 1)
      switch SimulatedDisk.judge(&control, path, isSync: true) {
      case .refused(let error, _):
        control.failedSyncs.append(reason)
        if let node, !control.isShutDown { control.disk.failSync(node: node, control.syncFailure) }
        if control.syncFailure == .xfs { control.isShutDown = true }
        return error
      case .proceed:
        guard !control.ignored.contains(reason) else { return nil }
        if let node {
          control.disk.sync(node: node)
        } else {
          control.disk.syncFolder(folderName(of: path))
        }
        return nil
      }
    }
    if let failure { throw failure }
  }

  func query<R: Sendable>(
    _ path: String, _ body: (DiskState) -> R
  ) throws(StorageError) -> R {
    queryInterlude.withLock { $0 }.body?(nil)
    return try queryAtOnce(path, body)
  }

  func queryAtOnce<R: Sendable>(
    _ path: String, _ body: (DiskState) -> R
  ) throws(StorageError) -> R {
    let result: R? = control.withLock { control in
      SimulatedDisk.isRefused(&control, .ioError) ? nil : body(control.disk)
    }
    guard let result else { throw SimulatedDisk.error(path, "injected") }
    return result
  }

  func queryContent(
    _ path: String, node: Int
  ) throws(StorageError) -> (FileContent, isShort: Bool) {
    let result: (FileContent, Bool)? = control.withLock { control in
      if SimulatedDisk.isRefused(&control, .ioError) { return nil }
      control.queryCount -= 1
      return (control.disk.contents[node], SimulatedDisk.isRefused(&control, .shortRead))
    }
    guard let result else { throw SimulatedDisk.error(path, "injected") }
    return result
  }

  // MARK: Locks

  func lock(
    _ mode: LockMode, node: Int, by owner: ObjectIdentifier, path: String
  ) throws(StorageError) -> Bool {
    _ = try query(path) { _ in }
    return control.withLock { control in
      let others = control.locks[node, default: [:]].filter { $0.key != owner }
      guard mode == .shared ? others.values.allSatisfy({ $0 == .shared }) : others.isEmpty else {
        return false
      }
      control.locks[node, default: [:]][owner] = mode
      return true
    }
  }

  func hasWriter(
    node: Int, besides owner: ObjectIdentifier, path: String
  ) throws(StorageError) -> Bool {
    _ = try query(path) { _ in }
    return control.withLock { control in
      control.locks[node, default: [:]].contains { $0.key != owner && $0.value != .shared }
    }
  }

  func unlock(node: Int, by owner: ObjectIdentifier) {
    control.withLock { $0.locks[node]?[owner] = nil }
  }

  func wait(_ waits: Bool, node: Int, by owner: ObjectIdentifier) {
    control.withLock { control in
      if waits {
        control.waiters[node, default: []].insert(owner)
      } else {
        control.waiters[node]?.remove(owner)
      }
    }
  }

  func hasWaiter(node: Int, besides owner: ObjectIdentifier) -> Bool {
    control.withLock { $0.waiters[node, default: []].contains { $0 != owner } }
  }

  private static func isRefused(_ control: inout Control, _ fault: QueryFault) -> Bool {
    control.queryCount += 1
    guard let plan = control.queryFault, plan.fault == fault else { return false }
    return plan.isForGood ? control.queryCount >= plan.query : control.queryCount == plan.query
  }
}
