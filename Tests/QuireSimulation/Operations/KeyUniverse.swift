import Synchronization

/// How the keys of a run look.
package enum KeyShape: String, CaseIterable, Sendable {
  /// Ascending, as an append does it.
  case sequential
  /// The same keys from the other end.
  case reverse
  /// Of random lengths up to 20 bytes.
  case random
  /// Equal but for the last bytes, and almost as long as a key may be.
  case longPrefix
  /// The empty key, and all that have one or two bytes.
  case tiny
  /// Of the bytes 00, 7F, 80 and FF only; the lowest and the highest numbers.
  case edges
  /// As long as a key may be.
  case longest
}

/// All the keys that a run may use, in order: an operation names a key by its rank here.
///
/// So an operation is a few small numbers, its oracle compares ranks instead of keys, and what is
/// above or below a key is a matter of counting.
///
/// `@unchecked Sendable`: nothing changes after the initializer.
package final class KeyUniverse: @unchecked Sendable {
  package let numbers: [Int64]
  private let strings: [UnsafeRawBufferPointer]
  private let room: UnsafeMutableRawBufferPointer
  /// Room for a key and one byte more.
  package let longestByteCount: Int

  package var count: Int { strings.count }

  deinit { room.deallocate() }

  /// The key of an index tree; the bytes live as long as the universe.
  package func bytes(_ rank: Int) -> UnsafeRawBufferPointer { strings[rank] }

  private struct Name: Hashable {
    var shape: KeyShape
    var limit: Int
  }
  private static let made = Mutex<[Name: KeyUniverse]>([:])

  /// - Parameter limit: the longest key that the store takes.
  package static func of(_ shape: KeyShape, limit: Int) -> KeyUniverse {
    made.withLock { made in
      let name = Name(shape: shape, limit: limit)
      if let universe = made[name] { return universe }
      let universe = KeyUniverse(shape, limit: limit)
      made[name] = universe
      return universe
    }
  }

  private init(_ shape: KeyShape, limit: Int) {
    var generator = SeededGenerator(seed: 2025)
    var keys = KeyUniverse.strings(shape, limit: limit, &generator)
    keys.sort(by: precedes)
    var distinct: [[UInt8]] = []
    for key in keys where distinct.last != key { distinct.append(key) }
    let wanted = Set(KeyUniverse.numbers(shape, &generator)).sorted()
    let count = min(distinct.count, wanted.count)
    numbers = Array(wanted[..<count])
    distinct.removeLast(distinct.count - count)

    longestByteCount = distinct.reduce(0) { max($0, $1.count) } + 1
    room = .allocate(byteCount: distinct.reduce(1) { $0 + $1.count }, alignment: 1)
    var offset = 0
    var strings: [UnsafeRawBufferPointer] = []
    for key in distinct {
      let part = UnsafeMutableRawBufferPointer(rebasing: room[offset..<offset + key.count])
      part.copyBytes(from: key)
      strings.append(UnsafeRawBufferPointer(part))
      offset += key.count
    }
    self.strings = strings
  }

  private static let wantedCount = 2000

  private static func strings(
    _ shape: KeyShape, limit: Int, _ generator: inout SeededGenerator
  ) -> [[UInt8]] {
    func bigEndian(_ value: Int) -> [UInt8] {
      stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    switch shape {
    case .sequential, .reverse: return (0..<wantedCount).map { bigEndian($0 * 3) }
    case .random: return (0..<wantedCount).map { _ in generator.bytes(generator.below(21)) }
    case .longPrefix:
      let prefix = [UInt8](repeating: 7, count: limit - 5)
      return (0..<wantedCount).map { prefix + bigEndian($0 * 37) }
    case .tiny:
      let one = (0...255).map { [UInt8($0)] }
      return [[]] + one + (0..<wantedCount).map { [UInt8($0 >> 3), UInt8($0 & 7)] }
    case .edges:
      var keys: [[UInt8]] = [[]]
      var longest = keys
      for _ in 0..<5 {
        longest = longest.flatMap { key in ([0, 0x7F, 0x80, 0xFF] as [UInt8]).map { key + [$0] } }
        keys += longest
      }
      return keys
    case .longest:
      let prefix = generator.bytes(limit - 6)
      return (0..<wantedCount).map { number in
        number % 2 == 0 ? generator.bytes(limit) : prefix + generator.bytes(6)
      }
    }
  }

  private static func numbers(_ shape: KeyShape, _ generator: inout SeededGenerator) -> [Int64] {
    let range = 0..<Int64(wantedCount)
    switch shape {
    case .sequential, .reverse: return range.map { $0 + 1 }
    case .random: return range.map { _ in Int64(generator.below(1 << 20)) - 1 << 19 }
    case .longPrefix: return range.map { Int64.max - $0 }
    case .tiny: return range.map { $0 - 1000 }
    case .edges:
      let parts: [UInt64] = [0, 0x7F, 0x80, 0xFF]
      return range.map { number in
        let word = (0..<8).reduce(0 as UInt64) { word, _ in
          word << 8 | parts[generator.below(4)]
        }
        return [Int64.min, .max, 0, -1][Int(number) % 4]
          ^ (number < 4 ? 0 : .init(bitPattern: word))
      }
    case .longest: return range.map { _ in Int64(bitPattern: generator.next()) }
    }
  }
}

/// Values by length and a number: pieces of one row of random bytes, so that comparing one is
/// comparing memory.
package enum ModelValue {
  /// Fills lie below this.
  package static let fillLimit = 4096
  package static let longestByteCount = 5 * 32_768

  // Written once, before anybody has it, and never freed.
  nonisolated(unsafe) private static let pool: UnsafeRawBufferPointer = {
    var generator = SeededGenerator(seed: 4711)
    let byteCount = fillLimit + longestByteCount
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
    for offset in stride(from: 0, to: byteCount, by: 8) {
      room.storeBytes(of: generator.next(), toByteOffset: offset, as: UInt64.self)
    }
    return UnsafeRawBufferPointer(room)
  }()

  package static func bytes(count: Int, fill: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: pool[fill..<fill + count])
  }
}
