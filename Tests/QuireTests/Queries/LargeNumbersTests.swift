import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Averages of integers whose sum has more than 64 bits: six moments in nanoseconds are enough.
@Suite struct `Averages of large integers` {
  private static let model = try! ManagedObjectModel {
    Entity("Log") {
      Attribute("mean", .double, derivedFrom: "entries.ns.@avg")
      Relationship("entries", toMany: "Entry", inverse: "log")
    }
    Entity("Entry") {
      Attribute("ns", .integer64, default: 0)
      Attribute("group", .integer64, default: 0)
      Relationship("log", toOne: "Log", inverse: "entries")
    }
  }
  private static let base = 1_764_000_000_000_000_000

  @Test func `they are what they are, by every way that leads to them`() throws {
    try GotchaHome.memory.withContext(Self.model, classes: []) { context in
      let log = try context.insert("Log")
      for number in 0..<6 {
        let entry = try context.insert("Entry")
        try entry.setValue(Self.base + number, forKey: "ns")
        try entry.setValue(log, forKey: "log")
      }
      let mean = Double(Self.base)
      #expect(try log.value(forKeyPath: "entries.@avg.ns") as? Double == mean)
      try context.save()
      #expect(try log.value(forKey: "mean") as? Double == mean)
      let request = FetchRequest<ManagedObject>(entityName: "Log")
      var matching = request
      matching.predicate = try FetchPredicate(format: "entries.@avg.ns > 1.7e18")
      #expect(try context.count(for: matching) == 1)
      var table = FetchRequest<ManagedObject>(entityName: "Entry")
      table.propertiesToGroupBy = ["group"]
      table.propertiesToFetch = [
        "group", .init("mean", try FetchExpression(format: "average:(ns)")),
      ]
      let rows = try context.dictionaries(for: table)
      #expect(rows.map { $0["mean"] as? Double } == [mean])
    }
  }

  @Test func `a sum that is too large is an error, and one that is not after all is not`() throws {
    try GotchaHome.memory.withContext(Self.model, classes: []) { context in
      for number in [Int.max, 1, -10, .min] {
        let entry = try context.insert("Entry")
        try entry.setValue(number, forKey: "ns")
        try entry.setValue(number == .min ? 1 : 0, forKey: "group")
      }
      try context.save()
      var table = FetchRequest<ManagedObject>(entityName: "Entry")
      table.propertiesToGroupBy = ["group"]
      table.propertiesToFetch = [.init("sum", try FetchExpression(format: "sum:(ns)"))]
      let sums = try context.dictionaries(for: table).compactMap { $0["sum"] as? Int }
      #expect(sums.sorted() == [.min, .max - 9])
      let entry = try context.insert("Entry")
      try entry.setValue(Int.max, forKey: "ns")
      try context.save()
      #expect(throws: PersistenceError.self) { try context.dictionaries(for: table) }
    }
  }
}
