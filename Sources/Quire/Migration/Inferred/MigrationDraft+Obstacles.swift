import QuireModel
import QuireStorage

// What is in the way of a migration: changes for which no mapping is inferred, and objects that
// would lack a value.
extension MigrationDraft {
  /// - Complexity: O(rows of the entities in which an attribute becomes required without a
  ///   default); otherwise rows are not read.
  func obstacles(
    in difference: ModelDifference, _ snapshot: Snapshot
  ) throws -> [MigrationPlan.Obstacle] {
    func count(_ entity: String) throws -> Int {
      try oldSchema.entity(named: entity).flatMap {
        try snapshot.recordTree($0.rowTree)?.count
      } ?? 0
    }
    let certain = try difference.obstacles.map {
      MigrationPlan.Obstacle($0, objectCount: try count($0.sourceEntity), needsObjects: false)
    }
    let conditional = try difference.conditionalObstacles.map { obstacle in
      let objectCount =
        obstacle.reason == .becameRequiredWithoutDefault
        ? try absentCount(obstacle, snapshot) : try count(obstacle.sourceEntity)
      return MigrationPlan.Obstacle(obstacle, objectCount: objectCount, needsObjects: true)
    }
    return certain + conditional.filter { $0.objectCount > 0 }
  }

  /// The number of objects that have no value of an attribute that becomes required.
  private func absentCount(_ obstacle: Obstacle, _ snapshot: Snapshot) throws -> Int {
    guard let draft = entities.first(where: { $0.destination.name == obstacle.destinationEntity }),
      let old = draft.old, var cursor = try snapshot.recordTree(old.rowTree)?.cursor()
    else { return 0 }
    let change = draft.change.attributes.first { $0.destination?.name == obstacle.property }
    guard let field = change?.source.flatMap({ old.layout.index(of: $0.name) }) else {
      return draft.objectCount
    }
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    var count = 0
    var isInside = try cursor.first()
    while isInside {
      let row = try RowReader(try cursor.valueBytes, layout: old.layout, scratch)
      if row.isNil(field) { count += 1 }
      isInside = try cursor.next()
    }
    return count
  }
}
