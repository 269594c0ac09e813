import Quire
import QuireSimulation
import Testing

/// Relationships with more members than are looked through one by one.
@Suite struct ManyMembersTests {
  private static let model = try! ManagedObjectModel {
    Entity("Node") {
      Attribute("number", .integer32)
      Relationship("owner", toOne: "Node", inverse: "parts")
      Relationship("parts", toMany: "Node", inverse: "owner")
      Relationship("rowOf", toOne: "Node", inverse: "rows")
      Relationship("rows", toMany: "Node", inverse: "rowOf", ordered: true)
      Relationship("friends", toMany: "Node", inverse: "friends")
      Relationship("before", toMany: "Node", inverse: "after", ordered: true)
      Relationship("after", toMany: "Node", inverse: "before")
      Relationship("bag", toMany: "Node")
      Relationship("list", toMany: "Node", ordered: true)
    }
  }

  private static let keys = ["parts", "rows", "friends", "before", "after", "bag", "list"]

  /// Asked by each member in turn, whether it leads back took a reading of all of them each time.
  @Test func `an inspection reads each member of an ordered relationship once`() throws {
    for count in [50, 200] {
      let context = try ManagedObjectContext.stubbed(Self.model)
      let nodes = try (0..<count).map { try context.insert("Node", ["number": $0]) }
      let owner = try context.insert("Node")
      try owner.setValue(nodes, forKey: "rows")
      try owner.setValue(nodes, forKey: "before")
      try context.save()
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      let inspection = try StoreInspection(of: store)
      #expect(inspection.isSound)
      // Those that lead back by a reference, and those that do so by a link.
      #expect(inspection.orderedReadCount == 2 * count)
    }
  }

  /// The relationship of one node, changed in every way, and what it should be.
  private struct Walk {
    let context: ManagedObjectContext
    let key: String
    let nodes: [ManagedObject]
    var expected: [Int] = []
    var generator: SeededGenerator

    var isOrdered: Bool { ["rows", "before", "list"].contains(key) }

    init(_ context: ManagedObjectContext, _ key: String, _ seed: UInt64) throws {
      self.context = context
      self.key = key
      generator = SeededGenerator(seed: seed)
      nodes = try (0..<80).map { try context.insert("Node", ["number": $0]) }
      try context.save()
      context.undoManager = UndoManager()
    }

    mutating func step() throws {
      let (owner, number) = (nodes[0], generator.below(nodes.count))
      switch generator.below(12) {
      case 0..<6:
        if expected.contains(number) { return }
        if isOrdered {
          try owner.mutableOrderedSetValue(forKey: key).add(nodes[number])
        } else {
          try owner.mutableSetValue(forKey: key).add(nodes[number])
        }
        expected.append(number)
      case 6..<9:
        guard !expected.isEmpty else { return }
        let number = expected.remove(at: generator.below(expected.count))
        if isOrdered {
          try owner.mutableOrderedSetValue(forKey: key).remove(nodes[number])
        } else {
          try owner.mutableSetValue(forKey: key).remove(nodes[number])
        }
      case 9:
        let wanted = Array((0..<nodes.count).shuffled(using: &generator).prefix(number))
        if isOrdered ? wanted == expected : Set(wanted) == Set(expected) { return }
        expected = wanted
        let members = expected.map { nodes[$0] }
        try owner.setValue(isOrdered ? members as Any : Set(members), forKey: key)
      case 10:
        // From the end, and from the beginning.
        for _ in 0..<min(3, expected.count) {
          let place = generator.below(2) == 0 ? 0 : expected.count - 1
          let number = expected.remove(at: place)
          try
            (isOrdered
            ? owner.mutableOrderedSetValue(forKey: key).remove(nodes[number])
            : owner.mutableSetValue(forKey: key).remove(nodes[number]))
        }
      default:
        if generator.below(4) == 0 { try context.save() }
      }
    }

    func shown(in context: ManagedObjectContext) throws -> [Int] {
      let owner = try context.existingObject(with: nodes[0].objectID)
      let value = try owner.value(forKey: key)
      let members = value as? [ManagedObject] ?? Array(value as? Set<ManagedObject> ?? [])
      let numbers = try members.compactMap { try $0.value(forKey: "number") as? Int }
      return isOrdered ? numbers : numbers.sorted()
    }

    func isShown(_ numbers: [Int]) throws -> Bool {
      guard try shown(in: context) == (isOrdered ? numbers : numbers.sorted()) else { return false }
      return try nodes.indices.filter(owns) == numbers.sorted()
    }

    private func owns(_ number: Int) throws -> Bool {
      isOrdered
        ? try nodes[0].mutableOrderedSetValue(forKey: key).contains(nodes[number])
        : try nodes[0].mutableSetValue(forKey: key).contains(nodes[number])
    }
  }

  @Test(arguments: GotchaHome.own, keys)
  func `a relationship with many members is what was made of it, also undone`(
    _ home: GotchaHome, _ key: String
  ) throws {
    for seed: UInt64 in 1...Amount.of(sampled: 1, exhaustive: 3) {
      try home.withContext(Self.model, classes: []) { context in
        var walk = try Walk(context, key, seed)
        var states: [[Int]] = []
        for step in 0..<Amount.of(debug: 20, release: 120) {
          let former = walk.expected
          try walk.step()
          context.processPendingChanges()
          if walk.expected != former { states.append(former) }
          try #require(try walk.isShown(walk.expected), "seed \(seed), step \(step)")
        }
        try context.save()
        let fresh = SmallGallery.sibling(of: context)
        #expect(try walk.shown(in: fresh) == walk.shown(in: context))
        for state in states.reversed() {
          context.undo()
          try #require(try walk.isShown(state), "seed \(seed), undone to \(state)")
        }
        #expect(context.undoManager?.canUndo == false)
        try context.save()
        #expect(try StoreFacts(context).findings == [])
      }
    }
  }

  /// Each copied all that had come or gone since the last notice.
  @Test func `members come and go by themselves while somebody observes the context`() throws {
    let context = try SmallGallery.context()
    var notices: [ContextNotice] = []
    let observation = context.observe([.didChangeObjects]) { notices.append($0) }
    let owner = SmallGallery.Artist(context: context)
    let count = Amount.of(debug: 1_000, release: 3_000, exhaustive: 100_000)
    let works = (0..<count).map { _ in SmallGallery.Artwork(context: context) }
    try context.save()
    for work in works { work.artist = owner }
    for work in works[..<(count / 2)] { work.artist = nil }
    context.processPendingChanges()
    #expect(notices.last?.updatedObjects.contains(owner) == true)
    #expect(owner.artworks == Set(works[(count / 2)...]))
    context.delete(owner)
    context.processPendingChanges()
    #expect(notices.last?.deletedObjects.count == 1 + count - count / 2)
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: GotchaHome.own, [false, true])
  func `an object in a relationship with itself is a member once`(
    _ home: GotchaHome, _ isOrdered: Bool
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Node") {
        Relationship(
          "friends", toMany: "Node", inverse: "friends", ordered: isOrdered, count: 0...2)
      }
    }
    try home.withContext(model, classes: []) { context in
      let (one, two) = (try context.insert("Node"), try context.insert("Node"))
      func expect(_ friends: [ManagedObject]) throws {
        let value = try one.value(forKey: "friends")
        if isOrdered {
          #expect(value as? [ManagedObject] == friends)
          #expect(try one.mutableOrderedSetValue(forKey: "friends").count == friends.count)
        } else {
          #expect(value as? Set<ManagedObject> == Set(friends))
          #expect(try one.mutableSetValue(forKey: "friends").count == friends.count)
        }
      }
      for savesBetween in [false, true] {
        try one.addToRelationship([one, two], forKey: "friends")
        try expect([one, two])
        if savesBetween {
          try context.save()
          context.refreshAllObjects()
          try expect([one, two])
          #expect(try StoreFacts(context).findings == [])
        }
        try one.removeFromRelationship(one, forKey: "friends")
        try expect([two])
        try one.removeFromRelationship(two, forKey: "friends")
        try expect([])
        try context.save()
        context.refreshAllObjects()
        try expect([])
        #expect(try StoreFacts(context).findings == [])
      }
    }
  }

  /// Each member of those that are kept for undo comes and goes by itself, and each leaves lists by
  /// itself: neither may look through all others.
  @Test(arguments: GotchaHome.own, keys)
  func `many members leave, with their owner or without, and come back`(
    _ home: GotchaHome, _ key: String
  ) throws {
    try home.withContext(Self.model, classes: []) { context in
      var generator = SeededGenerator(seed: 7)
      let owner = try context.insert("Node", ["number": -1])
      let count = Amount.of(debug: 30, release: 300, exhaustive: 4000)
      let members = try (0..<count).map { try context.insert("Node", ["number": $0]) }
      let stored = members.shuffled(using: &generator)
      let isOrdered = ["rows", "before", "list"].contains(key)
      try owner.setValue(isOrdered ? stored as Any : Set(stored), forKey: key)
      try context.save()
      context.undoManager = UndoManager()
      func shown(in context: ManagedObjectContext) throws -> [ManagedObjectID] {
        let value = try context.existingObject(with: owner.objectID).value(forKey: key)
        if let list = value as? [ManagedObject] { return list.map(\.objectID) }
        return try #require(value as? Set<ManagedObject>).map(\.objectID).sorted {
          $0.description < $1.description
        }
      }
      func ids(_ objects: [ManagedObject]) -> [ManagedObjectID] {
        let ids = objects.map(\.objectID)
        return isOrdered ? ids : ids.sorted { $0.description < $1.description }
      }
      func expectStored(_ objects: [ManagedObject]) throws {
        #expect(try shown(in: context) == ids(objects))
        try context.save()
        #expect(try shown(in: SmallGallery.sibling(of: context)) == ids(objects))
        #expect(try StoreFacts(context).findings == [])
      }
      let (leaving, staying) = (Set(members[..<(count / 2)]), Set(members[(count / 2)...]))
      for member in members where leaving.contains(member) { context.delete(member) }
      context.processPendingChanges()
      try expectStored(stored.filter(staying.contains))
      context.undo()
      try expectStored(stored)
      for member in members where leaving.contains(member) { context.delete(member) }
      context.delete(owner)
      for member in members where staying.contains(member) { context.delete(member) }
      try context.save()
      for _ in 0..<2 {
        context.undo()
        try expectStored(stored)
        context.redo()
        try context.save()
        #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Node")) == 0)
      }
    }
  }
}
