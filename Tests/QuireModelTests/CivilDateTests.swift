import Foundation
import QuireModel
import QuireSimulation
import Testing

/// Parts of dates beside those of Foundation's calendar of ISO 8601.
@Suite struct CivilDateTests {
  private func parts(of date: Date) throws -> [Int64?] {
    let functions: [FetchExpression.Function] = [
      .year, .month, .day, .weekday, .hour, .minute, .second,
    ]
    return try functions.map { function in
      guard
        case .value(.integer(let part))? = try Computation(function).value([.value(.date(date))])
      else { return nil }
      return part
    }
  }

  @Test(arguments: [1, 2, 3]) func `parts are those of the calendar`(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = .gmt
    for _ in 0..<500 {
      // From 1600, as Foundation's calendar is Julian before 1582, to 2400.
      let seconds = Double.random(in: -12_622_780_800...12_622_780_800, using: &generator)
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      let expected = calendar.dateComponents(
        [.year, .month, .day, .weekday, .hour, .minute, .second], from: date)
      let weekday = ((expected.weekday ?? 0) + 5) % 7 + 1
      #expect(
        try parts(of: date)
          == [
            expected.year, expected.month, expected.day, weekday, expected.hour, expected.minute,
            expected.second,
          ].map { Int64($0 ?? -1) }, "\(seconds)")
    }
  }

  @Test func `edges are exact, and what is no date has no parts`() throws {
    func partsAt(_ since1970: Double) throws -> [Int64?] {
      try self.parts(of: Date(timeIntervalSince1970: since1970))
    }
    #expect(try partsAt(0) == [1970, 1, 1, 4, 0, 0, 0])
    #expect(try partsAt(-0.5) == [1969, 12, 31, 3, 23, 59, 59])
    #expect(try partsAt(951_782_400) == [2000, 2, 29, 2, 0, 0, 0])
    #expect(try partsAt(4_107_542_399) == [2100, 2, 28, 7, 23, 59, 59])
    #expect(try partsAt(-62_167_219_200) == [0, 1, 1, 6, 0, 0, 0])
    #expect(try partsAt(-62_167_219_201) == [-1, 12, 31, 5, 23, 59, 59])
    for number in [Double.nan, .infinity, -.infinity, 1e300, -1e17] {
      #expect(
        try parts(of: Date(timeIntervalSinceReferenceDate: number))
          == Array(repeating: nil, count: 7))
    }
    #expect(try Computation(.year).value([nil]) == nil)
    #expect(throws: FetchPredicateError.self) {
      try Computation(.year).value([.value(.string("a"))])
    }
  }
}
