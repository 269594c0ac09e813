import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An aircraft's data move to an entity of their own, in four versions:
///
/// 1. `flightData` is a text of the aircraft's;
/// 2. the aircraft has a `name`, too;
/// 3. the texts are objects, for which the aircraft keeps the old text;
/// 4. the text is gone.
@Suite struct `Staged migrations` {
  private final class Log: Sendable {
    private let entries = Mutex<[String]>([])
    var all: [String] { entries.withLock { $0 } }
    func note(_ text: String) { entries.withLock { $0.append(text) } }
  }
  private struct Refusal: Error {}

  private let model: VersionedModel
  private var versions: [ManagedObjectModel] { model.versions.map(\.model) }

  init() throws {
    func aircraft(_ properties: [Attribute], hasData: Bool) throws -> ManagedObjectModel {
      guard hasData else {
        return try ManagedObjectModel {
          Entity("Aircraft") { for property in properties { property } }
        }
      }
      return try ManagedObjectModel {
        Entity("Aircraft") {
          for property in properties { property }
          Relationship("data", toOne: "FlightData", inverse: "aircraft")
        }
        Entity("FlightData") {
          Attribute("text", .string)
          Relationship("aircraft", toOne: "Aircraft", inverse: "data")
        }
      }
    }
    let (text, name) = (Attribute("flightData", .string), Attribute("name", .string, default: "?"))
    model = try #require(
      VersionedModel(versions: [
        .init("1", try aircraft([text], hasData: false)),
        .init("2", try aircraft([text, name], hasData: false)),
        .init("3", try aircraft([text, name], hasData: true)),
        .init("4", try aircraft([name], hasData: true)),
      ]))
  }

  private func reference(_ index: Int) -> ManagedObjectModelReference {
    ManagedObjectModelReference(
      model: versions[index], versionChecksum: versions[index].versionChecksum)
  }

  /// From 2 to 3, with the texts put where they belong.
  private func splitting(_ log: Log = Log()) -> CustomMigrationStage {
    let stage = CustomMigrationStage(migratingFrom: reference(1), to: reference(2))
    stage.label = "split"
    stage.willMigrateHandler = { manager, stage in
      let context = try manager.requiredContainer.newBackgroundContext()
      let aircraft = try context.fetch(FetchRequest<ManagedObject>(entityName: "Aircraft"))
      for one in aircraft {
        let text = try one.value(forKey: "flightData") as? String ?? ""
        try one.setValue("\(text)!", forKey: "flightData")
      }
      try context.save()
      log.note("will \(stage.label ?? "") \(aircraft.count)")
    }
    stage.didMigrateHandler = { manager, stage in
      let context = try manager.requiredContainer.newBackgroundContext()
      try context.performAndWait {
        for one in try context.fetch(FetchRequest<ManagedObject>(entityName: "Aircraft")) {
          let data = try EntityDescription.insertNewObject(
            forEntityName: "FlightData", into: context)
          try data.setValue(try one.value(forKey: "flightData"), forKey: "text")
          try data.setValue(one, forKey: "aircraft")
        }
        try context.save()
      }
      log.note("did \(stage.label ?? "") \(manager.container?.name ?? "")")
    }
    return stage
  }

  private func options(_ stages: [any MigrationStage]) -> PersistentStoreOptions {
    var options = PersistentStoreOptions.migrating
    options.stagedMigrationManager = StagedMigrationManager(stages)
    return options
  }

  private func light(_ indexes: Int...) -> LightweightMigrationStage {
    LightweightMigrationStage(indexes.map { versions[$0].versionChecksum.description })
  }

  private func files(at version: String = "1") throws -> [String: [UInt8]] {
    try TestStore.files(model, at: version) { context in
      for number in 0..<3 {
        _ = try TestStore.insert("Aircraft", ["flightData": "data \(number)"], context)
      }
    }
  }

  private let expected =
    (0..<3).flatMap { number in
      ["Aircraft#\(number) name=? data=[\"FlightData#\(number)\"]"]
    } + (0..<3).map { "FlightData#\($0) text=data \($0)! aircraft=[\"Aircraft#\($0)\"]" }

  private func history(_ context: ManagedObjectContext) -> [String]? {
    context.openStore?.migrationHistory.map(\.destinationVersion)
  }

  @Test func `stages are gone through in order, from wherever the store is`() throws {
    let splittings: [([String], [String])] = [
      (["2", "3", "4"], ["will split 3", "did split 3"]),
      (["3", "4"], ["will split 3", "did split 3"]),
    ]
    for (start, (steps, handlers)) in zip(["1", "2"], splittings) {
      let log = Log()
      let stages: [any MigrationStage] = [light(0), splitting(log), light(2, 3)]
      let manager = StagedMigrationManager(stages)
      var options = PersistentStoreOptions.migrating
      options.stagedMigrationManager = manager
      let disk = SimulatedDisk(try files(at: start))
      let context = try TestStore.open(model, options, in: disk)
      #expect(try StoreLines.lines(context) == expected)
      #expect(history(context) == steps)
      #expect(log.all == handlers)
      #expect(manager.container == nil)
      #expect(manager.stages.count == 3)
      #expect(try StoreFacts(context).findings == [])
      #expect(!disk.files.keys.contains { $0.contains("-migrating") })
    }
  }

  @Test func `the current model need not be named when it is reached by inference`() throws {
    let context = try TestStore.open(
      model, options([light(0), splitting()]), in: SimulatedDisk(files()))
    #expect(try StoreLines.lines(context) == expected)
    #expect(history(context) == ["2", "3", "4"])
  }

  @Test func `an inferred stage does not stop at versions that nobody knows`() throws {
    let short = try #require(
      VersionedModel(versions: [model.versions[0], model.versions[2]]))
    let context = try TestStore.open(
      short, options([light(0, 1, 2)]), in: SimulatedDisk(files()))
    #expect(history(context) == ["3"])
    let whole = try TestStore.open(
      try #require(model.endingAt("3")), options([light(0, 1, 2)]), in: SimulatedDisk(files()))
    #expect(history(whole) == ["2", "3"])
    // The store's own version it brings along itself.
    let last = try TestStore.open(
      VersionedModel(versions[1]), options([light(0, 1)]), in: SimulatedDisk(files()))
    #expect(history(last)?.count == 1)
  }

  @Test func `a path says the stages`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let context = try TestStore.open(
        try #require(model.endingAt("1")), at: url, in: DiskFileSystem())
      try TestStore.close(context)
      let path = try MigrationPath.path(
        forStoreAt: url, to: model, options: options([light(0), splitting()]))
      #expect(
        path?.description == """
          1. 1 → 2, inferred
          2. 2 → 3, by a custom stage “split”
          3. 3 → 4, inferred
          """)
    }
  }

  @Test func `a handler that throws leaves the last whole stage, and the next opening goes on`()
    throws
  {
    for failsAtOnce in [true, false] {
      let disk = SimulatedDisk(try files())
      let failing = splitting()
      if failsAtOnce {
        failing.willMigrateHandler = { _, _ in throw Refusal() }
      } else {
        failing.didMigrateHandler = { manager, _ in
          let context = try manager.requiredContainer.newBackgroundContext()
          _ = try EntityDescription.insertNewObject(forEntityName: "FlightData", into: context)
          try context.save()
          throw Refusal()
        }
      }
      #expect(throws: Refusal.self) {
        try TestStore.open(model, options([light(0), failing, light(2, 3)]), in: disk)
      }
      let two = try TestStore.open(try #require(model.endingAt("2")), in: disk)
      #expect(
        try StoreLines.lines(two) == (0..<3).map { "Aircraft#\($0) flightData=data \($0) name=?" }
      )
      #expect(history(two) == ["2"])
      try TestStore.close(two)
      let again = try TestStore.open(
        model, options([light(0), splitting(), light(2, 3)]), in: disk)
      #expect(try StoreLines.lines(again) == expected)
      #expect(history(again) == ["2", "3", "4"])
    }
  }

  @Test func `a version that no stage names is an error`() throws {
    let disk = SimulatedDisk(try files())
    let error = #expect(throws: PersistenceError.self) {
      try TestStore.open(model, options([light(1, 2, 3)]), in: disk)
    }
    #expect(error?.code.rawValue == 134504)
    #expect(
      error?.message.contains("cannot use staged migration with an unknown model version") == true)
    #expect(error?.message.contains("the store, 1,") == true)
  }

  @Test func `a reference whose model was edited is an error`() throws {
    let wrong = ManagedObjectModelReference(
      model: versions[1], versionChecksum: versions[0].versionChecksum)
    let stage = CustomMigrationStage(migratingFrom: wrong, to: reference(2))
    let error = #expect(throws: PersistenceError.self) {
      try TestStore.open(model, options([light(0), stage]), in: SimulatedDisk(files()))
    }
    #expect(error?.code == .managedObjectModelReferenceNotFound)
    #expect(
      ManagedObjectModelReference(name: "9", in: model, versionChecksum: "") == nil)
    #expect(
      ManagedObjectModelReference(name: "2", in: model, versionChecksum: "")?.resolvedModel
        == versions[1])
  }

  @Test func `hashes in the store that are not those of its model are an error`() throws {
    let disk = SimulatedDisk(try files())
    let pages = try PageStore.open("/store.quire", options: PageStoreOptions(), in: disk)
    try pages.write { transaction in
      let tree = try #require(try transaction.mutableIndexTree("schema"))
      let value = try #require(try tree.value(for: Array("hashes".utf8)))
      var bytes = value.array
      bytes[bytes.count - 1] ^= 1
      try tree.put(bytes, for: Array("hashes".utf8))
    }
    try pages.close()
    let error = #expect(throws: PersistenceError.self) {
      try TestStore.open(model, options([light(0, 1, 2, 3)]), in: disk)
    }
    #expect(error?.code.rawValue == 134505)
  }

  @Test func `stages do not lead back`() throws {
    let disk = SimulatedDisk(try files(at: "3"))
    let error = #expect(throws: PersistenceError.self) {
      try TestStore.open(
        try #require(model.endingAt("2")), options([light(0), splitting(), light(2, 3)]), in: disk)
    }
    #expect(error?.code.rawValue == 134506)
    #expect(error?.code == .stagedMigrationBackwardMigration)
  }

  @Test func `a stage that cannot be inferred says what is in its way, or has a mapping model`()
    throws
  {
    let persons = try PersonVersions()
    let checksums = persons.model.versions.map(\.model.versionChecksum)
    let stages = [LightweightMigrationStage(checksums)]
    stages[0].label = "all"
    var options = options(stages)
    let disk = SimulatedDisk(try persons.files())
    let error = #expect(throws: PersistenceError.self) {
      try TestStore.open(persons.model, options, in: disk)
    }
    #expect(error?.code == .inferredMappingModel)
    #expect(error?.message.contains("step 3 of 3, 3 → 4, inferred “all”") == true)
    options.mappingModels = [persons.split(), persons.count()]
    let context = try TestStore.open(persons.model, options, in: SimulatedDisk(persons.files()))
    #expect(
      try StoreLines.lines(context).first == "Person#0 first=First0 last=5 nick=-")
  }

  @Test func `a custom stage may have a mapping model between its handlers`() throws {
    let persons = try PersonVersions()
    let log = Log()
    let stage = CustomMigrationStage(
      migratingFrom: .init(model: persons.v3, versionChecksum: persons.v3.versionChecksum),
      to: .init(model: persons.v4, versionChecksum: persons.v4.versionChecksum))
    stage.didMigrateHandler = { manager, _ in
      let context = try manager.requiredContainer.newBackgroundContext()
      for person in try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
        log.note("\(try person.value(forKey: "last") ?? "nil")")
      }
    }
    var options = options([stage])
    options.mappingModels = [persons.count()]
    let disk = SimulatedDisk(
      try TestStore.files(persons.model, at: "3") {
        _ = try TestStore.insert("Person", ["last": "abc"], $0)
      })
    _ = try TestStore.open(persons.model, options, in: disk)
    #expect(log.all == ["3"])
    #expect(!disk.files.keys.contains { $0.contains("-migrating") })
  }

  @Test func `cancelled within a stage, the stage has not happened`() throws {
    for moment in ["before split", "after split", "committing split"] {
      var options = options([light(0), splitting(), light(2, 3)])
      options.migrationProgress = MigrationProgress {
        if $0.phase.hasSuffix(moment) { $0.cancel() }
      }
      let disk = SimulatedDisk(try files())
      let error = #expect(throws: PersistenceError.self) {
        try TestStore.open(model, options, in: disk)
      }
      #expect(error?.code == .migrationCancelled)
      let two = try TestStore.open(try #require(model.endingAt("2")), in: disk)
      #expect(try StoreLines.lines(two).first == "Aircraft#0 flightData=data 0 name=?")
    }
  }

  @Test func `outside of handlers there is no container`() {
    let error = #expect(throws: PersistenceError.self) {
      _ = try StagedMigrationManager([]).requiredContainer
    }
    #expect(error?.code == .migration)
  }

  @Test func `stages that die anywhere leave a whole stage, from which they go on`() throws {
    let files = try files()
    func options() -> PersistentStoreOptions {
      self.options([light(0), splitting(), light(2, 3)])
    }
    let whole = SimulatedDisk(files)
    _ = try TestStore.open(model, options(), in: whole)
    let names = model.versions.map(\.name)
    var found: [String: Int] = [:]
    let step = Amount.of(debug: 2, release: 1)
    for operation in stride(from: 0, through: whole.operationCount, by: step) {
      let disk = SimulatedDisk(files)
      disk.crash(after: operation)
      _ = try? TestStore.open(model, options(), in: disk)
      var generator = SeededGenerator(seed: UInt64(operation))
      for image in disk.crashImages().shuffled(using: &generator)
        .prefix(Amount.of(debug: 1, release: 2))
      {
        var version: String?
        for name in names {
          guard
            let context = try? TestStore.open(
              try #require(model.endingAt(name)), in: SimulatedDisk(image))
          else { continue }
          version = name
          let lines = try StoreLines.lines(context)
          // Nothing that a handler did is there before all that the stage does.
          let isSplit = lines.contains { $0.contains("FlightData#2 text=data 2!") }
          #expect(isSplit == ["3", "4"].contains(name), "crash after \(operation)")
          #expect(lines.contains { $0.contains("data 0!") } == isSplit)
        }
        found[try #require(version, "crash after \(operation)"), default: 0] += 1
        let again = try TestStore.open(model, options(), in: SimulatedDisk(image))
        #expect(try StoreLines.lines(again) == expected, "crash after \(operation)")
        #expect(history(again) == ["2", "3", "4"])
        #expect(try StoreFacts(again).findings == [])
      }
    }
    #expect(found.keys.sorted() == names, "\(found)")
  }
}
