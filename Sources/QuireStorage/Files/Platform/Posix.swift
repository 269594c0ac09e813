#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The calls of the C library that the engine makes, with its errors translated: the only type
/// that knows `errno`. Interrupted and partial calls are continued here.
enum Posix {
  static func open(_ path: String, _ mode: FileMode) throws(StorageError) -> Int32 {
    // O_NONBLOCK makes no difference to files; without it, opening a named pipe would never return.
    switch mode {
    case .read: return try open(path, O_RDONLY | O_NONBLOCK)
    case .write: return try open(path, O_RDWR | O_NONBLOCK)
    case .create: break
    }
    // The name may be taken again by another process; a few times is bad luck.
    var attempts = 8
    while true {
      do throws(StorageError) {
        return try open(path, O_RDWR | O_CREAT | O_EXCL)
      } catch .alreadyExists where attempts > 0 {
        attempts -= 1
        try remove(path)
      }
    }
  }

  /// Opens a file. A symbolic link is not followed, since its target does not belong to the store.
  private static func open(_ path: String, _ flags: Int32) throws(StorageError) -> Int32 {
    // Readable by all users, like any document; the umask of the process can restrict that.
    try check("open", path) { platformOpen(path, flags | O_NOFOLLOW | O_CLOEXEC, 0o644) }
  }

  /// Blocks the thread, for about this time.
  static func pause(milliseconds: UInt32) { usleep(milliseconds * 1000) }

  static func close(_ descriptor: Int32) {
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #elseif canImport(Glibc)
      _ = Glibc.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #elseif canImport(Android)
      _ = Android.close(descriptor)
    #endif
  }

  static func read(
    _ descriptor: Int32, _ path: String, at offset: Int,
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> Int {
    var done = 0
    while done < buffer.count, let start = buffer.baseAddress {
      let part = try check("read", path) {
        pread(descriptor, start + done, buffer.count - done, off_t(offset + done))
      }
      if part == 0 { break }
      done += part
    }
    return done
  }

  static func write(
    _ descriptor: Int32, _ path: String, _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) throws(StorageError) {
    var done = 0
    while done < bytes.count, let start = bytes.baseAddress {
      done += try check("write", path) {
        pwrite(descriptor, start + done, bytes.count - done, off_t(offset + done))
      }
    }
  }

  /// Through the disk's own cache, where the system has a call for that.
  static func sync(_ descriptor: Int32, _ path: String) throws(StorageError) {
    try WorkerThreads.whileBlocked { () throws(StorageError) in
      #if canImport(Darwin)
        // Some file systems do not know the full sync; theirs is then the best there is.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        _ = try check("sync", path) { fsync(descriptor) }
      #else
        _ = try check("sync", path) { fdatasync(descriptor) }
      #endif
    }
  }

  static func syncFolder(of path: String) throws(StorageError) {
    let folder = folder(of: path)
    let descriptor = try check("open", folder) { platformOpen(folder, O_RDONLY | O_CLOEXEC, 0) }
    defer { close(descriptor) }
    _ = try check("sync", folder) { fsync(descriptor) }
  }

  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func paths(beginningWith path: String) throws(StorageError) -> [String] {
    let folder = folder(of: path)
    let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
    let prefix = path[(start ?? path.startIndex)...]
    guard let stream = opendir(folder) else { throw error(errno, "open", folder) }
    defer { closedir(stream) }
    var paths: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        let name = bytes.prefix { $0 != 0 }
        return name.starts(with: prefix.utf8) ? String(decoding: name, as: UTF8.self) : nil
      }
      if let name { paths.append(path[..<prefix.startIndex] + name) }
    }
    return paths
  }

  /// The status of an open file.
  struct Status {
    let identifier: FileIdentifier
    let byteCount: Int
    let nameCount: Int
    let isRegular: Bool
  }

  static func status(_ descriptor: Int32, _ path: String) throws(StorageError) -> Status {
    var status = stat()
    _ = try check("stat", path) { fstat(descriptor, &status) }
    return Status(
      identifier: identifier(status), byteCount: Int(status.st_size),
      nameCount: Int(status.st_nlink), isRegular: status.st_mode & S_IFMT == S_IFREG)
  }

  /// The length of a file. `fstat` would tell it as well; but since Linux 6.13 the next write to a
  /// file whose times were asked for changes its inode, which the writer's next sync has to wait
  /// for. Nothing here depends on the position in the file.
  static func byteCount(_ descriptor: Int32, _ path: String) throws(StorageError) -> Int {
    var byteCount: off_t = 0
    _ = try check("lseek", path) {
      byteCount = lseek(descriptor, 0, SEEK_END)
      return byteCount < 0 ? -1 : 0
    }
    return Int(byteCount)
  }

  /// Whether there is a file of that name, as far as the system tells.
  static func isNamed(_ path: String) -> Bool { access(path, F_OK) == 0 || errno != ENOENT }

  static func identifier(of path: String) throws(StorageError) -> FileIdentifier? {
    var status = stat()
    do throws(StorageError) {
      _ = try check("stat", path) { stat(path, &status) }
    } catch .notFound {
      return nil
    }
    return identifier(status)
  }

  /// The final destination of a symbolic link at `path`, whether it exists or not.
  static func destination(of path: String) -> String {
    var path = path
    // As many links as systems follow; the call that uses the path reports a loop.
    for _ in 0..<40 {
      guard let next = target(ofLink: path) else { break }
      if next.utf8.first == UInt8(ascii: "/") {
        path = next
      } else {
        let folder = folder(of: path)
        path = folder == "/" ? "/" + next : folder + "/" + next
      }
    }
    return path
  }

  /// - Returns: `nil` when there is no link, or none that can be read.
  private static func target(ofLink path: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = bytes.withUnsafeMutableBytes {
      readlink(
        path, $0.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self), $0.count)
    }
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }

  private static func identifier(_ status: stat) -> FileIdentifier {
    FileIdentifier(
      volume: UInt64(truncatingIfNeeded: status.st_dev),
      number: UInt64(truncatingIfNeeded: status.st_ino))
  }

  /// `flock` belongs to the open file, so another descriptor's close does not give it back.
  static func lock(
    _ descriptor: Int32, _ path: String, _ mode: LockMode
  ) throws(StorageError) -> Bool {
    while true {
      if mode == .turn { return LockByte.writer.lock(descriptor, .exclusive) ?? false }
      if flock(descriptor, (mode == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 {
        if LockByte.writer.lock(descriptor, mode) != false { return true }
        // A process has its turn.
        _ = flock(descriptor, LOCK_UN)
        return false
      }
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return false
      case let code: throw error(code, "lock", path)
      }
    }
  }

  static func unlock(_ descriptor: Int32) {
    LockByte.writer.unlock(descriptor)
    _ = flock(descriptor, LOCK_UN)
  }

  /// Whether another open file has the lock of a writer; `nil` if the system cannot tell.
  static func hasWriter(_ descriptor: Int32) -> Bool? {
    LockByte.writer.isLocked(descriptor, against: .shared)
  }

  /// Whether another open file is in the queue for a turn.
  static func hasWaiter(_ descriptor: Int32) -> Bool {
    LockByte.queue.isLocked(descriptor, against: .exclusive) ?? false
  }

  /// Enters the queue for a turn, or leaves it.
  static func wait(_ descriptor: Int32, _ waits: Bool) {
    if waits {
      _ = LockByte.queue.lock(descriptor, .shared)
    } else {
      LockByte.queue.unlock(descriptor)
    }
  }

  /// A second name for a file; fails when the name is taken, which `rename` would not.
  static func publish(_ temporaryPath: String, as path: String) throws(StorageError) {
    do throws(StorageError) {
      _ = try check("link", path) { link(temporaryPath, path) }
    } catch .io {
      // No hard links here (FAT, Android's shared storage): look, then rename.
      if try identifier(of: path) != nil { throw .alreadyExists(path: path) }
      _ = try check("rename", path) { rename(temporaryPath, path) }
      return
    }
    try remove(temporaryPath)
  }

  static func replace(_ path: String, by temporaryPath: String) throws(StorageError) {
    _ = try check("rename", path) { rename(temporaryPath, path) }
  }

  static func truncate(
    _ descriptor: Int32, _ path: String, to byteCount: Int
  ) throws(StorageError) {
    _ = try check("truncate", path) { ftruncate(descriptor, off_t(byteCount)) }
  }

  /// Reserves room up to that offset, after the end of the file as well: what Linux can do and
  /// most of its file systems. Others can make files longer only.
  ///
  /// - Returns: whether the system and the file system can.
  static func reserve(
    _ descriptor: Int32, _ path: String, to byteCount: Int
  ) throws(StorageError) -> Bool {
    guard let allocate else { return false }
    do throws(StorageError) {
      _ = try check("reserve", path) { allocate(descriptor, keepSize, 0, off_t(byteCount)) }
      return true
    } catch .noSpaceLeft(let path) {
      throw .noSpaceLeft(path: path)
    } catch {
      return false
    }
  }

  private typealias Allocate = @convention(c) (Int32, Int32, off_t, off_t) -> Int32
  /// `FALLOC_FL_KEEP_SIZE`.
  private static let keepSize: Int32 = 1
  /// `fallocate`, which the module of the C library does not show.
  private static let allocate: Allocate? = {
    #if canImport(Darwin)
      return nil
    #else
      guard MemoryLayout<off_t>.size == 8, let function = dlsym(nil, "fallocate") else {
        return nil
      }
      // Sound: these are the types of its C declaration, where `off_t` has 64 bits.
      return unsafeBitCast(function, to: Allocate.self)
    #endif
  }()

  static func remove(_ path: String) throws(StorageError) {
    do throws(StorageError) {
      _ = try check("remove", path) { unlink(path) }
    } catch .notFound {}
  }

  static func currentOwner() -> LockOwner {
    var host = [UInt8](repeating: 0, count: 256)
    let known = host.withUnsafeMutableBytes {
      gethostname($0.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self), 255)
    }
    let hostName = known == 0 ? String(decoding: host.prefix { $0 != 0 }, as: UTF8.self) : ""
    let path = CommandLine.arguments.first ?? ""
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let program = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
    return LockOwner(
      processID: getpid(), processName: program, host: hostName,
      since: Int64(time(nil)))
  }

  // MARK: Errors

  /// Calls until it is not interrupted, and throws when the answer is -1.
  private static func check<N: FixedWidthInteger & SignedInteger>(
    _ operation: String, _ path: String, _ call: () -> N
  ) throws(StorageError) -> N {
    while true {
      let result = call()
      if result != -1 { return result }
      let code = errno
      if code != EINTR { throw error(code, operation, path) }
    }
  }

  /// The error of a sync that finds no space: one after which nothing is known.
  static func syncWithoutSpace(_ path: String) -> StorageError {
    .io(
      operation: "sync", path: path, code: ENOSPC,
      message: "no space left on the disk, or in the quota")
  }

  private static func error(_ code: Int32, _ operation: String, _ path: String) -> StorageError {
    switch code {
    case ENOSPC, EDQUOT: .noSpaceLeft(path: path)
    case ENOENT: .notFound(path: path)
    case EEXIST: .alreadyExists(path: path)
    case ELOOP:
      .io(
        operation: operation, path: path, code: code,
        message: "there is a symbolic link where a file should be")
    default:
      .io(operation: operation, path: path, code: code, message: String(cString: strerror(code)))
    }
  }
}

/// `open` is a C function with a variable number of arguments; each library shows it as two.
private func platformOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
  open(path, flags, mode)
}
