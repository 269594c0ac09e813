import Quire
import QuireSimulation
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
    Entity("Box") {
      Relationship("one", toOne: "Thing", deleteRule: .cascade)
      Relationship("set", toMany: "Thing", deleteRule: .cascade)
      Relationship("list", toMany: "Thing", ordered: true, deleteRule: .cascade)
    }
  }

  /// The lock was taken from its thing, be it to one that is deleted as well, and deleted. Then
  /// another object was in conflict: what was merged had the lock at its thing again, and its
  /// deletion was denied.
  @Test(
    arguments: GotchaHome.allCases, ["thing", "keeper", "things", "climbers", "pointer"])
  func `a deletion that nothing denies is not denied when the save is merged`(
    _ home: GotchaHome, _ key: String
  ) throws {
    // Homes take turns with the policies.
    let place = GotchaHome.allCases.firstIndex(of: home)!
    for policy in Amount.some(of: MergingPolicy.allCases, oneIn: 2, at: place) {
      for isMoved in [false, true] {
        try home.withContext(Self.model, classes: []) { context in
          let (thing, other) = (try context.insert("Thing"), try context.insert("Thing"))
          let leaving = try context.insert("Thing")
          let lock = try context.insert("Lock")
          let isToMany = key == "things" || key == "climbers"
          try lock.setValue(isToMany ? Set([thing]) as Any : thing, forKey: key)
          try context.save()
          let there = SmallGallery.sibling(of: context)
          try there.existingObject(with: other.objectID).setValue(1, forKey: "weight")
          try there.save()
          try other.setValue(2, forKey: "weight")
          let next: [ManagedObject] = isMoved ? [leaving] : []
          var moved: Any? = next.first
          if isToMany { moved = Set(next) }
          try lock.setValue(moved, forKey: key)
          context.delete(lock)
          context.processPendingChanges()
          context.delete(leaving)
          context.mergePolicy = policy.policy
          try context.save()
          let isMine = policy.isForMemory
          #expect(try other.value(forKey: "weight") as? Int == (isMine ? 2 : 1), "\(policy)")
          let fresh = SmallGallery.sibling(of: context)
          #expect(try fresh.count(for: FetchRequest<ManagedObject>(entityName: "Lock")) == 0)
          #expect(try StoreFacts(context).findings == [])
        }
      }
    }
  }

  /// Where a relationship has one side, only the deleted object knows where it led.
  @Test(arguments: GotchaHome.allCases, ["one", "set", "list"])
  func `a merged deletion takes along what the object leads to, not what it led to`(
    _ home: GotchaHome, _ key: String
  ) throws {
    func content(_ things: [ManagedObject]) -> Any {
      key == "one" ? things[0] as Any : key == "set" ? Set(things) as Any : things as Any
    }
    for policy in MergingPolicy.allCases {
      try home.withContext(Self.model, classes: []) { context in
        let things = try (0..<3).map { try context.insert("Thing", ["weight": $0]) }
        let box = try context.insert("Box")
        try box.setValue(content([things[0]]), forKey: key)
        try context.save()
        context.undoManager = UndoManager()
        let there = SmallGallery.sibling(of: context)
        try there.existingObject(with: things[2].objectID).setValue(3, forKey: "weight")
        try there.save()
        try things[2].setValue(4, forKey: "weight")
        try box.setValue(content([things[1]]), forKey: key)
        context.processPendingChanges()
        context.delete(box)
        context.mergePolicy = policy.policy
        try context.save()
        let request = FetchRequest<ManagedObject>(entityName: "Thing")
        let kept = Set(try context.fetch(request).map(\.objectID))
        #expect(kept == [things[0].objectID, things[2].objectID], "\(policy)")
        #expect(try StoreFacts(context).findings == [])
        context.undo()
        #expect(context.insertedObjects == [box, things[1]])
        let shown = try box.value(forKey: key)
        switch key {
        case "one": #expect(shown as? ManagedObject === things[1], "\(policy)")
        case "set": #expect(shown as? Set<ManagedObject> == [things[1]], "\(policy)")
        default: #expect(shown as? [ManagedObject] == [things[1]], "\(policy)")
        }
      }
    }
  }
}
