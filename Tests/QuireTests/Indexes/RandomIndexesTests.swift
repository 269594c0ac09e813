import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Fetches by indexes against the same fetches without: predicates that hide their parts behind two
/// negations, and limits that are applied by hand.
@Suite struct RandomIndexesTests {
  private struct Trial {
    var generator: SeededGenerator
    let scene = IndexScene()
    var plans: [String: Int] = [:]

    private static let names = IndexValues.types.map { "a\($0.rawValue)" }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
      values[generator.below(values.count)]
    }

    private mutating func element() -> FetchIndexDescription.Element {
      let name = generator.below(8) == 0 ? pick(["owner", "place.city"]) : pick(Self.names)
      return .init(name, ascending: generator.below(2) == 0)
    }

    private mutating func indexes(_ entity: String) -> [FetchIndexDescription] {
      (0..<generator.below(4)).map { number in
        var index = FetchIndexDescription(
          "\(entity)\(number)", (0...generator.below(3)).map { _ in element() })
        if generator.below(4) == 0 {
          index.partialIndexPredicate = pick(["a200 > 0", "a700 != nil", "10 / a300 > 0"])
        }
        return index
      }
    }

    mutating func model() throws -> ManagedObjectModel {
      var base = Entity("Base", abstract: true)
      base.attributes = IndexValues.types.map { AttributeDescription("a\($0.rawValue)", $0) }
      base.attributes.append(
        AttributeDescription(
          "place", .composite, elements: { AttributeDescription("city", .string) }))
      base.relationships = [RelationshipDescription("owner", toOne: "Owner", inverse: "things")]
      var owner = Entity("Owner")
      owner.attributes = [AttributeDescription("label", .string)]
      owner.relationships = [RelationshipDescription("things", toMany: "Base", inverse: "owner")]
      if generator.below(3) > 0 {
        owner.indexes = [FetchIndexDescription("label", [.init("label", ascending: true)])]
      }
      var first = Entity("First", parent: "Base")
      var second = Entity("Second", parent: "First")
      base.indexes = indexes("base")
      first.indexes = indexes("first")
      second.indexes = indexes("second")
      return try ManagedObjectModel(entities: [base, owner, first, second])
    }

    // MARK: Objects

    mutating func change(_ context: ManagedObjectContext, _ count: Int) throws {
      var owners = try context.found("Owner").objects
      while owners.count < 12 { owners.append(try context.add("Owner", [:])) }
      try set(.string(pick(IndexValues.texts)), "label", pick(owners))
      var all = try context.found("Base").objects
      for _ in 0..<count {
        switch generator.below(all.isEmpty ? 1 : 6) {
        case 0...3:
          let object = try context.add(pick(["First", "First", "Second"]), [:])
          for type in IndexValues.types {
            try set(IndexValues.random(type, using: &generator), "a\(type.rawValue)", object)
          }
          try fill(object, owners)
          all.append(object)
        case 4:
          let object = pick(all)
          for _ in 0...generator.below(3) {
            let type = pick(IndexValues.types)
            try set(IndexValues.random(type, using: &generator), "a\(type.rawValue)", object)
          }
          if generator.below(3) == 0 { try fill(object, owners) }
        default: context.delete(all.remove(at: generator.below(all.count)))
        }
      }
    }

    private mutating func fill(_ object: ManagedObject, _ owners: [ManagedObject]) throws {
      try object.setValue(generator.below(5) == 0 ? nil : pick(owners), forKey: "owner")
      let city = IndexValues.random(.string, using: &generator)
      try set(city.map { .composite(["city": $0]) }, "place", object)
    }

    private func set(_ value: AttributeValue?, _ name: String, _ object: ManagedObject) throws {
      try object.setValue(value, forKey: name)
    }

    // MARK: Requests

    /// A comparison, or several of which one must be true.
    private mutating func part(_ context: ManagedObjectContext) throws -> FetchPredicate {
      guard generator.below(3) == 0 else { return try comparison(context) }
      return .or(
        try (0..<2 + generator.below(2)).map { _ in
          generator.below(4) == 0
            ? .and([try comparison(context), try comparison(context)]) : try comparison(context)
        })
    }

    /// What is asked of an owner about its things.
    private mutating func question(_ context: ManagedObjectContext) throws -> FetchPredicate {
      let things = try context.found("Base").objects
      if generator.below(3) == 0, !things.isEmpty {
        let thing = FetchExpression.constant(.object(OpaqueIdentity(pick(things).objectID)))
        return generator.below(2) == 0
          ? .comparison(.keyPath(["things"]), .equal, thing, modifier: .any)
          : .comparison(thing, .in, .keyPath(["things"]))
      }
      let type = pick(IndexValues.types)
      func constant() -> FetchExpression {
        .constant(IndexValues.constant(for: type, using: &generator).map(PredicateValue.value))
      }
      let path = FetchExpression.keyPath(["things", "a\(type.rawValue)"])
      return generator.below(4) == 0
        ? .comparison(path, .between, .aggregate([constant(), constant()]), modifier: .any)
        : .comparison(path, pick([.equal, .equal, .lessThan]), constant(), modifier: .any)
    }

    private mutating func comparison(_ context: ManagedObjectContext) throws -> FetchPredicate {
      if generator.below(8) == 0 {
        let owners = try context.found("Owner").objects
        let one = PredicateValue.object(OpaqueIdentity(pick(owners).objectID))
        let other = PredicateValue.object(OpaqueIdentity(pick(owners).objectID))
        return generator.below(2) == 0
          ? .comparison(.keyPath(["owner"]), .equal, .constant(generator.below(5) == 0 ? nil : one))
          : .comparison(.keyPath(["owner"]), .in, .constant(.collection([one, other])))
      }
      if generator.below(8) == 0 {
        let label = FetchExpression.constant(.value(.string(pick(IndexValues.texts))))
        return .comparison(
          .keyPath(["owner", "label"]), pick([.equal, .equal, .lessThan, .beginsWith]),
          generator.below(6) == 0 ? .constant(nil) : label)
      }
      if generator.below(16) == 0 {
        // Owners are no rows of the fetch, and new ones are rows of nothing yet.
        let all = try context.found("Base").objects + context.found("Owner").objects
        let named = (0..<generator.below(9)).map { _ in
          PredicateValue.object(OpaqueIdentity(pick(all).objectID))
        }
        return generator.below(3) == 0
          ? .comparison(.constant(named.first), .equal, .evaluatedObject)
          : .comparison(.evaluatedObject, .in, .constant(.collection(named)))
      }
      let type = pick(IndexValues.types)
      let path =
        type == .string && generator.below(3) == 0 ? ["place", "city"] : ["a\(type.rawValue)"]
      func constant() -> FetchExpression {
        .constant(IndexValues.constant(for: type, using: &generator).map(PredicateValue.value))
      }
      let options: FetchComparisonOptions = generator.below(10) == 0 ? .caseInsensitive : []
      let operators: [FetchPredicate.Operator] = [
        .equal, .equal, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .notEqual,
      ]
      switch generator.below(10) {
      case 0: return .comparison(.keyPath(path), .in, .aggregate((0..<4).map { _ in constant() }))
      case 1, 2:
        return .comparison(.keyPath(path), .between, .aggregate([constant(), constant()]))
      case 3 where type == .string, 4 where type == .string:
        let prefix = String(pick(IndexValues.texts).prefix(generator.below(4)))
        return .comparison(
          .keyPath(path), .beginsWith, .constant(.value(.string(prefix))), options: options)
      case 5: return .comparison(constant(), pick(operators), .keyPath(path))
      case 6: return .not(.comparison(.keyPath(path), pick(operators), constant()))
      case 7: return try FetchPredicate(format: pick(["a200 > 0", "a700 != nil"]))
      default:
        return .comparison(.keyPath(path), pick(operators), constant(), options: options)
      }
    }

    mutating func compare(_ context: ManagedObjectContext, _ label: String) throws {
      let asksOwners = generator.below(8) == 0
      var request = FetchRequest<ManagedObject>(
        entityName: asksOwners ? "Owner" : pick(["Base", "First", "Second"]))
      request.includesSubentities = generator.below(5) > 0
      request.includesPendingChanges = generator.below(6) > 0
      let parts = try (0..<generator.below(4)).map { _ in
        try asksOwners ? question(context) : part(context)
      }
      request.predicate = parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .and(parts)
      request.sortDescriptors = (0..<generator.below(4)).map { _ in
        FetchSortDescriptor(
          keyPath: asksOwners
            ? ["label"] : generator.below(8) == 0 ? ["place", "city"] : [pick(Self.names)],
          ascending: generator.below(2) == 0)
      }
      var plain = request
      plain.predicate = request.predicate.map { .not(.not($0)) }
      if generator.below(2) == 0 {
        request.fetchLimit = 1 + generator.below(12)
        request.fetchOffset = generator.below(4)
      }
      var expected = try context.fetch(plain).map(\.objectID)
      expected.removeFirst(min(request.fetchOffset, expected.count))
      if request.fetchLimit > 0 { expected = Array(expected.prefix(request.fetchLimit)) }
      let plan = try context.plans(for: request).map(\.description).joined(separator: "; ")
      plans[kind(of: plan), default: 0] += 1
      let found = try context.fetch(request).map(\.objectID)
      #expect(found == expected, "\(label): \(plan), \(request)")
      #expect(try context.count(for: request) == expected.count, "\(label): \(plan)")
      let explanation = try request.explain(in: context)
      #expect(explanation.objectCount == expected.count, "\(label): \(explanation)")
    }

    /// The first word of a plan; of one by indexes, what they are used for.
    private func kind(of plan: String) -> String {
      if plan.contains(" from ") { return "path" }
      for word in ["union", "intersection", "links", "names", " order"] where plan.contains(word) {
        return word
      }
      return plan.hasPrefix("index") ? "index" : plan
    }
  }

  @Test func `a fetch finds the same objects in the same order with indexes and without`() throws {
    var plans: [String: Int] = [:]
    let seeds = 0..<Amount.of(debug: 2, release: 14, exhaustive: 400)
    for seed in seeds {
      var trial = Trial(generator: SeededGenerator(seed: UInt64(seed)))
      var context = try trial.scene.open(try trial.model())
      for round in 0..<Amount.of(debug: 3, release: 4) {
        try trial.change(context, 90)
        try context.save()
        #expect(try StoreFacts(context).findings == [], "seed \(seed)")
        let count = Amount.of(debug: 20, release: 30)
        for _ in 0..<count { try trial.compare(context, "seed \(seed), round \(round)") }
        try trial.change(context, 12)
        for _ in 0..<count { try trial.compare(context, "seed \(seed), round \(round), unsaved") }
        context.rollback()
        if round == 1 {
          // The same entities, other indexes.
          try trial.scene.close(context)
          context = try trial.scene.open(try trial.model())
          #expect(try StoreFacts(context).findings == [], "seed \(seed)")
        }
      }
      plans.merge(trial.plans, uniquingKeysWith: +)
    }
    print("plans: \(plans.sorted { $0.key < $1.key })")
    func count(_ kind: String) -> Int { plans[kind, default: 0] / seeds.count }
    let share = Amount.of(debug: 8, release: 1)
    #expect(count("index") > 7 / share && count(" order") > 0 && count("names") > 2 / share)
    #expect(count("union") > 2 / share && count("path") > 2 / share && count("links") > 1 / share)
  }
}
