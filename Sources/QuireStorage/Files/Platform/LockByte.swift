#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Bytes behind the end of every file that are locked, and of which it can be asked whether they
/// are.
///
/// They are locks of the open file description (Linux since 3.15, Darwin), which as `flock` are
/// given back when the file is closed or the process dies. Where there are none nothing is locked,
/// and nothing can be asked.
enum LockByte: Int32 {
  /// Of who writes: for good, beside the exclusive `flock`; or for one turn, alone.
  case writer = 0
  /// Shared by those who wait for a turn.
  case queue = 1

  // The numbers are the kernels' interface; not all C libraries show the names.
  #if canImport(Darwin)
    private static let set: Int32 = 90
    private static let get: Int32 = 92
  #else
    private static let set: Int32 = 37
    private static let get: Int32 = 36
  #endif

  /// Far behind any byte that is read or written.
  private static let offset = off_t(1) << (off_t.bitWidth - 2)

  /// - Returns: whether nobody else's lock prevents it; `nil` where there are no such locks.
  func lock(_ descriptor: Int32, _ mode: LockMode) -> Bool? {
    var byte = range(Int32(mode == .shared ? F_RDLCK : F_WRLCK))
    if fcntl(descriptor, LockByte.set, &byte) == 0 { return true }
    return errno == EAGAIN || errno == EACCES ? false : nil
  }

  func unlock(_ descriptor: Int32) {
    var byte = range(Int32(F_UNLCK))
    _ = fcntl(descriptor, LockByte.set, &byte)
  }

  /// Whether another open file has a lock that excludes one of that mode; `nil` where that cannot
  /// be asked.
  func isLocked(_ descriptor: Int32, against mode: LockMode) -> Bool? {
    var byte = range(Int32(mode == .shared ? F_RDLCK : F_WRLCK))
    guard fcntl(descriptor, LockByte.get, &byte) == 0 else { return nil }
    return Int32(byte.l_type) != Int32(F_UNLCK)
  }

  private func range(_ kind: Int32) -> flock {
    var range = flock()
    range.l_type = Int16(truncatingIfNeeded: kind)
    range.l_whence = Int16(truncatingIfNeeded: SEEK_SET)
    range.l_start = LockByte.offset + off_t(rawValue)
    range.l_len = 1
    return range
  }
}
