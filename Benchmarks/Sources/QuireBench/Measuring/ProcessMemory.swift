#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The resident memory of this process, in KiB.
enum ProcessMemory {
  /// The most there ever was: `VmHWM`.
  static var peak: Int {
    #if canImport(Darwin)
      maximumResidentSize
    #else
      status("VmHWM:") ?? 0
    #endif
  }

  /// What there is now: `VmRSS`. On Darwin the peak, which grows whenever this would have to.
  static var resident: Int {
    #if canImport(Darwin)
      maximumResidentSize
    #else
      status("VmRSS:") ?? 0
    #endif
  }

  #if canImport(Darwin)
    private static var maximumResidentSize: Int {
      var usage = rusage()
      getrusage(RUSAGE_SELF, &usage)
      // Bytes on Darwin, KiB elsewhere.
      return usage.ru_maxrss / 1024
    }
  #else
    private static func status(_ key: String) -> Int? {
      let descriptor = open("/proc/self/status", O_RDONLY)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let length = read(descriptor, &bytes, bytes.count)
      guard length > 0 else { return nil }
      let text = String(decoding: bytes.prefix(length), as: UTF8.self)
      let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
      return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        .flatMap { Int($0) }
    }
  #endif
}
