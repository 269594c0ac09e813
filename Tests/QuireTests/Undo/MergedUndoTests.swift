import Quire
import QuireSimulation
import Testing

/// What can be undone when others' saves are merged.
@Suite struct MergedUndoTests {
  /// Whoever deletes an object does not know what another context has led there meanwhile, and a
  /// deletion that takes no action leaves it. When the object returns, both ends agree.
  @Test(arguments: [GotchaHome.memory, .file], ["cover", "covered"])
  func `both ends of a relationship set by others agree when its object is restored`(
    _ home: GotchaHome, _ key: String
  ) throws {
    for isStolen in [false, true] {
      try returnToOther(home, key, isStolen)
    }
  }

  private func returnToOther(
    _ home: GotchaHome, _ key: String, _ isStolen: Bool
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { one in
      let inverse = key == "cover" ? "covered" : "cover"
      one.undoManager = UndoManager()
      one.mergePolicy = .mergeByPropertyObjectTrump
      let thing = try one.insert("Thing", ["number": 1])
      try one.save()
      one.undoManager?.removeAllActions()
      let two = SmallGallery.sibling(of: one)
      let other = try two.insert("SpecialThing", ["number": 2])
      try other.setValue(two.existingObject(with: thing.objectID), forKey: key)
      one.delete(thing)
      one.processPendingChanges()
      try two.save()
      try one.save()
      one.undo()
      if isStolen {
        // Unless the object at the other end is led elsewhere by the same save.
        let next = try one.insert("Thing", ["number": 3])
        try one.existingObject(with: other.objectID).setValue(next, forKey: key)
      }
      try one.save()
      let three = SmallGallery.sibling(of: one)
      let back = try three.existingObject(with: thing.objectID)
      let found = try #require(three.object(with: other.objectID))
      let isLed = try back.value(forKey: inverse) as? ManagedObject === found
      #expect(isLed == !isStolen)
      #expect((try found.value(forKey: key) as? ManagedObject === back) == !isStolen)
      #expect(try StoreFacts(three).findings == [])
    }
  }

  /// What others have led to it is asked for when it is saved, but only where it led nowhere.
  @Test(arguments: GotchaHome.own, ["cover", "covered"])
  func `an object that is back and leads elsewhere loses what others have led to it`(
    _ home: GotchaHome, _ key: String
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { one in
      let inverse = key == "cover" ? "covered" : "cover"
      one.undoManager = UndoManager()
      one.mergePolicy = .overwrite
      let thing = try one.insert("Thing", ["number": 1])
      try one.save()
      let two = SmallGallery.sibling(of: one)
      let other = try two.insert("SpecialThing", ["number": 2])
      try other.setValue(two.existingObject(with: thing.objectID), forKey: key)
      one.delete(thing)
      one.processPendingChanges()
      try two.save()
      try one.save()
      one.undo()
      let next = try one.insert("Thing", ["number": 3])
      try thing.setValue(next, forKey: inverse)
      try one.save()
      let three = SmallGallery.sibling(of: one)
      for context in [one, three] {
        func leads(_ object: ManagedObject, _ key: String) throws -> ManagedObjectID? {
          try context.existingObject(with: object.objectID).objectIDs(
            forRelationshipNamed: key
          ).first
        }
        #expect(try leads(thing, inverse) == next.objectID)
        #expect(try leads(next, key) == thing.objectID)
        #expect(try leads(other, key) == nil)
      }
      #expect(try StoreFacts(three).findings == [])
      #expect(!one.hasChanges)
    }
  }

  /// The row of the first still led to the object, which had none of its own: to the merge the
  /// cleared relationship was as stored, and the object was shown there again.
  @Test(arguments: [GotchaHome.memory, .file], ["cover", "covered"])
  func `a relationship to an object that is back stays cleared when others have saved`(
    _ home: GotchaHome, _ key: String
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { context in
      let inverse = key == "cover" ? "covered" : "cover"
      context.automaticallyMergesChangesFromParent = true
      context.undoManager = UndoManager()
      let (first, second) = (try context.insert("Thing"), try context.insert("Thing"))
      try second.setValue(first, forKey: key)
      try context.save()
      context.delete(second)
      try context.save()
      let other = SmallGallery.sibling(of: context)
      try other.insert("Thing")
      context.undo()
      #expect(try first.value(forKey: inverse) as? ManagedObject === second)
      try other.save()
      try second.setValue(second, forKey: key)
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Thing")) == 3)
      #expect(try first.value(forKey: inverse) == nil)
      try context.save()
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// A deletion changes the other side of a relationship alone, and undoing it did so too: what
  /// others had saved meanwhile of this side was not looked at.
  @Test(arguments: GotchaHome.own, 0..<9)
  func `an undone deletion agrees on both sides with what others have ended`(
    _ home: GotchaHome, _ place: Int
  ) throws {
    let side = [
      ("children", "parent"), ("parent", "children"), ("twin", "twin"), ("cover", "covered"),
      ("friends", "friends"), ("ranks", "rankedBy"), ("rankedBy", "ranks"), ("before", "after"),
      ("lock", "thing"),
    ][place]
    let (key, inverse) = (side.0, side.1)
    for isMerged in [false, true] {
      for deletion in 0..<3 {
        try home.withContext(LockstepModel.model, classes: []) { one in
          let (left, right) = (
            try one.insert("Thing"), try one.insert(key == "lock" ? "Lock" : "Thing")
          )
          func connect(_ left: ManagedObject, _ right: ManagedObject?) throws {
            let relationship = try #require(left.entity.relationshipsByName[key])
            let members = right.map { [$0] } ?? []
            if !relationship.isToMany {
              try left.setValue(right, forKey: key)
            } else if relationship.isOrdered {
              try left.setValue(members, forKey: key)
            } else {
              try left.setValue(Set(members), forKey: key)
            }
          }
          try connect(left, right)
          // Both are deleted, and each deletion ends the relationship of the other.
          let top = try one.insert("Thing")
          if key != "children", key != "parent" {
            for object in [left, right] where object.entity.name == "Thing" {
              try object.setValue(top, forKey: "parent")
            }
          }
          try one.save()
          one.undoManager = UndoManager()
          one.automaticallyMergesChangesFromParent = isMerged
          one.mergePolicy = .mergeByPropertyObjectTrump
          one.delete([left, right, top][deletion])
          one.processPendingChanges()
          let two = SmallGallery.sibling(of: one)
          try connect(two.existingObject(with: left.objectID), nil)
          try two.save()
          one.undo()
          let leads = try left.objectIDs(forRelationshipNamed: key).count
          let leadsBack = try right.objectIDs(forRelationshipNamed: inverse).count
          #expect(leads == leadsBack, "\(key) \(isMerged) \(deletion)")
          try one.save()
          #expect(try StoreFacts(one).findings == [], "\(key) \(isMerged) \(deletion)")
        }
      }
    }
  }

  /// A merge keeps what is led elsewhere here, but a deleted object was not told of that.
  @Test(
    arguments: GotchaHome.own, [("parent", "children"), ("twin", "twin"), ("cover", "covered")])
  func `an undone deletion does not bring back what leads elsewhere here`(
    _ home: GotchaHome, _ side: (key: String, inverse: String)
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { one in
      let things = try (0..<3).map { _ in try one.insert("Thing") }
      try one.save()
      one.undoManager = UndoManager()
      one.automaticallyMergesChangesFromParent = true
      let (object, here, there) = (things[0], things[1], things[2])
      try object.setValue(here, forKey: side.key)
      one.processPendingChanges()
      one.delete(there)
      one.processPendingChanges()
      let two = SmallGallery.sibling(of: one)
      let other = try two.existingObject(with: object.objectID)
      try other.setValue(two.existingObject(with: there.objectID), forKey: side.key)
      try two.save()
      one.processPendingChanges()
      one.undo()
      #expect(try object.value(forKey: side.key) as? ManagedObject === here)
      #expect(try here.objectIDs(forRelationshipNamed: side.inverse) == [object.objectID])
      #expect(try there.objectIDs(forRelationshipNamed: side.inverse) == [])
      try one.save()
      #expect(try StoreFacts(one).findings == [])
    }
  }

  /// An order of another state was put on the present one when its member had been led elsewhere
  /// already, at its own end: undo found no place for it, and put it last.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `a member that is led elsewhere and back has its place though others have saved meanwhile`(
    _ home: GotchaHome, _ isChanged: Bool
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { context in
      let (thing, other) = (try context.insert("Thing"), try context.insert("Thing"))
      var parts = try (0..<3).map { _ in try context.insert("Part", ["owner": thing]) }
      try context.save()
      context.undoManager = UndoManager()
      if isChanged { parts.append(try context.insert("Part", ["owner": thing])) }
      let there = SmallGallery.sibling(of: context)
      func readOn() throws {
        try there.insert("Tag")
        try there.save()
        _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Tag"))
        context.processPendingChanges()
      }
      try readOn()
      try parts[1].setValue(other, forKey: "owner")
      for _ in 0..<2 {
        #expect(try other.value(forKey: "parts") as? [ManagedObject] == [parts[1]])
        try readOn()
        context.undo()
        #expect(try thing.value(forKey: "parts") as? [ManagedObject] == parts)
        #expect(try other.value(forKey: "parts") as? [ManagedObject] == [])
        try readOn()
        context.redo()
      }
      context.undo()
      try context.save()
      let same = try there.existingObject(with: thing.objectID)
      #expect(try same.objectIDs(forRelationshipNamed: "parts") == parts.map(\.objectID))
      #expect(try StoreFacts(context).findings == [])
    }
  }

  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  /// The artwork was given to one artist here and to another there. That it left the other's
  /// artworks, where the merge had shown it, was entered as somebody's change.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `a change made by merging others' saves is no undo step of its own`(
    _ home: GotchaHome, _ isMerged: Bool
  ) throws {
    try home.withTwoContexts { one, two in
      let undoManager = UndoManager()
      one.undoManager = undoManager
      let artists = (0..<3).map { _ in Artist(context: one) }
      let artwork = Artwork(context: one)
      artwork.artist = artists[0]
      try one.save()
      undoManager.removeAllActions()
      artwork.artist = artists[1]
      one.processPendingChanges()
      let same = try #require(try two.existingObject(with: artwork.objectID) as? Artwork)
      same.artist = try two.existingObject(with: artists[2].objectID) as? Artist
      var notices: [ContextNotice] = []
      let observation = two.observe([.didSaveObjects]) { notices.append($0) }
      try two.save()
      if isMerged {
        one.mergeChanges(fromContextDidSave: try #require(notices.first))
      } else {
        one.refreshAllObjects()
      }
      #expect(artwork.artist === artists[1])
      #expect(artists.map(\.artworks.count) == [0, 1, 0])
      one.undo()
      #expect(artwork.artist === artists[0])
      #expect(artists.map(\.artworks.count) == [1, 0, 0])
      #expect(!undoManager.canUndo && undoManager.canRedo)
      one.redo()
      #expect(artists.map(\.artworks.count) == [0, 1, 0])
      try one.save()
      #expect(try StoreFacts(one).findings == [])
      withExtendedLifetime(observation) {}
    }
  }

  private static let model = try! ManagedObjectModel {
    Entity("Thing") {
      Attribute("weight", .integer32, default: 0)
      Relationship("parent", toOne: "Thing", inverse: "children")
      Relationship("children", toMany: "Thing", inverse: "parent")
      Relationship("cover", toOne: "Thing", inverse: "covered")
      Relationship("covered", toOne: "Thing", inverse: "cover", deleteRule: .noAction)
      Relationship("rival", toOne: "Thing", inverse: "rivals")
      Relationship("rivals", toMany: "Thing", inverse: "rival", deleteRule: .noAction)
      Relationship("friends", toMany: "Thing", inverse: "friends")
      Relationship("list", toMany: "Thing", ordered: true)
    }
  }

  /// An object whose deletion was saved and undone has no row. A merge took that for a deletion by
  /// somebody else, and then looked for its changes, which were gone: a trap.
  @Test(arguments: GotchaHome.allCases)
  func `an object whose deletion was undone goes through a merge as it is`(
    _ home: GotchaHome
  ) throws {
    for policy in MergingPolicy.allCases {
      try home.withContext(Self.model, classes: []) { context in
        let (thing, back) = (try context.insert("Thing"), try context.insert("Thing"))
        let other = try context.insert("Thing")
        for key in ["parent", "cover", "rival"] { try thing.setValue(back, forKey: key) }
        for key in ["parent", "cover", "rival"] { try back.setValue(other, forKey: key) }
        try back.setValue(Set([thing]), forKey: "friends")
        try back.setValue([other, thing], forKey: "list")
        try thing.setValue([back], forKey: "list")
        try back.setValue(7, forKey: "weight")
        try context.save()
        context.undoManager = UndoManager()
        context.delete(back)
        try context.save()
        context.undo()
        try #require(back.isInserted && !back.objectID.isTemporaryID)
        let there = SmallGallery.sibling(of: context)
        try there.existingObject(with: other.objectID).setValue(1, forKey: "weight")
        try there.save()
        try other.setValue(2, forKey: "weight")
        context.mergePolicy = policy.policy
        try context.save()
        #expect(try StoreFacts(context).findings == [])
        for reader in [context, SmallGallery.sibling(of: context)] {
          let same = try reader.existingObject(with: back.objectID)
          #expect(try same.value(forKey: "weight") as? Int == 7)
          for (key, ids) in [
            ("parent", [other]), ("children", [thing]), ("covered", [thing]), ("rivals", [thing]),
            ("rival", [other]), ("friends", [thing]), ("list", [other, thing]),
          ] {
            let found = try same.objectIDs(forRelationshipNamed: key)
            #expect(found == ids.map(\.objectID), "\(key), \(policy)")
          }
        }
      }
    }
  }

  /// With an undo manager, a list that changed began with all that its row names: what others had
  /// deleted, too, if somebody held it. The list led there again, and no save could resolve that.
  @Test(arguments: GotchaHome.allCases)
  func `a list that is emptied does not get back in a merge what others have deleted`(
    _ home: GotchaHome
  ) throws {
    for policy in MergingPolicy.allCases {
      try home.withContext(Self.model, classes: []) { context in
        let all = try (0..<3).map { _ in try context.insert("Thing") }
        try all[0].setValue([all[1], all[2]], forKey: "list")
        try context.save()
        context.undoManager = UndoManager()
        try all[0].setValue([ManagedObject](), forKey: "list")
        try all[1].setValue(1, forKey: "weight")
        let there = SmallGallery.sibling(of: context)
        there.delete(try there.existingObject(with: all[1].objectID))
        try there.save()
        context.mergePolicy = policy.policy
        try context.save()
        #expect(!context.hasChanges)
        #expect(try StoreFacts(context).findings == [])
        for reader in [context, SmallGallery.sibling(of: context)] {
          let same = try reader.existingObject(with: all[0].objectID)
          #expect(try same.objectIDs(forRelationshipNamed: "list") == [])
        }
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `an object deleted by others is not restored by a change or its undo`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(Self.model, classes: []) { context in
      let all = try (0..<4).map { _ in try context.insert("Thing") }
      try all[0].setValue([all[1], all[2]], forKey: "list")
      try all[0].setValue(all[1], forKey: "cover")
      try context.save()
      context.undoManager = UndoManager()
      let there = SmallGallery.sibling(of: context)
      there.delete(try there.existingObject(with: all[1].objectID))
      try there.save()
      context.refreshAllObjects()
      func check(_ list: [ManagedObject], _ cover: ManagedObject?) throws {
        #expect(try all[0].value(forKey: "list") as? [ManagedObject] == list)
        #expect(try all[0].value(forKey: "cover") as? ManagedObject === cover)
        try context.save()
        #expect(try StoreFacts(context).findings == [])
      }
      try check([all[2]], nil)
      try all[0].addToRelationship(all[3], forKey: "list")
      try all[0].setValue(all[3], forKey: "cover")
      try check([all[2], all[3]], all[3])
      context.undo()
      try check([all[2]], nil)
      context.redo()
      try check([all[2], all[3]], all[3])
    }
  }

  /// Whoever has read a row would take another one with its version for it, and write over it.
  @Test(arguments: [GotchaHome.memory, .file])
  func `an object whose deletion is undone has a version that no row of it has had`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(Self.model, classes: []) { one in
      let two = SmallGallery.sibling(of: one)
      let made = try ["read", "fault", "outdated"].map { _ in try one.insert("Thing") }
      try one.save()
      let ids = made.map(\.objectID)
      let three = SmallGallery.sibling(of: one)
      three.undoManager = UndoManager()
      three.mergePolicy = .overwrite
      let (read, outdated) = (
        try three.existingObject(with: ids[0]), try three.existingObject(with: ids[2])
      )
      let fault = try #require(three.object(with: ids[1]))
      // Versions that the one who deletes has not read.
      for weight in 1...4 {
        try two.existingObject(with: ids[2]).setValue(weight, forKey: "weight")
        try two.save()
      }
      let former = try ids.map { try two.existingObject(with: $0).version }
      for object in [read, fault, outdated] { three.delete(object) }
      try three.save()
      three.undo()
      try three.save()
      let four = SmallGallery.sibling(of: one)
      for (id, version) in zip(ids, former) {
        #expect(try four.existingObject(with: id).version > version)
      }
    }
  }

  /// A merge applies the delete rules of a deleted object to what the store has of it. That was
  /// kept for undo, so that the two sides of a relationship came back as different facts.
  @Test(arguments: GotchaHome.allCases)
  func `a deletion that a merge has saved is undone with all that was unsaved`(
    _ home: GotchaHome
  ) throws {
    let inverses = [
      "parent": "children", "children": "parent", "cover": "covered", "covered": "cover",
      "rival": "rivals", "rivals": "rival", "friends": "friends", "list": nil,
    ]
    for (place, policy) in MergingPolicy.allCases.enumerated() {
      let sorted = inverses.sorted { $0.key < $1.key }
      for (key, inverse) in Amount.some(of: sorted, oneIn: 3, at: place) {
        try home.withContext(Self.model, classes: []) { context in
          let (thing, former) = (try context.insert("Thing"), try context.insert("Thing"))
          let (next, other) = (try context.insert("Thing"), try context.insert("Thing"))
          func lead(_ from: ManagedObject, _ key: String, to: ManagedObject) throws {
            let isOne = ["parent", "cover", "covered", "rival"].contains(key)
            let content: Any = isOne ? to : key == "list" ? [to] : Set([to])
            try from.setValue(content, forKey: key)
          }
          func leads(_ from: ManagedObject, _ key: String?) throws -> [ManagedObject] {
            guard let key, let content = try from.value(forKey: key) else { return [] }
            if let list = content as? [ManagedObject] { return list }
            if let set = content as? Set<ManagedObject> { return Array(set) }
            return [try #require(content as? ManagedObject)]
          }
          try lead(thing, key, to: former)
          try context.save()
          context.undoManager = UndoManager()
          let there = SmallGallery.sibling(of: context)
          try there.existingObject(with: other.objectID).setValue(3, forKey: "weight")
          try there.save()
          try other.setValue(4, forKey: "weight")
          try lead(thing, key, to: next)
          try thing.setValue(5, forKey: "weight")
          context.processPendingChanges()
          context.delete(thing)
          context.mergePolicy = policy.policy
          try context.save()
          #expect(thing.managedObjectContext == nil)
          for isAgain in [false, true] {
            if isAgain {
              context.redo()
              #expect(thing.managedObjectContext == nil)
              #expect(try inverse == nil || leads(next, inverse) == [], "\(policy), \(key)")
              #expect(try leads(former, inverse) == [], "\(policy), \(key)")
            }
            context.undo()
            #expect(thing.isInserted, "\(policy), \(key)")
            #expect(try thing.value(forKey: "weight") as? Int == 5, "\(policy), \(key)")
            #expect(try leads(thing, key) == [next], "\(policy), \(key)")
            #expect(try leads(former, inverse) == [], "\(policy), \(key)")
            #expect(try inverse == nil || leads(next, inverse) == [thing], "\(policy), \(key)")
          }
          try context.save()
          #expect(try leads(thing, key) == [next], "\(policy), \(key)")
          #expect(try StoreFacts(context).findings == [])
        }
      }
    }
  }
}
