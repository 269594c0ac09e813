#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// What all fuzz targets share. `Tests/Fuzzing/run` compiles this with one target; SwiftPM never
// does. A target's file has `fuzz(_:)`, which is given an input, and `seeds()`, which makes inputs
// to begin with.

/// Called once before anything else: writes the seeds and ends if a folder for them is named.
@_cdecl("LLVMFuzzerInitialize")
public func initializeFuzzer(
  _ argumentCount: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?
) -> CInt {
  guard let folder = getenv("QUIRE_SEED_FOLDER").map({ String(cString: $0) }) else { return 0 }
  do {
    for (number, seed) in try seeds().enumerated() {
      guard let file = fopen("\(folder)/seed-\(number)", "w") else { continue }
      fwrite(seed, 1, seed.count, file)
      fclose(file)
    }
  } catch {
    fatalError("no seeds: \(error)")
  }
  exit(0)
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // A copy of exactly this length: the sanitizer sees a read beyond its end.
  fuzz([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}

/// Takes numbers off an input, zeros when it has ended.
struct FuzzInput {
  private let bytes: [UInt8]
  private(set) var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { offset >= bytes.count }

  mutating func byte() -> Int {
    guard offset < bytes.count else { return 0 }
    defer { offset += 1 }
    return Int(bytes[offset])
  }

  mutating func word() -> Int { byte() | byte() << 8 }

  mutating func bytes(_ count: Int) -> [UInt8] {
    let part = [UInt8](bytes[min(offset, bytes.count)..<min(offset + count, bytes.count)])
    offset += part.count
    return part
  }

  mutating func rest() -> [UInt8] { bytes(bytes.count) }
}
