#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A byte behind the end of every file, locked beside the exclusive `flock` of a file: whether that
/// is held can be asked of the byte, and only tried of `flock`.
///
/// It is a lock of the open file description (Linux since 3.15, Darwin), which as `flock` is given
/// back when the file is closed or the process dies. Where there is no such lock nothing is locked,
/// and nothing can be asked.
enum WriterByte {
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

  static func lock(_ descriptor: Int32) {
    var byte = range(Int32(F_WRLCK))
    _ = fcntl(descriptor, set, &byte)
  }

  static func unlock(_ descriptor: Int32) {
    var byte = range(Int32(F_UNLCK))
    _ = fcntl(descriptor, set, &byte)
  }

  /// Whether another open file has the byte locked; `nil` where that cannot be asked.
  static func isLocked(_ descriptor: Int32) -> Bool? {
    var byte = range(Int32(F_RDLCK))
    guard fcntl(descriptor, get, &byte) == 0 else { return nil }
    return Int32(byte.l_type) != Int32(F_UNLCK)
  }

  private static func range(_ kind: Int32) -> flock {
    var range = flock()
    range.l_type = Int16(truncatingIfNeeded: kind)
    range.l_whence = Int16(truncatingIfNeeded: SEEK_SET)
    range.l_start = offset
    range.l_len = 1
    return range
  }
}
