import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A long list of an `IN` is sets, which must say what comparing with one member after the other
// says, whatever kinds of values are in the list and looked for.
@Suite struct MembershipTests {
  private struct Subject: PredicateSubject {
    let value: PredicateValue?
    var identity: OpaqueIdentity { OpaqueIdentity("subject") }
    func value(atPath index: Int) -> PredicateValue? { value }
  }

  private struct Values {
    var generator: SeededGenerator

    mutating func number() -> AttributeValue {
      let whole = Int64.random(in: -3...3, using: &generator)
      let text = ["0.1", "19.99", "16777217", "9007199254740993", "1e19", "-0.0"]
        .randomElement(using: &generator)!
      let double = Bool.random(using: &generator) ? Double(whole) / 10 : Double(text)!
      switch Int.random(in: 0..<10, using: &generator) {
      case 0: return .boolean(whole > 0)
      case 1: return .integer(whole)
      case 2:
        return .integer(
          [.min, .max, 16_777_217, 16_777_216, 9_007_199_254_740_993].randomElement(
            using: &generator)!)
      case 3: return .double(double)
      case 4: return .double(Double(Float(double)))
      case 5: return .float(Float(double))
      case 6: return .decimal(Decimal(string: text)!)
      case 7: return .decimal(Decimal(whole) / 10)
      case 8: return .decimal(Decimal(whole) * 100)
      default:
        return [
          .double(.nan), .float(.nan), .decimal(.nan), .double(.infinity), .float(-.infinity),
          .double(-0x1p63), .double(0x1p63), .double(.greatestFiniteMagnitude),
        ].randomElement(using: &generator)!
      }
    }

    mutating func value() -> PredicateValue? {
      let letter = ["a", "A", "\u{E4}", "a\u{308}", "b", ""].randomElement(using: &generator)!
      let byte = UInt8.random(in: 1...3, using: &generator)
      let url = URL(string: "x-store:/\(byte)")!
      switch Int.random(in: 0..<16, using: &generator) {
      case 0: return nil
      case 1, 2: return .value(.string(letter))
      case 3: return .object(OpaqueIdentity(Int(byte)))
      case 4:
        return .value(.uuid(UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte))))
      case 5:
        let seconds = byte == 1 ? .nan : Double(byte)
        return .value(.date(Date(timeIntervalSinceReferenceDate: seconds)))
      case 6: return .value(.uri(url))
      case 7: return .value(.objectID(url))
      case 8: return .value(.binary(Data([byte])))
      case 9: return .value(.transformed(Data([byte])))
      case 10: return .value(.composite(["city": .string(letter)]))
      case 11: return .collection([.value(.integer(Int64(byte))), nil])
      default: return .value(number())
      }
    }
  }

  @Test(arguments: [[], [.caseInsensitive], [.diacriticInsensitive]] as [FetchComparisonOptions])
  func `a list says what its members say one by one`(_ options: FetchComparisonOptions) throws {
    var values = Values(generator: SeededGenerator(seed: 7))
    var hits = 0
    let rounds = Amount.of(debug: 10, release: 150)
    for count in [5, 6, 9, 14, 30] {
      for _ in 0..<rounds {
        let members = (0..<count).map { _ in values.value() }
        let list = try PredicateEvaluator(
          .comparison(.keyPath(["x"]), .in, .constant(.collection(members)), options: options))
        for _ in 0..<40 {
          let subject = Subject(value: values.value())
          let expected = try members.contains { member in
            // A collection is equal to one that has the same members, in a list as well.
            try PredicateEvaluator(
              .comparison(
                .keyPath(["x"]), .in, .constant(.collection([member])), options: options)
            ).evaluate(subject)
          }
          let found = try list.evaluate(subject)
          #expect(
            found == expected,
            "\(String(describing: subject.value)) in \(members), \(options)")
          if found { hits += 1 }
        }
      }
    }
    #expect(hits > 13 * rounds)
  }
}
