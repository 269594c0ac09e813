import Quire
import QuireModel
import QuireSimulation
import Testing

/// What batch requests delete, and what objects that are deleted and saved leave behind, is the
/// same: rows with their versions, links, derived values, values outside of rows, history.
@Suite struct RandomBatchDeletionsTests {
  @Test func `a batch deletion leaves what deleted objects leave`() throws {
    var (doneCount, refusedCount) = (0, 0)
    let seeds = BatchTwins.seeds(4)
    for seed in seeds {
      for home in Amount.some(of: GotchaHome.own, oneIn: 2, at: Int(seed)) {
        try BatchTwins.with(seed: seed, home) { twins in
          try twins.fill(60)
          for round in 0..<8 {
            let (entity, predicate) = selection(&twins)
            let limit = twins.random.below(3) == 0 ? 1 + twins.random.below(3) : 0
            var request = BatchScene.request(entity, predicate)
            request.fetchLimit = limit
            request.includesSubentities = twins.random.below(4) > 0
            let byIDs = twins.random.below(3) == 0
            let isDone = try twins.change(
              "seed \(seed) \(home) round \(round) \(entity) \(predicate) \(limit)",
              batch: { context in
                if byIDs {
                  let ids = try context.objectIDs(for: request)
                  try context.execute(BatchDeleteRequest(objectIDs: ids.reversed() + ids))
                } else {
                  try context.execute(BatchDeleteRequest(fetchRequest: request))
                }
              },
              objects: { context in
                for object in try context.fetch(request) { context.delete(object) }
              })
            if isDone { doneCount += 1 } else { refusedCount += 1 }
          }
        }
      }
    }
    // Both happen often enough to mean something.
    let roundCount = doneCount + refusedCount
    #expect(
      4 * doneCount > roundCount && 32 * refusedCount > roundCount,
      "\(doneCount) done, \(refusedCount) refused")
  }

  private func selection(_ twins: inout BatchTwins) -> (String, FetchPredicate) {
    let names = [
      "Thing", "Thing", "SpecialThing", "Tag", "SpecialTag", "Part", "Lock", "Shelf", "Sign",
      "Plain",
    ]
    let name = names[twins.random.below(names.count)]
    let from = twins.random.below(60)
    let width = [2, 6, 60][twins.random.below(3)]
    return (name, Key("number") >= from && Key("number") < from + width)
  }
}
