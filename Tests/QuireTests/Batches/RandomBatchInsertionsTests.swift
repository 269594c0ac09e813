import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What batch requests insert, and what objects that are inserted one after the other become, is
/// the same: rows with their versions, links, derived values, values outside of rows, history; and
/// merge policies decide what they say.
@Suite struct RandomBatchInsertionsTests {
  @Test func `a batch insertion makes what inserted objects make`() throws {
    var (doneCount, refusedCount) = (0, 0)
    let seeds = BatchTwins.seeds(4)
    for seed in seeds {
      for home in Amount.some(of: GotchaHome.own, oneIn: 2, at: Int(seed)) {
        try BatchTwins.with(seed: seed, home) { twins in
          // Sometimes there are none, and rows are built.
          try twins.fill(seed % 3 == 0 ? 1 : 40)
          for round in 0..<10 {
            let names = [
              "Thing", "SpecialThing", "Tag", "Tag", "SpecialTag", "Part", "Sign", "Plain",
            ]
            let entity = names[twins.random.below(names.count)]
            let policies: [MergePolicyType] = [
              .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
              .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
            ]
            let policy = policies[twins.random.below(4)]
            var rows = try (0..<twins.random.below(9)).map { _ in try row(entity, &twins) }
            let isRepeating = ["number", "code"].contains { key in
              let values = rows.compactMap { $0[key].map { "\($0)" } }
              return values.count > Set(values).count
            }
            // A shelf that an object came to, and left for another of the request, has a new
            // version.
            if isRepeating, entity.hasSuffix("Tag") {
              for place in rows.indices { rows[place]["home"] = nil }
            }
            // Objects that gave way to others of the request have had keys in a batch.
            if policy == .overwriteMergePolicyType, isRepeating { twins.haveSameKeys = false }
            let isDone = try twins.change(
              "seed \(seed) \(home) round \(round) \(policy) \(entity) \(rows)",
              batch: { context in
                context.mergePolicy = MergePolicy(merge: policy)
                try context.execute(
                  BatchInsertRequest(
                    entityName: entity, objects: try rows.map { try values($0, context) }))
              },
              objects: { context in
                for row in rows {
                  try insert(entity, try values(row, context), policy, context)
                }
              })
            if isDone { doneCount += 1 } else { refusedCount += 1 }
          }
        }
      }
    }
    // Both happen often enough to mean something.
    let roundCount = doneCount + refusedCount
    #expect(
      8 * doneCount > 3 * roundCount && 40 * refusedCount > roundCount,
      "\(doneCount) done, \(refusedCount) refused")
  }

  private struct Named {
    let entity: String
    let place: Int
  }

  private func row(_ entity: String, _ twins: inout BatchTwins) throws -> [String: Any] {
    var row: [String: Any] = [:]
    if twins.random.below(4) > 0 { row["number"] = twins.random.below(60) }
    switch entity {
    case "Tag", "SpecialTag":
      if twins.random.below(2) == 0 { row["code"] = "code \(twins.random.below(6))" }
      if twins.random.below(2) == 0 { row["note"] = "note \(twins.random.below(9))" }
    case "Thing", "SpecialThing":
      row["weight"] = twins.random.below(20)
      if twins.random.below(4) == 0 {
        row["photo"] = Data(repeating: 7, count: twins.random.below(2) * 150_000)
      }
    case "Plain": row["title"] = "title"
    default: break
    }
    for relationship in try #require(BatchScene.model.entity(named: entity)).relationships
    where !relationship.isToMany {
      let isWanted = !relationship.isOptional || twins.random.below(3) == 0
      let count = try twins.objects.count(for: BatchScene.request(relationship.destination))
      // Mostly what is required is given.
      if !isWanted || count == 0 || twins.random.below(20) == 0 { continue }
      row[relationship.name] = Named(
        entity: relationship.destination, place: twins.random.below(count))
    }
    return row
  }

  private func values(
    _ row: [String: Any], _ context: ManagedObjectContext
  ) throws -> [String: Any] {
    try row.mapValues { value in
      guard let named = value as? Named else { return value }
      return try savedIDs(named.entity, context)[named.place]
    }
  }

  private func savedIDs(
    _ entity: String, _ context: ManagedObjectContext
  ) throws -> [ManagedObjectID] {
    var request = BatchScene.request(entity)
    request.includesPendingChanges = false
    return try context.objectIDs(for: request)
  }

  private func insert(
    _ entity: String, _ values: [String: Any], _ policy: MergePolicyType,
    _ context: ManagedObjectContext
  ) throws {
    var rivals: [ManagedObject] = []
    for key in ["number", "code"] where entity.hasSuffix("Tag") {
      guard let value = values[key] else { continue }
      let found =
        if let number = value as? Int {
          try context.fetch(BatchScene.request("Tag", Key(key) == number))
        } else {
          try context.fetch(BatchScene.request("Tag", Key(key) == "\(value)"))
        }
      for object in found where !rivals.contains(object) { rivals.append(object) }
    }
    if !rivals.isEmpty {
      switch policy {
      case .errorMergePolicyType: throw PersistenceError(.managedObjectConstraintMerge, "")
      case .overwriteMergePolicyType: for rival in rivals { context.delete(rival) }
      case .mergeByPropertyObjectTrumpMergePolicyType:
        let same = rivals.first { $0.entity.name == entity }
        for rival in rivals where rival !== same { context.delete(rival) }
        context.processPendingChanges()
        if let same { return try set(values, same, context) }
      case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: return
      }
      context.processPendingChanges()
    }
    try set(values, try context.insert(entity), context)
  }

  private func set(
    _ values: [String: Any], _ object: ManagedObject, _ context: ManagedObjectContext
  ) throws {
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      let id = value as? ManagedObjectID
      try object.setValue(
        id.map { try context.existingObject(with: $0) } ?? value, forKey: name)
    }
  }
}
