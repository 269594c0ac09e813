import Quire
import QuireSimulation
import QuireTesting
import Testing

/// Undoing and redoing where an object has left in one direction and is there in the other.
///
/// A lock was deleted, its door got another one, and that was saved. Both were undone and made
/// again, with a save between: the lock led to the door once more, and the save was refused.
@Suite struct TakenObjectTests {
  private static let model = try! ManagedObjectModel {
    Entity("Lock") {
      Attribute("number", .integer32)
      Relationship("doors", toMany: "Door", inverse: "lock", deleteRule: .deny)
      Relationship("steps", toMany: "Door", inverse: "stepLock", ordered: true, deleteRule: .deny)
      Relationship("main", toOne: "Door", inverse: "mainLock", deleteRule: .deny)
    }
    Entity("Door") {
      Attribute("number", .integer32)
      Relationship("lock", toOne: "Lock", inverse: "doors")
      Relationship("stepLock", toOne: "Lock", inverse: "steps")
      Relationship("mainLock", toOne: "Lock", inverse: "main")
    }
  }

  private static let homes = try! ManagedObjectModel {
    Entity("Home") {
      Relationship("annexOf", toOne: "Home", inverse: "annexes")
      Relationship("annexes", toMany: "Home", inverse: "annexOf", deleteRule: .cascade)
      Relationship("guests", toMany: "Guest", inverse: "home", deleteRule: .noAction)
    }
    Entity("Guest") {
      Relationship("home", toOne: "Home", inverse: "guests", deleteRule: .noAction)
    }
  }

  @Test(arguments: [("lock", "doors"), ("stepLock", "steps"), ("mainLock", "main")])
  func `redo takes members from a deleted object again after undo has restored it`(
    _ key: String, _ inverse: String
  ) throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let door = try context.insert("Door")
    let (old, new) = (try context.insert("Lock"), try context.insert("Lock"))
    try door.setValue(old, forKey: key)
    try context.save()
    context.undoManager = UndoManager()
    context.delete(old)
    context.processPendingChanges()
    try door.setValue(new, forKey: key)
    try context.save()
    #expect(old.managedObjectContext == nil)
    context.undo()
    context.undo()
    #expect(old.managedObjectContext === context && old.isInserted)
    #expect(try door.value(forKey: key) as? ManagedObject === old)
    // It is saved again: what deletes it next leaves it in the context.
    try context.save()
    context.redo()
    context.redo()
    #expect(old.isDeleted)
    #expect(try door.value(forKey: key) as? ManagedObject === new)
    try context.save()
    let facts = try StoreFacts(context)
    #expect(facts.findings == [])
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Lock")) == 1)
    context.undo()
    context.undo()
    #expect(try door.value(forKey: key) as? ManagedObject === old)
    #expect(try members(old, inverse) == [door])
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }

  /// The save that failed had kept what the object was, to bring it back; and the object came back
  /// by itself, and was changed.
  @Test func `an object is brought back as it was last, also after a save that failed`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let (lock, other) = (try context.insert("Lock", ["number": 1]), try context.insert("Lock"))
    try context.save()
    let sibling = SmallGallery.sibling(of: context)
    try sibling.existingObject(with: other.objectID).setValue(2, forKey: "number")
    let undoManager = UndoManager()
    context.undoManager = undoManager
    context.delete(lock)
    context.processPendingChanges()
    undoManager.disableUndoRegistration()
    try other.setValue(3, forKey: "number")
    try sibling.save()
    #expect(throws: PersistenceError.self) { try context.save() }
    context.refresh(other, mergeChanges: false)
    undoManager.enableUndoRegistration()
    context.insert(lock)
    context.processPendingChanges()
    undoManager.disableUndoRegistration()
    try lock.setValue(4, forKey: "number")
    context.processPendingChanges()
    undoManager.enableUndoRegistration()
    try context.save()
    context.undo()
    #expect(lock.isDeleted)
    try context.save()
    #expect(lock.managedObjectContext == nil)
    context.undo()
    #expect(try lock.value(forKey: "number") as? Int == 4)
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }

  @Test(arguments: [false, true])
  func `an order that a deleted object had is put back where it has come back meanwhile`(
    _ isSaved: Bool
  ) throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let doors = try (0..<4).map { try context.insert("Door", ["number": $0]) }
    let lock = try context.insert("Lock")
    try lock.setValue(doors, forKey: "steps")
    try context.save()
    context.undoManager = UndoManager()
    try lock.setValue([doors[0], doors[1], doors[3], doors[2]], forKey: "steps")
    context.processPendingChanges()
    context.delete(lock)
    context.processPendingChanges()
    let new = try context.insert("Lock")
    try new.setValue([doors[1], doors[2], doors[0], doors[3]], forKey: "steps")
    try context.save()
    for _ in 1...2 {
      for _ in 1...2 { context.undo() }
      #expect(try members(lock, "steps") == [doors[0], doors[1], doors[3], doors[2]])
      context.undo()
      #expect(try members(lock, "steps") == doors)
      if isSaved { try context.save() }
      for _ in 1...3 { context.redo() }
      #expect(try members(new, "steps") == [doors[1], doors[2], doors[0], doors[3]])
    }
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }

  /// A new object leaves whatever its delete rules say. Undone and saved it was one of the store,
  /// and making the deletion again was denied.
  @Test(
    arguments: [("lock", "doors"), ("stepLock", "steps"), ("mainLock", "main")], [false, true])
  func `the deletion of an object that was never saved is made again after a save`(
    _ keys: (key: String, inverse: String), _ isInsertion: Bool
  ) throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let undoManager = UndoManager()
    let door = try context.insert("Door")
    try context.save()
    context.undoManager = undoManager
    let lock = try context.insert("Lock")
    // What nobody has entered is not undone with the insertion.
    if isInsertion { undoManager.disableUndoRegistration() }
    try door.setValue(lock, forKey: keys.key)
    if isInsertion { undoManager.enableUndoRegistration() }
    context.processPendingChanges()
    if !isInsertion {
      context.delete(lock)
      context.processPendingChanges()
      context.undo()
    }
    for _ in 1...2 {
      #expect(try door.value(forKey: keys.key) as? ManagedObject === lock)
      #expect(try members(lock, keys.inverse) == [door])
      try context.save()
      if isInsertion { context.undo() } else { context.redo() }
      #expect(lock.isDeleted)
      #expect(try door.value(forKey: keys.key) == nil)
      try context.save()
      #expect(try StoreFacts(context).findings == [])
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Lock")) == 0)
      if isInsertion { context.redo() } else { context.undo() }
    }
  }

  private static let nodes = try! ManagedObjectModel {
    Entity("Node") {
      Relationship("pointer", toOne: "Node")
      Relationship("pointers", toMany: "Node")
      Relationship("list", toMany: "Node", ordered: true)
      Relationship("twin", toOne: "Node", inverse: "twin")
      Relationship("owner", toOne: "Node", inverse: "parts")
      Relationship("parts", toMany: "Node", inverse: "owner")
      Relationship("peers", toMany: "Node", inverse: "peers")
      Relationship("ranks", toMany: "Node", inverse: "rankedBy", ordered: true)
      Relationship("rankedBy", toMany: "Node", inverse: "ranks")
    }
  }

  /// A save clears what leads to an object that goes, and it led there from then on, when that was
  /// brought back by undo: also what had led elsewhere before.
  @Test(arguments: nodes.entities[0].relationships.map(\.name), [false, true])
  func `undo of a change and a deletion restores the relationship from before both`(
    _ key: String, _ isSet: Bool
  ) throws {
    let context = try ManagedObjectContext.stubbed(Self.nodes)
    let (one, two, other) = (
      try context.insert("Node"), try context.insert("Node"), try context.insert("Node")
    )
    func lead(_ object: ManagedObject, _ destination: ManagedObject) throws {
      let relationship = try #require(object.entity.relationshipsByName[key])
      let value: Any = relationship.isToMany ? [destination] : destination
      try object.setValue(value, forKey: key)
    }
    if isSet { try lead(one, other) }
    try context.save()
    context.undoManager = UndoManager()
    context.delete(two)
    context.processPendingChanges()
    try lead(one, two)
    try context.save()
    #expect(try members(one, key).isEmpty)
    // The first undoes what leads there, unless it has come to nothing.
    while context.undoManager?.canUndo ?? false { context.undo() }
    #expect(two.managedObjectContext === context && !two.isDeleted)
    #expect(try members(one, key) == (isSet ? [other] : []))
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    #expect(try members(one, key) == (isSet ? [other] : []))
  }

  /// A save had cleared what led to the deleted object, so that undoing the later change seemed to
  /// have nothing to put back.
  @Test(arguments: nodes.entities[0].relationships.map(\.name), [0, 1, 2])
  func `undo restores a relationship to a deleted object after later changes and saves`(
    _ key: String, _ changes: Int
  ) throws {
    let context = try ManagedObjectContext.stubbed(Self.nodes)
    let (one, two, other) = (
      try context.insert("Node"), try context.insert("Node"), try context.insert("Node")
    )
    let isToMany = try #require(one.entity.relationshipsByName[key]).isToMany
    func lead(_ destination: ManagedObject?) throws {
      let value: Any? = isToMany ? destination.map { [$0] } ?? [] : destination
      try one.setValue(value, forKey: key)
    }
    try context.save()
    context.undoManager = UndoManager()
    try lead(two)
    context.processPendingChanges()
    context.delete(two)
    context.processPendingChanges()
    try context.save()
    if changes > 0 { try lead(other) }
    context.processPendingChanges()
    if changes != 1 { try lead(nil) }
    try context.save()
    for _ in 1...2 {
      #expect(try members(one, key) == (changes == 1 ? [other] : []))
      repeat { context.undo() } while two.managedObjectContext == nil || two.isDeleted
      #expect(try members(one, key) == [two])
      try context.save()
      #expect(try StoreFacts(context).findings == [])
      context.undo()
      #expect(try members(one, key).isEmpty)
      while context.undoManager?.canRedo ?? false { context.redo() }
      try context.save()
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// The row still led to the first, as nothing had written it since.
  @Test(arguments: [false, true])
  func `undo restores a relationship to each of two objects deleted in turn`(_ isSet: Bool) throws {
    let context = try ManagedObjectContext.stubbed(Self.nodes)
    let (owner, other) = (try context.insert("Node"), try context.insert("Node"))
    let (one, two) = (try context.insert("Node"), try context.insert("Node"))
    try owner.setValue(one, forKey: "pointer")
    try context.save()
    context.undoManager = UndoManager()
    context.delete(one)
    try context.save()
    try owner.setValue(two, forKey: "pointer")
    context.processPendingChanges()
    context.delete(two)
    try context.save()
    if isSet {
      try owner.setValue(other, forKey: "pointer")
      try context.save()
      context.undo()
      #expect(try members(owner, "pointer") == [])
    }
    context.undo()
    #expect(try members(owner, "pointer") == [two])
    try context.save()
    context.undo()
    #expect(try members(owner, "pointer") == [])
    context.undo()
    #expect(try members(owner, "pointer") == [one])
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }

  /// A refresh dropped what led to an object that had left before it was ever saved. Undone, made
  /// again and saved, nothing told that it had led there.
  @Test(arguments: nodes.entities[0].relationships.map(\.name), [false, true])
  func `undo restores a relationship to an unsaved object after a refresh and saves`(
    _ key: String, _ mergesChanges: Bool
  ) throws {
    let context = try ManagedObjectContext.stubbed(Self.nodes)
    let owner = try context.insert("Node")
    try context.save()
    context.undoManager = UndoManager()
    let new = try context.insert("Node")
    context.processPendingChanges()
    let isToMany = Self.nodes.entities[0].relationships.contains { $0.name == key && $0.isToMany }
    try owner.setValue(isToMany ? [new] as Any : new, forKey: key)
    context.processPendingChanges()
    context.delete(new)
    context.processPendingChanges()
    _ = try context.insert("Node")
    context.refresh(owner, mergeChanges: mergesChanges)
    try context.save()
    for _ in 1...2 {
      context.undo()
      context.undo()
      #expect(try members(owner, key) == [new])
      context.redo()
      context.redo()
      try context.save()
      #expect(try members(owner, key) == [])
    }
    context.undo()
    context.undo()
    #expect(try members(owner, key) == [new])
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }

  /// The deletion, made again and saved, had removed the member before its own removal was made
  /// again, which then was nothing to undo.
  @Test(arguments: nodes.entities[0].relationships.filter(\.isToMany).map(\.name))
  func `a member that was deleted and then removed is there when both are undone again`(
    _ key: String
  ) throws {
    let context = try ManagedObjectContext.stubbed(Self.nodes)
    let (owner, one, two) = (
      try context.insert("Node"), try context.insert("Node"), try context.insert("Node")
    )
    try owner.setValue([one, two], forKey: key)
    try context.save()
    context.undoManager = UndoManager()
    context.delete(one)
    context.processPendingChanges()
    try owner.setValue([two], forKey: key)
    context.processPendingChanges()
    for _ in 1...2 {
      while context.undoManager?.canUndo ?? false { context.undo() }
      #expect(try Set(members(owner, key)) == [one, two])
      context.redo()
      try context.save()
      while context.undoManager?.canRedo ?? false { context.redo() }
      #expect(try members(owner, key) == [two])
    }
    while context.undoManager?.canUndo ?? false { context.undo() }
    #expect(try Set(members(owner, key)) == [one, two])
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }

  /// Two objects had left an ordered relationship: what came back with the first was undone by what
  /// the second had lost.
  @Test func `an order is the former one after all was undone and made again, wherever saves were`()
    throws
  {
    // Each bit says whether one step is saved.
    for saves in stride(from: 1, to: 512, by: Amount.of(debug: 8, release: 1)) {
      let context = try ManagedObjectContext.stubbed(Self.nodes)
      context.undoManager = UndoManager()
      let (owner, one) = (try context.insert("Node"), try context.insert("Node"))
      let (two, three) = (try context.insert("Node"), try context.insert("Node"))
      context.processPendingChanges()
      try owner.setValue([one, two, three], forKey: "list")
      context.processPendingChanges()
      context.delete(three)
      context.processPendingChanges()
      context.delete(one)
      var step = 0
      func saveHere() throws {
        if saves >> step & 1 == 1 { try context.save() } else { context.processPendingChanges() }
        step += 1
      }
      try saveHere()
      for _ in 1...4 {
        context.undo()
        try saveHere()
      }
      for _ in 1...4 {
        context.redo()
        try saveHere()
      }
      #expect(try members(owner, "list") == [two])
      context.undo()
      #expect(try members(owner, "list") == [one, two], "saves \(String(saves, radix: 2))")
      context.undo()
      #expect(try members(owner, "list") == [one, two, three], "saves \(String(saves, radix: 2))")
    }
  }

  /// Between two actions of a group the two sides need not agree: a redo put one of them right that
  /// the next action was about to change, and then the other.
  @Test func `sides are made to agree when all of a group was undone, not on the way`() throws {
    // Each bit says whether one step is saved.
    for saves in 0..<8 {
      let context = try ManagedObjectContext.stubbed(Self.homes)
      let (old, new) = (try context.insert("Home"), try context.insert("Home"))
      let guest = try context.insert("Guest")
      try context.save()
      context.undoManager = UndoManager()
      try guest.setValue(old, forKey: "home")
      try old.setValue(Set([new]), forKey: "annexes")
      context.delete(old)
      // The event ends with the deletion of this one as well.
      try guest.setValue(new, forKey: "home")
      try context.save()
      #expect(try guest.value(forKey: "home") == nil)
      for step in 0..<4 {
        if step % 2 == 0 { context.undo() } else { context.redo() }
        let isSaved = step == 3 || saves >> step & 1 == 1
        if isSaved { try context.save() }
        // What was deleted and is not saved may still be there: so says the rule.
        if isSaved || step % 2 == 0 {
          #expect(try members(guest, "home") == [], "step \(step), saves \(saves)")
        }
        #expect(
          try context.count(for: FetchRequest<ManagedObject>(entityName: "Home"))
            == (step % 2 == 0 ? 2 : 0))
        if step % 2 == 0 { #expect(try members(old, "guests") == []) }
      }
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// The order at the time a member was lost had another one, which has left since.
  @Test func `an order gets back the member that returns, and no other`() throws {
    let model = try ManagedObjectModel {
      Entity("Node") { Relationship("list", toMany: "Node", ordered: true) }
    }
    // Each bit says whether one step is saved.
    for saves in 0..<64 {
      let context = try ManagedObjectContext.stubbed(model)
      let undoManager = UndoManager()
      context.undoManager = undoManager
      var step = 0
      func saveHere() throws {
        if saves >> step & 1 == 1 { try context.save() } else { context.processPendingChanges() }
        step += 1
      }
      let (owner, first) = (try context.insert("Node"), try context.insert("Node"))
      try owner.setValue([first], forKey: "list")
      try context.save()
      context.delete(first)
      try context.save()
      let second = try context.insert("Node")
      try saveHere()
      try owner.setValue([second], forKey: "list")
      try saveHere()
      context.undo()
      try saveHere()
      context.redo()
      try saveHere()
      for _ in 1...2 { context.undo() }
      try saveHere()
      context.undo()
      #expect(try members(owner, "list") == [first], "saves \(String(saves, radix: 2))")
      try saveHere()
      for _ in 1...2 { context.redo() }
      #expect(try members(owner, "list") == [], "saves \(String(saves, radix: 2))")
      context.redo()
      #expect(try members(owner, "list") == [second], "saves \(String(saves, radix: 2))")
      try context.save()
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// Delete rules clear the other side alone. Led there again, the deleted object was given a
  /// member twice, and lost it when that was undone.
  @Test(arguments: [false, true])
  func `a deleted object keeps the members that are led to it again, also when that is undone`(
    _ isToOne: Bool
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Node") {
        if isToOne {
          Relationship("lead", toOne: "Node", inverse: "members")
        } else {
          Relationship("lead", toMany: "Node", inverse: "members", ordered: true)
        }
        Relationship("members", toMany: "Node", inverse: "lead", ordered: true)
      }
    }
    let context = try ManagedObjectContext.stubbed(model)
    let (owner, member) = (try context.insert("Node"), try context.insert("Node"))
    try owner.setValue([member], forKey: "members")
    try context.save()
    context.undoManager = UndoManager()
    context.delete(owner)
    context.processPendingChanges()
    try member.setValue(isToOne ? owner as Any : [owner], forKey: "lead")
    #expect(try members(owner, "members") == [member])
    context.processPendingChanges()
    context.undo()
    #expect(try members(owner, "members") == [member])
    context.undo()
    #expect(try members(owner, "members") == [member] && members(member, "lead") == [owner])
    context.redo()
    context.redo()
    #expect(try members(owner, "members") == [member])
    context.undo()
    context.undo()
    try member.setValue(isToOne ? owner as Any : [owner], forKey: "lead")
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    #expect(try members(owner, "members") == [member] && members(member, "lead") == [owner])
  }

  /// The order came back before the object, which was therefore no member that was added.
  @Test(arguments: [false, true])
  func `an object that an undone order has brought back stays there when it is read anew`(
    _ refreshesAll: Bool
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Node") {
        Relationship(
          "peers", toMany: "Node", inverse: "peers", ordered: true, deleteRule: .noAction)
      }
    }
    let first = try ManagedObjectContext.stubbed(model)
    let new = try (0..<3).map { _ in try first.insert("Node") }
    try new[0].setValue([new[1], new[2]], forKey: "peers")
    try first.save()
    let context = SmallGallery.sibling(of: first)
    context.undoManager = UndoManager()
    let all = try new.map { try context.existingObject(with: $0.objectID) }
    context.delete(all[1])
    // The deletion is not processed yet, so the order still has the object.
    try all[0].setValue([all[2], all[1]], forKey: "peers")
    try context.save()
    #expect(try members(all[0], "peers") == [all[2]])
    context.undo()
    if refreshesAll {
      context.refreshAllObjects()
    } else {
      context.refresh(all[0], mergeChanges: true)
    }
    #expect(
      try members(all[0], "peers") == [all[1], all[2]] && members(all[1], "peers") == [all[0]])
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    #expect(
      try members(all[0], "peers") == [all[1], all[2]] && members(all[1], "peers") == [all[0]])
  }

  private func members(_ object: ManagedObject, _ key: String) throws -> [ManagedObject] {
    switch try object.value(forKey: key) {
    case let list as [ManagedObject]: list
    case let set as Set<ManagedObject>: Array(set)
    case let one as ManagedObject: [one]
    default: []
    }
  }
}
