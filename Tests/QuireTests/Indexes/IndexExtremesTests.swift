import Quire
import QuireModel
import QuireSimulation
import Testing

/// The smallest and largest values that indexes tell are those that the rows have.
struct IndexExtremesTests {
  private static let types = IndexValues.types

  /// Each attribute `a` has an index, and `p` has the same values and none.
  private static func model(_ generator: inout SeededGenerator) throws -> ManagedObjectModel {
    var thing = Entity("Thing")
    var other = Entity("Other", parent: "Thing")
    for type in types {
      thing.attributes.append(AttributeDescription("a\(type.rawValue)", type))
      thing.attributes.append(AttributeDescription("p\(type.rawValue)", type))
      thing.indexes.append(
        FetchIndexDescription(
          "by\(type.rawValue)", [.init("a\(type.rawValue)", ascending: generator.below(2) == 0)]))
    }
    other.attributes = [AttributeDescription("more", .string)]
    return try ManagedObjectModel(entities: [thing, other])
  }

  private static func add(
    _ count: Int, of entities: [String], to context: ManagedObjectContext,
    _ generator: inout SeededGenerator
  ) throws {
    for _ in 0..<count {
      let object = try context.add(entities[generator.below(entities.count)], [:])
      for type in types where generator.below(6) > 0 {
        let value = IndexValues.random(type, using: &generator)
        try object.setValue(value, forKey: "a\(type.rawValue)")
        try object.setValue(value, forKey: "p\(type.rawValue)")
      }
    }
  }

  private func compare(_ context: ManagedObjectContext, _ label: String) throws {
    for entity in ["Thing", "Other"] {
      for type in Self.types {
        func extremes(_ prefix: String) throws -> [String] {
          let request = FetchRequest<ManagedObject>(entityName: entity)
          let path = ["\(prefix)\(type.rawValue)"]
          let rows = try context.groupRows(
            of: request, by: [], [(.minimum, path), (.maximum, path)])
          // Both zeros are one.
          return rows.flatMap(\.values).map {
            ($0.map(String.init(describing:)) ?? "none").replacing("-0.0", with: "0.0")
          }
        }
        let (found, expected) = (try extremes("a"), try extremes("p"))
        #expect(found == expected, "\(label): \(entity) \(type)")
      }
    }
  }

  @Test(arguments: 1...Amount.of(debug: 4, release: 24) as ClosedRange<UInt64>)
  func `the ends of an index are the smallest and the largest value`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try Self.model(&generator))
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    try compare(context, "empty")
    let entities = [["Thing"], ["Other"], ["Thing", "Other"], ["Thing", "Thing", "Other"]]
    // Few, so that there may be no value at all, or none that is a number.
    for count in [1, 2, 5, 30] {
      try Self.add(count, of: entities[generator.below(4)], to: context, &generator)
      try compare(context, "seed \(seed), \(count) unsaved")
      try context.save()
      try compare(context, "seed \(seed), \(count) more")
    }
    for object in try context.found("Thing").objects.prefix(8) { context.delete(object) }
    try compare(context, "seed \(seed), deleted")
    try context.save()
    try compare(context, "seed \(seed), fewer")
  }

  @Test func `texts that are longer than a key are told by their rows`() throws {
    let model = try ManagedObjectModel {
      Entity("Note") {
        Attribute("text", .string)
        FetchIndex("byText", on: "text")
      }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    let long = String(repeating: "long ", count: 80)
    for end in ["b", "c", "a"] { try context.add("Note", ["text": long + end]) }
    try context.save()
    let request = FetchRequest<ManagedObject>(entityName: "Note")
    let rows = try context.groupRows(
      of: request, by: [], [(.minimum, ["text"]), (.maximum, ["text"])])
    #expect(rows.first?.values == [.value(.string(long + "a")), .value(.string(long + "c"))])
  }
}
