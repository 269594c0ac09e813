import Quire
import Testing

/// Relationships whose to-one side was read before another save led it elsewhere, and whose to-many
/// side was read after it. Set back to what its row says, the to-one side has no change to save.
@Suite struct StaleMemberTests {
  private static let model = try! ManagedObjectModel {
    Entity("Thing") {
      Relationship("owner", toOne: "Thing", inverse: "members")
      Relationship("members", toMany: "Thing", inverse: "owner")
      Relationship("head", toOne: "Thing", inverse: "line")
      Relationship("line", toMany: "Thing", inverse: "head", ordered: true)
    }
  }

  private static let sides = [("owner", "members"), ("head", "line")]

  /// A member that one context has moved from its first owner to the second, and the same objects
  /// in another context, which has read its row before.
  private struct Scene {
    let (one, two): (ManagedObjectContext, ManagedObjectContext)
    let key: String
    let (member, first, second): (ManagedObject, ManagedObject, ManagedObject)

    init(_ one: ManagedObjectContext, _ key: String, isLed: Bool) throws {
      let things = try (0..<3).map { _ in try one.insert("Thing") }
      if isLed { try things[0].setValue(things[1], forKey: key) }
      try one.save()
      let two = SmallGallery.sibling(of: one)
      two.undoManager = UndoManager()
      member = try two.existingObject(with: things[0].objectID)
      _ = try member.value(forKey: key)
      try things[0].setValue(things[isLed ? 2 : 1], forKey: key)
      try one.save()
      (self.one, self.two, self.key) = (one, two, key)
      first = try two.existingObject(with: things[1].objectID)
      second = try two.existingObject(with: things[2].objectID)
    }

    /// The owner in the store, and whether both sides agree there.
    func storedOwner() throws -> ManagedObjectID? {
      #expect(try StoreFacts(one).findings == [])
      let check = SmallGallery.sibling(of: one)
      let found = try check.existingObject(with: member.objectID)
      return (try found.value(forKey: key) as? ManagedObject)?.objectID
    }
  }

  private enum Way: CaseIterable { case ledBack, added }

  /// Nothing was compared: the owner was saved with a member whose row led to another one.
  @Test(arguments: GotchaHome.own, sides)
  func `a member that another save has moved is in conflict when its owner gets it back`(
    _ home: GotchaHome, _ side: (key: String, inverse: String)
  ) throws {
    for policy in [MergePolicy.error] + MergingPolicy.allCases.map(\.policy) {
      for way in Way.allCases {
        try home.withContext(Self.model, classes: []) { one in
          let scene = try Scene(one, side.key, isLed: true)
          let (two, member) = (scene.two, scene.member)
          two.mergePolicy = policy
          switch way {
          case .ledBack:
            try member.setValue(member, forKey: side.key)
            try member.setValue(scene.first, forKey: side.key)
          case .added: try scene.first.addToRelationship(member, forKey: side.inverse)
          }
          if policy.mergeType == .errorMergePolicyType {
            let error = #expect(throws: PersistenceError.self) { try two.save() }
            #expect(error?.code == .managedObjectMerge)
            #expect(error?.conflicts.map(\.objectID) == [member.objectID])
            #expect(try scene.storedOwner() == scene.second.objectID, "nothing is saved")
            two.refresh(member, mergeChanges: true)
          }
          try two.save()
          let isOurs = ![.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType]
            .contains(policy.mergeType)
          let owner = try scene.storedOwner()
          #expect(owner == (isOurs ? scene.first : scene.second).objectID, "\(policy.mergeType)")
        }
      }
    }
  }

  /// The context reads both ends from the state that it has fetched last, whatever the row is of.
  @Test(arguments: GotchaHome.own, sides)
  func `both ends are read from one state, and undoing leads back to what was read`(
    _ home: GotchaHome, _ side: (key: String, inverse: String)
  ) throws {
    try home.withContext(Self.model, classes: []) { one in
      let scene = try Scene(one, side.key, isLed: true)
      let (two, member) = (scene.two, scene.member)
      func expectBothEnds() throws {
        #expect(try member.value(forKey: side.key) as? ManagedObject === scene.second)
        #expect(try scene.first.objectIDs(forRelationshipNamed: side.inverse) == [])
        #expect(
          try scene.second.objectIDs(forRelationshipNamed: side.inverse) == [member.objectID])
      }
      try expectBothEnds()
      try member.setValue(scene.first, forKey: side.key)
      two.processPendingChanges()
      try two.undoManager?.undo()
      try expectBothEnds()
      try two.save()
      #expect(try scene.storedOwner() == scene.second.objectID)
    }
  }

  /// After a rollback the next read decides on the state, whichever end it is of.
  @Test(arguments: GotchaHome.own, sides)
  func `both ends are read from the newest state after a rollback`(
    _ home: GotchaHome, _ side: (key: String, inverse: String)
  ) throws {
    try home.withContext(Self.model, classes: []) { one in
      let scene = try Scene(one, side.key, isLed: true)
      try one.existingObject(with: scene.member.objectID).setValue(nil, forKey: side.key)
      try one.save()
      scene.two.rollback()
      #expect(try scene.member.value(forKey: side.key) == nil)
      #expect(try scene.second.objectIDs(forRelationshipNamed: side.inverse) == [])
    }
  }

  /// The owner was saved without it, and the row of the member still led there.
  @Test(arguments: GotchaHome.own, sides)
  func `a member that another save has added is in conflict when its owner loses it`(
    _ home: GotchaHome, _ side: (key: String, inverse: String)
  ) throws {
    for policy in [MergePolicy.error] + MergingPolicy.allCases.map(\.policy) {
      try home.withContext(Self.model, classes: []) { one in
        let scene = try Scene(one, side.key, isLed: false)
        let (two, member) = (scene.two, scene.member)
        two.mergePolicy = policy
        #expect(try scene.first.objectIDs(forRelationshipNamed: side.inverse).count == 1)
        try scene.first.removeFromRelationship(member, forKey: side.inverse)
        if policy.mergeType == .errorMergePolicyType {
          let error = #expect(throws: PersistenceError.self) { try two.save() }
          #expect(error?.conflicts.map(\.objectID) == [member.objectID])
          two.refresh(member, mergeChanges: true)
          #expect(try scene.first.objectIDs(forRelationshipNamed: side.inverse) == [])
        }
        try two.save()
        let isOurs = ![.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType]
          .contains(policy.mergeType)
        #expect(
          try scene.storedOwner() == (isOurs ? nil : scene.first.objectID), "\(policy.mergeType)")
      }
    }
  }

  /// A store of another make has no states: lists are of the moment, rows are as they were read.
  @Test(arguments: sides)
  func `a member that only the list shows is read again when it is removed, or added`(
    _ side: (key: String, inverse: String)
  ) throws {
    for isLed in [false, true] {
      try GotchaHome.elsewhere.withContext(Self.model, classes: []) { one in
        let scene = try Scene(one, side.key, isLed: isLed)
        let (two, member) = (scene.two, scene.member)
        let members = try scene.first.objectIDs(forRelationshipNamed: side.inverse)
        #expect(members == (isLed ? [] : [member.objectID]))
        if isLed {
          try scene.first.addToRelationship(member, forKey: side.inverse)
        } else {
          try scene.first.removeFromRelationship(member, forKey: side.inverse)
        }
        try two.save()
        #expect(try scene.storedOwner() == (isLed ? scene.first.objectID : nil))
      }
    }
  }

  enum Reading: CaseIterable { case merge, refreshOfAll, refresh, refreshWithoutChanges }

  /// The owner's change is made at the member too, or dropped at both.
  @Test(arguments: sides, Reading.allCases)
  func `both ends agree when the member is read anew`(
    _ side: (key: String, inverse: String), _ reading: Reading
  ) throws {
    for isLed in [true, false] {
      try GotchaHome.memory.withContext(Self.model, classes: []) { one in
        let scene = try Scene(one, side.key, isLed: isLed)
        let (two, member, first) = (scene.two, scene.member, scene.first)
        if isLed {
          try first.addToRelationship(member, forKey: side.inverse)
        } else {
          try first.removeFromRelationship(member, forKey: side.inverse)
        }
        switch reading {
        case .merge:
          try ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
              ManagedObjectContext.NotificationKey.updatedObjectIDs: [member.objectID]
            ], into: [two])
        case .refreshOfAll: two.refreshAllObjects()
        case .refresh: two.refresh(member, mergeChanges: true)
        case .refreshWithoutChanges: two.refresh(member, mergeChanges: false)
        }
        let isKept = reading != .refreshWithoutChanges
        let owner = isLed ? (isKept ? first : scene.second) : isKept ? nil : first
        #expect(try member.value(forKey: side.key) as? ManagedObject === owner)
        let members = try first.objectIDs(forRelationshipNamed: side.inverse)
        #expect(members == (owner === first ? [member.objectID] : []))
        try two.save()
        #expect(try scene.storedOwner() == owner?.objectID)
      }
    }
  }

  /// Changed here, the other end leads elsewhere; without its change, this end must not lead there.
  @Test func `an end that is read without changes does not lead where another one has the place`()
    throws
  {
    let model = try ManagedObjectModel {
      Entity("Thing") {
        Relationship("front", toOne: "Thing", inverse: "back")
        Relationship("back", toOne: "Thing", inverse: "front")
      }
    }
    let there = try ManagedObjectContext.stubbed(model)
    let things = try (0..<3).map { _ in try there.insert("Thing") }
    try there.save()
    let here = SmallGallery.sibling(of: there)
    let same = try things.map { try here.existingObject(with: $0.objectID) }
    _ = try same[0].value(forKey: "front")
    try same[2].setValue(same[1], forKey: "front")
    try things[0].setValue(things[1], forKey: "front")
    try there.save()
    here.refresh(same[0], mergeChanges: false)
    #expect(try same[0].value(forKey: "front") == nil)
    #expect(try same[1].value(forKey: "back") as? ManagedObject === same[2])
  }

  /// A rule that takes no action leaves the other ends as they were, so that the link is there
  /// again when the object is.
  @Test(arguments: [false, true])
  func `an object removed from a relationship stays removed when others restore it`(
    _ isOrdered: Bool
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Thing") {
        Relationship(
          "peers", toMany: "Thing", inverse: "peers", ordered: isOrdered, deleteRule: .noAction)
      }
    }
    let there = try ManagedObjectContext.stubbed(model)
    let things = try (0..<3).map { _ in try there.insert("Thing") }
    for other in things[1...] { try things[0].addToRelationship(other, forKey: "peers") }
    try there.save()
    there.undoManager = UndoManager()
    let here = SmallGallery.sibling(of: there)
    here.automaticallyMergesChangesFromParent = true
    let same = try things.map { try here.existingObject(with: $0.objectID) }
    try same[1].removeFromRelationship(same[0], forKey: "peers")
    there.delete(things[0])
    try there.save()
    here.processPendingChanges()
    #expect(same[0].managedObjectContext == nil)
    there.undo()
    try there.save()
    try here.save()
    #expect(try StoreFacts(here).findings == [])
    for context in [here, SmallGallery.sibling(of: here)] {
      let counts = try things.map {
        try context.existingObject(with: $0.objectID).objectIDs(forRelationshipNamed: "peers").count
      }
      #expect(counts == [1, 0, 1])
    }
  }

  /// A to-one side that led nowhere and was set to a deleted object is not written, so what the
  /// store has by now counts. The save was refused without a conflict to show.
  @Test func `a member that was set to a deleted object counts as others have led it`() throws {
    for policy in [MergePolicy.error] + MergingPolicy.allCases.map(\.policy) {
      for side in Self.sides {
        let there = try ManagedObjectContext.stubbed(Self.model)
        let things = try (0..<3).map { _ in try there.insert("Thing") }
        try there.save()
        let here = SmallGallery.sibling(of: there)
        here.mergePolicy = policy
        let same = try things.map { try here.existingObject(with: $0.objectID) }
        _ = try same[0].value(forKey: side.0)
        here.delete(same[1])
        here.processPendingChanges()
        try same[0].setValue(same[1], forKey: side.0)
        here.delete(same[2])
        try things[0].setValue(things[2], forKey: side.0)
        try there.save()
        if policy.mergeType == .errorMergePolicyType {
          let error = #expect(throws: PersistenceError.self) { try here.save() }
          let conflicts = error?.conflicts.map(\.objectID) ?? []
          #expect(conflicts.contains(same[2].objectID))
          here.mergePolicy = .mergeByPropertyObjectTrump
        }
        try here.save()
        #expect(!here.hasChanges, "\(policy.mergeType)")
        #expect(try StoreFacts(here).findings == [], "\(policy.mergeType)")
      }
    }
  }
}
