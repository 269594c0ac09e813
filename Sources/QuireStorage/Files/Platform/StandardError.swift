#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The standard error, for messages that a caller cannot be given as errors.
package enum StandardError {
  /// Writes a line, in one call, so that lines of several threads do not mix. A failure is ignored,
  /// as it could not be reported.
  package static func write(line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { platformWrite($0.baseAddress, $0.count) }
  }

  private static func platformWrite(_ start: UnsafeRawPointer?, _ byteCount: Int) -> Int {
    #if canImport(Darwin)
      Darwin.write(2, start, byteCount)
    #elseif canImport(Glibc)
      Glibc.write(2, start, byteCount)
    #elseif canImport(Musl)
      Musl.write(2, start, byteCount)
    #elseif canImport(Android)
      Android.write(2, start, byteCount)
    #endif
  }
}
