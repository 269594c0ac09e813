import Quire
import Testing

/// Deletions in a save that is merged.
@Suite struct MergedDeletionTests {
  private static let model = try! ManagedObjectModel {
    Entity("Thing") {
      Attribute("weight", .integer32, default: 0)
      Relationship("lock", toOne: "Lock", inverse: "thing")
      Relationship("locks", toMany: "Lock", inverse: "keeper")
      Relationship("key", toOne: "Lock", inverse: "things")
      Relationship("steps", toMany: "Lock", inverse: "climbers")
    }
    Entity("Lock") {
      Relationship("thing", toOne: "Thing", inverse: "lock", deleteRule: .deny)
      Relationship("keeper", toOne: "Thing", inverse: "locks", deleteRule: .deny)
      Relationship("things", toMany: "Thing", inverse: "key", deleteRule: .deny)
      Relationship("climbers", toMany: "Thing", inverse: "steps", deleteRule: .deny)
      Relationship("pointer", toOne: "Thing", deleteRule: .deny)
    }
  }

  /// The lock was taken from its thing and deleted. Then another object was in conflict: what was
  /// merged had the lock at its thing again, and its deletion was denied.
  @Test(
    arguments: GotchaHome.allCases, ["thing", "keeper", "things", "climbers", "pointer"])
  func `a deletion that nothing denies is not denied when the save is merged`(
    _ home: GotchaHome, _ key: String
  ) throws {
    for policy in MergingPolicy.allCases {
      try home.withContext(Self.model, classes: []) { context in
        let (thing, other) = (try context.insert("Thing"), try context.insert("Thing"))
        let lock = try context.insert("Lock")
        let isToMany = key == "things" || key == "climbers"
        try lock.setValue(isToMany ? Set([thing]) as Any : thing, forKey: key)
        try context.save()
        let there = SmallGallery.sibling(of: context)
        try there.existingObject(with: other.objectID).setValue(1, forKey: "weight")
        try there.save()
        try other.setValue(2, forKey: "weight")
        try lock.setValue(isToMany ? Set<ManagedObject>() as Any : nil, forKey: key)
        context.delete(lock)
        context.mergePolicy = policy.policy
        try context.save()
        let isMine = policy == .objectTrump || policy == .overwrite
        #expect(try other.value(forKey: "weight") as? Int == (isMine ? 2 : 1), "\(policy)")
        let fresh = SmallGallery.sibling(of: context)
        #expect(try fresh.count(for: FetchRequest<ManagedObject>(entityName: "Lock")) == 0)
        #expect(try StoreFacts(context).findings == [])
      }
    }
  }
}
