import Foundation
import Quire
import QuireSimulation
import QuireTesting
import Testing

/// A fetch with a limit leaves out rows by a bound of the first sort key, once it has enough.
@Suite struct SortBoundTests {
  private static let model = try! ManagedObjectModel {
    Entity("Sample") {
      Attribute("double", .double)
      Attribute("float", .float)
      Attribute("date", .date)
      Attribute("long", .integer64)
      Attribute("int", .integer32)
      Attribute("short", .integer16)
      Attribute("flag", .boolean)
      Attribute("text", .string)
      Attribute("group", .integer16)
    }
  }

  private static let doubles: [Double] = [
    0, -0.0, 1, -1, 0.1, 1e300, -1e300, .infinity, -.infinity, .nan, .leastNonzeroMagnitude,
  ]
  private static let longs: [Int64] = [
    0, 1, -1, .max, .min, .max - 1, 1 << 53, 1 << 53 + 1, 1 << 53 - 1, -(1 << 53) - 1,
  ]

  private static func makeSamples(
    _ count: Int, in context: ManagedObjectContext, _ generator: inout SeededGenerator
  ) throws {
    func any<Value>(_ values: [Value], _ generator: inout SeededGenerator) -> Value {
      values[generator.below(values.count)]
    }
    for number in 0..<count {
      let double = any(doubles, &generator)
      let long = any(longs, &generator)
      let values: [String: Any] = [
        "double": double, "float": Float(double), "long": long,
        "date": Date(timeIntervalSinceReferenceDate: any(doubles, &generator)),
        "int": Int32(truncatingIfNeeded: long), "short": Int16(truncatingIfNeeded: long),
        "flag": generator.below(2) == 0, "text": "\(generator.below(9))", "group": number % 3,
      ]
      try context.insert(
        "Sample", values.filter { $0.key == "group" || generator.below(6) > 0 })
    }
  }

  @Test(arguments: Array(UInt64(1)...Amount.of(debug: 2, release: 10, exhaustive: 300)))
  func `the first objects are those of the whole order, whatever the numbers are`(
    _ seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let context = try ManagedObjectContext.stubbed(Self.model)
    try Self.makeSamples(240, in: context, &generator)
    try context.save()
    let keys = try #require(Self.model.entity(named: "Sample")).attributes.map(\.name)
    for key in keys where key != "group" {
      for ascending in [true, false] {
        for absent in [FetchSortDescriptor.AbsentValues.smallest, .first, .last] {
          var request = FetchRequest<ManagedObject>(entityName: "Sample")
          request.sortDescriptors = [
            FetchSortDescriptor(key: key, ascending: ascending, absentValues: absent)
          ]
          // Among equal first keys the second decides, also for rows that come late.
          if generator.below(2) == 0 {
            request.sortDescriptors.append(
              FetchSortDescriptor(key: ["text", "group"][generator.below(2)], ascending: false))
          }
          if generator.below(2) == 0 {
            request.predicate = try FetchPredicate(format: "group < 2 AND int != 1")
          }
          let all = try context.fetch(request)
          request.fetchLimit = 1 + generator.below(60)
          request.fetchOffset = generator.below(2) * 20
          let first = try context.fetch(request)
          let expected = all.dropFirst(request.fetchOffset).prefix(request.fetchLimit)
          #expect(first == Array(expected), "seed \(seed): \(key), \(ascending), \(absent)")
        }
      }
    }
  }
}
