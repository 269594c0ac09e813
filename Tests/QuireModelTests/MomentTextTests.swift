import Foundation
import QuireModel
import QuireSimulation
import Testing

/// Moments as texts by ISO 8601.
@Suite struct MomentTextTests {
  @Test func `a text names its moment exactly`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("moments by seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for scale in [1, 1e3, 1e6, 1e9, 5e10] {
      for _ in 0..<100 {
        let any = Double.random(in: -scale...scale, using: &random)
        for seconds in [any, any.rounded(), (any * 1000).rounded() / 1000] {
          let date = Date(timeIntervalSinceReferenceDate: seconds)
          // Some need more digits than a text has.
          guard let text = MomentText.text(of: date) else { continue }
          #expect(MomentText.date(of: text) == date, "\(seconds): \(text)")
        }
      }
    }
    #expect(MomentText.text(of: Date(timeIntervalSinceReferenceDate: 0)) == "2001-01-01T00:00:00Z")
    #expect(
      MomentText.text(of: Date(timeIntervalSinceReferenceDate: -0.75)) == "2000-12-31T23:59:59.25Z")
    #expect(MomentText.text(of: Date(timeIntervalSinceReferenceDate: 2.6e11)) == nil)
    #expect(MomentText.text(of: Date(timeIntervalSinceReferenceDate: .infinity)) == nil)
    #expect(MomentText.text(of: Date(timeIntervalSinceReferenceDate: .nan)) == nil)
  }

  // Years before 100 and after 3900 were numbers of seconds in tables and exports, as 9999-12-31 is
  // in many lists.
  @Test(arguments: [
    "0001-01-01T00:00:00Z", "0099-12-31T23:59:59Z", "1582-10-15T00:00:00Z",
    "4000-06-01T00:00:00.5Z", "9999-12-31T23:59:59.999Z",
  ])
  func `all years with four digits have texts`(_ text: String) {
    #expect(MomentText.date(of: text).flatMap { MomentText.text(of: $0) } == text)
  }

  @Test(arguments: [
    ("2024-01-31", 728_352_000), ("2024-01-31T12:00:00Z", 728_395_200),
    ("2024-01-31T12:00:00.5Z", 728_395_200.5), ("2024-01-31T12:00:00+02:00", 728_388_000),
    ("2024-01-31T12:00:00.25-0130", 728_400_600.25), ("2024-02-29", 730_857_600),
  ])
  func `days, offsets and fractions are read`(_ text: String, _ seconds: Double) {
    #expect(MomentText.date(of: text)?.timeIntervalSinceReferenceDate == seconds)
  }

  @Test(arguments: [
    "", "2024", "2024-02-30", "2023-02-29", "2024-13-01", "2024-01-31T25:00:00Z",
    "2024-01-31T12:00:00", "2024-01-31T12:00:00.Z", "2024-01-31T12:00:00Z and more",
    "2024-02-30T12:00:00+02:00", "2024-01-31T12:00:00+2", "2024-01-31 12:00:00Z", "yesterday",
    "31.01.2024", "٢٠٢٤-٠١-٣١", "2024-01-31T12:00:00.5.5Z", "728352000",
  ])
  func `another text is no moment`(_ text: String) {
    #expect(MomentText.date(of: text) == nil)
  }

  @Test func `a format names a moment by the calendar`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 728_352_000)
    for type in ["NSDate", "Date"] {
      let predicate = try FetchPredicate(format: "sent >= CAST('2024-01-31', '\(type)')")
      #expect(predicate == (Key("sent") >= date))
    }
    let error = #expect(throws: PredicateFormatError.self) {
      try FetchPredicate(format: "sent >= CAST('2024-02-30', 'NSDate')")
    }
    #expect("\(error as Any)".contains("offset 13"))
  }
}
