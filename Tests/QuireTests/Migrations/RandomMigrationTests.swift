import Quire
import QuireSimulation
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Two models, and how many objects there are between them.
struct RandomMigration {
  var seed: UInt64
  var old: [Entity]
  var new: [Entity]
  var count: Int
  var changes: [ModelChange] = []

  init(seed: UInt64) throws {
    var random = RandomModel(seed: seed)
    while (try? random.model()) == nil { random = RandomModel(seed: random.generator.next()) }
    try self.init(from: &random, seed: seed)
  }

  init(from random: inout RandomModel, seed: UInt64) throws {
    self.seed = seed
    old = random.entities
    let wanted = 1 + random.generator.below(6)
    for _ in 0..<40 where changes.count < wanted {
      if let change = random.change(from: old) { changes.append(change) }
    }
    new = random.entities
    count = random.chance(8) ? 40 : 8
  }

  enum Outcome { case same, migrated, refused }

  struct Failure: Error, CustomStringConvertible {
    var description: String
    init(_ lines: [String]) { description = lines.prefix(12).joined(separator: "\n") }
  }

  private static let url = URL(filePath: "/store.quire")

  private static func open(
    _ disk: SimulatedDisk, _ model: VersionedModel, _ options: PersistentStoreOptions = [:]
  ) throws -> ManagedObjectContext {
    try TestStore.open(model, options, at: url, in: disk)
  }

  /// - Throws: a ``Failure`` when the migration does not do what the oracle says.
  func run() throws -> Outcome { try run(on: SimulatedDisk()) }

  /// The same on a store that may have been migrated before: more objects are added to it.
  func run(on disk: SimulatedDisk) throws -> Outcome {
    // Few links in memory: they are sorted in several runs, as a million are.
    try LinkMemory.$linkCount.withValue(seed % 2 == 0 ? 3 : LinkMemory.linkCount) {
      try runInMemory(on: disk)
    }
  }

  private func runInMemory(on disk: SimulatedDisk) throws -> Outcome {
    let oldModel = try ManagedObjectModel(entities: old)
    let newModel = try ManagedObjectModel(entities: new)
    let versions = try MigrationTrial.versioned(oldModel, newModel)
    let oldVersion = try #require(versions.endingAt("old"))
    let difference = ModelDifference(from: oldModel, to: newModel)
    let obstacles = ModelDifference.obstacles(from: oldModel, to: newModel)
    if obstacles.certain != difference.obstacles
      || obstacles.conditional != difference.conditionalObstacles
    {
      throw Failure(["a look for obstacles finds others than the difference: \(obstacles)"])
    }
    if oldModel == newModel { return .same }
    var context = try Self.open(disk, oldVersion)
    try StoreContent.fill(context, oldModel, count: count, seed: seed)
    try TestStore.close(context)
    context = try Self.open(disk, oldVersion)
    let before = try StoreContent(context, oldModel)
    let findings = try StoreFacts(context).findings
    if !findings.isEmpty { throw Failure(["before the migration:"] + findings) }
    let identifier = context.persistentStoreCoordinator?.persistentStores.first?.identifier
    try TestStore.close(context)
    let files = disk.files
    let oracle = MigrationOracle(oldModel, newModel, before)
    let refusals = oracle.refusals()
    do {
      context = try Self.open(disk, versions, .migrating)
    } catch let error as PersistenceError {
      try check(error, refusals)
      if disk.files != files { throw Failure(["a refused migration changed the files"]) }
      context = try Self.open(disk, oldVersion)
      let differences = before.differences(in: try StoreContent(context, oldModel))
      if !differences.isEmpty { throw Failure(["after a refusal:"] + differences) }
      return .refused
    }
    guard refusals.isEmpty else {
      throw Failure(["should have been refused: \(refusals)"])
    }
    let (expected, droppedLinkCount) = oracle.outcome()
    let report = context.persistentStoreCoordinator?.persistentStores.first?.migrationReport
    if report?.droppedLinkCount != droppedLinkCount {
      throw Failure([
        "\(droppedLinkCount) links go, and the report says: \(report?.description ?? "nothing")"
      ])
    }
    try check(context, newModel, expected, "migrated")
    if context.persistentStoreCoordinator?.persistentStores.first?.identifier != identifier {
      throw Failure(["the store has another UUID"])
    }
    try TestStore.close(context)
    context = try Self.open(disk, versions)
    try check(context, newModel, expected, "opened again")
    try insert(context, newModel)
    try TestStore.close(context)
    return .migrated
  }

  /// Every line of a refusal names a property that the oracle refuses too, and none is left out,
  /// whether it is refused even without objects or because of them.
  private func check(_ error: PersistenceError, _ refusals: MigrationOracle.Refusals) throws {
    let expected = refusals.certain.union(refusals.conditional)
    let code: PersistenceError.Code =
      refusals.certain.isEmpty ? .migration : .inferredMappingModel
    if refusals.certain.isEmpty, refusals.conditional.isEmpty {
      return try checkNumbers(error, refusals.numbers)
    }
    let lines = error.message.split(separator: "\n").dropFirst()
    let named = Set(lines.compactMap { $0.split(separator: " ").first.map(String.init) })
    guard error.code == code, named == expected, !expected.isEmpty else {
      throw Failure(["refused: \(error)", "the oracle refuses \(refusals)"])
    }
  }

  /// The objects whose numbers do not fit are named, all or the first twenty of them.
  private func checkNumbers(_ error: PersistenceError, _ expected: Set<String>) throws {
    let named = Set(
      error.detailedErrors.compactMap { $0.message.components(separatedBy: " is ").first })
    let isRight = expected.count <= 20 ? named == expected : named.isSubset(of: expected)
    guard error.code == .migration, isRight, named.count == min(20, expected.count),
      error.message.hasPrefix("\(expected.count) number"), !expected.isEmpty
    else { throw Failure(["refused: \(error)", "the oracle refuses \(expected.sorted())"]) }
  }

  private func check(
    _ context: ManagedObjectContext, _ model: ManagedObjectModel, _ expected: StoreContent,
    _ when: String
  ) throws {
    let lines =
      expected.differences(in: try StoreContent(context, model))
      + (try StoreFacts(context).findings)
    if !lines.isEmpty { throw Failure(["\(when):"] + lines) }
  }

  /// New objects get keys that none of their family had, and everything can be saved.
  private func insert(
    _ context: ManagedObjectContext, _ model: ManagedObjectModel
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let existing = Set(try StoreContent(context, model).objects.keys)
    for entity in model.entities where !entity.isAbstract {
      if entity.relationships.contains(where: { !$0.isToMany && !$0.isOptional }) { continue }
      let object = try EntityDescription.insertNewObject(forEntityName: entity.name, into: context)
      try StoreContent.setValues(of: object, &generator)
      try context.save()
      let key = object.objectID.key
      let family = model.family(of: entity.root).map(\.name)
      if let rival = family.first(where: { existing.contains(ObjectName($0, key)) }) {
        throw Failure(["a new \(entity.name) got the key \(key), which a \(rival) has"])
      }
    }
    let findings = try StoreFacts(context).findings
    if !findings.isEmpty { throw Failure(["with new objects:"] + findings) }
  }
}

// MARK: - Shrinking

extension RandomMigration {
  /// Everything that could be left out, one thing at a time.
  private var smaller: [RandomMigration] {
    var result: [RandomMigration] = []
    func add(_ change: (inout RandomMigration) -> Void) {
      var copy = self
      change(&copy)
      result.append(copy)
    }
    if count > 1 { add { $0.count /= 2 } }
    if count > 1 { add { $0.count -= 1 } }
    for entity in old { add { $0.remove(entity: entity.name) } }
    for entity in new where !old.contains(where: { $0.name == entity.name }) {
      add { $0.remove(entity: entity.name) }
    }
    for entity in old {
      // What did not change is seldom what is wrong.
      add { copy in
        if let index = copy.new.firstIndex(where: { $0.name == entity.name }) {
          copy.new[index] = entity
        }
      }
      for attribute in entity.attributes { add { $0.remove(property: attribute.name) } }
      for relationship in entity.relationships { add { $0.remove(property: relationship.name) } }
    }
    for entity in new {
      for attribute in entity.attributes {
        add { $0.remove(property: attribute.name) }
        guard
          let before = old.lazy.flatMap(\.attributes).first(where: { $0.name == attribute.name })
        else { continue }
        add { copy in copy.replace(attribute, by: before) }
      }
      for relationship in entity.relationships { add { $0.remove(property: relationship.name) } }
    }
    return result
  }

  private mutating func replace(_ one: AttributeDescription, by other: AttributeDescription) {
    for entity in new.indices {
      for index in new[entity].attributes.indices where new[entity].attributes[index] == one {
        new[entity].attributes[index] = other
      }
    }
  }

  private mutating func remove(entity name: String) {
    func removed(_ entities: [Entity]) -> [Entity] {
      let identifiers = Set(entities.filter { $0.name == name }.map(\.name))
      return entities.filter { $0.name != name && $0.renamingIdentifier != name }.map { entity in
        var entity = entity
        if let parent = entity.parent, identifiers.contains(parent) { entity.parent = nil }
        entity.relationships.removeAll { $0.destination == name }
        return entity
      }
    }
    (old, new) = (Self.tidied(removed(old)), Self.tidied(removed(new)))
  }

  private mutating func remove(property name: String) {
    func removed(_ entities: [Entity]) -> [Entity] {
      entities.map { entity in
        var entity = entity
        entity.attributes.removeAll { $0.name == name || $0.renamingIdentifier == name }
        entity.relationships.removeAll { $0.name == name || $0.renamingIdentifier == name }
        return entity
      }
    }
    (old, new) = (Self.tidied(removed(old)), Self.tidied(removed(new)))
  }

  /// Without inverses that are gone.
  private static func tidied(_ entities: [Entity]) -> [Entity] {
    let names = Set(entities.flatMap { $0.relationships.map(\.name) })
    return entities.map { entity in
      var entity = entity
      for index in entity.relationships.indices {
        if let inverse = entity.relationships[index].inverse, !names.contains(inverse) {
          entity.relationships[index].inverse = nil
        }
      }
      return entity
    }
  }

  /// The failure, or `nil` when there is none.
  func failure() -> String? {
    do {
      _ = try run()
      return nil
    } catch is ModelError {
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// The smallest migration that can be found and fails too.
  func shrunk() -> RandomMigration {
    var best = self
    var attempts = 600
    var isSmaller = true
    while isSmaller, attempts > 0 {
      isSmaller = false
      for candidate in best.smaller where attempts > 0 {
        attempts -= 1
        guard candidate.size < best.size, candidate.failure() != nil else { continue }
        best = candidate
        isSmaller = true
        break
      }
    }
    return best
  }

  private var size: Int {
    let properties = (old + new).reduce(0) { $0 + 1 + $1.attributes.count + $1.relationships.count }
    // Fewer differences first, then fewer things, then fewer objects.
    let same = new.count { entity in old.contains(entity) }
    let sameAttributes = new.reduce(0) { sum, entity in
      sum
        + entity.attributes.count { attribute in
          old.contains { $0.name == entity.name && $0.attributes.contains(attribute) }
        }
    }
    return 100 * (2 * properties - same - sameAttributes) + count
  }
}

extension RandomMigration: CustomStringConvertible {
  var description: String {
    "seed \(seed), up to \(count) objects of each entity, changes: "
      + changes.map(\.rawValue).joined(separator: ", ")
      + "\nold\n" + old.map(RandomMigration.text).joined(separator: "\n")
      + "\nnew\n" + new.map(RandomMigration.text).joined(separator: "\n")
  }

  private static func text(_ entity: Entity) -> String {
    var head = "  Entity(\"\(entity.name)\""
    if let parent = entity.parent { head += ", parent: \"\(parent)\"" }
    if entity.isAbstract { head += ", abstract: true" }
    if let name = entity.renamingIdentifier { head += ", renamedFrom: \"\(name)\"" }
    let attributes = entity.attributes.map { attribute in
      var text = "    Attribute(\"\(attribute.name)\", .\(attribute.type)"
      if !attribute.isOptional { text += ", optional: false" }
      if let value = attribute.defaultValue { text += ", default: \("\(value)".prefix(40))" }
      if attribute.isTransient { text += ", transient: true" }
      if let name = attribute.renamingIdentifier { text += ", renamedFrom: \"\(name)\"" }
      text += ")"
      if !attribute.elements.isEmpty {
        text +=
          " of "
          + attribute.elements.map {
            "\($0.name): \($0.type)\($0.renamingIdentifier.map { " was \($0)" } ?? "")"
          }.joined(separator: ", ")
      }
      return text
    }
    let relationships = entity.relationships.map { relationship in
      var text = "    Relationship(\"\(relationship.name)\", "
      text += relationship.isToMany ? "toMany" : "toOne"
      text += ": \"\(relationship.destination)\""
      if let inverse = relationship.inverse { text += ", inverse: \"\(inverse)\"" }
      if relationship.isOrdered { text += ", ordered: true" }
      text += ", deleteRule: .\(relationship.deleteRule)"
      if !relationship.isOptional { text += ", optional: false" }
      if relationship.isTransient { text += ", transient: true" }
      if relationship.maxCount > 1 { text += ", count: 0...\(relationship.maxCount)" }
      if let name = relationship.renamingIdentifier { text += ", renamedFrom: \"\(name)\"" }
      return text + ")"
    }
    return ([head + ") {"] + attributes + relationships + ["  }"]).joined(separator: "\n")
  }
}

// MARK: - The tests

@Suite struct RandomMigrationTests {
  private static let seeds = Seeds.upTo(Amount.of(debug: 20, release: 40, exhaustive: 20_000))

  @Test func `any change of any model does to a store what the rules say, or is refused by them`()
    throws
  {
    var counts: [RandomMigration.Outcome: Int] = [:]
    var failures = 0
    for seed in Self.seeds {
      let migration = try RandomMigration(seed: seed)
      do {
        counts[try migration.run(), default: 0] += 1
      } catch {
        let smallest = migration.shrunk()
        Issue.record("\(smallest)\n\(smallest.failure() ?? "\(error)")")
        failures += 1
        if failures == 3 { break }
      }
    }
    print(
      "random migrations, seeds \(Self.seeds): \(counts[.migrated] ?? 0) migrated, "
        + "\(counts[.refused] ?? 0) refused, \(counts[.same] ?? 0) without a difference")
    // Of a few seeds all may go one way.
    let count = Self.seeds.count
    if count >= 20 {
      #expect(counts[.migrated] ?? 0 > count / 3 && counts[.refused] ?? 0 > count / 12)
    }
  }

  @Test func `a store that was migrated before can be migrated again, and again`() throws {
    var counts: [RandomMigration.Outcome: Int] = [:]
    for seed in environmentValue("QUIRE_SEED") == nil
      ? 1...Amount.of(debug: 1, release: 2, exhaustive: 2000) : Self.seeds
    {
      var random = RandomModel(seed: seed &* 7919)
      if (try? random.model()) == nil { continue }
      let disk = SimulatedDisk()
      var story = ""
      for step in 1...Amount.of(debug: 3, release: 4) {
        random.forgetNames()
        var migration = try RandomMigration(from: &random, seed: seed &* 100 &+ UInt64(step))
        random.relax()
        migration.new = random.entities
        migration.count = 4
        story += "\nstep \(step), \(migration)"
        do {
          let outcome = try migration.run(on: disk)
          counts[outcome, default: 0] += 1
          // What was refused, or is the same, is not where the next step begins.
          if outcome != .migrated { random.entities = migration.old }
        } catch {
          Issue.record("seed \(seed)\(story)\n\(error)")
          return
        }
      }
    }
    print("migrations one after the other: \(counts)")
    #expect(
      environmentValue("QUIRE_SEED") != nil
        || counts[.migrated] ?? 0 > Amount.of(debug: 1, release: 2))
  }

  // From 16,384 rows on a second thread makes the new ones, if they need no links made anew; a row
  // that is longer than a batch, and one at each end, are among them.
  @Test(arguments: [false, true])
  func `rows that two threads make are what one would make`(addsInverse: Bool) throws {
    var composite = Attribute("place", .composite)
    composite.elements = [Attribute("city", .string), Attribute("zip", .integer32)]
    var other = composite
    other.elements = [
      Attribute("town", .string, renamedFrom: "city"), Attribute("lane", .string, default: "none"),
    ]
    let old = try ManagedObjectModel {
      Entity("A") {
        Attribute("number", .integer64, optional: false)
        Attribute("gone", .boolean)
        Attribute("text", .string)
        composite
        Relationship("next", toOne: "A")
      }
    }
    let new = try ManagedObjectModel {
      Entity("A") {
        Attribute("text", .string, optional: false, default: "default")
        Attribute("added", .double, default: 0.5)
        Attribute("number", .integer64, optional: false)
        other
        if addsInverse {
          Relationship("next", toOne: "A", inverse: "previous")
          Relationship("previous", toOne: "A", inverse: "next")
        } else {
          Relationship("next", toOne: "A")
        }
      }
    }
    let (count, threadRowCount) = Amount.of(
      debug: (1_300, 1_000), release: (16_500, 16_384), exhaustive: (200_000, 16_384))
    let places = [1, 2, 5, count / 2, count]
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let builder = try StoreBuilder(creating: url, model: old, versionName: "old", uuid: UUID())
      for number in 1...count {
        var values: [String: AttributeValue] = ["number": .integer(Int64(number))]
        if places.contains(number) {
          values["text"] = .string(String(repeating: "long \(number) ", count: 60_000))
          values["place"] = .composite(["city": "Rome", "zip": .integer(Int64(number))])
        } else if number % 3 > 0 {
          values["text"] = .string("text \(number)")
        }
        try builder.insert(
          .init("A", Int64(number)), version: UInt32(1 + number % 5), attributes: values,
          toOne: number % 100 == 0 ? ["next": .init("A", Int64(number - 1))] : [:])
      }
      try builder.finish()
      let coordinator = PersistentStoreCoordinator(
        versionedModel: try MigrationTrial.versioned(old, new))
      try RewritingThreads.$rowCount.withValue(threadRowCount) {
        _ = try coordinator.addPersistentStore(type: .quire, at: url, options: .migrating)
      }
      let context = GotchaHome.context(of: coordinator)
      let objects = try context.fetch(FetchRequest<ManagedObject>(entityName: "A"))
      #expect(objects.count == count)
      var wrong: [Int] = []
      for (index, object) in objects.enumerated() {
        let number = index + 1
        let text =
          places.contains(number)
          ? String(repeating: "long \(number) ", count: 60_000)
          : number % 3 > 0 ? "text \(number)" : "default"
        let place = try object.value(forKey: "place") as? [String: Any]
        let next = (try object.value(forKey: "next") as? ManagedObject)?.objectID.key
        let previous =
          addsInverse
          ? (try object.value(forKey: "previous") as? ManagedObject)?.objectID.key : nil
        let isRight =
          try object.objectID.key == Int64(number) && object.version == UInt32(1 + number % 5)
          && object.value(forKey: "number") as? Int == number
          && object.value(forKey: "text") as? String == text
          && object.value(forKey: "added") as? Double == 0.5
          && next == (number % 100 == 0 ? Int64(number - 1) : nil)
          && previous
            == (addsInverse && number % 100 == 99 && number < count ? Int64(number + 1) : nil)
          && (places.contains(number)
            ? place?.count == 2 && place?["town"] as? String == "Rome"
              && place?["lane"] as? String == "none"
            : place == nil)
        if !isRight { wrong.append(number) }
      }
      #expect(wrong.isEmpty, "\(wrong.prefix(5)) of \(wrong.count)")
      #expect(try StoreFacts(context).findings == [])
    }
  }
}
