#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Where a program says what its caller cannot be told.
package enum StandardError {
  /// Writes a line, in one call, so that lines of several threads do not mix. What cannot be
  /// written is dropped: there is nowhere left to say so.
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
