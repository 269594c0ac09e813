import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Fetches test rows by their bytes where they can; `PlainComparison` says what they must find.
@Suite struct RandomPredicatesTests {
  private typealias Values = [String: AttributeValue]

  /// What an object was given.
  private struct Thing {
    let id: ManagedObjectID
    let values: Values
  }

  /// A predicate, and whether it is true of values.
  private struct Made {
    let predicate: FetchPredicate
    let holds: (Values) -> Bool
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

    private mutating func comparison() -> Made {
      let name = pick(Self.names + ["text", "text", "text"])
      let path = FetchExpression.keyPath([name])
      func expression(_ value: AttributeValue?) -> FetchExpression {
        .constant(value.map(PredicateValue.value))
      }
      let options: FetchComparisonOptions = pick([[], [], [], [], .normalized, .caseInsensitive])
      let ignoresCase = options == .caseInsensitive
      let operators: [FetchPredicate.Operator] = [
        .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
      ]
      func order(_ left: AttributeValue?, _ right: AttributeValue?) -> Int? {
        PlainComparison.order(left, right, ignoringCase: ignoresCase)
      }
      func areEqual(_ left: AttributeValue?, _ right: AttributeValue?) -> Bool {
        PlainComparison.areEqual(left, right, ignoringCase: ignoresCase)
      }
      func holds(
        _ left: AttributeValue?, _ operation: FetchPredicate.Operator, _ right: AttributeValue?
      ) -> Bool {
        switch operation {
        case .equal: areEqual(left, right)
        case .notEqual: !areEqual(left, right)
        case .lessThan: order(left, right) == -1
        case .lessThanOrEqual: order(left, right).map { $0 <= 0 } ?? false
        case .greaterThan: order(left, right) == 1
        default: order(left, right).map { $0 >= 0 } ?? false
        }
      }
      switch generator.below(10) {
      case 0:
        let members = (0..<generator.below(12)).map { _ in constant(name) }
        return Made(
          predicate: .comparison(
            path, .in, .aggregate(members.map(expression)), options: options)
        ) { values in members.contains { areEqual(values[name], $0) } }
      case 1:
        let (low, high) = (constant(name), constant(name))
        return Made(
          predicate: .comparison(
            path, .between, .aggregate([expression(low), expression(high)]), options: options)
        ) {
          holds($0[name], .greaterThanOrEqual, low) && holds($0[name], .lessThanOrEqual, high)
        }
      case 2:
        let (value, operation) = (constant(name), pick(operators))
        return Made(
          predicate: .comparison(expression(value), operation, path, options: options)
        ) { holds(value, operation, $0[name]) }
      case 3:
        let (operation, other) = (pick(operators), self.name(like: name))
        return Made(
          predicate: .comparison(path, operation, .keyPath([other]), options: options)
        ) { holds($0[name], operation, $0[other]) }
      case 4, 5:
        let operation: FetchPredicate.Operator = pick([
          .beginsWith, .beginsWith, .endsWith, .contains,
        ])
        let part = constant("text")
        return Made(
          predicate: .comparison(
            .keyPath(["text"]), operation, expression(part), options: options)
        ) { values in
          guard case .string(let text)? = values["text"], case .string(let part)? = part else {
            return false
          }
          func characters(_ text: String) -> [Character] {
            Array(ignoresCase ? PlainComparison.folded(text) : text)
          }
          return Self.has(characters(text), operation, characters(part))
        }
      default:
        let (operation, value) = (pick(operators), constant(name))
        return Made(
          predicate: .comparison(path, operation, expression(value), options: options)
        ) { holds($0[name], operation, value) }
      }
    }

    private static func has(
      _ text: [Character], _ operation: FetchPredicate.Operator, _ part: [Character]
    ) -> Bool {
      switch operation {
      case .beginsWith: text.starts(with: part)
      case .endsWith: text.reversed().starts(with: part.reversed())
      default: (0...text.count).contains { text[$0...].starts(with: part) }
      }
    }

    mutating func predicate(depth: Int) -> Made {
      if depth == 0 || generator.below(3) == 0 { return comparison() }
      let parts = (0..<generator.below(4)).map { _ in predicate(depth: depth - 1) }
      switch generator.below(8) {
      case 0:
        let part = predicate(depth: depth - 1)
        return Made(predicate: .not(part.predicate)) { !part.holds($0) }
      case 1:
        let flag = generator.below(2) == 0
        return Made(predicate: .constant(flag)) { _ in flag }
      case 2, 3:
        return Made(predicate: .or(parts.map(\.predicate))) { values in
          parts.contains { $0.holds(values) }
        }
      default:
        return Made(predicate: .and(parts.map(\.predicate))) { values in
          parts.allSatisfy { $0.holds(values) }
        }
      }
    }

    // MARK: Requests

    mutating func compare(_ context: ManagedObjectContext, _ label: String) throws {
      var request = FetchRequest<ManagedObject>(entityName: "Thing")
      let made = predicate(depth: 3)
      request.predicate = made.predicate
      var expected = things.filter { made.holds($0.values) }
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
          let order = PlainComparison.sortingOrder(
            left[descriptor.key], right[descriptor.key],
            ignoringCase: descriptor.options == .caseInsensitive)
          if order != 0 { return (order < 0) == descriptor.ascending }
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
