import Quire
import QuireModel
import QuireTesting
import Testing

/// Aggregates among the properties to fetch, as applications write them: a key path that begins
/// with an operator was refused, and a median was that of each object by itself.
@Suite struct `Aggregates by key path` {
  private func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      Entity("Sample") {
        Attribute("zone", .integer64)
        Attribute("price", .decimal)
        Attribute("kind", .string)
        Relationship("parts", toMany: "Sample", inverse: "whole")
        Relationship("whole", toOne: "Sample", inverse: "parts")
      }
    }
    let context = try ManagedObjectContext.stubbed(model)
    for number in 1...5 {
      let sample = try context.insert("Sample")
      if number < 5 { try sample.setValue(number * number, forKey: "zone") }
      try sample.setValue(number, forKey: "price")
      try sample.setValue(number % 2 == 0 ? "even" : "odd", forKey: "kind")
    }
    try context.save()
    return context
  }

  private func rows(
    _ format: String, grouped: Bool = false
  ) throws -> [String] {
    var request = FetchRequest<ManagedObject>(entityName: "Sample")
    request.propertiesToFetch = (grouped ? ["kind"] : []) + [try .init("v", format: format)]
    if grouped { request.propertiesToGroupBy = ["kind"] }
    return try context().dictionaries(for: request).map { "\($0["v"] ?? "none")" }
  }

  @Test func `an operator in front of a path is the function of its name`() throws {
    for (operators, function, values) in [
      ("@sum.zone", "sum:(zone)", ["30", "20", "10"]),
      ("@max.zone", "max:(zone)", ["16", "16", "9"]),
      ("@min.zone", "min:(zone)", ["1", "4", "1"]),
      ("@avg.zone", "average:(zone)", ["7.5", "10.0", "5.0"]),
      ("@count", "count:(SELF)", ["5", "2", "3"]),
      ("@count.zone", "count:(zone)", ["4", "2", "2"]),
    ] {
      #expect(try rows(operators) == [values[0]], "\(operators)")
      #expect(try rows(function) == [values[0]], "\(function)")
      #expect(try rows(operators, grouped: true) == Array(values[1...]), "\(operators)")
    }
    // Within an expression.
    #expect(try rows("@max.zone - @min.zone", grouped: true) == ["12", "8"])
  }

  @Test func `a median and a deviation are those of all objects, or of a group`() throws {
    #expect(try rows("median:(zone)") == ["6.5"])
    #expect(try rows("median:(zone)", grouped: true) == ["10.0", "5.0"])
    #expect(try rows("stddev:(zone)", grouped: true) == ["6.0", "4.0"])
    #expect(try rows("median:(price)") == ["3.0"])
    #expect(persistenceError { _ = try rows("median:(kind)") }?.code == .invalidExpression)
    // Of nothing there is none.
    var request = FetchRequest<ManagedObject>(entityName: "Sample")
    request.propertiesToFetch = [try .init("v", format: "median:(zone)")]
    request.predicate = try FetchPredicate(format: "zone > 100")
    #expect(try context().dictionaries(for: request).map(\.isEmpty) == [true])
  }

  @Test func `grouped fetches refuse a member aggregate and advise a derived attribute`() throws {
    for format in ["max:(parts.@sum.zone)", "parts.@count"] {
      let error = persistenceError { _ = try rows(format, grouped: true) }
      #expect(error?.code == .invalidExpression)
      #expect(error?.message.contains("derived attribute") == true, "\(error as Any)")
    }
  }
}
