#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A quick and rough identification of threads.
enum ThreadIdentity {
  /// A number below `count` that spreads threads; the same thread gets the same number.
  static func stripe(of count: Int) -> Int {
    #if canImport(Darwin)
      let thread = UInt(bitPattern: pthread_self())
    #else
      let thread = UInt(pthread_self())
    #endif
    // Descriptors of threads lie at multiples of a page or more.
    return Int(truncatingIfNeeded: (thread >> 12) ^ (thread >> 21)) & (count - 1)
  }
}
