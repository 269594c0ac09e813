import Foundation
import QuireModel
import QuireSimulation
import Testing

/// Parts of dates beside those of Foundation's Gregorian calendar.
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
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    for number in 0..<1_000 {
      // From the year 1 to 4000; one in four around the days that were left out in 1582.
      let seconds =
        number % 4 == 0
        ? Double.random(in: -13_200_000_000 ..< -13_190_000_000, using: &generator)
        : Double.random(in: -63_114_076_800..<63_000_000_000, using: &generator)
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      let expected = calendar.dateComponents(
        [.year, .month, .day, .weekday, .hour, .minute, .second], from: date)
      #expect(
        try parts(of: date)
          == [
            expected.year, expected.month, expected.day, expected.weekday, expected.hour,
            expected.minute, expected.second,
          ].map { Int64($0 ?? -1) }, "\(seconds)")
    }
  }

  @Test func `edges are exact, and what is no date has no parts`() throws {
    func partsAt(_ since1970: Double) throws -> [Int64?] {
      try self.parts(of: Date(timeIntervalSince1970: since1970))
    }
    #expect(try partsAt(0) == [1970, 1, 1, 5, 0, 0, 0])
    #expect(try partsAt(-0.5) == [1969, 12, 31, 4, 23, 59, 59])
    #expect(try partsAt(951_782_400) == [2000, 2, 29, 3, 0, 0, 0])
    #expect(try partsAt(4_107_542_399) == [2100, 2, 28, 1, 23, 59, 59])
    #expect(try partsAt(-12_219_292_800) == [1582, 10, 15, 6, 0, 0, 0])
    #expect(try partsAt(-12_219_292_801) == [1582, 10, 4, 5, 23, 59, 59])
    // Julian: 1 January of the year 1 is two days before the Gregorian one.
    #expect(try partsAt(-62_135_769_600) == [1, 1, 1, 7, 0, 0, 0])
    #expect(try partsAt(-62_135_769_601) == [0, 12, 31, 6, 23, 59, 59])
    #expect(try partsAt(-62_167_392_001) == [-1, 12, 31, 4, 23, 59, 59])
    // What a text names has the parts of the text.
    let cast = try Computation(.cast).value([
      .value(.string("1431-05-30")), .value(.string("NSDate")),
    ])
    #expect(try Computation(.day).value([cast]) == .value(.integer(30)))
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
