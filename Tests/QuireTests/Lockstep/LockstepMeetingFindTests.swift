import Quire
import QuireTesting
import Testing

/// What sequences of random operations have found in which two contexts change relationships.
@Suite struct LockstepMeetingFindTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  /// A row was written, in a new version, to say that it leads nowhere as before: what it was to
  /// lead to was deleted by the same save.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `a relationship that stays nil as its destination is deleted is not written`(
    _ home: GotchaHome, isLeading: Bool
  ) throws {
    try home.withTwoContexts { one, two in
      func insert(_ title: String) throws -> Artwork {
        try #require(try one.insert("Artwork", ["title": title]) as? Artwork)
      }
      let (artwork, gone, former) = (try insert("a"), try insert("gone"), try insert("former"))
      artwork.lookalike = isLeading ? former : nil
      try one.save()
      artwork.title = "mine"
      func their(_ object: Artwork) throws -> Artwork {
        try #require(try two.existingObject(with: object.objectID) as? Artwork)
      }
      let theirs = try their(artwork)
      theirs.lookalike = try their(gone)
      two.delete(try their(gone))
      try two.save()
      // A row that said otherwise is another one now.
      #expect(theirs.version == (isLeading ? 2 : 1))
      one.mergePolicy = .rollback
      try one.save()
      #expect(artwork.title == "mine")
      for context in [one, two, SmallGallery.sibling(of: one)] {
        context.refreshAllObjects()
        let stored = try #require(
          try context.existingObject(with: artwork.objectID) as? Artwork)
        #expect(stored.lookalike == nil)
        #expect(stored.title == "mine")
      }
    }
  }

  /// What others had led somewhere was led nowhere again by a merge, for a destination that the
  /// same save deletes: that is as the relationship was before.
  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `a relationship that stays nil keeps the destination that another save gave it`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    for isInConflict in [false, true] {
      try home.withTwoContexts { one, two in
        func insert(_ title: String) throws -> Artwork {
          try #require(try one.insert("Artwork", ["title": title]) as? Artwork)
        }
        let (artwork, gone) = (try insert("artwork"), try insert("gone"))
        let (found, rest) = (try insert("found"), try insert("rest"))
        try one.save()
        func their(_ object: Artwork) throws -> Artwork {
          try #require(try two.existingObject(with: object.objectID) as? Artwork)
        }
        let theirs = try their(artwork)
        theirs.lookalike = try their(gone)
        two.delete(try their(gone))
        if isInConflict { theirs.price = 2 }
        // Without a conflict there is no merge.
        try their(rest).title = "theirs"
        artwork.lookalike = found
        if isInConflict { artwork.price = 3 }
        rest.title = "mine"
        try one.save()
        two.mergePolicy = policy.policy
        try two.save()
        // Whoever overwrites an object writes all that it shows.
        let isOverwritten = isInConflict && policy == .overwrite
        for context in [one, two, SmallGallery.sibling(of: one)] {
          context.refreshAllObjects()
          let stored = try #require(
            try context.existingObject(with: artwork.objectID) as? Artwork)
          #expect(stored.lookalike?.objectID == (isOverwritten ? nil : found.objectID))
        }
      }
    }
  }

  /// What was led away from an object here was led back by others, who deleted that object: as the
  /// row led to what was gone then, our change was taken for none. (Seed 119,470.)
  @Test(arguments: [GotchaHome.memory, .file], [false, true])
  func `a relationship cleared here stays nil after others delete its destination`(
    _ home: GotchaHome, isAutomatic: Bool
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { one in
      let two = SmallGallery.sibling(of: one)
      let things = try (0..<2).map { try one.insert("Thing", ["number": $0]) }
      try things[0].setValue(things[1], forKey: "covered")
      try one.save()
      // Takes it from the other.
      try things[0].setValue(things[0], forKey: "cover")
      #expect(try things[1].value(forKey: "cover") == nil)
      one.automaticallyMergesChangesFromParent = isAutomatic
      var notices: [ContextNotice] = []
      let observation = two.observe([.didSaveObjects]) { notices.append($0) }
      let theirs = try two.existingObject(with: things[1].objectID)
      try theirs.setValue(theirs, forKey: "cover")
      two.delete(try two.existingObject(with: things[0].objectID))
      try two.save()
      withExtendedLifetime(observation) {}
      one.processPendingChanges()
      if !isAutomatic { notices.forEach(one.mergeChanges(fromContextDidSave:)) }
      #expect(try things[1].value(forKey: "cover") == nil)
      #expect(try things[1].value(forKey: "covered") == nil)
      try one.save()
      #expect(try StoreFacts(one).findings == [])
      two.refreshAllObjects()
      #expect(try theirs.value(forKey: "cover") == nil)
    }
  }

  /// Where the row led to what was gone, an unsaved change that had come to nothing hid where
  /// others had led the object meanwhile.
  @Test(arguments: [GotchaHome.memory, .file], [false, true])
  func `a change to what others have deleted leaves where they have led the object`(
    _ home: GotchaHome, isRowOutdated: Bool
  ) throws {
    for isAutomatic in [false, true] {
      try home.withContext(LockstepModel.model, classes: []) { one in
        let two = SmallGallery.sibling(of: one)
        let things = try (0..<4).map { try one.insert("Thing", ["number": $0]) }
        let (thing, gone, found) = (things[0], things[2], things[3])
        if isRowOutdated { try thing.setValue(things[1], forKey: "cover") }
        try one.save()
        // Nobody tells the thing.
        one.delete(things[1])
        try one.save()
        try thing.setValue(gone, forKey: "cover")
        one.automaticallyMergesChangesFromParent = isAutomatic
        var notices: [ContextNotice] = []
        let observation = two.observe([.didSaveObjects]) { notices.append($0) }
        two.delete(try two.existingObject(with: gone.objectID))
        try two.existingObject(with: thing.objectID).setValue(
          two.existingObject(with: found.objectID), forKey: "cover")
        try two.save()
        withExtendedLifetime(observation) {}
        one.processPendingChanges()
        if !isAutomatic { notices.forEach(one.mergeChanges(fromContextDidSave:)) }
        #expect(try thing.value(forKey: "cover") as? ManagedObject === found)
        #expect(try found.value(forKey: "covered") as? ManagedObject === thing)
        try one.save()
        #expect(try StoreFacts(one).findings == [])
      }
    }
  }

  /// A fetch found an object without any values: it was among the changed ones, and another context
  /// had deleted it.
  @Test(
    arguments: GotchaHome.allCases, [(false, false), (false, true), (true, false), (true, true)])
  func `an object that is gone when it is refreshed is found by no fetch`(
    _ home: GotchaHome, _ flags: (isChanged: Bool, isAlone: Bool)
  ) throws {
    let (isChanged, isAlone) = flags
    try home.withTwoContexts { one, two in
      let artist = try #require(try one.insert("Artist", ["name": "a"]) as? Artist)
      try one.save()
      artist.name = isChanged ? "b" : "a"
      try #require(one.updatedObjects == [artist])
      two.delete(try two.existingObject(with: artist.objectID))
      try two.save()
      if isAlone { one.refresh(artist, mergeChanges: true) } else { one.refreshAllObjects() }
      #expect(try one.fetch(FetchRequest<Artist>()).isEmpty)
      #expect(try one.count(for: FetchRequest<Artist>()) == 0)
      #expect(one.hasChanges == isChanged)
      if isChanged {
        #expect(throws: PersistenceError.self) { try one.save() }
        one.mergePolicy = .mergeByPropertyObjectTrump
      }
      try one.save()
      #expect(!one.hasChanges)
      #expect(try one.fetch(FetchRequest<Artist>()).isEmpty)
    }
  }

  /// Keys of new objects count from 1 in every process, and those of stored ones in every store: a
  /// child took one for the other. Seen where both are low, as where nothing was made before.
  @Test func `a parent's new object has no members of a stored one in a child`() async {
    await #expect(processExitsWith: .success) {
      try GotchaHome.memory.withTwoContexts { one, two in
        let new = (0..<4).map { _ in SmallGallery.Artwork(context: one) }
        let tag = try two.insert("Tag", ["word": "a"])
        for _ in 0..<12 { try two.insert("Artwork", ["tags": Set([tag])]) }
        try two.save()
        let child = one.newChildContext()
        for object in new {
          let same = try #require(child.object(with: object.objectID))
          #expect(try same.value(forKey: "tags") as? Set<ManagedObject> == [])
          let grandchild = child.newChildContext()
          let third = try #require(grandchild.object(with: object.objectID))
          #expect(try third.objectIDs(forRelationshipNamed: "tags") == [])
        }
      }
    }
  }

  /// Two contexts added the same member. The first to know of the other had nothing to save, but
  /// kept its order: beside a row that was gone it looked like a change, and the save was refused.
  @Test(
    arguments: GotchaHome.allCases,
    ["friends", "ranks", "rankedBy", "before", "after", "list", "bag"])
  func `a member that others have added too is no change when they delete its owner`(
    _ home: GotchaHome, _ key: String
  ) throws {
    for isToItself in [true, false] {
      for isMerge in [true, false] {
        try home.withContext(LockstepModel.model, classes: []) { one in
          let two = SmallGallery.sibling(of: one)
          let kind = key == "bag" ? "Tag" : "Thing"
          if key == "bag", isToItself { return }
          let owner = try one.insert("Thing", ["number": 1])
          let member = isToItself ? owner : try one.insert(kind, ["number": 2])
          try one.save()
          let theirs = try two.existingObject(with: owner.objectID)
          try owner.addToRelationship(member, forKey: key)
          try theirs.addToRelationship(two.existingObject(with: member.objectID), forKey: key)
          if isMerge {
            one.mergeChanges(fromContextDidSave: try two.savedNotice())
          } else {
            try two.save()
            one.refreshAllObjects()
          }
          two.delete(theirs)
          try two.save()
          one.refreshAllObjects()
          #expect(!one.updatedObjects.contains(owner), "\(isToItself) \(isMerge)")
          try one.save()
          #expect(!one.hasChanges)
          #expect(try StoreFacts(one).findings == [])
        }
      }
    }
  }

  /// How one context comes to know what another has saved.
  enum News: CaseIterable {
    case refresh, refreshAll, fetch, merge

    func come(of two: ManagedObjectContext, to object: ManagedObject) throws {
      let one = try #require(object.managedObjectContext)
      let notice = try two.savedNotice()
      switch self {
      case .refresh: one.refresh(object, mergeChanges: true)
      case .refreshAll: one.refreshAllObjects()
      case .fetch: _ = try one.fetch(FetchRequest<ManagedObject>(entityName: "Thing"))
      case .merge: one.mergeChanges(fromContextDidSave: notice)
      }
    }
  }

  /// As a value that was set back. The members were compared with those of the state in which there
  /// was no owner any more.
  @Test(arguments: GotchaHome.allCases, News.allCases)
  func `members that were put back are no change when others delete their owner`(
    _ home: GotchaHome, _ news: News
  ) throws {
    for key in ["friends", "ranks", "rankedBy", "before", "list"] {
      try home.withContext(LockstepModel.model, classes: []) { one in
        let two = SmallGallery.sibling(of: one)
        let owner = try Self.ownerWithPutBackMembers(key, one)
        two.delete(try two.existingObject(with: owner.objectID))
        try news.come(of: two, to: owner)
        one.refreshAllObjects()
        #expect(!one.updatedObjects.contains(owner), "\(key)")
        try one.save()
        #expect(try StoreFacts(one).findings == [])
      }
    }
  }

  /// It was set to what the store has, which could be undone, to no effect.
  @Test(arguments: GotchaHome.allCases)
  func `dropping a member that others have deleted is nothing to undo`(_ home: GotchaHome) throws {
    for key in ["friends", "ranks", "before", "list"] {
      try home.withContext(LockstepModel.model, classes: []) { one in
        let two = SmallGallery.sibling(of: one)
        let owner = try one.insert("Thing", ["number": 1])
        let member = try one.insert("Thing", ["number": 2])
        try one.save()
        let undoManager = UndoManager()
        one.undoManager = undoManager
        try owner.addToRelationship(member, forKey: key)
        one.processPendingChanges()
        two.delete(try two.existingObject(with: member.objectID))
        try News.merge.come(of: two, to: owner)
        undoManager.removeAllActions()
        try #require(one.updatedObjects.contains(owner))
        one.refresh(owner, mergeChanges: false)
        one.processPendingChanges()
        #expect(!undoManager.canUndo, "\(key)")
        #expect(!one.updatedObjects.contains(owner), "\(key)")
        one.rollback()
      }
    }
  }

  /// The order that was set back was saved over theirs.
  @Test(arguments: GotchaHome.allCases, News.allCases)
  func `an order that was put back gives way to the one that others have made`(
    _ home: GotchaHome, _ news: News
  ) throws {
    for key in ["ranks", "before", "list"] {
      try home.withContext(LockstepModel.model, classes: []) { one in
        let two = SmallGallery.sibling(of: one)
        let owner = try Self.ownerWithPutBackMembers(key, one)
        let theirs = try two.existingObject(with: owner.objectID)
        let order = try #require(try theirs.value(forKey: key) as? [ManagedObject])
        try theirs.setValue(Array(order.reversed()), forKey: key)
        try news.come(of: two, to: owner)
        one.refreshAllObjects()
        try one.save()
        for object in [owner, theirs] {
          let shown = try #require(try object.value(forKey: key) as? [ManagedObject])
          #expect(shown.map(\.objectID) == order.reversed().map(\.objectID), "\(key)")
        }
      }
    }
  }

  private static func ownerWithPutBackMembers(
    _ key: String, _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let owner = try context.insert("Thing", ["number": 1])
    let members = try (2...3).map { try context.insert("Thing", ["number": $0]) }
    try owner.addToRelationship(members, forKey: key)
    try context.save()
    let stored = try #require(try owner.value(forKey: key))
    let isOrdered = stored is [ManagedObject]
    try owner.setValue(isOrdered ? [members[1]] as Any : Set([members[1]]) as Any, forKey: key)
    try owner.setValue(stored, forKey: key)
    try #require(context.updatedObjects.contains(owner))
    return owner
  }

  /// A tag's things are not told when it is deleted, but the links go with it. So when the deletion
  /// is undone after a save, a link is a change of the thing, too, and goes with its changes where
  /// they are dropped for a conflict.
  @Test(arguments: [GotchaHome.memory, .file], [false, true])
  func `a link to what is back is a change of both its ends`(
    _ home: GotchaHome, _ wasSaved: Bool
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { one in
      let undoManager = UndoManager()
      one.undoManager = undoManager
      let two = SmallGallery.sibling(of: one)
      let tag = try one.insert("Tag", ["number": 1])
      try one.save()
      let thing = try one.insert("Thing", ["number": 2])
      try tag.addToRelationship(thing, forKey: "things")
      if wasSaved { try one.save() }
      one.processPendingChanges()
      undoManager.removeAllActions()
      one.delete(tag)
      try one.save()
      try undoManager.undo()
      let theirs = try two.existingObject(with: thing.objectID)
      try theirs.setValue(3, forKey: "weight")
      try two.save()
      #expect(thing.hasPersistentChangedValues)
      try thing.setValue(4, forKey: "weight")
      one.mergePolicy = .rollback
      try one.save()
      #expect(!one.hasChanges)
      #expect(try thing.value(forKey: "weight") as? Int == 3)
      #expect(try tag.value(forKey: "things") as? Set<ManagedObject> == [])
      #expect(try thing.value(forKey: "tags") as? Set<ManagedObject> == [])
      #expect(try StoreFacts(one).findings == [])
    }
  }
}
