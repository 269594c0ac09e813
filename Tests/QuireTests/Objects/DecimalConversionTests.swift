import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Numbers that are given to attributes of another kind of number.
@Suite struct DecimalConversionTests {
  private static let model = try! ManagedObjectModel {
    Entity("Item") {
      Attribute("price", .decimal, default: 19.99)
      Attribute("size", .double, range: Double.leastNonzeroMagnitude...1e300)
      Attribute("weight", .float, range: Double(Float.leastNonzeroMagnitude)...)
      Attribute("a", .double)
      Attribute("b", .double)
      Attribute("ratio", .decimal, derivedFrom: "a / b")
    }
  }

  @Test func `a binary number becomes the decimal that is written for it`() throws {
    try GotchaHome.memory.withContext(Self.model, classes: []) { context in
      let item = try context.insert("Item")
      #expect(try item.value(forKey: "price") as? Decimal == Decimal(string: "19.99"))
      for cents in 1..<10_000 {
        try item.setValue(Double(cents) / 100, forKey: "price")
        try #require(try item.value(forKey: "price") as? Decimal == Decimal(cents) / 100)
      }
      for (number, text) in [(3.133, "3.133"), (-1e-20, "-1e-20"), (1e100, "1e100"), (0, "0")] {
        try item.setValue(number, forKey: "price")
        #expect(try item.value(forKey: "price") as? Decimal == Decimal(string: text))
      }
      try item.setValue(Float(0.1), forKey: "price")
      #expect(try item.value(forKey: "price") as? Decimal == Decimal(string: "0.1"))
      try item.setValue(Double.nan, forKey: "price")
      #expect((try item.value(forKey: "price") as? Decimal)?.isNaN == true)
    }
  }

  /// The process ended, or the number became none.
  @Test func `a number that no decimal holds is an error`() throws {
    try GotchaHome.memory.withContext(Self.model, classes: []) { context in
      let item = try context.insert("Item")
      for number in [Double.infinity, -.infinity, 1e200, -1e300, 1e-200] {
        #expect(throws: PersistenceError.self) { try item.setValue(number, forKey: "price") }
      }
      #expect(try item.value(forKey: "price") as? Decimal == Decimal(string: "19.99"))
      try item.setValue(1, forKey: "a")
      try item.setValue(8, forKey: "b")
      try context.save()
      #expect(try item.value(forKey: "ratio") as? Decimal == Decimal(string: "0.125"))
      try item.setValue(0, forKey: "b")
      #expect(throws: PersistenceError.self) { try context.save() }
    }
  }

  /// `UInt64.max` became 18446744073709551620 in a decimal, without a word.
  @Test func `integers of any size are kept exactly, or refused`() throws {
    try GotchaHome.memory.withContext(Self.model, classes: []) { context in
      let item = try context.insert("Item")
      for (number, text): (any BinaryInteger, String) in [
        (UInt64.max, "18446744073709551615"), (UInt(1) << 63 + 1, "9223372036854775809"),
        (Int128(Int64.min) - 1, "-9223372036854775809"),
        (UInt128.max, "340282366920938463463374607431768211455"),
      ] {
        try item.setValue(number, forKey: "price")
        #expect(try item.value(forKey: "price") as? Decimal == Decimal(string: text))
        for key in ["a", "weight"] {
          #expect(throws: PersistenceError.self) { try item.setValue(number, forKey: key) }
        }
      }
      try item.setValue(UInt64(1) << 63, forKey: "a")
      #expect(try item.value(forKey: "a") as? Double == 9_223_372_036_854_775_808)
      #expect(throws: PersistenceError.self) { try item.setValue(1 << 53 + 1, forKey: "a") }
      #expect(throws: PersistenceError.self) { try item.setValue(1 << 24 + 1, forKey: "weight") }
      #expect(throws: PersistenceError.self) { try item.setValue(1e300, forKey: "weight") }
      // A fraction is the nearest that the type has.
      try item.setValue(0.1, forKey: "weight")
      #expect(try item.value(forKey: "weight") as? Float == 0.1)
      try context.save()
      let batch = BatchInsertRequest(entityName: "Item", objects: [["price": UInt64.max]])
      _ = try context.execute(batch)
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      let prices = try context.fetch(request).map { try $0.value(forKey: "price") as? Decimal }
      #expect(prices.last == Decimal(string: "18446744073709551615"))
    }
  }

  /// Such a limit was none.
  @Test func `limits that no decimal holds are kept to`() throws {
    try GotchaHome.memory.withContext(Self.model, classes: []) { context in
      let item = try context.insert("Item")
      for (key, good, bad) in [
        ("size", 1e-300, 0.0), ("size", 1e299, -5), ("size", 1e300, 1.1e300), ("weight", 1e-40, 0),
      ] {
        try item.setValue(good, forKey: key)
        try context.save()
        try item.setValue(bad, forKey: key)
        #expect(throws: PersistenceError.self) { try context.save() }
        context.rollback()
      }
    }
    for type in [AttributeType.integer64, .decimal] {
      var declaration = ModelDeclaration { Entity("Item") { Attribute("number", type) } }
      declaration.entities[0].attributes[0].validation.minimum = "1e-200"
      #expect(throws: ModelError.self) { try ManagedObjectModel(declaration) }
    }
  }
}
