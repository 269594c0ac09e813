import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct FetchSortDescriptorTests {
  /// Values in ascending order; those in one row are the same.
  private let ascending: [[PredicateValue?]] = [
    [nil],
    [.value(.double(.nan)), .value(.decimal(.nan)), .value(.float(.nan))],
    [.value(.double(-.infinity))],
    [.value(.integer(-1)), .value(.double(-1)), .value(.decimal(-1))],
    [.value(.boolean(false)), .value(.integer(0)), .value(.double(-0.0))],
    [.value(.double(0.5))],
    [.value(.boolean(true)), .value(.integer(1))],
    [.value(.integer(2))],
    [.value(.integer(10)), .value(.decimal(10))],
    [.value(.double(.infinity))],
    [.value("")],
    [.value("10")],
    [.value("2")],
    [.value("Z")],
    [.value("a")],
    [.value("caf\u{E9}"), .value("cafe\u{301}")],
    [.value(.date(Date(timeIntervalSinceReferenceDate: -1)))],
    [.value(.date(Date(timeIntervalSinceReferenceDate: 0.001)))],
    [.value(.uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255))))],
    [.value(.uuid(UUID(uuid: (128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))))],
    [.value(.binary(Data()))],
    [.value(.binary(Data([1])))],
    [.value(.binary(Data([1, 0])))],
    [.value(.binary(Data([200])))],
    [.object(OpaqueIdentity(1)), .object(OpaqueIdentity(2))],
  ]

  @Test func `absent values come first and every kind of value has its order`() {
    for (row, lefts) in ascending.enumerated() {
      for (otherRow, rights) in ascending.enumerated() {
        for left in lefts {
          for right in rights {
            let expected = row < otherRow ? -1 : row > otherRow ? 1 : 0
            #expect(compareForSorting(left, right) == expected, "\(left as Any) \(right as Any)")
          }
        }
      }
    }
  }

  @Test func `absent values go where they are told, and the reverse is exact`() throws {
    let values: [PredicateValue?] = [nil, .value(1), .value(2)]
    for (placement, ascending, order) in [
      (.smallest, true, [0, 1, 2]), (.smallest, false, [2, 1, 0]), (.first, true, [0, 1, 2]),
      (.first, false, [0, 2, 1]), (.last, true, [1, 2, 0]), (.last, false, [2, 1, 0]),
    ] as [(FetchSortDescriptor.AbsentValues, Bool, [Int])] {
      let descriptor = FetchSortDescriptor(
        key: "x", ascending: ascending, options: [.natural, .caseInsensitive],
        absentValues: placement)
      let sorted = (0..<3).sorted { descriptor.compare(values[$0], values[$1]) < 0 }
      #expect(sorted == order, "\(descriptor)")
      let reversed = descriptor.reversedSortDescriptor
      #expect(
        (0..<3).sorted { reversed.compare(values[$0], values[$1]) < 0 } == order.reversed(),
        "\(reversed)")
      #expect(reversed.reversedSortDescriptor == descriptor)
      let data = try JSONEncoder().encode(descriptor)
      #expect(try JSONDecoder().decode(FetchSortDescriptor.self, from: data) == descriptor)
    }
    let plain = try JSONEncoder().encode(FetchSortDescriptor(key: "a.b", options: .natural))
    let decoded = try JSONDecoder().decode([String: Anything].self, from: plain)
    #expect(decoded.keys.sorted() == ["ascending", "keyPath", "options"])
    for text in [
      #"{"keyPath":["a"],"ascending":true,"options":"q"}"#,
      #"{"keyPath":["a"],"ascending":true,"absentValues":"middle"}"#, #"{"keyPath":["a"]}"#,
    ] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(FetchSortDescriptor.self, from: Data(text.utf8))
      }
    }
  }

  private struct Anything: Decodable { init(from decoder: any Decoder) {} }

  @Test func `descending is the exact reverse`() {
    let descriptor = FetchSortDescriptor(key: "a.b", ascending: false)
    #expect(descriptor.keyPath == ["a", "b"])
    #expect(descriptor.compare(nil, .value(1)) == 1)
    #expect(descriptor.reversedSortDescriptor.compare(nil, .value(1)) == -1)
    #expect(descriptor.description == "a.b descending")
  }

  @Test func `strings may be sorted without case and diacritics`() {
    let options: FetchComparisonOptions = [.caseInsensitive, .diacriticInsensitive]
    #expect(compareForSorting(.value("É"), .value("e"), options) == 0)
    #expect(compareForSorting(.value("b"), .value("C"), options) == -1)
    #expect(compareForSorting(.value("b"), .value("C")) == 1)
  }
}
