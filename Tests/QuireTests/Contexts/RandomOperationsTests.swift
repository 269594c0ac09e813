import Quire
import QuireSimulation
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A model with every shape a relationship can have.
private let model = try! ManagedObjectModel {
  Entity("Thing") {
    Attribute("number", .integer32)
    Attribute("weight", .integer64, default: 0)
    Relationship("parent", toOne: "Thing", inverse: "children")
    Relationship("children", toMany: "Thing", inverse: "parent", deleteRule: .cascade)
    Relationship("twin", toOne: "Thing", inverse: "twin")
    Relationship("cover", toOne: "Thing", inverse: "covered")
    Relationship("covered", toOne: "Thing", inverse: "cover")
    Relationship("friends", toMany: "Thing", inverse: "friends")
    Relationship("tags", toMany: "Tag", inverse: "things")
    Relationship("ranks", toMany: "Thing", inverse: "rankedBy", ordered: true, count: 0...5)
    Relationship("rankedBy", toMany: "Thing", inverse: "ranks")
    Relationship("before", toMany: "Thing", inverse: "after", ordered: true)
    Relationship("after", toMany: "Thing", inverse: "before", ordered: true)
    Relationship("parts", toMany: "Part", inverse: "owner", ordered: true, deleteRule: .cascade)
    Relationship("lock", toOne: "Lock", inverse: "thing")
    Relationship("pointer", toOne: "Thing")
    Relationship("bag", toMany: "Tag")
    Relationship("list", toMany: "Thing", ordered: true)
  }
  Entity("SpecialThing", parent: "Thing") {
    Attribute("rarity", .integer16)
    Relationship("rival", toOne: "SpecialThing", inverse: "rivals")
    Relationship("rivals", toMany: "SpecialThing", inverse: "rival")
  }
  Entity("Tag") {
    Attribute("number", .integer32)
    Relationship("things", toMany: "Thing", inverse: "tags")
  }
  Entity("Part") {
    Attribute("number", .integer32)
    Relationship("owner", toOne: "Thing", inverse: "parts", optional: false)
  }
  Entity("Lock") {
    Attribute("number", .integer32)
    Relationship("thing", toOne: "Thing", inverse: "lock", deleteRule: .deny)
  }
}

private let entityNames = ["Thing", "SpecialThing", "Tag", "Part", "Lock"]

/// One store, one context and an oracle, driven by one seed.
private final class Walk {
  private var generator: SeededGenerator
  private let url: URL?
  /// What has the rows instead.
  private let server: RowServer?
  private let label: String
  private var context: ManagedObjectContext
  private var oracle = ObjectOracle(model)
  private var ids: [Int: ManagedObjectID] = [:]
  /// Objects that somebody holds: unsaved ones, and some others.
  private var held: [Int: ManagedObject] = [:]
  private var last = 0
  private var step = 0
  private(set) var saves = 0
  private(set) var refusals = 0
  /// What happened, to be compared between stores.
  private(set) var trace: [String] = []
  private(set) var isGood = true

  init(seed: UInt64, url: URL?, server: RowServer? = nil) throws {
    generator = SeededGenerator(seed: seed)
    self.url = url
    self.server = server
    label = "seed \(seed)\(url == nil ? server == nil ? "" : ", elsewhere" : ", on disk")"
    context = try Walk.open(url, server)
  }

  private static func open(_ url: URL?, _ server: RowServer?) throws -> ManagedObjectContext {
    if let server {
      return GotchaHome.context(of: try server.coordinator(.plain, model, classes: []))
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: url == nil ? .inMemory : .quire, at: url)
    return GotchaHome.context(of: coordinator)
  }

  private func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    if condition { return }
    isGood = false
    Issue.record("\(label), step \(step): \(what())")
  }

  func run(_ operations: Int) throws {
    while step < operations, isGood {
      step += 1
      switch generator.below(100) {
      case 0..<16: try insert()
      case 16..<28: try setAttribute()
      case 28..<46: try setOne()
      case 46..<68: try setMany()
      case 68..<76: try delete()
      case 76..<88: try save()
      case 88..<90: rollback()
      case 90..<95: forget()
      default: try compare(context)
      }
    }
    if isGood { try save() }
    if isGood, !context.hasChanges { try reopen() }
  }

  // MARK: Operations

  private func object(_ id: Int) throws -> ManagedObject {
    let isToBeHeld = generator.below(2) == 0
    if let object = held[id] { return object }
    let object = try #require(ids[id].flatMap { context.object(with: $0) }, "\(label): \(id)")
    if isToBeHeld { held[id] = object }
    return object
  }

  private func random<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[generator.below(elements.count)]
  }

  private func insert() throws {
    guard oracle.living.count < 60, let name = random(entityNames) else { return }
    last += 1
    let object = try EntityDescription.insertNewObject(forEntityName: name, into: context)
    held[last] = object
    ids[last] = object.objectID
    oracle.insert(last, name)
    if name.hasSuffix("Thing") { oracle.set(last, "weight", 0) }
    try object.setValue(last, forKey: "number")
    oracle.set(last, "number", last)
    if name == "Part", let owner = random(oracle.living("Thing")) {
      try object.setValue(self.object(owner), forKey: "owner")
      oracle.link(last, "owner", to: owner)
    }
  }

  private func setAttribute() throws {
    guard let id = random(oracle.living("Thing")) else { return }
    let value: Int? = generator.below(5) == 0 ? nil : generator.below(20)
    try object(id).setValue(value, forKey: "weight")
    oracle.set(id, "weight", value)
  }

  private func relationship(isToMany: Bool) -> (Int, RelationshipDescription)? {
    guard let id = random(oracle.living) else { return nil }
    let all = oracle.relationships(of: oracle.nodes[id]!.entity).filter {
      $0.isToMany == isToMany
    }
    return random(all).map { (id, $0) }
  }

  private func setOne() throws {
    guard let (id, relationship) = relationship(isToMany: false) else { return }
    let target =
      generator.below(4) == 0 ? nil : random(oracle.living(relationship.destination))
    try object(id).setValue(target.map(object), forKey: relationship.name)
    oracle.setMembers(id, relationship.name, target.map { [$0] } ?? [])
  }

  private func setMany() throws {
    guard let (id, relationship) = relationship(isToMany: true) else { return }
    var members = oracle.members(id, relationship.name)
    let candidates = oracle.living(relationship.destination)
    switch generator.below(6) {
    case 0: members = []
    case 1: members.shuffle(using: &generator)
    case 2, 3: members += [random(candidates)].compactMap { $0 }.filter { !members.contains($0) }
    case 4: if !members.isEmpty { members.remove(at: generator.below(members.count)) }
    default: members = Array(candidates.shuffled(using: &generator).prefix(generator.below(6)))
    }
    let objects = try members.map(object)
    try object(id).setValue(
      relationship.isOrdered ? objects as Any : Set(objects) as Any, forKey: relationship.name)
    oracle.setMembers(id, relationship.name, members)
  }

  private func delete() throws {
    guard let id = random(oracle.living) else { return }
    context.delete(try object(id))
    context.processPendingChanges()
    oracle.delete(id)
  }

  private func save() throws {
    let complaints = oracle.complaints
    do {
      try context.save()
      expect(complaints.isEmpty, "the save should have failed: \(complaints)")
      for (id, object) in held { ids[id] = object.objectID }
      oracle.save()
      saves += 1
      for id in ids.keys where oracle.nodes[id] == nil {
        ids[id] = nil
        held[id] = nil
      }
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      if server == nil {
        let findings = try StoreInspection(of: store).findings
        expect(findings.isEmpty, findings.joined(separator: "\n"))
      }
      try compare(context)
      try compare(SmallGallery.sibling(of: context), "another context: ")
      if generator.below(10) == 0 { try reopen() }
    } catch let error as PersistenceError {
      refusals += 1
      expect(!complaints.isEmpty, "the save failed: \(error)")
      expect(error.code.rawValue < 1700, "\(error)")
      try compare(context, "after a save that failed: ")
      if generator.below(2) == 0 { rollback() }
    }
    trace.append("\(step): \(saves) saved, \(refusals) refused")
  }

  private func rollback() {
    context.rollback()
    oracle.rollback()
    for id in ids.keys where oracle.nodes[id] == nil {
      ids[id] = nil
      held[id] = nil
    }
  }

  /// Lets go of objects, or of what they have read.
  private func forget() {
    for id in oracle.nodes.keys.sorted() where !oracle.nodes[id]!.isNew {
      if generator.below(2) == 0 { held[id] = nil }
    }
    switch generator.below(4) {
    case 0: context.refreshAllObjects()
    case 1 where !context.hasChanges:
      held = [:]
      context.reset()
    default: break
    }
  }

  private func reopen() throws {
    guard url != nil || server != nil else { return }
    held = [:]
    let coordinator = try #require(context.persistentStoreCoordinator)
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    if let url { expect(try StoreInspection(of: url).findings.isEmpty, "after closing") }
    context = try Walk.open(url, server)
    try compare(context, "reopened: ")
  }

  // MARK: Comparison

  private func compare(_ context: ManagedObjectContext, _ when: String = "") throws {
    for entity in entityNames {
      let expected = oracle.living(entity)
      let request = FetchRequest<ManagedObject>(entityName: entity)
      let found = try context.fetch(request)
      let numbers = try found.map { try $0.value(forKey: "number") as? Int ?? -1 }
      expect(Set(numbers) == Set(expected), "\(when)\(entity): \(numbers), expected \(expected)")
      expect(numbers.count == expected.count, "\(when)\(entity) twice: \(numbers)")
      expect(try context.count(for: request) == expected.count, "\(when)count of \(entity)")
      guard isGood else { return }
      if when.isEmpty { trace.append("\(step) \(entity) \(numbers)") }
      for (object, id) in zip(found, numbers) { try compare(object, id, when) }
    }
    try compareWeights(context, when)
  }

  private func compare(_ object: ManagedObject, _ id: Int, _ when: String) throws {
    let node = oracle.nodes[id]!
    expect(object.entity.name == node.entity, "\(when)\(id) is a \(object.entity.name)")
    if node.entity.hasSuffix("Thing") {
      let weight = try object.value(forKey: "weight") as? Int
      expect(weight == node.values["weight"], "\(when)\(id).weight is \(weight ?? -1)")
    }
    for relationship in oracle.relationships(of: node.entity) {
      let value = try object.value(forKey: relationship.name)
      let members: [ManagedObject]
      switch value {
      case let array as [ManagedObject]: members = array
      case let set as Set<ManagedObject>: members = Array(set)
      case let object as ManagedObject: members = [object]
      default: members = []
      }
      let numbers = try members.map { try $0.value(forKey: "number") as? Int ?? -1 }
      let expected = oracle.members(id, relationship.name)
      let isSame =
        relationship.isOrdered ? numbers == expected : numbers.sorted() == expected.sorted()
      expect(isSame, "\(when)\(id).\(relationship.name) is \(numbers), expected \(expected)")
    }
  }

  private func compareWeights(_ context: ManagedObjectContext, _ when: String) throws {
    var request = FetchRequest<ManagedObject>(entityName: "Thing")
    request.predicate = Key("weight") > 9 && Key("parent.weight") != 3
    request.sortDescriptors = [FetchSortDescriptor(key: "weight", ascending: false)]
    let found = try context.fetch(request).map { try $0.value(forKey: "weight") as? Int ?? -1 }
    func weight(_ id: Int) -> Int? { oracle.nodes[id]?.values["weight"] }
    let expected = oracle.living("Thing").filter { id in
      (weight(id) ?? 0) > 9 && oracle.members(id, "parent").first.flatMap(weight) != 3
    }.map { oracle.nodes[$0]?.values["weight"] ?? -1 }.sorted(by: >)
    expect(found == expected, "\(when)weights \(found), expected \(expected)")
  }
}

@Suite struct RandomOperationsTests {
  private static let seeds: [UInt64] = Array(1...Amount.of(debug: 1, release: 4, exhaustive: 200))
  private static let operationCount = Amount.of(debug: 220, release: 500, exhaustive: 3000)

  @Test(arguments: seeds)
  func `objects whose rows are elsewhere do what those in memory do`(_ seed: UInt64) throws {
    let inMemory = try Walk(seed: seed, url: nil)
    try inMemory.run(Self.operationCount)
    let elsewhere = try Walk(seed: seed, url: nil, server: RowServer())
    try elsewhere.run(Self.operationCount)
    #expect(elsewhere.saves > Self.operationCount / 50 && elsewhere.refusals > 0)
    #expect(inMemory.trace == elsewhere.trace)
  }

  @Test(arguments: seeds)
  func `objects do what dictionaries would do, in memory and in a file alike`(
    _ seed: UInt64
  ) throws {
    let inMemory = try Walk(seed: seed, url: nil)
    try inMemory.run(Self.operationCount)
    try withTemporaryFolder { folder in
      let onDisk = try Walk(seed: seed, url: folder.appending(path: "store"))
      try onDisk.run(Self.operationCount)
      print(
        "seed \(seed): \(Self.operationCount) operations, \(onDisk.saves) saves, "
          + "\(onDisk.refusals) refused")
      #expect(onDisk.saves > Self.operationCount / 50 && onDisk.refusals > 0)
      #expect(inMemory.trace == onDisk.trace)
    }
  }
}
