import Quire
import Testing

/// Deletions that a child hands to its parent.
@Suite struct ParentDeletionTests {
  private static func model(_ rule: DeleteRule) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Thing") { Attribute("number", .integer32) }
      Entity("Box") {
        Relationship("one", toOne: "Thing", deleteRule: rule)
        Relationship("set", toMany: "Thing", deleteRule: rule)
        Relationship("list", toMany: "Thing", ordered: true, deleteRule: rule)
      }
    }
  }

  /// Where a relationship has one side, only the deleted object knows where it leads: the parent
  /// deleted what it had led to.
  @Test(arguments: GotchaHome.allCases, ["one", "set", "list"])
  func `a child's deletion takes along what the object leads to, not what it led to`(
    _ home: GotchaHome, _ key: String
  ) throws {
    func content(_ things: [ManagedObject]) -> Any? {
      key == "one" ? things.first : key == "set" ? Set(things) as Any : things as Any
    }
    for rule in [DeleteRule.cascade, .deny] {
      try home.withContext(try Self.model(rule), classes: []) { parent in
        let things = try (0..<2).map { try parent.insert("Thing", ["number": $0]) }
        let box = try parent.insert("Box")
        try box.setValue(content([things[0]]), forKey: key)
        try parent.save()
        parent.undoManager = UndoManager()
        let child = parent.newChildContext()
        let own = try child.existingObject(with: box.objectID)
        let next = rule == .deny ? [] : [try child.existingObject(with: things[1].objectID)]
        try own.setValue(content(next), forKey: key)
        child.delete(own)
        try child.save()
        try parent.save()
        let left = try parent.values(of: "number", "Thing", sortedBy: "number")
        #expect(left == (rule == .deny ? ["0", "1"] : ["0"]), "\(rule)")
        #expect(try parent.count(for: FetchRequest<ManagedObject>(entityName: "Box")) == 0)
        parent.undo()
        #expect(try parent.values(of: "number", "Thing", sortedBy: "number") == ["0", "1"])
        let shown = try box.value(forKey: key)
        switch key {
        case "one": #expect(shown as? ManagedObject === things[0])
        case "set": #expect(shown as? Set<ManagedObject> == [things[0]])
        default: #expect(shown as? [ManagedObject] == [things[0]])
        }
        try parent.save()
        #expect(try StoreFacts(parent).findings == [])
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a child counts no object that its parent has deleted`(_ home: GotchaHome) throws {
    try home.withContext { parent in
      let artwork = try parent.insert("Artwork", ["title": "a"])
      try parent.save()
      let child = parent.newChildContext()
      let own = try child.existingObject(with: artwork.objectID)
      try own.setValue("mine", forKey: "title")
      parent.delete(artwork)
      parent.processPendingChanges()
      child.refresh(own, mergeChanges: true)
      #expect(try child.count(for: FetchRequest<ManagedObject>(entityName: "Artwork")) == 0)
      #expect(try child.values(of: "title", "Artwork") == [])
    }
  }

  /// The context between the two had the object twice, under one ID: at the place that it was saved
  /// in, and as a new one.
  @Test(arguments: [GotchaHome.memory, .file], [false, true])
  func `an object restored in a grandchild after its grandparent's save exists once`(
    _ home: GotchaHome, isUndoneFirst: Bool
  ) throws {
    try home.withContext { root in
      let artwork = try root.insert("Artwork", ["title": "new"])
      let child = root.newChildContext()
      let grandchild = child.newChildContext()
      grandchild.undoManager = UndoManager()
      let own = try grandchild.existingObject(with: artwork.objectID)
      _ = try own.value(forKey: "title")
      grandchild.delete(own)
      try grandchild.save()
      if isUndoneFirst { grandchild.undo() }
      try root.save()
      if !isUndoneFirst { grandchild.undo() }
      try own.setValue("back", forKey: "title")
      try grandchild.save()
      let known = child.registeredObjects
      #expect(Set(known.map(\.objectID)).count == known.count)
      #expect(try child.fetch(FetchRequest<ManagedObject>(entityName: "Artwork")).count == 1)
      try child.save()
      try root.save()
      #expect(try artwork.value(forKey: "title") as? String == "back")
      #expect(try SmallGallery.sibling(of: root).values(of: "title", "Artwork") == ["back"])
      try own.setValue("again", forKey: "title")
      try grandchild.save()
      try child.save()
      try root.save()
      #expect(try SmallGallery.sibling(of: root).values(of: "title", "Artwork") == ["again"])
    }
  }

  /// Parent and child both undo the deletion; between the two the child reads the parent's object.
  @Test(arguments: [GotchaHome.memory, .file], [false, true])
  func `what undo brings back in a parent and in its child is one object`(
    _ home: GotchaHome, _ isSaved: Bool
  ) throws {
    try home.withContext { parent in
      parent.undoManager = UndoManager()
      let child = parent.newChildContext()
      child.undoManager = UndoManager()
      let artwork = try child.insert("Artwork", ["title": "a"])
      try child.save()
      child.delete(artwork)
      try child.save()
      parent.undo()
      let found = try child.fetch(FetchRequest<ManagedObject>(entityName: "Artwork"))
      #expect(found.count == 1)
      if isSaved { try parent.save() }
      child.undo()
      #expect(child.registeredObjects == [artwork])
      try artwork.setValue("b", forKey: "title")
      try child.save()
      #expect(try child.values(of: "title", "Artwork") == ["b"])
      #expect(Set(child.registeredObjects.map(\.objectID)).count == child.registeredObjects.count)
      try parent.save()
      #expect(try SmallGallery.sibling(of: parent).values(of: "title", "Artwork") == ["b"])
    }
  }

  /// It refers to itself, too: its order was put on another state before the member said again that
  /// it refers here, and lost it.
  @Test(arguments: [GotchaHome.memory, .file])
  func `an object that is inserted again in a child has the member that was led to it meanwhile`(
    _ home: GotchaHome
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Node") {
        Relationship("line", toMany: "Node", inverse: "head", ordered: true)
        Relationship("head", toOne: "Node", inverse: "line")
      }
    }
    try home.withContext(model, classes: []) { parent in
      let node = try parent.insert("Node")
      try node.setValue(node, forKey: "head")
      let child = parent.newChildContext()
      let own = try child.existingObject(with: node.objectID)
      let member = try child.insert("Node")
      child.delete(own)
      try member.setValue(own, forKey: "head")
      child.processPendingChanges()
      // What the child reads is another state now.
      let other = try parent.insert("Node")
      try other.setValue(other, forKey: "head")
      child.insert(own)
      #expect(try member.value(forKey: "head") as? ManagedObject === own)
      #expect(try own.value(forKey: "head") as? ManagedObject === own)
      #expect(
        Set(try #require(try own.value(forKey: "line") as? [ManagedObject])) == [own, member])
      #expect(child.brokenInvariants == [])
      try child.save()
      try parent.save()
      #expect(try StoreFacts(parent).findings == [])
    }
  }

  /// The parent took the deletion back with the members that its own object still had, though their
  /// sides had been cleared.
  @Test(
    arguments: [GotchaHome.memory, .file],
    [("friends", "friends"), ("ranks", "rankedBy"), ("rankedBy", "ranks"), ("before", "after")])
  func `an object restored in a parent has the members that the child gives it`(
    _ home: GotchaHome, _ side: (key: String, inverse: String)
  ) throws {
    for (depth, isEnded) in [(1, true), (2, true), (1, false), (2, false)] {
      try home.withContext(LockstepModel.model, classes: []) { root in
        let (one, other) = (try root.insert("Thing"), try root.insert("Thing"))
        try one.addToRelationship(other, forKey: side.key)
        try root.save()
        var contexts = [root]
        for _ in 0..<depth { contexts.append(contexts.last!.newChildContext()) }
        let child = contexts[depth]
        func saveUp() throws {
          for context in contexts.dropFirst().reversed() { try context.save() }
        }
        child.undoManager = UndoManager()
        let (own, ownOther) = (
          try child.existingObject(with: one.objectID),
          try child.existingObject(with: other.objectID)
        )
        child.delete(own)
        try saveUp()
        child.undo()
        if isEnded { try own.removeFromRelationship(ownOther, forKey: side.key) }
        try saveUp()
        let expected = isEnded ? [] : [other.objectID]
        #expect(try one.objectIDs(forRelationshipNamed: side.key) == expected)
        #expect(try other.objectIDs(forRelationshipNamed: side.inverse).count == expected.count)
        try root.save()
        #expect(try StoreFacts(root).findings == [], "\(depth) \(isEnded)")
        let check = SmallGallery.sibling(of: root)
        let stored = try check.existingObject(with: one.objectID)
        #expect(try stored.objectIDs(forRelationshipNamed: side.key) == expected)
      }
    }
  }

  /// The object in between was new, and read the members of the one that its parent had deleted.
  @Test(arguments: [GotchaHome.memory, .file])
  func `an object deleted in the parent has no members when a grandchild restores it`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { root in
      let (one, other) = (try root.insert("Thing"), try root.insert("Thing"))
      try root.save()
      let child = root.newChildContext()
      let grandchild = child.newChildContext()
      grandchild.undoManager = UndoManager()
      let own = try grandchild.existingObject(with: one.objectID)
      grandchild.delete(own)
      try grandchild.save()
      try child.save()
      // Led to while it is deleted, which its delete rules end at the other side only.
      try other.addToRelationship(one, forKey: "friends")
      root.processPendingChanges()
      grandchild.undo()
      try grandchild.save()
      #expect(
        try child.existingObject(with: one.objectID).objectIDs(forRelationshipNamed: "friends")
          == [])
      try child.save()
      #expect(try one.objectIDs(forRelationshipNamed: "friends") == [])
      #expect(try other.objectIDs(forRelationshipNamed: "friends") == [])
      try root.save()
      #expect(try StoreFacts(root).findings == [])
    }
  }
}
