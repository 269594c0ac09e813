#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The disk alone: what no engine that syncs each commit can get past, measured beside the engines,
/// because another day's disk says nothing about today's.
enum Machine {
  private static let blockByteCount = 4096

  /// The best a commit can do: its bytes have their place already, so that only they are written.
  static let overwriting = Contender(engine: .machine, body: { try write($0, prepared: true) })
  /// The file grows with each write, which the file system has to note, too.
  static let appending = Contender(engine: .machine, body: { try write($0, prepared: false) })

  private static func write(_ run: Run, prepared: Bool) throws {
    let file = open(run.path("blocks"), O_RDWR | O_CREAT | O_TRUNC, 0o644)
    try check(Int(file), "open")
    defer { close(file) }
    var block = [UInt8](repeating: 0, count: blockByteCount)
    if prepared {
      for number in 0..<run.count { try put(block, number, file) }
      try sync(file)
    }
    try run.time {
      for number in 0..<run.count {
        block[number % blockByteCount] &+= 1
        try put(block, number, file)
        try sync(file)
      }
    }
    try run.expect(Int(lseek(file, 0, SEEK_END)), run.count * blockByteCount, "what was written")
  }

  private static func put(_ block: [UInt8], _ number: Int, _ file: Int32) throws {
    let offset = off_t(number * blockByteCount)
    let count = block.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, offset) }
    try check(count == blockByteCount ? count : -1, "pwrite")
  }

  private static func sync(_ file: Int32) throws {
    #if canImport(Darwin)
      try check(Int(fcntl(file, F_FULLFSYNC)), "F_FULLFSYNC")
    #else
      try check(Int(fdatasync(file)), "fdatasync")
    #endif
  }

  private static func check(_ result: Int, _ what: String) throws {
    guard result < 0 else { return }
    throw BenchmarkError("\(what): \(String(cString: strerror(errno)))")
  }
}

extension Workload {
  static let overwriteFdatasync = Workload(
    name: "overwrite_fdatasync", summary: "4 KiB over zeros that are on disk, then fdatasync",
    count: 2_000, shortCount: 50, modes: [.full], contenders: [Machine.overwriting])

  static let appendFdatasync = Workload(
    name: "append_fdatasync", summary: "4 KiB at the end of a file, then fdatasync",
    count: 2_000, shortCount: 50, modes: [.full], contenders: [Machine.appending])
}
