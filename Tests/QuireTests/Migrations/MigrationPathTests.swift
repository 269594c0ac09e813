import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Persons in four versions:
///
/// 1. a `name`;
/// 2. `first` and `last` instead, which only a mapping can make of it;
/// 3. a `nick`, which is inferred;
/// 4. `last` is a required number, for no reason at all, which only a mapping can make of it.
struct PersonVersions {
  let model: VersionedModel
  var v1: ManagedObjectModel { model.versions[0].model }
  var v2: ManagedObjectModel { model.versions[1].model }
  var v3: ManagedObjectModel { model.versions[2].model }
  var v4: ManagedObjectModel { model.versions[3].model }

  init() throws {
    model = try #require(
      VersionedModel(versions: [
        .init("1", try ManagedObjectModel { Entity("Person") { Attribute("name", .string) } }),
        .init(
          "2",
          try ManagedObjectModel {
            Entity("Person") {
              Attribute("first", .string)
              Attribute("last", .string)
            }
          }),
        .init(
          "3",
          try ManagedObjectModel {
            Entity("Person") {
              Attribute("first", .string)
              Attribute("last", .string)
              Attribute("nick", .string, default: "-")
            }
          }),
        .init(
          "4",
          try ManagedObjectModel {
            Entity("Person") {
              Attribute("first", .string)
              Attribute("last", .integer64, optional: false)
              Attribute("nick", .string, default: "-")
            }
          }),
      ]))
  }

  static func splitting(_ text: String?, _ index: Int) -> String? {
    text.flatMap { text in
      let parts = text.split(separator: " ").map(String.init)
      return index < parts.count ? parts[index] : nil
    }
  }

  /// From 1 to 2.
  func split() -> MappingModel {
    var person = EntityMapping(from: "Person", to: "Person", .transformEntityMappingType)
    for (index, name) in ["first", "last"].enumerated() {
      person.attributeMappings.append(
        PropertyMapping(name) {
          Self.splitting(try $0.source?.value(forKey: "name") as? String, index)
        })
    }
    return bound(person, v1, v2)
  }

  /// From 3 to 4.
  func count() -> MappingModel {
    var person = EntityMapping(from: "Person", to: "Person", .transformEntityMappingType)
    person.attributeMappings = [
      PropertyMapping("first", source: "first"), PropertyMapping("nick", source: "nick"),
      PropertyMapping("last") { (try $0.source?.value(forKey: "last") as? String)?.count ?? 0 },
    ]
    return bound(person, v3, v4)
  }

  /// From 1 to 4 at once.
  func direct() -> MappingModel {
    var person = EntityMapping(from: "Person", to: "Person", .transformEntityMappingType)
    person.attributeMappings = [
      PropertyMapping("first", source: "name"), PropertyMapping("last") { _ in 7 },
    ]
    return bound(person, v1, v4)
  }

  func bound(
    _ person: EntityMapping, _ source: ManagedObjectModel, _ destination: ManagedObjectModel
  ) -> MappingModel {
    var person = person
    person.sourceEntityVersionHash = source.entity(named: "Person")?.versionHash
    person.destinationEntityVersionHash = destination.entity(named: "Person")?.versionHash
    return MappingModel(entityMappings: [person])
  }

  func files(count: Int = 3) throws -> [String: [UInt8]] {
    try TestStore.files(model, at: "1") { context in
      for number in 0..<count {
        _ = try TestStore.insert("Person", ["name": "First\(number) Last\(number)"], context)
      }
    }
  }
}

@Suite struct `Migration paths` {
  private let persons = try! PersonVersions()

  private func options(_ mappings: MappingModel...) -> PersistentStoreOptions {
    var options = PersistentStoreOptions.migrating
    options.mappingModels = mappings
    return options
  }

  private func open(
    _ files: [String: [UInt8]], to version: String, _ options: PersistentStoreOptions
  ) throws -> (ManagedObjectContext, SimulatedDisk) {
    let disk = SimulatedDisk(files)
    let model = try #require(persons.model.endingAt(version))
    return (try TestStore.open(model, options, in: disk), disk)
  }

  private func error(
    _ files: [String: [UInt8]], to version: String, _ options: PersistentStoreOptions
  ) -> PersistenceError? {
    #expect(throws: PersistenceError.self) { try open(files, to: version, options) }
  }

  @Test func `a mapping model that fits wins over inference, also where none may be inferred`()
    throws
  {
    let files = try persons.files()
    for infers in [true, false] {
      var options = options(persons.count(), persons.split())
      options.infersMappingModel = infers
      let (context, _) = try open(files, to: "2", options)
      #expect(
        try StoreLines.lines(context)
          == (0..<3).map { "Person#\($0) first=First\($0) last=Last\($0)" })
      let history = try #require(context.openStore?.migrationHistory)
      #expect(history.map(\.sourceVersion) == ["1"])
      #expect(history.map(\.destinationVersion) == ["2"])
      #expect(history.map(\.sourceChecksum) == [persons.v1.versionChecksum])
      #expect(history.map(\.destinationChecksum) == [persons.v2.versionChecksum])
      #expect(history.map(\.rewrittenObjectCount) == [3])
      #expect(history.allSatisfy { $0.writtenByteCount >= 4096 })
      #expect(context.openStore?.versionName == "2")
      let plan = try #require(context.openStore?.migrationReport?.plan)
      #expect(plan.entities.map(\.action) == [.rewritten])
      #expect(plan.entities.map(\.objectCount) == [3])
      #expect(plan.entities.first?.addedProperties == ["first", "last"])
    }
  }

  @Test func `mapping models and inferred steps make a chain, each step one commit`() throws {
    let (context, _) = try open(
      try persons.files(), to: "4", options(persons.count(), persons.split()))
    #expect(
      try StoreLines.lines(context)
        == (0..<3).map { "Person#\($0) first=First\($0) last=5 nick=-" })
    let store = try #require(context.openStore)
    #expect(store.migrationHistory.map(\.destinationVersion) == ["2", "3", "4"])
    let report = try #require(store.migrationReport)
    #expect(report.plans.map(\.sourceVersion) == ["1", "2", "3"])
    #expect(report.plan.destinationVersion == "4")
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `a mapping model for the whole way is one step`() throws {
    let (context, _) = try open(
      try persons.files(), to: "4", options(persons.split(), persons.count(), persons.direct()))
    #expect(try StoreLines.lines(context).first == "Person#0 first=First0 Last0 last=7 nick=-")
    #expect(context.openStore?.migrationHistory.count == 1)
  }

  @Test func `inference does not leap over a mapping model`() throws {
    // From 1 to 3 could be inferred, but the names would be lost.
    let files = try persons.files()
    let (with, _) = try open(files, to: "3", options(persons.split()))
    #expect(try StoreLines.lines(with).first == "Person#0 first=First0 last=Last0 nick=-")
    #expect(with.openStore?.migrationHistory.map(\.destinationVersion) == ["2", "3"])
    let (without, _) = try open(files, to: "3", options())
    #expect(without.openStore?.migrationHistory.map(\.destinationVersion) == ["3"])
  }

  @Test func `a chain is inferred where one step cannot be`() throws {
    // The text becomes a number by way of a version that had neither, as it did for users who
    // installed each release.
    let model = try #require(
      VersionedModel(versions: [
        .init("1", try ManagedObjectModel { Entity("A") { Attribute("x", .string) } }),
        .init("2", try ManagedObjectModel { Entity("A") { Attribute("y", .string) } }),
        .init("3", try ManagedObjectModel { Entity("A") { Attribute("x", .integer64) } }),
      ]))
    let files = try TestStore.files(model, at: "1") {
      _ = try TestStore.insert("A", ["x": "a"], $0)
    }
    let context = try TestStore.open(model, .migrating, in: SimulatedDisk(files))
    #expect(try StoreLines.lines(context) == ["A#0 x=nil"])
    #expect(context.openStore?.migrationHistory.map(\.destinationVersion) == ["2", "3"])
  }

  @Test func `no chain is begun that inference cannot end`() throws {
    let model = try #require(
      VersionedModel(versions: [
        .init("1", try ManagedObjectModel { Entity("A") { Attribute("x", .string) } }),
        .init("2", try ManagedObjectModel { Entity("A") { Attribute("y", .string) } }),
        .init(
          "3", try ManagedObjectModel { Entity("A") { Attribute("y", .string, optional: false) } }),
      ]))
    let disk = SimulatedDisk(
      try TestStore.files(model, at: "1") { _ = try TestStore.insert("A", ["x": "a"], $0) })
    let error = #expect(throws: PersistenceError.self) {
      try TestStore.open(model, .migrating, in: disk)
    }
    #expect(error?.code == .migration)
    let context = try TestStore.open(try #require(model.endingAt("1")), in: disk)
    #expect(try StoreLines.lines(context) == ["A#0 x=a"])
  }

  @Test func `an inferred mapping model that nobody edited is carried out on the rows`() throws {
    let files = try TestStore.files(persons.model, at: "1") { context in
      let people = try (0..<3).map { _ in try TestStore.insert("Person", [:], context) }
      try context.save()
      context.delete(people[0])
    }
    var mapping = try MappingModel.inferredMappingModel(
      forSourceModel: persons.v1, destinationModel: persons.v2)
    var keys: [[Int]] = []
    for isEdited in [false, true] {
      if isEdited { mapping.entityMappings[0].userInfo = ["by": "me"] }
      var options = options(mapping)
      options.infersMappingModel = false
      let (context, _) = try open(files, to: "2", options)
      let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
      keys.append(
        people.compactMap {
          Int($0.objectID.uriRepresentation().lastPathComponent.dropFirst())
        })
    }
    #expect(keys == [[2, 3], [1, 2]], "rows keep their keys, new objects get new ones")
  }

  @Test func `a mapping model leads back where it says so`() throws {
    let files = try TestStore.files(persons.model, at: "2") {
      _ = try TestStore.insert("Person", ["first": "A", "last": "B"], $0)
    }
    var person = EntityMapping(from: "Person", to: "Person", .transformEntityMappingType)
    person.attributeMappings = [PropertyMapping("name", source: "first")]
    let back = persons.bound(person, persons.v2, persons.v1)
    let (context, _) = try open(files, to: "1", options(persons.split(), back))
    #expect(try StoreLines.lines(context) == ["Person#0 name=A"])
  }

  @Test func `every version in order, where that is asked for`() throws {
    var options = options()
    options.migrationRoute = .everyVersion
    let files = try persons.files()
    let (context, _) = try open(files, to: "3", options)
    #expect(context.openStore?.migrationHistory.map(\.destinationVersion) == ["2", "3"])
    let blocked = error(files, to: "4", options)
    #expect(blocked?.code == .inferredMappingModel)
    #expect(blocked?.message.contains("step 3 of 3, 3 → 4") == true)
    options.infersMappingModel = false
    options.mappingModels = [persons.split()]
    let missing = error(files, to: "3", options)
    #expect(missing?.code == .migrationMissingMappingModel)
    #expect(missing?.message.contains("step 2 of 2, 2 → 3") == true)
  }

  @Test func `without a path the error says what is missing`() throws {
    let files = try persons.files()
    var options = options(persons.count())
    let (inferred, _) = try open(files, to: "4", options)
    #expect(inferred.openStore?.migrationHistory.map(\.destinationVersion) == ["3", "4"])
    options.mappingModels = []
    let blocked = error(files, to: "4", options)
    #expect(blocked?.code == .migration || blocked?.code == .inferredMappingModel)
    options.infersMappingModel = false
    #expect(error(files, to: "4", options)?.code == .migrationMissingMappingModel)
    options.mappingModels = [persons.split()]
    #expect(error(files, to: "4", options)?.code == .migrationMissingMappingModel)
    options.migratesAutomatically = false
    #expect(error(files, to: "4", options)?.code == .persistentStoreIncompatibleVersionHash)
  }

  @Test func `an error in a step names it, and leaves the version before`() throws {
    var count = persons.count()
    count.entityMappings[0].attributeMappings = [PropertyMapping("last", source: "lost")]
    let disk = SimulatedDisk(try persons.files())
    let error = #expect(throws: PersistenceError.self) {
      try TestStore.open(persons.model, options(persons.split(), count), in: disk)
    }
    #expect(error?.code == .undefinedKey)
    #expect(error?.message.contains("step 3 of 3, 3 → 4, by a mapping model") == true)
    let three = try #require(persons.model.endingAt("3"))
    let context = try TestStore.open(three, in: disk)
    #expect(context.openStore?.migrationHistory.map(\.destinationVersion) == ["2", "3"])
    #expect(try StoreLines.lines(context).count == 3)
  }

  @Test func `a mapping model without hashes is taken where only one pair of versions fits`() throws
  {
    var split = persons.split()
    split.entityMappings[0].sourceEntityVersionHash = nil
    split.entityMappings[0].destinationEntityVersionHash = nil
    let files = try persons.files()
    let ambiguous = error(files, to: "2", options(split))
    #expect(ambiguous?.code == .migrationMissingMappingModel)
    #expect(ambiguous?.message.contains("1 → 2, 1 → 3") == true)
    split.sourceVersionChecksum = persons.v1.versionChecksum
    split.destinationVersionChecksum = persons.v2.versionChecksum
    let (context, _) = try open(files, to: "2", options(split))
    #expect(try StoreLines.lines(context).first == "Person#0 first=First0 last=Last0")
    split.sourceVersionChecksum = nil
    split.destinationVersionChecksum = nil
    let two = try #require(VersionedModel(versions: Array(persons.model.versions.prefix(2))))
    let alone = try TestStore.open(two, options(split), in: SimulatedDisk(files))
    #expect(try StoreLines.lines(alone).first == "Person#0 first=First0 last=Last0")
  }

  @Test func `the path can be seen beforehand, and nothing is written`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let one = try #require(persons.model.endingAt("1"))
      let context = try TestStore.open(one, at: url, in: DiskFileSystem())
      _ = try TestStore.insert("Person", ["name": "A B"], context)
      try context.save()
      try TestStore.close(context)
      let before = try Data(contentsOf: url)
      let options = options(persons.split(), persons.count())
      let path = try #require(
        try MigrationPath.path(forStoreAt: url, to: persons.model, options: options))
      #expect(path.steps.map(\.method) == [.mappingModel, .inferred, .mappingModel])
      #expect(
        path.description == """
          1. 1 → 2, by a mapping model
          2. 2 → 3, inferred
          3. 3 → 4, by a mapping model
          """)
      let plan = try MigrationPlan.plan(forStoreAt: url, to: persons.model, options: options)
      #expect(plan?.destinationVersion == "2")
      #expect(try MigrationPath.path(forStoreAt: url, to: one) == nil)
      #expect(try Data(contentsOf: url) == before)
    }
  }

  @Test func `a backup is made once, before the first step`() throws {
    var options = options(persons.split(), persons.count())
    options.migrationBackup = .beside
    let (context, disk) = try open(try persons.files(), to: "4", options)
    #expect(
      context.openStore?.migrationReport?.backup?.path(percentEncoded: false) == "/store.quire~")
    let one = try #require(persons.model.endingAt("1"))
    let backup = try TestStore.open(one, at: URL(filePath: "/store.quire~"), in: disk)
    #expect(try StoreLines.lines(backup).first == "Person#0 name=First0 Last0")
  }

  @Test func `a path that dies anywhere leaves a whole version, from which it goes on`() throws {
    let files = try persons.files(count: 5)
    let options = options(persons.split(), persons.count())
    let (context, whole) = try open(files, to: "4", options)
    let expected = try StoreLines.lines(context)
    let versions = persons.model.versions.map(\.name)
    var found: [String: Int] = [:]
    let step = Amount.of(debug: 2, release: 1)
    for operation in stride(from: 0, through: whole.operationCount, by: step) {
      let disk = SimulatedDisk(files)
      disk.crash(after: operation)
      _ = try? TestStore.open(persons.model, options, in: disk)
      var generator = SeededGenerator(seed: UInt64(operation))
      for image in disk.crashImages().shuffled(using: &generator)
        .prefix(Amount.of(debug: 1, release: 3))
      {
        var version: String?
        for name in versions {
          let model = try #require(persons.model.endingAt(name))
          guard let context = try? TestStore.open(model, in: SimulatedDisk(image)) else { continue }
          version = name
          #expect(try StoreLines.lines(context).count == 5)
          #expect(context.openStore?.migrationHistory.count == versions.firstIndex(of: name))
        }
        found[try #require(version, "crash after \(operation)"), default: 0] += 1
        let again = try TestStore.open(persons.model, options, in: SimulatedDisk(image))
        #expect(try StoreLines.lines(again) == expected, "crash after \(operation)")
        #expect(again.openStore?.migrationHistory.map(\.destinationVersion) == ["2", "3", "4"])
        #expect(try StoreFacts(again).findings == [])
      }
    }
    #expect(found.keys.sorted() == versions, "\(found)")
  }
}
