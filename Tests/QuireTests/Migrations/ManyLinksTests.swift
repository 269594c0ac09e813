import Quire
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Links that are made anew do not all fit into the memory that is meant for them.
struct ManyLinksTests {
  private static let url = URL(filePath: "/store.quire")

  private enum Shape { case plain, ordered, bothOrdered }

  private static func model(_ shape: Shape) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Owner") {
        Attribute("name", .string)
        Relationship("items", toMany: "Item", inverse: "owners", ordered: shape != .plain)
      }
      Entity("Item") {
        Attribute("name", .string)
        Relationship("owners", toMany: "Owner", inverse: "items", ordered: shape == .bothOrdered)
      }
    }
  }

  private static func open(
    _ disk: SimulatedDisk, _ versions: VersionedModel
  ) throws -> ManagedObjectContext {
    try TestStore.open(versions, .migrating, at: url, in: disk)
  }

  /// Who is at the other ends, by name.
  private static func ends(
    _ context: ManagedObjectContext, of entity: String, _ relationship: String
  ) throws -> [String: [String]] {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    var result: [String: [String]] = [:]
    for object in try context.fetch(request) {
      guard let name = try object.value(forKey: "name") as? String else { continue }
      let value = try object.value(forKey: relationship)
      let members = value as? [ManagedObject] ?? Array(value as? Set<ManagedObject> ?? [])
      result[name] = try members.compactMap { try $0.value(forKey: "name") as? String }
    }
    return result
  }

  @Test func `links sorted a few at a time are those that are sorted at once`() throws {
    var stores: [[[String: [String]]]] = []
    let itemCount = Amount.of(debug: 100, release: 300)
    for memory in [1 << 17, 64] {
      let disk = SimulatedDisk()
      let plain = try #require(VersionedModel(versions: [.init("a", Self.model(.plain))]))
      var context = try Self.open(disk, plain)
      var generator = SeededGenerator(seed: 7)
      let items = try (0..<itemCount).map { number in
        let item = try EntityDescription.insertNewObject(forEntityName: "Item", into: context)
        try item.setValue("item \(number)", forKey: "name")
        return item
      }
      for number in 0..<20 {
        let owner = try EntityDescription.insertNewObject(forEntityName: "Owner", into: context)
        try owner.setValue("owner \(number)", forKey: "name")
        try owner.setValue(Set(items.filter { _ in generator.below(4) == 0 }), forKey: "items")
      }
      try context.save()
      let before = try Self.ends(context, of: "Owner", "items").mapValues { $0.sorted() }
      #expect(before.values.reduce(0) { $0 + $1.count } > 3 * itemCount)
      try TestStore.close(context)
      var states: [[String: [String]]] = []
      var old = Shape.plain
      for shape in [Shape.ordered, .bothOrdered, .plain, .bothOrdered, .ordered] {
        let versions = try #require(
          VersionedModel(versions: [.init("a", Self.model(old)), .init("b", Self.model(shape))]))
        old = shape
        context = try LinkMemory.$linkCount.withValue(memory) { try Self.open(disk, versions) }
        let (items, owners) = try (
          Self.ends(context, of: "Owner", "items"), Self.ends(context, of: "Item", "owners")
        )
        #expect(items.mapValues { $0.sorted() } == before, "\(shape)")
        for (owner, names) in items {
          for name in names { #expect(owners[name]?.contains(owner) == true) }
        }
        #expect(try StoreFacts(context).findings == [])
        states.append(shape != .plain ? items : items.mapValues { $0.sorted() })
        states.append(shape == .bothOrdered ? owners : owners.mapValues { $0.sorted() })
        try TestStore.close(context)
      }
      stores.append(states)
    }
    #expect(stores[0] == stores[1])
  }

  // The two ends of a link need not be neighbours in any order.
  @Test(arguments: [1 << 17, 2])
  func `an ordered relationship that becomes its own inverse lists nobody twice`(memory: Int) throws
  {
    func model(_ inverse: String?) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Person") {
          Attribute("name", .string)
          Relationship("friends", toMany: "Person", inverse: inverse, ordered: true)
        }
      }
    }
    let disk = SimulatedDisk()
    let versions = try VersionedModel(versions: [
      .init("a", model(nil)), .init("b", model("friends")),
    ])
    let both = try #require(versions)
    var context = try Self.open(disk, try #require(both.endingAt("a")))
    let (a, b, c) = try (
      context.insert("Person", ["name": "a"]), context.insert("Person", ["name": "b"]),
      context.insert("Person", ["name": "c"])
    )
    try a.setValue([a, b, c], forKey: "friends")
    try b.setValue([c, a], forKey: "friends")
    try context.save()
    try TestStore.close(context)
    context = try LinkMemory.$linkCount.withValue(memory) { try Self.open(disk, both) }
    let friends = try Self.ends(context, of: "Person", "friends")
    #expect(friends == ["a": ["a", "b", "c"], "b": ["c", "a"], "c": ["a", "b"]])
    #expect(try StoreFacts(context).findings == [])
  }

  // The links of the last object are looked at, and nobody asks for what comes after them.
  @Test func `temporary links for a new to-one relationship are gone after the migration`() throws {
    func model(_ hasInverse: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Person") {
          Attribute("name", .string)
          Relationship("pupils", toMany: "Person", inverse: hasInverse ? "teacher" : nil)
          if hasInverse { Relationship("teacher", toOne: "Person", inverse: "pupils") }
        }
      }
    }
    let disk = SimulatedDisk()
    let both = try #require(
      VersionedModel(versions: [.init("a", model(false)), .init("b", model(true))]))
    var context = try Self.open(disk, try #require(both.endingAt("a")))
    let people = try ["a", "b", "c", "d"].map { try context.insert("Person", ["name": $0]) }
    try people[0].setValue(Set([people[2], people[3]]), forKey: "pupils")
    try people[1].setValue(Set([people[0]]), forKey: "pupils")
    try context.save()
    try TestStore.close(context)
    context = try LinkMemory.$linkCount.withValue(1) { try Self.open(disk, both) }
    let pupils = try Self.ends(context, of: "Person", "pupils").mapValues { $0.sorted() }
    #expect(pupils == ["a": ["c", "d"], "b": ["a"], "c": [], "d": []])
    #expect(try StoreFacts(context).findings == [])
  }
}
