#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

package func environmentValue(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}
