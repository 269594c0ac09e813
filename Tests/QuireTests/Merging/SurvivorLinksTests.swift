import Quire
import Testing

// Two contexts inserted an object of the same unique value, each with related ones. The second save
// dropped its own object, as its policy says, and the related ones led nowhere from then on: nobody
// was told, and no value said what they had belonged to.
@Suite struct SurvivorLinksTests {
  private static let model = try! ManagedObjectModel {
    Entity("Topic") {
      Attribute("slug", .string)
      Attribute("code", .integer16)
      Attribute("origin", .string)
      Relationship("notes", toMany: "Note", inverse: "topic", deleteRule: .cascade)
      Relationship("pages", toMany: "Page", inverse: "topic", ordered: true)
      Relationship("labels", toMany: "Label", inverse: "topics")
      Relationship("shelves", toMany: "Shelf", inverse: "topics")
      Relationship("cover", toOne: "Cover", inverse: "topic")
      Relationship("author", toOne: "Author", inverse: "topics")
      Relationship("parent", toOne: "Topic", inverse: "children")
      Relationship("children", toMany: "Topic", inverse: "parent")
      UniquenessConstraint("slug")
      UniquenessConstraint("code")
    }
    Entity("Essay", parent: "Topic") {
      Relationship("footnotes", toMany: "Footnote", inverse: "essay")
    }
    Entity("Footnote") { Relationship("essay", toOne: "Essay", inverse: "footnotes") }
    Entity("Note") {
      Attribute("text", .string)
      Relationship("topic", toOne: "Topic", inverse: "notes")
    }
    Entity("Page") {
      Attribute("number", .integer16)
      Relationship("topic", toOne: "Topic", inverse: "pages")
    }
    Entity("Label") { Relationship("topics", toMany: "Topic", inverse: "labels") }
    Entity("Shelf") {
      Relationship("topics", toMany: "Topic", inverse: "shelves", ordered: true)
    }
    Entity("Cover") { Relationship("topic", toOne: "Topic", inverse: "cover") }
    Entity("Author") { Relationship("topics", toMany: "Topic", inverse: "author") }
    Entity("Mark") {
      Relationship("topic", toOne: "Topic")
      Relationship("topics", toMany: "Topic", ordered: true)
    }
  }

  /// Those by which one object stays in another's place.
  private static let policies: [MergePolicyType] = [
    .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
    .rollbackMergePolicyType,
  ]

  /// Two contexts of one store, which have looked at it.
  private func contexts(_ type: MergePolicyType) throws -> (
    one: ManagedObjectContext, two: ManagedObjectContext
  ) {
    let one = try ManagedObjectContext.stubbed(Self.model)
    let two = SmallGallery.sibling(of: one)
    two.mergePolicy = MergePolicy(merge: type)
    #expect(try two.all("Topic").isEmpty)
    return (one, two)
  }

  private func one(_ object: ManagedObject?, _ key: String) throws -> ManagedObject? {
    try object?.value(forKey: key) as? ManagedObject
  }

  private func count(_ object: ManagedObject?, _ key: String) throws -> Int? {
    (try object?.value(forKey: key) as? any Collection)?.count
  }

  @Test(arguments: policies)
  func `relationships to two objects of one unique value refer to the survivor`(
    _ type: MergePolicyType
  ) throws {
    let (first, second) = try contexts(type)
    for context in [first, second] {
      let topic = try context.make("Topic", ["slug": "a"])
      try context.make("Note", ["topic": topic])
      for number in 1...2 { try context.make("Page", ["topic": topic, "number": number]) }
      try context.make("Label", ["topics": Set([topic])])
      let others = try ["x", "y"].map {
        try context.make("Topic", ["slug": $0 + (context === first ? "1" : "2")])
      }
      try context.make("Shelf", ["topics": [others[0], topic, others[1]]])
      try context.make("Mark", ["topic": topic, "topics": [others[0], topic, others[1]]])
      try others[0].setValue(topic, forKey: "parent")
      try context.save()
    }
    let third = SmallGallery.sibling(of: first)
    let topics = try third.all("Topic").filter { try $0.value(forKey: "slug") as? String == "a" }
    let topic = try #require(topics.first)
    #expect(topics.count == 1 && topic.objectID.uriRepresentation().lastPathComponent == "p1")
    for name in ["Note", "Page"] {
      for object in try third.all(name) {
        #expect(try self.one(object, "topic") === topic, "\(name)")
      }
    }
    #expect(try count(topic, "notes") == 2 && count(topic, "pages") == 4)
    #expect(try count(topic, "labels") == 2 && count(topic, "children") == 2)
    for shelf in try third.all("Shelf") + third.all("Mark") {
      let members = try #require(try shelf.value(forKey: "topics") as? [ManagedObject])
      #expect(members.count == 3 && members[1] === topic, "in its place")
    }
    for mark in try third.all("Mark") { #expect(try self.one(mark, "topic") === topic) }
    #expect(try StoreFacts(third).findings == [])
    #expect(!second.hasChanges)
  }

  @Test(arguments: policies, [false, true])
  func `a place for one leads to what comes if it was free, and else stays but for object trump`(
    _ type: MergePolicyType, _ isTaken: Bool
  ) throws {
    let (first, second) = try contexts(type)
    let stored = try first.make("Topic", ["slug": "a"])
    if isTaken {
      try first.make("Cover", ["topic": stored])
      try first.make("Author", ["topics": Set([stored])])
    }
    try first.save()
    let new = try second.make("Topic", ["slug": "a"])
    let cover = try second.make("Cover", ["topic": new])
    let author = try second.make("Author", ["topics": Set([new])])
    try second.save()
    let survivor = try #require(try second.all("Topic").first)
    let isLedOn = !isTaken || type == .mergeByPropertyObjectTrumpMergePolicyType
    #expect(try one(cover, "topic") === (isLedOn ? survivor : nil))
    #expect(try (one(survivor, "cover") === cover) == isLedOn)
    #expect(try (one(survivor, "author") === author) == isLedOn)
    #expect(try count(author, "topics") == (isLedOn ? 1 : 0))
    #expect(try StoreFacts(second).findings == [])
  }

  @Test(arguments: policies + [.overwriteMergePolicyType])
  func `of several new objects in one save the one that stays has what led to all`(
    _ type: MergePolicyType
  ) throws {
    let (first, second) = try contexts(type)
    for isStored in [false, true] {
      if isStored, type == .overwriteMergePolicyType { continue }
      let slug = isStored ? "stored" : "new"
      if isStored {
        try first.make("Topic", ["slug": slug])
        try first.save()
      }
      let topics = try (0..<3).map { _ in try second.make("Topic", ["slug": slug]) }
      let notes = try topics.map { try second.make("Note", ["topic": $0]) }
      let marks = try topics.map { try second.make("Mark", ["topic": $0]) }
      let shelf = try second.make("Shelf", ["topics": topics])
      try second.save()
      let survivor = try #require(try one(notes[0], "topic"))
      #expect(try survivor.value(forKey: "slug") as? String == slug)
      for object in notes + marks { #expect(try one(object, "topic") === survivor) }
      #expect(try shelf.value(forKey: "topics") as? [ManagedObject] == [survivor])
      #expect(try count(survivor, "notes") == 3)
    }
    #expect(try StoreFacts(second).findings == [])
  }

  @Test func `a survivor that goes by another constraint hands on what led to it`() throws {
    let (first, second) = try contexts(.mergeByPropertyStoreTrumpMergePolicyType)
    let stored = try first.make("Topic", ["slug": "s", "code": 7])
    try first.save()
    // One slug, and the first of them has the stored object's code.
    let one = try second.make("Topic", ["slug": "a", "code": 7])
    let two = try second.make("Topic", ["slug": "a", "code": 8])
    let notes = try [one, two].map { try second.make("Note", ["topic": $0]) }
    let marks = try [one, two].map { try second.make("Mark", ["topic": $0]) }
    try second.save()
    let survivor = try second.existingObject(with: stored.objectID)
    for object in notes + marks { #expect(try self.one(object, "topic") === survivor) }
    #expect(try StoreFacts(second).findings == [])
  }

  @Test(arguments: policies)
  func `a link between two objects that become one is none, unless it is written over`(
    _ type: MergePolicyType
  ) throws {
    let (first, second) = try contexts(type)
    let stored = try first.make("Topic", ["slug": "a"])
    try first.save()
    let mine = try second.existingObject(with: stored.objectID)
    let new = try second.make("Topic", ["slug": "a", "parent": mine])
    try new.setValue(Set([new, try second.make("Topic", ["slug": "b"])]), forKey: "children")
    try second.save()
    #expect(try second.all("Topic").count == 2)
    if type != .mergeByPropertyObjectTrumpMergePolicyType {
      #expect(try one(mine, "parent") == nil)
    }
    #expect(try StoreFacts(second).findings == [])
  }

  @Test func `a relationship that the survivor's entity does not fit becomes nil`() throws {
    let (first, second) = try contexts(.mergeByPropertyStoreTrumpMergePolicyType)
    try first.make("Topic", ["slug": "a"])
    try first.save()
    let essay = try second.make("Essay", ["slug": "a"])
    let (note, footnote) = (
      try second.make("Note", ["topic": essay]), try second.make("Footnote", ["essay": essay])
    )
    try second.save()
    #expect(try one(note, "topic")?.entity.name == "Topic")
    #expect(try one(footnote, "essay") == nil)
    #expect(try StoreFacts(second).findings == [])
  }

  @Test(arguments: policies, [false, true])
  func `a child's related object leads to what its parent's save has left`(
    _ type: MergePolicyType, _ merging: Bool
  ) throws {
    let (first, second) = try contexts(type)
    let stored = try first.make("Topic", ["slug": "a"])
    try first.save()
    let child = ManagedObjectContext(parent: second)
    child.automaticallyMergesChangesFromParent = merging
    let new = try child.make("Topic", ["slug": "a"])
    let saved = try child.make("Note", ["topic": new])
    try child.save()
    let unsaved = try child.make("Note", ["text": "unsaved"])
    try second.save()
    if !merging { child.refreshAllObjects() }
    #expect(try one(saved, "topic")?.objectID == stored.objectID)
    try unsaved.setValue(try child.existingObject(with: stored.objectID), forKey: "topic")
    try child.save()
    try second.save()
    #expect(try count(try second.existingObject(with: stored.objectID), "notes") == 2)
    #expect(try StoreFacts(second).findings == [])
  }

  private final class StoreTrumpWithLog: MergePolicy {
    var count = 0
    override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
      count += list.count
      try super.resolve(constraintConflicts: list)
    }
  }

  @Test func `a policy of one's own that leaves the rest to super keeps links, too`() throws {
    let policy = StoreTrumpWithLog(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    let (first, second) = try contexts(.mergeByPropertyStoreTrumpMergePolicyType)
    second.mergePolicy = policy
    let stored = try first.make("Topic", ["slug": "a"])
    try first.save()
    let note = try second.make("Note", ["topic": try second.make("Topic", ["slug": "a"])])
    try second.save()
    #expect(policy.count == 1)
    #expect(try one(note, "topic")?.objectID == stored.objectID)
  }
}

extension ManagedObjectContext {
  @discardableResult
  fileprivate func make(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
    let object = try EntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }

  fileprivate func all(_ entity: String) throws -> [ManagedObject] {
    try fetch(FetchRequest<ManagedObject>(entityName: entity))
  }
}
