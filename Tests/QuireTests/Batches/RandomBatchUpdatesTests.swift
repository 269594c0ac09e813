import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What batch requests change, and what objects that are changed and saved become, is the same:
/// rows with their versions, links, derived values, values outside of rows, history.
@Suite struct RandomBatchUpdatesTests {
  @Test func `a batch update makes what changed objects make`() throws {
    var (doneCount, refusedCount) = (0, 0)
    let seeds = BatchTwins.seeds(4)
    for seed in seeds {
      for home in GotchaHome.own {
        try BatchTwins.with(seed: seed, home) { twins in
          try twins.fill(50)
          for round in 0..<Amount.of(debug: 6, release: 12) {
            let (from, width) = (twins.random.below(50), [1, 3, 50][twins.random.below(3)])
            let entities = ["Thing", "Thing", "SpecialThing", "Tag", "Part", "Sign", "Plain"]
            let entity = entities[twins.random.below(entities.count)]
            // Without a predicate rows may be changed in one pass.
            let takesAll = twins.random.below(4) == 0
            let predicate =
              takesAll ? nil : Key("number") >= from && Key("number") < from + width
            var properties: [String: Any?] = [:]
            for _ in 0...twins.random.below(2) {
              let (name, value) = try property(of: entity, &twins)
              properties.updateValue(value, forKey: name)
            }
            let isDone = try twins.change(
              "seed \(seed) \(home) round \(round) \(entity) "
                + "\(takesAll ? "all" : "\(from)+\(width)") \(properties)",
              batch: { context in
                var request = BatchUpdateRequest(entityName: entity, predicate: predicate)
                request.propertiesToUpdate = try properties.mapValues {
                  try ($0 as? Named)?.id(in: context) ?? $0
                }
                let count = try context.count(for: BatchScene.request(entity, predicate))
                #expect(try context.execute(request).count == count)
              },
              objects: { context in
                try update(
                  try context.fetch(BatchScene.request(entity, predicate)), properties, context)
              })
            if isDone { doneCount += 1 } else { refusedCount += 1 }
          }
        }
      }
    }
    // Both happen often enough to mean something.
    #expect(
      4 * doneCount > 30 * seeds.count && 2 * refusedCount > seeds.count,
      "\(doneCount) done, \(refusedCount) refused")
  }

  /// An object by its place among those of its entity, which is the same in both stores.
  private struct Named {
    let entity: String
    let place: Int

    func id(in context: ManagedObjectContext) throws -> ManagedObjectID {
      try context.objectIDs(for: BatchScene.request(entity))[place]
    }
  }

  /// A property and what it is to become.
  private func property(
    of entity: String, _ twins: inout BatchTwins
  ) throws -> (String, Any?) {
    func expression(_ format: String) throws -> FetchExpression {
      try FetchExpression(format: format)
    }
    let number = twins.random.below(30)
    let isThing = entity.hasSuffix("Thing")
    if entity == "Part" && twins.random.below(3) > 0 {
      switch twins.random.below(10) {
      case 0: return ("small", number * 700)
      case 1: return ("small", try expression("small + number"))
      case 2: return ("large", try expression("large * 3 - number"))
      case 3: return ("size", try expression("number / 2.0 + size"))
      case 4: return ("size", number % 2 == 0 ? nil : try expression("number * 1.5"))
      case 5: return ("share", Float(number))
      case 6: return ("isLoose", number % 2 == 0)
      case 7: return ("made", Date(timeIntervalSinceReferenceDate: Double(number)))
      case 8: return ("limited", try expression("number + \(number)"))
      default: return ("large", try expression("large / 2"))
      }
    }
    if !isThing && twins.random.below(2) == 0 {
      let isText = entity == "Plain" && twins.random.below(2) == 0
      if isText { return ("title", "title \(number)") }
      return ("number", twins.random.below(2) == 0 ? number : try expression("number + 1"))
    }
    if isThing && twins.random.below(2) == 0 {
      switch twins.random.below(7) {
      case 0: return ("weight", number)
      case 1: return ("weight", try expression("weight * 2"))
      case 2: return ("weight", try expression("parent.weight"))
      case 3: return ("title", try expression("TERNARY(weight > 5, 'heavy', title)"))
      case 4: return ("title", nil)
      case 5: return ("photo", Data(repeating: UInt8(number), count: 150_000))
      default: return ("photo", number < 15 ? Data([1, 2]) : nil)
      }
    }
    let relationships = try #require(BatchScene.model.entity(named: entity)).relationships
      .filter { !$0.isToMany }
    guard !relationships.isEmpty else { return ("number", number) }
    let relationship = relationships[twins.random.below(relationships.count)]
    if ["parent", "pointer"].contains(relationship.name), twins.random.below(3) == 0 {
      return (relationship.name, try expression("parent.\(relationship.name)"))
    }
    let destination = relationship.destination
    let count = try twins.objects.count(for: BatchScene.request(destination))
    if count == 0 || twins.random.below(4) == 0 { return (relationship.name, nil) }
    return (
      relationship.name, Named(entity: destination, place: twins.random.below(count))
    )
  }

  private func update(
    _ objects: [ManagedObject], _ properties: [String: Any?], _ context: ManagedObjectContext
  ) throws {
    // What expressions say is of the time before.
    let values = try objects.map { object in
      try properties.mapValues { value in
        guard let expression = value as? FetchExpression else { return value }
        return try expression.expressionValue(with: object)
      }
    }
    for (object, values) in zip(objects, values) {
      for (name, value) in values.sorted(by: { $0.key < $1.key }) {
        let id = try (value as? Named)?.id(in: context)
        try object.setValue(id.map { try context.existingObject(with: $0) } ?? value, forKey: name)
      }
    }
  }
}
