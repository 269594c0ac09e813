#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

// The C library's word on bytes: independent of the engine's own comparisons, which are under test,
// and as fast in a debug build as in any other.

package func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
  guard left.count == right.count else { return false }
  guard let one = left.baseAddress, let other = right.baseAddress else { return true }
  return memcmp(one, other, left.count) == 0
}

/// Whether `left` comes first: by unsigned bytes, a prefix before what it begins.
package func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  let common = min(left.count, right.count)
  let order = common == 0 ? 0 : memcmp(left, right, common)
  return order == 0 ? left.count < right.count : order < 0
}
