import Synchronization

#if canImport(Glibc)
  import Glibc

  /// The time that this process spends in calls that write to files or wait for the disk.
  ///
  /// The program has functions of the same names as the C library's, which the linker prefers for
  /// what is linked into it, our library among it; they take the time and call the C library's. The
  /// peers' libraries keep theirs. Only on Linux; elsewhere nothing is counted.
  enum DiskCalls {
    private static let nanoseconds = Atomic<UInt64>(0)

    static var duration: Duration { .nanoseconds(nanoseconds.load(ordering: .relaxed)) }

    /// Brings everything that was written to the disk.
    static func flush() { sync() }

    fileprivate static func timed<Result>(_ body: () -> Result) -> Result {
      let start = now()
      let result = body()
      nanoseconds.add(now() - start, ordering: .relaxed)
      return result
    }

    private static func now() -> UInt64 {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The function that the C library has under a name.
    fileprivate static func next<Function>(_ name: String, as: Function.Type) -> Function {
      guard let found = dlsym(UnsafeMutableRawPointer(bitPattern: -1), name) else { abort() }
      return unsafeBitCast(found, to: Function.self)
    }

    typealias WriteAt = @convention(c) (Int32, UnsafeRawPointer?, Int, Int) -> Int
    typealias Write = @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int
    typealias Sync = @convention(c) (Int32) -> Int32

    fileprivate static let pwrite = next("pwrite", as: WriteAt.self)
    fileprivate static let write = next("write", as: Write.self)
    fileprivate static let fsync = next("fsync", as: Sync.self)
    fileprivate static let fdatasync = next("fdatasync", as: Sync.self)
  }

  @_cdecl("pwrite")
  func timedWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ offset: Int) -> Int {
    DiskCalls.timed { DiskCalls.pwrite(file, bytes, count, offset) }
  }

  @_cdecl("write")
  func timedAppend(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    DiskCalls.timed { DiskCalls.write(file, bytes, count) }
  }

  @_cdecl("fsync")
  func timedSync(_ file: Int32) -> Int32 { DiskCalls.timed { DiskCalls.fsync(file) } }

  @_cdecl("fdatasync")
  func timedDataSync(_ file: Int32) -> Int32 { DiskCalls.timed { DiskCalls.fdatasync(file) } }
#else
  enum DiskCalls {
    static var duration: Duration { .zero }
    static func flush() {}
  }
#endif
