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
