import QuireStorage
import Synchronization

/// A disk that knows what was synced: it can die after any operation, and shows what could be left.
///
/// Writes and changes of names wait in order until a sync of their file or folder makes them
/// durable. After a crash any of the waiting ones may have reached the disk, the others not.
package final class SimulatedDisk: FileSystem {
  private static let nextVolume = Atomic<UInt64>(1 << 62)

  package enum Operation {
    case write(node: Int, offset: Int, bytes: [UInt8])
    case truncate(node: Int, byteCount: Int)
    case name(path: String, node: Int?)
    case rename(from: String, to: String, node: Int)
  }

  /// What happens instead of one operation.
  package enum Fault: String, CaseIterable, Sendable {
    case ioError, noSpace, shortWrite, shortWriteNoSpace
  }

  fileprivate struct State {
    var contents: [[UInt8]] = []
    var durableContents: [[UInt8]] = []
    var names: [String: Int] = [:]
    var durableNames: [String: Int] = [:]
    var pending: [Operation] = []
    var operationCount = 0
    /// The operation after which the process is dead.
    var crashAfter = Int.max
    var faultAt = Int.max
    var fault = Fault.ioError
    var ignoredSync: SyncReason?
  }

  private let volume: UInt64
  fileprivate let state: Mutex<State>

  /// - Parameter files: what is on the disk, durably, to begin with.
  package init(_ files: [String: [UInt8]] = [:], ignoring ignoredSync: SyncReason? = nil) {
    volume = SimulatedDisk.nextVolume.add(1, ordering: .relaxed).oldValue
    var state = State()
    for (path, bytes) in files {
      state.names[path] = state.contents.count
      state.contents.append(bytes)
    }
    state.durableNames = state.names
    state.durableContents = state.contents
    state.ignoredSync = ignoredSync
    self.state = Mutex(state)
  }

  package var operationCount: Int { state.withLock { $0.operationCount } }

  /// Lets the process die after so many more operations.
  package func crash(after count: Int) {
    state.withLock { $0.crashAfter = $0.operationCount + count }
  }

  /// A new process, on what the system still knows.
  package func revive() { state.withLock { $0.crashAfter = .max } }

  package func fail(at operation: Int, with fault: Fault) {
    state.withLock {
      $0.faultAt = operation
      $0.fault = fault
    }
  }

  /// The files as the system shows them.
  package var files: [String: [UInt8]] {
    state.withLock { state in state.names.mapValues { state.contents[$0] } }
  }

  // MARK: FileSystem

  package func open(_ path: String, _ mode: FileMode) throws(StorageError) -> any File {
    guard mode == .create else {
      guard let node = state.withLock({ $0.names[path] }) else { throw .notFound(path: path) }
      return SimulatedFile(self, node, path, volume)
    }
    try step(path)
    let node = state.withLock { state in
      if let node = state.names[path] {
        state.apply(.truncate(node: node, byteCount: 0))
        return node
      }
      state.contents.append([])
      state.durableContents.append([])
      state.apply(.name(path: path, node: state.contents.count - 1))
      return state.contents.count - 1
    }
    return SimulatedFile(self, node, path, volume)
  }

  package func publish(_ temporaryPath: String, as path: String) throws(StorageError) {
    try step(path)
    let refusal: StorageError? = state.withLock { state in
      guard state.names[path] == nil else { return .alreadyExists(path: path) }
      guard let node = state.names[temporaryPath] else { return .notFound(path: temporaryPath) }
      state.apply(.rename(from: temporaryPath, to: path, node: node))
      return nil
    }
    if let refusal { throw refusal }
  }

  package func replace(_ path: String, by temporaryPath: String) throws(StorageError) {
    try step(path)
    let isThere = state.withLock { state in
      guard let node = state.names[temporaryPath] else { return false }
      state.apply(.rename(from: temporaryPath, to: path, node: node))
      return true
    }
    if !isThere { throw .notFound(path: temporaryPath) }
  }

  package func remove(_ path: String) throws(StorageError) {
    guard state.withLock({ $0.names[path] != nil }) else { return }
    try step(path)
    state.withLock { $0.apply(.name(path: path, node: nil)) }
  }

  package func identifier(of path: String) throws(StorageError) -> FileIdentifier? {
    state.withLock { $0.names[path] }.map { FileIdentifier(volume: volume, number: UInt64($0)) }
  }

  package func syncFolder(of path: String, for reason: SyncReason) throws(StorageError) {
    try step(path)
    state.withLock { state in
      if reason == state.ignoredSync { return }
      state.durableNames = state.names
      state.pending.removeAll { operation in
        switch operation {
        case .name, .rename: true
        default: false
        }
      }
    }
  }

  package func currentOwner() -> LockOwner {
    LockOwner(processID: 1, processName: "simulated", host: "", since: 0)
  }

  /// Counts an operation.
  fileprivate func step(_ path: String, writing: ((Int) -> Void)? = nil) throws(StorageError) {
    let error: StorageError? = state.withLock { state in
      guard state.operationCount < state.crashAfter else {
        return .io(operation: "crash", path: path, code: 5, message: "the process is dead")
      }
      state.operationCount += 1
      guard state.operationCount == state.faultAt else { return nil }
      switch state.fault {
      case .ioError, .shortWrite:
        return .io(operation: "fault", path: path, code: 5, message: "injected")
      case .noSpace, .shortWriteNoSpace:
        return .noSpaceLeft(path: path)
      }
    }
    if let error { throw error }
  }
}

extension SimulatedDisk.State {
  mutating func apply(_ operation: SimulatedDisk.Operation) {
    pending.append(operation)
    SimulatedDisk.State.apply(operation, &contents, &names)
  }

  static func apply(
    _ operation: SimulatedDisk.Operation, _ contents: inout [[UInt8]],
    _ names: inout [String: Int]
  ) {
    switch operation {
    case .write(let node, let offset, let bytes):
      let missing = offset + bytes.count - contents[node].count
      if missing > 0 { contents[node].append(contentsOf: repeatElement(0, count: missing)) }
      contents[node].replaceSubrange(offset..<(offset + bytes.count), with: bytes)
    case .truncate(let node, let byteCount):
      if byteCount < contents[node].count {
        contents[node].removeLast(contents[node].count - byteCount)
      } else {
        contents[node].append(
          contentsOf: repeatElement(0, count: byteCount - contents[node].count))
      }
    case .name(let path, let node): names[path] = node
    case .rename(let from, let to, let node):
      names[from] = nil
      names[to] = node
    }
  }
}

private final class SimulatedFile: File {
  let identifier: FileIdentifier
  private let disk: SimulatedDisk
  private let node: Int
  private let path: String

  init(_ disk: SimulatedDisk, _ node: Int, _ path: String, _ volume: UInt64) {
    self.disk = disk
    self.node = node
    self.path = path
    identifier = FileIdentifier(volume: volume, number: UInt64(node))
  }

  func byteCount() throws(StorageError) -> Int {
    disk.state.withLock { $0.contents[node].count }
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    let bytes = disk.state.withLock { $0.contents[node] }
    let count = min(buffer.count, bytes.count - offset)
    guard count > 0 else { return 0 }
    buffer.copyBytes(from: bytes[offset..<(offset + count)])
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    do throws(StorageError) {
      try disk.step(path)
    } catch {
      let isShort = disk.state.withLock { state in
        state.operationCount == state.faultAt
          && (state.fault == .shortWrite || state.fault == .shortWriteNoSpace)
      }
      // Half of it arrived.
      if isShort { put([UInt8](bytes.prefix(bytes.count / 2)), at: offset) }
      throw error
    }
    put([UInt8](bytes), at: offset)
  }

  private func put(_ bytes: [UInt8], at offset: Int) {
    disk.state.withLock { $0.apply(.write(node: node, offset: offset, bytes: bytes)) }
  }

  func truncate(to byteCount: Int) throws(StorageError) {
    try disk.step(path)
    disk.state.withLock { $0.apply(.truncate(node: node, byteCount: byteCount)) }
  }

  func sync(for reason: SyncReason) throws(StorageError) {
    try disk.step(path)
    disk.state.withLock { state in
      if reason == state.ignoredSync { return }
      state.durableContents[node] = state.contents[node]
      state.pending.removeAll { operation in
        switch operation {
        case .write(let other, _, _), .truncate(let other, _): other == node
        default: false
        }
      }
    }
  }

  func lock(_ mode: LockMode) throws(StorageError) -> Bool { true }
}

// MARK: What can be left

extension SimulatedDisk {
  /// What the disk may hold after a crash now: nothing of what waits, all of it, each prefix, all
  /// but one, prefixes without what waits for one of the files, and prefixes whose last write
  /// reached the disk in part, by sectors of 512 bytes.
  package func crashImages() -> [[String: [UInt8]]] {
    let state = state.withLock { $0 }
    let count = state.pending.count
    var images: [[String: [UInt8]]] = []
    func add(_ operations: [Operation]) {
      var (contents, names) = (state.durableContents, state.durableNames)
      for operation in operations { State.apply(operation, &contents, &names) }
      images.append(names.mapValues { contents[$0] })
    }
    for length in 0...count { add([Operation](state.pending[..<length])) }
    for lost in 0..<max(0, count - 1) {
      add(state.pending.enumerated().filter { $0.offset != lost }.map(\.element))
    }
    for lost in state.contents.indices {
      for length in 0...count {
        let kept = state.pending[..<length].filter { operation in
          switch operation {
          case .write(lost, _, _), .truncate(lost, _): false
          default: true
          }
        }
        if kept.count < length { add(kept) }
      }
    }
    for last in 0..<count {
      guard case .write(let node, let offset, let bytes) = state.pending[last] else { continue }
      let sectors = stride(from: 0, to: bytes.count, by: 512).map { start in
        let end = min(start + 512, bytes.count)
        return Operation.write(
          node: node, offset: offset + start, bytes: [UInt8](bytes[start..<end]))
      }
      guard sectors.count > 1 else { continue }
      let before = [Operation](state.pending[..<last])
      let chosen = sectors.count <= 6 ? Array(sectors.indices) : [0, 1, sectors.count - 1]
      for index in chosen {
        add(before + [sectors[index]])
        add(before + sectors.enumerated().filter { $0.offset != index }.map(\.element))
      }
      add(before + sectors[..<(sectors.count / 2)])
      add(before + sectors[(sectors.count / 2)...])
    }
    return images
  }
}
