import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Random predicates over random objects mean the same to a fetch, by rows, indexes and unsaved
/// objects, and in memory: what plain Swift says that they mean.
@Suite struct RandomMeaningTests {
  private struct Trial {
    let context: ManagedObjectContext
    var generator: SeededGenerator

    private mutating func isOnce(in count: Int) -> Bool { generator.below(count) == 0 }

    /// - Parameter share: one in so many values is left as it is.
    mutating func change(_ node: ManagedObject, _ nodes: [ManagedObject], _ steps: [ManagedObject])
      throws
    {
      let words = ["", "a", "A", "b", "ab", "abc", "Bc", "c c", "é"]
      func word() -> String { words[generator.below(words.count)] }
      for name in ["name", "alias"] where !isOnce(in: 4) {
        try node.setValue(isOnce(in: 6) ? nil : word(), forKey: name)
      }
      if !isOnce(in: 4) { try node.setValue(generator.below(7) - 1, forKey: "size") }
      for name in ["weight", "ratio"] where !isOnce(in: 4) {
        try node.setValue(Double(generator.below(9) - 2) / 2, forKey: name)
      }
      if !isOnce(in: 4) {
        try node.setValue(Decimal(generator.below(9) - 2) / 2, forKey: "cost")
      }
      if !isOnce(in: 3) { try node.setValue(isOnce(in: 2), forKey: "isOpen") }
      if !isOnce(in: 3) {
        let date = Date(timeIntervalSinceReferenceDate: Double(generator.below(5)))
        try node.setValue(date, forKey: "born")
      }
      func one(of objects: [ManagedObject]) -> ManagedObject {
        objects[generator.below(objects.count)]
      }
      for name in ["parent", "twin"] where isOnce(in: 2) {
        try node.setValue(isOnce(in: 5) ? nil : one(of: nodes), forKey: name)
      }
      if isOnce(in: 2) { try node.setValue(one(of: steps), forKey: "hint") }
      for name in ["friends", "fans"] where isOnce(in: 3) {
        let others = (0..<generator.below(4)).map { _ in one(of: nodes) }
        try node.setValue(Set(others), forKey: name)
      }
      if isOnce(in: 2) {
        var own: [ManagedObject] = []
        for _ in 0..<generator.below(4) {
          let step = one(of: steps)
          if !own.contains(step) { own.append(step) }
        }
        try node.setValue(own, forKey: "steps")
      }
    }

    mutating func change(_ step: ManagedObject, _ nodes: [ManagedObject]) throws {
      try step.setValue(isOnce(in: 5) ? nil : ["a", "b", "ab"][generator.below(3)], forKey: "word")
      try step.setValue(isOnce(in: 5) ? nil : generator.below(5), forKey: "number")
      let marks = (0..<generator.below(3)).map { _ in nodes[generator.below(nodes.count)] }
      try step.setValue(Set(marks), forKey: "marks")
    }

    mutating func fill() throws {
      let steps = try (0..<12).map { _ in try context.insert("Step", [:]) }
      let nodes = try (0..<24).map { try context.insert($0 % 4 == 0 ? "Leaf" : "Node", [:]) }
      for step in steps { try change(step, nodes) }
      for node in nodes { try change(node, nodes, steps) }
    }

    /// Changes, deletes and inserts some.
    mutating func disturb(_ context: ManagedObjectContext) throws {
      let nodes = try context.fetch(FetchRequest<ManagedObject>(entityName: "Node"))
      let steps = try context.fetch(FetchRequest<ManagedObject>(entityName: "Step"))
      guard nodes.count > 6, steps.count > 4 else { return }
      let new = try context.insert("Node", [:])
      let doomed = [nodes[generator.below(nodes.count)], steps[generator.below(steps.count)]]
      // Without an inverse nobody is told: until the save an object leads to what was deleted.
      for node in nodes where try node.value(forKey: "hint") as? ManagedObject == doomed[1] {
        try node.setValue(nil, forKey: "hint")
      }
      for step in steps {
        let marks = try step.value(forKey: "marks") as? Set<ManagedObject> ?? []
        try step.setValue(marks.subtracting(doomed), forKey: "marks")
      }
      doomed.forEach(context.delete)
      context.processPendingChanges()
      let others = nodes.filter { !$0.isDeleted } + [new]
      let rest = steps.filter { !$0.isDeleted }
      for node in others where node === new || isOnce(in: 4) { try change(node, others, rest) }
      for step in rest where isOnce(in: 4) { try change(step, others) }
      context.processPendingChanges()
    }
  }

  private static func difference(
    _ made: MadePredicate, _ world: [PlainObject], _ context: ManagedObjectContext
  ) throws -> String? {
    let nodes = world.filter { $0.entity == "Node" }
    let expected = Set(nodes.filter { made.holds(PlainScope(object: $0)) }.map(\.id))
    var request = FetchRequest<ManagedObject>(entityName: "Node")
    request.predicate = made.predicate
    do {
      let found = try context.fetch(request)
      if Set(found.map(\.objectID)) != expected || found.count != expected.count {
        return "a fetch found \(found.count) of \(expected.count)"
      }
      if try context.count(for: request) != expected.count { return "another count" }
      for node in nodes {
        let object = try context.existingObject(with: node.id)
        if try made.predicate.evaluate(with: object) != expected.contains(node.id) {
          return "in memory it is \(!expected.contains(node.id)) of \(node.id)"
        }
      }
    } catch {
      return "\(error)"
    }
    return nil
  }

  /// The smallest part of a predicate that is not answered as it should be.
  private static func complaint(
    _ made: MadePredicate, _ world: [PlainObject], _ context: ManagedObjectContext
  ) throws -> String? {
    guard let difference = try difference(made, world, context) else { return nil }
    for part in made.parts {
      if let complaint = try complaint(part, world, context) { return complaint }
    }
    return "\(made.predicate): \(difference)"
  }

  private func expectAgreement(
    _ context: ManagedObjectContext, seed: Int, _ state: String, count: Int
  ) throws {
    let world = try PlainWorld.objects(in: context)
    var generator = MeaningGenerator(seed: seed, world)
    for number in 0..<count {
      let made = generator.predicate(depth: 3)
      if let complaint = try Self.complaint(made, world, context) {
        Issue.record("seed \(seed), predicate \(number), \(state): \(complaint)")
        return
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a predicate means the same wherever it is asked`(_ home: GotchaHome) throws {
    for seed in 0..<Amount.of(debug: 1, release: 6, exhaustive: 300) {
      try home.withContext(PlainWorld.model, classes: []) { context in
        var trial = Trial(context: context, generator: SeededGenerator(seed: UInt64(seed)))
        let count = Amount.of(debug: 12, release: 25, exhaustive: 60)
        try trial.fill()
        try expectAgreement(context, seed: seed, "unsaved", count: count)
        try context.save()
        try expectAgreement(context, seed: seed + 1_000, "saved", count: count)
        context.reset()
        try expectAgreement(context, seed: seed + 2_000, "as rows", count: count)
        try trial.disturb(context)
        try expectAgreement(context, seed: seed + 3_000, "changed", count: count)
        let child = context.newChildContext()
        try trial.disturb(child)
        try expectAgreement(child, seed: seed + 4_000, "in a child", count: count)
      }
    }
  }
}
