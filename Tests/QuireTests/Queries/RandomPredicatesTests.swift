import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Fetches test rows by their bytes where they can; `PredicateEvaluator` says what they must find.
@Suite struct RandomPredicatesTests {
  /// What an object was given.
  private struct Thing: PredicateSubject {
    let id: ManagedObjectID
    let values: [String: AttributeValue]
    var paths: [[String]] = []

    func value(atPath index: Int) -> PredicateValue? {
      values[paths[index][0]].map(PredicateValue.value)
    }
    var identity: OpaqueIdentity { OpaqueIdentity(id) }
  }

  private struct Trial {
    var generator: SeededGenerator
    var things: [Thing] = []

    private static let types: [AttributeType] = IndexValues.types.filter { $0 != .uri }
    static let names = types.map { "a\($0.rawValue)" } + ["text"]
    /// What composes with what is before it, is ASCII once composed, or is one character with it.
    private static let parts = [
      "a", "a", "b", "A", "e", "é", "\u{301}", "\u{327}", "K", "\u{212A}", ";", "\u{37E}", "\r",
      "\n", "\u{600}", "한", "\u{1112}", "\u{1161}", "ß", "\0", "😀", "\u{200D}", "zzzzzzz",
    ]

    private mutating func pick<Value>(_ values: [Value]) -> Value {
      values[generator.below(values.count)]
    }

    private mutating func text() -> String {
      (0..<generator.below(6)).map { _ in pick(Self.parts) }.joined()
    }

    func model() throws -> ManagedObjectModel {
      var thing = Entity("Thing")
      thing.attributes = Self.types.map { AttributeDescription("a\($0.rawValue)", $0) }
      thing.attributes.append(AttributeDescription("text", .string))
      return try ManagedObjectModel(entities: [thing])
    }

    mutating func fill(_ context: ManagedObjectContext, _ count: Int) throws {
      var objects: [(object: ManagedObject, values: [String: AttributeValue])] = []
      for _ in 0..<count {
        var values: [String: AttributeValue] = [:]
        for type in Self.types {
          values["a\(type.rawValue)"] = IndexValues.random(type, using: &generator)
        }
        if generator.below(8) > 0 { values["text"] = .string(text()) }
        let object = try context.add("Thing", [:])
        for (name, value) in values { try object.setValue(value, forKey: name) }
        objects.append((object, values))
      }
      try context.save()
      things = objects.map { Thing(id: $0.object.objectID, values: $0.values) }
      let order = try context.fetch(FetchRequest<ManagedObject>(entityName: "Thing")).enumerated()
      let places = Dictionary(uniqueKeysWithValues: order.map { ($1.objectID, $0) })
      things.sort { places[$0.id, default: 0] < places[$1.id, default: 0] }
    }

    // MARK: Predicates

    private mutating func constant(_ name: String) -> AttributeValue? {
      if generator.below(3) == 0, let value = pick(things).values[name] { return value }
      if name == "text" { return generator.below(12) == 0 ? nil : .string(text()) }
      guard let type = Self.types.first(where: { "a\($0.rawValue)" == name }) else { return nil }
      return generator.below(12) == 0
        ? IndexValues.random(pick(Self.types(like: name)), using: &generator)
        : IndexValues.constant(for: type, using: &generator)
    }

    /// Types whose values may be compared with those of an attribute.
    private static func types(like name: String) -> [AttributeType] {
      let own = types.first { "a\($0.rawValue)" == name } ?? .string
      return types.filter { ExpressionType($0).mayEqual(ExpressionType(own)) }
    }

    private mutating func name(like name: String) -> String {
      let type = pick(Self.types(like: name))
      return type == .string && generator.below(2) == 0 ? "text" : "a\(type.rawValue)"
    }

    private mutating func comparison() -> FetchPredicate {
      let name = pick(Self.names + ["text", "text", "text"])
      let path = FetchExpression.keyPath([name])
      func expression(_ value: AttributeValue?) -> FetchExpression {
        .constant(value.map(PredicateValue.value))
      }
      let options: FetchComparisonOptions = pick([[], [], [], [], .normalized, .caseInsensitive])
      let operators: [FetchPredicate.Operator] = [
        .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
      ]
      switch generator.below(10) {
      case 0:
        let members = (0..<generator.below(12)).map { _ in expression(constant(name)) }
        return .comparison(path, .in, .aggregate(members), options: options)
      case 1:
        let bounds = [expression(constant(name)), expression(constant(name))]
        return .comparison(path, .between, .aggregate(bounds), options: options)
      case 2: return .comparison(expression(constant(name)), pick(operators), path)
      case 3: return .comparison(path, pick(operators), .keyPath([self.name(like: name)]))
      case 4, 5:
        return .comparison(
          .keyPath(["text"]), pick([.beginsWith, .beginsWith, .endsWith, .contains]),
          expression(constant("text")), options: options)
      default:
        return .comparison(path, pick(operators), expression(constant(name)), options: options)
      }
    }

    mutating func predicate(depth: Int) -> FetchPredicate {
      if depth == 0 || generator.below(3) == 0 { return comparison() }
      let parts = (0..<generator.below(4)).map { _ in predicate(depth: depth - 1) }
      switch generator.below(8) {
      case 0: return .not(predicate(depth: depth - 1))
      case 1: return .constant(generator.below(2) == 0)
      case 2, 3: return .or(parts)
      default: return .and(parts)
      }
    }

    // MARK: Requests

    mutating func compare(_ context: ManagedObjectContext, _ label: String) throws {
      var request = FetchRequest<ManagedObject>(entityName: "Thing")
      let predicate = predicate(depth: 3)
      request.predicate = predicate
      let evaluator = try PredicateEvaluator(predicate)
      var expected = try things.filter {
        try evaluator.evaluate(Thing(id: $0.id, values: $0.values, paths: evaluator.paths))
      }
      let options: FetchComparisonOptions = pick([[], [], .caseInsensitive])
      request.sortDescriptors = (0..<generator.below(3)).map { _ in
        FetchSortDescriptor(
          keyPath: [pick(Self.names + ["text", "text"])], ascending: generator.below(2) == 0,
          options: options)
      }
      // In the order of the rows where nothing else decides.
      let places = expected.indices.sorted { left, right in
        for descriptor in request.sortDescriptors {
          let (left, right) = (expected[left].values, expected[right].values)
          let order = descriptor.compare(
            left[descriptor.key].map(PredicateValue.value),
            right[descriptor.key].map(PredicateValue.value))
          if order != 0 { return order < 0 }
        }
        return left < right
      }
      expected = places.map { expected[$0] }
      if generator.below(2) == 0 {
        request.fetchLimit = 1 + generator.below(20)
        expected = Array(expected.prefix(request.fetchLimit))
      }
      let found = try context.fetch(request).map(\.objectID)
      #expect(found == expected.map(\.id), "\(label): \(request)")
      #expect(try context.count(for: request) == expected.count, "\(label): \(request)")
    }
  }

  @Test func `a fetch finds what the predicate is true of, in order`() throws {
    for seed in 0..<Amount.of(debug: 2, release: 12, exhaustive: 200) {
      var trial = Trial(generator: SeededGenerator(seed: UInt64(seed)))
      let scene = IndexScene()
      let context = try scene.open(try trial.model())
      try trial.fill(context, 120)
      for _ in 0..<Amount.of(debug: 80, release: 150) { try trial.compare(context, "seed \(seed)") }
      try scene.close(context)
    }
  }

  @Test func `the first ones of an order are those of the whole order`() throws {
    var trial = Trial(generator: SeededGenerator(seed: 77))
    let scene = IndexScene()
    let context = try scene.open(try trial.model())
    // More than are sorted at once.
    let count = Amount.of(debug: 1_100, release: 1_600)
    try trial.fill(context, count)
    for name in Trial.names {
      for ascending in [true, false] {
        var request = FetchRequest<ManagedObject>(entityName: "Thing")
        request.sortDescriptors = [FetchSortDescriptor(key: name, ascending: ascending)]
        let all = try context.fetch(request).map(\.objectID)
        #expect(all.count == count)
        request.fetchLimit = 40
        #expect(try context.fetch(request).map(\.objectID) == Array(all.prefix(40)), "\(request)")
      }
    }
    try scene.close(context)
  }
}
