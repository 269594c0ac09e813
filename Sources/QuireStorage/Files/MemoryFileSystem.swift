import Synchronization

/// Files in memory: every promise of a file system but that of surviving the process.
///
/// For tests that want files without a disk; a store without any file is `PageStore.inMemory`.
public final class MemoryFileSystem: FileSystem {
  // Apart from every device number of a real system, so that stores of the two never meet.
  private static let nextVolume = Atomic<UInt64>(1 << 63)

  private let volume: UInt64
  private let state = Mutex(State())

  private struct State {
    var files: [String: MemoryFileContent] = [:]
    var nextNumber: UInt64 = 1
  }

  /// A file system of its own, with no file in it.
  public init() {
    volume = MemoryFileSystem.nextVolume.add(1, ordering: .relaxed).oldValue
  }

  public func open(_ path: String, _ mode: FileMode) throws(StorageError) -> any File {
    let content: MemoryFileContent? = state.withLock { state in
      guard mode == .create else { return state.files[path] }
      let content = MemoryFileContent(
        FileIdentifier(volume: volume, number: state.nextNumber))
      state.nextNumber += 1
      state.files[path] = content
      return content
    }
    guard let content else { throw .notFound(path: path) }
    return MemoryFile(content, isReadOnly: mode == .read, path: path)
  }

  public func publish(_ temporaryPath: String, as path: String) throws(StorageError) {
    let refusal: StorageError? = state.withLock { state in
      guard state.files[path] == nil else { return .alreadyExists(path: path) }
      guard let content = state.files.removeValue(forKey: temporaryPath) else {
        return .notFound(path: temporaryPath)
      }
      state.files[path] = content
      return nil
    }
    if let refusal { throw refusal }
  }

  public func replace(_ path: String, by temporaryPath: String) throws(StorageError) {
    let isThere = state.withLock { state in
      guard let content = state.files.removeValue(forKey: temporaryPath) else { return false }
      state.files[path] = content
      return true
    }
    if !isThere { throw .notFound(path: temporaryPath) }
  }

  public func remove(_ path: String) throws(StorageError) {
    state.withLock { $0.files[path] = nil }
  }

  public func identifier(of path: String) throws(StorageError) -> FileIdentifier? {
    state.withLock { $0.files[path]?.identifier }
  }

  public func syncFolder(of path: String, for reason: SyncReason) throws(StorageError) {}

  public func currentOwner() -> LockOwner {
    LockOwner(processID: 1, processName: "memory", host: "", since: 0)
  }

  public func paths(beginningWith path: String) throws(StorageError) -> [String] {
    state.withLock { $0.files.keys.filter { $0.utf8.starts(with: path.utf8) } }
  }

  /// The names of all files, sorted.
  public var paths: [String] { state.withLock { $0.files.keys.sorted() } }

  /// A copy of a file's bytes, or `nil` when there is none.
  public func bytes(of path: String) -> [UInt8]? {
    state.withLock { $0.files[path] }?.bytes.withLock { $0 }
  }

  /// Puts a file there, in place of one that is there.
  public func setBytes(_ bytes: [UInt8], of path: String) {
    state.withLock { state in
      let content = MemoryFileContent(
        FileIdentifier(volume: volume, number: state.nextNumber))
      content.bytes.withLock { $0 = bytes }
      state.nextNumber += 1
      state.files[path] = content
    }
  }
}

/// The content of a file in memory, while the file has a name or is open.
private final class MemoryFileContent: Sendable {
  let identifier: FileIdentifier
  let bytes = Mutex<[UInt8]>([])
  /// The number of shared locks, or -1 for an exclusive one.
  let locks = Mutex(0)
  /// The number of files that wait for a turn.
  let waiterCount = Atomic(0)

  init(_ identifier: FileIdentifier) { self.identifier = identifier }
}

private final class MemoryFile: File {
  private let content: MemoryFileContent
  private let isReadOnly: Bool
  private let path: String
  private let held = Mutex<LockMode?>(nil)
  private let isWaiting = Atomic(false)

  init(_ content: MemoryFileContent, isReadOnly: Bool, path: String) {
    self.content = content
    self.isReadOnly = isReadOnly
    self.path = path
  }

  deinit {
    unlock()
    wait(false)
  }

  func unlock() {
    let held = held.withLock { held in
      defer { held = nil }
      return held
    }
    content.locks.withLock { locks in
      switch held {
      case .shared: locks -= 1
      case .exclusive, .turn: locks = 0
      case nil: break
      }
    }
  }

  var identifier: FileIdentifier { content.identifier }

  func byteCount() throws(StorageError) -> Int { content.bytes.withLock { $0.count } }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    // The buffer is written under the lock only; it is not kept.
    nonisolated(unsafe) let buffer = buffer
    return content.bytes.withLock { bytes in
      let count = min(buffer.count, bytes.count - offset)
      guard count > 0 else { return 0 }
      bytes.withUnsafeBytes {
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<(offset + count)]))
      }
      return count
    }
  }

  func write(_ new: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    guard !isReadOnly else {
      // The C error is EBADF; its number is 9 on every supported system.
      throw .io(operation: "write", path: path, code: 9, message: "opened for reading")
    }
    // The bytes are read under the lock only; they are not kept.
    nonisolated(unsafe) let new = new
    content.bytes.withLock { bytes in
      if offset == bytes.count {
        bytes.append(contentsOf: new)
        return
      }
      if bytes.count < offset + new.count {
        bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count)
      }
      bytes.withUnsafeMutableBytes {
        UnsafeMutableRawBufferPointer(rebasing: $0[offset..<(offset + new.count)])
          .copyMemory(from: new)
      }
    }
  }

  func truncate(to byteCount: Int) throws(StorageError) {
    content.bytes.withLock { bytes in
      if byteCount < bytes.count {
        bytes.removeLast(bytes.count - byteCount)
      } else {
        bytes += [UInt8](repeating: 0, count: byteCount - bytes.count)
      }
    }
  }

  func sync(for reason: SyncReason) throws(StorageError) {}

  func lock(_ mode: LockMode) throws(StorageError) -> Bool {
    let isTaken = content.locks.withLock { locks in
      switch mode {
      case .shared:
        guard locks >= 0 else { return false }
        locks += 1
      case .exclusive, .turn:
        guard locks == 0 else { return false }
        locks = -1
      }
      return true
    }
    if isTaken { held.withLock { $0 = mode } }
    return isTaken
  }

  func hasWriter() throws(StorageError) -> Bool? {
    content.locks.withLock { $0 < 0 } && held.withLock { $0 == nil || $0 == .shared }
  }

  func wait(_ waits: Bool) {
    let isChange = isWaiting.exchange(waits, ordering: .relaxed) != waits
    if isChange { content.waiterCount.add(waits ? 1 : -1, ordering: .relaxed) }
  }

  func hasWaiter() throws(StorageError) -> Bool {
    content.waiterCount.load(ordering: .relaxed) > (isWaiting.load(ordering: .relaxed) ? 1 : 0)
  }
}
