import Quire
import QuireTesting
import Testing

/// What sequences of random operations have found, each as small as it can be.
@Suite struct LockstepFindTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  /// Nobody held an object: so nothing was refreshed, and the next one was read as of the former
  /// save. To change it was a conflict with oneself.
  @Test(arguments: GotchaHome.allCases)
  func `after all objects are refreshed, those that nobody held are read as they are now`(
    _ home: GotchaHome
  ) throws {
    try home.withTwoContexts { one, two in
      let id = try {
        let artist = Artist(context: two)
        try two.save()
        return artist.objectID
      }()
      #expect(two.registeredObjects.isEmpty)
      let artist = try #require(one.object(with: id) as? Artist)
      artist.name = "Hokusai"
      try one.save()
      two.refreshAllObjects()
      let same = try #require(two.object(with: id) as? Artist)
      #expect(same.name == "Hokusai")
      same.born = 1760
      try two.save()
    }
  }

  /// A refresh forgot what led to an object that had left, deleted before it was ever saved: undo
  /// brought it back, and nothing led there.
  @Test(arguments: GotchaHome.allCases, ["pointer", "cover", "keeper"])
  func `a refresh keeps relationships to an object that undo can bring back`(
    _ home: GotchaHome, _ key: String
  ) throws {
    for isAlone in [false, true] {
      try home.withContext(LockstepModel.model, classes: []) { context in
        let object = try context.insert(key == "keeper" ? "Lock" : "Thing", ["number": 1])
        try context.save()
        context.undoManager = UndoManager()
        let new = try context.insert("Thing", ["number": 2])
        try object.setValue(new, forKey: key)
        context.processPendingChanges()
        // Its rule denies the deletion as long as it leads there, and so it is not told.
        if key == "keeper" { context.delete(object) }
        context.delete(new)
        context.processPendingChanges()
        if isAlone {
          context.refresh(object, mergeChanges: true)
        } else {
          context.refreshAllObjects()
        }
        context.undo()
        #expect(try object.value(forKey: key) as? ManagedObject === new)
        try context.save()
        let fresh = SmallGallery.sibling(of: context)
        let stored = try fresh.existingObject(with: object.objectID).value(forKey: key)
        #expect((stored as? ManagedObject)?.objectID == new.objectID)
        #expect(try StoreFacts(context).findings == [])
      }
    }
  }

  /// It is what has left that a refresh keeps for undo, not what came back before it was saved.
  @Test(arguments: GotchaHome.allCases, ["pointer", "cover"])
  func `setting a relationship back to a restored destination leaves no change`(
    _ home: GotchaHome, _ key: String
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { context in
      let things = try (0..<3).map { try context.insert("Thing", ["number": $0]) }
      try things[0].setValue(things[1], forKey: key)
      try context.save()
      context.undoManager = UndoManager()
      context.delete(things[1])
      context.processPendingChanges()
      context.insert(things[1])
      context.processPendingChanges()
      for destination in [nil, things[1]] { try things[0].setValue(destination, forKey: key) }
      let other = SmallGallery.sibling(of: context)
      let theirs = try other.existingObject(with: things[0].objectID)
      try theirs.setValue(other.existingObject(with: things[2].objectID), forKey: key)
      try other.save()
      context.refreshAllObjects()
      #expect(try things[0].value(forKey: key) as? ManagedObject === things[2])
    }
  }

  /// Another context deleted what a relationship without inverse led to. Who held that object, a
  /// fault after a refresh, found it there, without any values; who did not found nothing.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `a relationship does not show what is gone from the store, whether somebody holds it or not`(
    _ home: GotchaHome, _ isHeld: Bool
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Thing") {
        Relationship("pointer", toOne: "Thing")
        Relationship("bag", toMany: "Thing")
        Relationship("list", toMany: "Thing", ordered: true)
      }
    }
    try home.withContext(model, classes: []) { context in
      let thing = try context.insert("Thing")
      var gone: ManagedObject? = try context.insert("Thing")
      let id = try {
        try thing.setValue(gone, forKey: "pointer")
        try thing.setValue(Set([gone!]), forKey: "bag")
        try thing.setValue([gone!], forKey: "list")
        try context.save()
        return gone!.objectID
      }()
      if !isHeld { gone = nil }
      let other = SmallGallery.sibling(of: context)
      other.delete(try other.existingObject(with: id))
      try other.save()
      context.refreshAllObjects()
      #expect(try thing.value(forKey: "pointer") == nil)
      #expect(try thing.value(forKey: "bag") as? Set<ManagedObject> == [])
      #expect(try thing.value(forKey: "list") as? [ManagedObject] == [])
      for key in ["pointer", "bag", "list"] {
        #expect(try thing.objectIDs(forRelationshipNamed: key) == [])
      }
      withExtendedLifetime(gone) {}
    }
  }

  /// A delete rule that denies leaves the relationships to the deleted object as they are, until a
  /// save is refused. A child does not have that object.
  @Test(arguments: GotchaHome.allCases)
  func `a child's relationship does not show what its parent has deleted, by whatever rule`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let artwork = Artwork(context: context)
      let frame = try context.insert("Frame")
      try artwork.setValue(frame, forKey: "frame")
      try context.save()
      context.refreshAllObjects()
      context.delete(frame)
      context.processPendingChanges()
      let child = context.newChildContext()
      let same = try #require(try child.existingObject(with: artwork.objectID) as? Artwork)
      #expect(try same.value(forKey: "frame") == nil)
      let grandchild = child.newChildContext()
      let third = try #require(try grandchild.existingObject(with: artwork.objectID) as? Artwork)
      #expect(try third.value(forKey: "frame") == nil)
      context.rollback()
    }
  }

  /// The order of one context was made before the other's room was there. Refreshed, it was saved
  /// as if it knew that room: it led to the show, and the show not to it.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `an unsaved order that is refreshed takes in what others have added`(
    _ home: GotchaHome, _ isAlone: Bool
  ) throws {
    try home.withTwoContexts { one, two in
      let show = SmallGallery.Show(context: one)
      try one.save()
      try one.insert("Room", ["number": 1, "show": show])
      let same = try #require(try two.existingObject(with: show.objectID) as? SmallGallery.Show)
      try two.insert("Room", ["number": 2, "show": same])
      try two.save()
      if isAlone { one.refresh(show, mergeChanges: true) } else { one.refreshAllObjects() }
      #expect(show.rooms.map(\.number) == [1, 2])
      try one.save()
      #expect(try StoreFacts(one).findings == [])
    }
  }

  /// A list without inverse still named what was deleted, and so did the order that was made anew
  /// when it was refreshed: by an object without values.
  @Test(arguments: GotchaHome.allCases)
  func `an unsaved order that is refreshed does not bring back what is gone`(
    _ home: GotchaHome
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Thing") { Relationship("list", toMany: "Thing", ordered: true) }
    }
    try home.withContext(model, classes: []) { context in
      let (thing, stays) = (try context.insert("Thing"), try context.insert("Thing"))
      try {
        let gone = try context.insert("Thing")
        try thing.setValue([gone, stays], forKey: "list")
        try context.save()
        context.delete(gone)
        try context.save()
      }()
      try thing.setValue([stays, thing], forKey: "list")
      context.refreshAllObjects()
      #expect(try thing.value(forKey: "list") as? [ManagedObject] == [stays, thing])
      try context.save()
      #expect(try thing.value(forKey: "list") as? [ManagedObject] == [stays, thing])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// What was set back to what it was, be it by undoing, hid what another context had saved, and
  /// was saved over it.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `a value that was set back is no change when others' are merged`(
    _ home: GotchaHome, _ isMerged: Bool
  ) throws {
    try home.withTwoContexts { one, two in
      let artist = Artist(context: one)
      artist.name = "Hokusai"
      artist.born = 1760
      try one.save()
      one.undoManager = UndoManager()
      artist.born = 1
      one.processPendingChanges()
      one.undo()
      artist.name = "Hiroshige"
      artist.name = "Hokusai"
      try #require(artist.born == 1760)
      let same = try #require(try two.existingObject(with: artist.objectID) as? Artist)
      same.born = 1849
      same.name = "Sharaku"
      let notice = try two.savedNotice()
      if isMerged {
        one.mergeChanges(fromContextDidSave: notice)
      } else {
        one.refresh(artist, mergeChanges: true)
      }
      #expect(artist.born == 1849)
      #expect(artist.name == "Sharaku")
      #expect(!artist.hasPersistentChangedValues)
      try one.save()
      #expect(artist.born == 1849)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a destination that was set back is no change when others' are merged`(
    _ home: GotchaHome
  ) throws {
    try home.withTwoContexts { one, two in
      let artists = (0..<3).map { _ in Artist(context: one) }
      let artwork = Artwork(context: one)
      artwork.artist = artists[0]
      try one.save()
      artwork.artist = artists[1]
      artwork.artist = artists[0]
      let same = try #require(try two.existingObject(with: artwork.objectID) as? Artwork)
      same.artist = try two.existingObject(with: artists[2].objectID) as? Artist
      one.mergeChanges(fromContextDidSave: try two.savedNotice())
      #expect(artwork.artist === artists[2])
      #expect(artists.map(\.artworks.count) == [0, 0, 1])
      try one.save()
      #expect(artwork.artist === artists[2])
      #expect(try StoreFacts(one).findings == [])
    }
  }

  /// A row goes on leading to what is gone when no rule says otherwise, as with Core Data. When the
  /// deletion is undone, there is nothing to write there: who leads to the object has not changed.
  @Test(arguments: GotchaHome.allCases, ["pointer", "bag", "list", "cover", "rival"])
  func `who leads to an object by no rule is not changed when its deletion is undone after a save`(
    _ home: GotchaHome, _ key: String
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Thing") {
        Relationship("pointer", toOne: "Thing")
        Relationship("bag", toMany: "Thing")
        Relationship("list", toMany: "Thing", ordered: true)
        Relationship("cover", toOne: "Thing", inverse: "covered")
        Relationship("covered", toOne: "Thing", inverse: "cover", deleteRule: .noAction)
        Relationship("rival", toOne: "Thing", inverse: "rivals")
        Relationship("rivals", toMany: "Thing", inverse: "rival", deleteRule: .noAction)
      }
    }
    try home.withContext(model, classes: []) { context in
      context.undoManager = UndoManager()
      let (thing, gone) = (try context.insert("Thing"), try context.insert("Thing"))
      let isToMany = key == "bag" || key == "list"
      try thing.setValue(
        isToMany ? (key == "bag" ? Set([gone]) as Any : [gone]) : gone, forKey: key)
      try context.save()
      context.delete(gone)
      try context.save()
      #expect(try thing.objectIDs(forRelationshipNamed: key) == [])
      context.undo()
      #expect(context.insertedObjects == [gone])
      #expect(try thing.objectIDs(forRelationshipNamed: key) == [gone.objectID])
      #expect(context.updatedObjects == [])
      try context.save()
      let other = SmallGallery.sibling(of: context)
      let same = try other.existingObject(with: thing.objectID)
      #expect(try same.objectIDs(forRelationshipNamed: key) == [gone.objectID])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// The order was what the store has, and set once more: so there was something to undo, of which
  /// nothing was seen.
  @Test(arguments: GotchaHome.allCases)
  func `to drop changes of an order that is as stored is nothing to undo`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let show = SmallGallery.Show(context: context)
      try context.save()
      let undoManager = UndoManager()
      context.undoManager = undoManager
      let room = try context.insert("Room", ["number": 1, "show": show])
      context.processPendingChanges()
      context.delete(room)
      context.processPendingChanges()
      context.refresh(show, mergeChanges: false)
      context.processPendingChanges()
      #expect(show.rooms.isEmpty)
      context.undo()
      #expect(show.rooms.map(\.number) == [1])
      context.undo()
      #expect(show.rooms.isEmpty && !context.hasChanges)
      #expect(!undoManager.canUndo)
      context.redo()
      #expect(show.rooms.map(\.number) == [1])
      try context.save()
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// A list without inverse is not told when a member is deleted, and hides it. What is dropped
  /// then comes back as anything that is undone.
  @Test(arguments: GotchaHome.allCases)
  func `a hidden member of an order that is dropped comes back when that is undone`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { context in
      let (owner, member) = (try context.insert("Thing"), try context.insert("Thing"))
      try context.save()
      context.undoManager = UndoManager()
      func list() throws -> [ManagedObject]? { try owner.value(forKey: "list") as? [ManagedObject] }
      try owner.addToRelationship(member, forKey: "list")
      context.processPendingChanges()
      context.delete(member)
      context.processPendingChanges()
      #expect(try list() == [])
      context.refresh(owner, mergeChanges: false)
      context.processPendingChanges()
      context.undo()
      #expect(try list() == [])
      context.undo()
      #expect(try list() == [member])
      context.undo()
      #expect(try list() == [])
      #expect(context.undoManager?.canUndo == false)
    }
  }

  /// A set is what it is set to: also without those that are deleted, and denied it because they
  /// are in this very set.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `a set takes the deleted from those that hold them by a rule that denies`(
    _ home: GotchaHome, _ isUndone: Bool
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { context in
      let keeper = try context.insert("Thing", ["number": 1])
      let locks = try (2...4).map { try context.insert("Lock", ["number": $0]) }
      try keeper.setValue(Set(locks[...1]), forKey: "locks")
      try context.save()
      context.undoManager = UndoManager()
      context.delete(locks[0])
      context.processPendingChanges()
      #expect(try keeper.value(forKey: "locks") as? Set == [locks[1]])
      try keeper.setValue(Set(locks[2...]), forKey: "locks")
      context.processPendingChanges()
      #expect(try locks[0].value(forKey: "keeper") == nil)
      if isUndone {
        context.undo()
        #expect(try locks[0].value(forKey: "keeper") as? ManagedObject === keeper)
        #expect(throws: PersistenceError.self) { try context.save() }
        context.undo()
        #expect(try keeper.value(forKey: "locks") as? Set == Set(locks[...1]))
        #expect(!context.hasChanges)
        context.redo()
        context.redo()
      }
      try context.save()
      #expect(try keeper.value(forKey: "locks") as? Set == [locks[2]])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// A child that has led an object elsewhere and then deleted it hands its parent the deletion
  /// alone. What the parent had deleted before, unseen by the child, finds it again where no rule
  /// parts the two.
  @Test(arguments: GotchaHome.allCases)
  func `a child that changes and deletes an object hands its parent the deletion alone`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { context in
      let covered = try context.insert("Thing", ["number": 1])
      let cover = try context.insert("Thing", ["number": 2])
      let other = try context.insert("Thing", ["number": 3])
      try cover.setValue(covered, forKey: "cover")
      try context.save()
      context.delete(covered)
      let child = context.newChildContext()
      let theirs = try child.existingObject(with: cover.objectID)
      try theirs.setValue(try child.existingObject(with: other.objectID), forKey: "cover")
      child.delete(theirs)
      try child.save()
      #expect(context.deletedObjects == [covered, cover] && !other.hasPersistentChangedValues)
      context.insert(covered)
      #expect(try covered.value(forKey: "covered") as? ManagedObject === cover)
      #expect(try other.value(forKey: "covered") == nil)
      try context.save()
      #expect(try covered.value(forKey: "covered") == nil)
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// Where the row of an object led to what was gone, it was written to lead nowhere when what it
  /// had been led to was deleted by the same save: nothing that it shows had changed. A child took
  /// from its parent, so, what it had not seen.
  @Test(arguments: GotchaHome.allCases)
  func `who is led to what the same save deletes is as before, where its row leads to what is gone`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { context in
      let covered = try context.insert("Thing", ["number": 1])
      let cover = try context.insert("Thing", ["number": 2])
      let others = try (3...4).map { try context.insert("Thing", ["number": $0]) }
      try cover.setValue(covered, forKey: "cover")
      try context.save()
      context.delete(cover)
      context.processPendingChanges()
      func lead(_ other: ManagedObject, in context: ManagedObjectContext) throws {
        let (theirs, rival) = try (
          context.existingObject(with: covered.objectID),
          context.existingObject(with: other.objectID)
        )
        try rival.setValue(theirs, forKey: "cover")
        context.delete(rival)
        #expect(try theirs.value(forKey: "covered") != nil)
      }
      let child = context.newChildContext()
      try lead(others[0], in: child)
      try child.save()
      #expect(try covered.value(forKey: "covered") as? ManagedObject === cover)
      #expect(!covered.hasPersistentChangedValues)
      try context.save()
      #expect(try covered.value(forKey: "covered") == nil)
      // By a context that has saved the deletion, too.
      try lead(others[1], in: context)
      let notice = try context.savedNotice()
      #expect(notice.updatedObjects == [] && notice.deletedObjects == [others[1]])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// Nobody goes on leading to what was deleted before it was ever saved, by whatever rule; nor
  /// when that is undone, saved, and made again as the deletion of a saved object.
  @Test(arguments: GotchaHome.allCases)
  func `the deletion of what was never saved parts, also when it is made again after a save`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { context in
      context.undoManager = UndoManager()
      let cover = try context.insert("Thing", ["number": 1])
      context.processPendingChanges()
      let covered = try context.insert("Thing", ["number": 2])
      try cover.setValue(covered, forKey: "cover")
      context.delete(cover)
      context.processPendingChanges()
      #expect(try covered.value(forKey: "covered") == nil)
      context.undo()
      #expect(context.insertedObjects == [cover])
      try context.save()
      context.redo()
      #expect(context.deletedObjects == [cover] && context.insertedObjects == [covered])
      #expect(try covered.value(forKey: "covered") == nil)
      try context.save()
      #expect(try StoreFacts(context).findings == [])
    }
  }
}

extension ManagedObjectContext {
  /// Saves.
  ///
  /// - Returns: the notice of it, to be merged by another context.
  func savedNotice() throws -> ContextNotice {
    var found: ContextNotice?
    let observation = observe([.didSaveObjects]) { found = $0 }
    try save()
    withExtendedLifetime(observation) {}
    return try #require(found)
  }
}
