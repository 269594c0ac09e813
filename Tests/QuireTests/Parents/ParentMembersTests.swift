import Quire
import QuireSimulation
import Testing

/// What a child does to members, be they or their owner in the store, new in the parent, or saved
/// by the parent while the child has them in hands.
@Suite struct `Members that a child hands to its parent` {
  struct Case: CustomTestStringConvertible {
    let isOwnerStored: Bool
    let isMemberStored: Bool
    /// Whether the parent saves between the child's change and its save.
    let savesMeanwhile: Bool

    static let all = [false, true].flatMap { owner in
      [false, true].flatMap { member in
        [false, true].map {
          Case(isOwnerStored: owner, isMemberStored: member, savesMeanwhile: $0)
        }
      }
    }

    var testDescription: String {
      "owner \(isOwnerStored ? "stored" : "new"), members \(isMemberStored ? "stored" : "new")"
        + (savesMeanwhile ? ", saved meanwhile" : "")
    }
  }

  @Test(arguments: [GotchaHome.memory, .file], Case.all)
  func `a child takes members out and puts others in, of every relationship`(
    _ home: GotchaHome, _ order: Case
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { parent in
      let thing = try #require(LockstepModel.model.entities.first { $0.name == "Thing" })
      let place = Case.all.firstIndex { $0.testDescription == order.testDescription }!
      let toMany = thing.relationships.filter(\.isToMany)
      for relationship in Amount.some(of: toMany, oneIn: 4, at: place + (home == .file ? 1 : 0)) {
        func insert(_ entity: String, _ number: Int = 9) throws -> ManagedObject {
          try parent.insert(entity, ["number": number])
        }
        let key = relationship.name
        let destination = relationship.destination
        let owner = try insert("Thing")
        if order.isOwnerStored { try parent.save() }
        let members = try (0..<3).map { try insert(destination, $0) }
        if destination == "Part" {
          // A part has to have an owner.
          let other = try insert("Thing")
          for member in members { try member.setValue(other, forKey: "owner") }
        }
        if order.isMemberStored, order.isOwnerStored { try parent.save() }
        if order.isMemberStored, !order.isOwnerStored {
          parent.delete(owner)
          try parent.save()
        }
        let holder = owner.managedObjectContext == nil ? try insert("Thing") : owner
        try holder.addToRelationship(Array(members[..<2]), forKey: key)
        let child = parent.newChildContext()
        let own = try child.existingObject(with: holder.objectID)
        let ownMembers = try members.map { try child.existingObject(with: $0.objectID) }
        try own.removeFromRelationship(ownMembers[0], forKey: key)
        try own.addToRelationship(ownMembers[2], forKey: key)
        if destination == "Part" {
          try ownMembers[0].setValue(
            child.existingObject(with: insert("Thing").objectID), forKey: "owner")
        }
        if order.savesMeanwhile { try parent.save() }
        try child.save()
        func numbers(_ context: ManagedObjectContext) throws -> [Int] {
          let object = try context.existingObject(with: holder.objectID)
          let shown = try object.value(forKey: key)
          func number(_ member: ManagedObject) throws -> Int {
            try #require(try member.value(forKey: "number") as? Int)
          }
          if let list = shown as? [ManagedObject] { return try list.map(number) }
          return try #require(shown as? Set<ManagedObject>).map(number).sorted()
        }
        #expect(try numbers(child) == [1, 2], "\(key), in the child")
        #expect(try numbers(parent) == [1, 2], "\(key)")
        try parent.save()
        #expect(try numbers(SmallGallery.sibling(of: parent)) == [1, 2], "\(key), stored")
        #expect(try numbers(child) == [1, 2], "\(key), in the child")
        #expect(try StoreFacts(parent).findings == [], "\(key)")
      }
    }
  }

  /// The parent had its object still, and the child took that for what the parent shows.
  @Test(arguments: [GotchaHome.memory, .file], [false, true])
  func `a child shows nothing that its parent does not as it is gone from the store`(
    _ home: GotchaHome, _ isChanged: Bool
  ) throws {
    for key in ["cover", "covered", "pointer", "rival", "tags", "bag", "list"] {
      try home.withContext(LockstepModel.model, classes: []) { there in
        let thing = try there.insert("SpecialThing")
        let relationship = try #require(thing.entity.relationshipsByName[key])
        let gone = try there.insert(relationship.destination)
        let content: Any =
          !relationship.isToMany ? gone : relationship.isOrdered ? [gone] : Set([gone])
        try thing.setValue(content, forKey: key)
        try there.save()
        let parent = SmallGallery.sibling(of: there)
        let same = try parent.existingObject(with: thing.objectID)
        let held = try parent.existingObject(with: gone.objectID)
        there.delete(gone)
        try there.save()
        // The parent reads on, and keeps the rows that it has.
        _ = try parent.fetch(FetchRequest<ManagedObject>(entityName: "Lock"))
        if isChanged { try parent.insert("Thing").setValue(same, forKey: "parent") }
        #expect(try same.objectIDs(forRelationshipNamed: key) == [], "\(key)")
        let child = parent.newChildContext()
        let own = try child.existingObject(with: thing.objectID)
        #expect(try own.objectIDs(forRelationshipNamed: key) == [], "\(key), in the child")
        withExtendedLifetime(held) {}
      }
    }
  }
}
