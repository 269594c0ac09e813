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
  @Test func `what no decimal holds is an error`() throws {
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
