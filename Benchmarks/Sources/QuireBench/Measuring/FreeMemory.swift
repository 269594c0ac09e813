#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The memory that the system has to give when a run begins.
///
/// The host of a virtual machine may take back what is free there, and gives it again as it is
/// touched: 2 ms a MB were seen, where memory that the machine has costs 0.1 ms. Who pays for that
/// is chance: whoever comes after a pause, and touches more than its predecessor gave back.
enum FreeMemory {
  /// Several times what most runs touch: which of the free memory the system gives is not known.
  private static let byteCount = 512 << 20

  /// Makes the host give memory to the machine, in a child whose memory is free when it ends.
  static func bringBack() throws { _ = try ChildProcess.output(of: ["touch"]) }

  /// What the child does.
  static func touch() {
    let mapped = mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    guard let mapped, mapped != MAP_FAILED else { return }
    #if os(Linux)
      // Small pages would leave the large ones that come to be free behind all that the host has
      // taken.
      madvise(mapped, byteCount, MADV_HUGEPAGE)
    #endif
    for offset in stride(from: 0, to: byteCount, by: 4096) {
      mapped.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
    }
    munmap(mapped, byteCount)
  }
}
