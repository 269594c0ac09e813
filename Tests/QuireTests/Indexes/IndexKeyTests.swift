import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Keys of indexes against the order of sorts and the equality of predicates.
@Suite struct IndexKeyTests {
  private func key(
    _ value: AttributeValue?, _ type: AttributeType, ascending: Bool = true
  ) throws -> (bytes: [UInt8], isCut: Bool) {
    try #require(IndexKey.elements([(value, type, ascending)]))
  }

  private func values(of type: AttributeType) -> [AttributeValue?] {
    var generator = SeededGenerator(seed: 1)
    return (0..<Amount.of(debug: 45, release: 150)).map { _ in
      IndexValues.random(type, using: &generator)
    }
  }

  @Test(arguments: IndexValues.types)
  func `keys have the order of their values, in both directions`(_ type: AttributeType) throws {
    let values = values(of: type)
    for left in values {
      for right in values {
        let order = compareForSorting(
          left.map(PredicateValue.value), right.map(PredicateValue.value))
        let (one, other) = (try key(left, type), try key(right, type))
        if order < 0 {
          #expect(!other.bytes.lexicographicallyPrecedes(one.bytes), "\(left), \(right)")
        }
        if order < 0, !one.isCut || !other.isCut {
          #expect(one.bytes.lexicographicallyPrecedes(other.bytes), "\(left), \(right)")
        }
        if order == 0 { #expect(one.bytes == other.bytes, "\(left), \(right)") }
        let (down, up) = (
          try key(left, type, ascending: false), try key(right, type, ascending: false)
        )
        #expect(down.bytes == one.bytes.map(~))
        if order < 0 { #expect(!down.bytes.lexicographicallyPrecedes(up.bytes)) }
      }
    }
  }

  @Test func `keys of several values are ordered by the first, then by the others`() throws {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<4_000 {
      let count = 1 + generator.below(3)
      let columns = (0..<count).map { _ in
        (IndexValues.types[generator.below(IndexValues.types.count)], generator.below(2) == 0)
      }
      func row() -> [AttributeValue?] {
        columns.map { IndexValues.random($0.0, using: &generator) }
      }
      let (left, right) = (row(), row())
      var order = 0
      for (place, column) in columns.enumerated() where order == 0 {
        let descriptor = FetchSortDescriptor(key: "x", ascending: column.1)
        order = descriptor.compare(
          left[place].map(PredicateValue.value), right[place].map(PredicateValue.value))
      }
      func bytes(_ row: [AttributeValue?]) throws -> [UInt8] {
        let parts = zip(row, columns).map { (value: $0, type: $1.0, isAscending: $1.1) }
        return try #require(IndexKey.elements(parts)).bytes
      }
      let (one, other) = (try bytes(left), try bytes(right))
      #expect(one.count <= 240)
      if order < 0 { #expect(!other.lexicographicallyPrecedes(one), "\(left) \(right)") }
      if order > 0 { #expect(!one.lexicographicallyPrecedes(other), "\(left) \(right)") }
      if order == 0 { #expect(one == other, "\(left) \(right)") }
      // Behind the elements stands a reference, which must not decide what they decide.
      if one != other { #expect(!one.starts(with: other) && !other.starts(with: one)) }
    }
  }

  @Test func `a key has the bytes that the file format says`() throws {
    #expect(try key(nil, .string).bytes == [0])
    #expect(try key(.double(.nan), .double).bytes == [1])
    #expect(try key(.boolean(true), .boolean).bytes == [2, 1])
    #expect(try key(.integer(-1), .integer16).bytes == [2, 0x7F, 0xFF])
    #expect(try key(.integer(258), .integer32).bytes == [2, 0x80, 0, 1, 2])
    #expect(try key(.double(-0.0), .double).bytes == [2, 0x80, 0, 0, 0, 0, 0, 0, 0])
    #expect(try key(.float(1), .float).bytes == [2, 0xBF, 0x80, 0, 0])
    #expect(try key(.string("a\u{0}"), .string).bytes == [2, 0x61, 0, 255, 0, 0])
    #expect(try key(.string("e\u{301}"), .string).bytes == [2, 0xC3, 0xA9, 0, 0])
    #expect(try key(.decimal(0), .decimal).bytes == [2, 1])
    let decimal = try #require(Decimal(string: "12.3"))
    #expect(try key(.decimal(decimal), .decimal).bytes == [2, 2, 0x80, 2, 13, 31, 0])
    #expect(try key(.decimal(-decimal), .decimal).bytes == [2, 0, 0x7F, 0xFD, 242, 224, 255])
    let long = try key(.string(String(repeating: "x", count: 300)), .string)
    #expect(long.isCut)
    #expect(long.bytes == [2] + Array(repeating: 0x78, count: 237) + [0, 1])
  }

  @Test func `a text is written as its composed bytes, with zeros doubled, at every length`() throws
  {
    for length in 0...20 {
      let plain = [UInt8](repeating: 0x61, count: length)
      #expect(
        try key(.string(String(decoding: plain, as: UTF8.self)), .string).bytes
          == [2] + plain + [0, 0])
      for place in 0..<length {
        for (scalar, written) in [("\0", [0, 255]), ("\u{e9}", [0xc3, 0xa9]), ("\u{7f}", [0x7f])]
          as [(String, [UInt8])]
        {
          let (before, after) = (plain[..<place], plain[(place + 1)...])
          let text =
            String(decoding: before, as: UTF8.self) + scalar
            + String(decoding: after, as: UTF8.self)
          #expect(try key(.string(text), .string).bytes == [2] + before + written + after + [0, 0])
        }
      }
    }
  }

  @Test func `a text is cut where there is no more room, and not a byte before`() throws {
    for length in 230...245 {
      let text = String(repeating: "b", count: length)
      let made = try key(.string(text), .string)
      #expect(made.isCut == (length > 237))
      #expect(made.bytes.count == 3 + min(length, 237))
    }
  }
}
