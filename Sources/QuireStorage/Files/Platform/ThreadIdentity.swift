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
  /// A number that no other living thread has; not 0.
  static var current: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }

  /// A number below `count` that spreads threads; the same thread gets the same number.
  static func stripe(of count: Int) -> Int {
    let thread = current
    // Descriptors of threads lie at multiples of a page or more.
    return Int(truncatingIfNeeded: (thread >> 12) ^ (thread >> 21)) & (count - 1)
  }
}
