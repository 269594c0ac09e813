import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The rules that a model has for values, when objects are saved.
@Suite struct ModelRulesTests {
  private static let day = Date(timeIntervalSinceReferenceDate: 0)

  private static let model = try! ManagedObjectModel {
    Entity("Item") {
      Attribute("count", .integer32, range: 1...5)
      Attribute("half", .integer16, range: -1.5...2.5)
      Attribute("price", .double, range: 0.5...9.5)
      Attribute("cost", .decimal, range: Decimal(1)...)
      Attribute("made", .date, range: day...day.addingTimeInterval(10))
      Attribute("name", .string, length: 2...4)
      Attribute("code", .string, pattern: "[A-Z]{2}[0-9]+")
      Attribute("note", .string, transient: true, length: ...3)
      Attribute("size", .composite) {
        Attribute("unit", .string, optional: false, length: ...2)
        Attribute("outer", .composite) { Attribute("height", .integer16, range: 0...9) }
      }
      Attribute("free", .string)
    }
  }

  /// The code and the key of what is wrong with one value, and with nothing else.
  private func fault(_ value: Any, _ key: String, _ context: ManagedObjectContext) throws
    -> PersistenceError?
  {
    let item = try context.insert("Item", [key: value])
    defer { context.rollback() }
    do {
      try context.save()
      // It is valid: another save has to find it.
      context.delete(item)
      try context.save()
      return nil
    } catch let error as PersistenceError {
      for error in error.detailedErrors.isEmpty ? [error] : error.detailedErrors {
        #expect(error.entityName == "Item" && error.objectID == item.objectID)
      }
      return error
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a value beyond a limit of its attribute is an error that says which`(_ home: GotchaHome)
    throws
  {
    let day = Self.day
    let cases: [(String, bad: Any, Int, String, good: [Any])] = [
      ("count", 6, 1610, "largest allowed is 5", [1, 5]),
      ("count", 0, 1620, "smallest allowed is 1", []),
      ("half", 3, 1610, "largest allowed is 2", [2, -1, 0]),
      ("half", -2, 1620, "smallest allowed is -1", []),
      ("price", 9.6, 1610, "is 9.6; the largest allowed is 9.5", [0.5, 9.5]),
      ("price", 0.4, 1620, "smallest allowed is 0.5", []),
      ("price", Double.nan, 1610, "is nan", []),
      ("cost", Decimal(string: "0.99")!, 1620, "is 0.99; the smallest allowed is 1", [Decimal(1)]),
      ("cost", Decimal.nan, 1620, "is not a number", []),
      ("made", day.addingTimeInterval(11), 1630, "latest allowed", [day]),
      ("made", day.addingTimeInterval(-1), 1640, "earliest allowed", [day.addingTimeInterval(10)]),
      ("name", "Aleph", 1660, "has 5 characters; the most allowed are 4", ["ab", "abcd", "é́é́"]),
      ("name", "a", 1670, "has 1 characters; the fewest allowed are 2", []),
      ("name", "", 1670, "has 0 characters", ["日本語!"]),
      ("code", "AB12x", 1680, "“AB12x”, which does not match", ["AB1", "XY2000"]),
      ("code", "", 1680, "[A-Z]{2}[0-9]+", []),
      ("note", "long", 1660, "most allowed are 3", ["abc"]),
    ]
    try home.withContext(Self.model, classes: []) { context in
      for (key, bad, number, words, good) in cases {
        let error = try #require(try fault(bad, key, context), "\(key) \(bad)")
        #expect(error.code.rawValue == number && error.key == key, "\(error)")
        #expect(
          error.message.hasPrefix("Item.\(key) ") && error.message.contains(words), "\(error)")
        let item = try context.insert("Item", [key: bad])
        #expect("\(error.rejectedValue!.plain)" == "\(try item.value(forKey: key)!)")
        context.rollback()
        for value in good {
          let error = try fault(value, key, context)
          #expect(error == nil, "\(key) \(value)")
        }
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `elements of composites have rules of their own, at any depth`(_ home: GotchaHome) throws {
    try home.withContext(Self.model, classes: []) { context in
      let cases: [([String: Any], [String])] = [
        ([:], ["1570 size.unit"]),
        (["unit": "yard"], ["1660 size.unit"]),
        (["unit": "m", "outer": ["height": 10]], ["1610 size.outer.height"]),
        (["outer": ["height": -1]], ["1570 size.unit", "1620 size.outer.height"]),
        (["outer": ["height": 70_000]], ["1570 size.unit", "1610 size.outer.height"]),
        (["unit": "m", "outer": [:] as [String: Any]], []),
      ]
      for (size, wanted) in cases {
        let error = try fault(size, "size", context)
        let all = error.map { $0.detailedErrors.isEmpty ? [$0] : $0.detailedErrors } ?? []
        #expect(all.map { "\($0.code) \($0.key ?? "")" } == wanted)
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `an update is held to the rules for what it sets, and every error is told`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(Self.model, classes: []) { context in
      let items = try (0..<3).map { try context.insert("Item", ["count": $0 + 1, "name": "abc"]) }
      try context.save()
      try items[0].setValue(9, forKey: "count")
      try items[0].setValue("abcdef", forKey: "name")
      try items[1].setValue("ab", forKey: "code")
      try items[2].setValue("fine", forKey: "free")
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationMultipleErrors)
      #expect(error?.detailedErrors.map(\.code.rawValue) == [1610, 1660, 1680])
      let ids = [items[0], items[0], items[1]].map(\.objectID)
      #expect(error?.detailedErrors.map(\.objectID) == ids)
      try items[0].setValue(nil, forKey: "name")
      try items[0].setValue(5, forKey: "count")
      try items[1].setValue("AB1", forKey: "code")
      try context.save()
    }
  }
}

extension AttributeValue {
  /// The value alone.
  fileprivate var plain: Any {
    switch self {
    case .integer(let value): value
    case .double(let value): value
    case .decimal(let value): value
    case .date(let value): value
    case .string(let value): value
    default: self
    }
  }
}
