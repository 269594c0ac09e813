import Quire
import QuireSimulation
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The migration of an article on unit tests for heavyweight migrations: persons with a type become
/// teachers and students.
private final class PersonToTeacherStudentPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard sInstance.entity.name == "Person" else { return }
    let type = try sInstance.primitiveValue(forKey: "type") as? Int
    let person = try EntityDescription.insertNewObject(
      forEntityName: type == 0 ? "Teacher" : "Student", into: manager.destinationContext)
    try person.setValue(try sInstance.primitiveValue(forKey: "firstname"), forKey: "firstname")
    try person.setValue(try sInstance.primitiveValue(forKey: "lastname"), forKey: "lastname")
  }
}

/// Writes down in which order it is asked.
private final class LoggingPolicy: EntityMigrationPolicy {
  private func log(_ what: String, _ mapping: EntityMapping, _ manager: MigrationManager) {
    #expect(manager.currentEntityMapping?.name == mapping.name)
    let log = manager.userInfo["log"] as? [String] ?? []
    manager.userInfo["log"] = log + ["\(what) \(mapping.name)"]
  }

  override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
    log("begin", mapping, manager)
  }
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    log("create", mapping, manager)
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }
  override func endInstanceCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { log("created", mapping, manager) }
  override func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    log("relate", mapping, manager)
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }
  override func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { log("related", mapping, manager) }
  override func performCustomValidation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { log("validate", mapping, manager) }
  override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    log("end", mapping, manager)
  }
}

private final class RefusingPolicy: EntityMigrationPolicy {
  struct Refusal: Error {}
  override func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { throw Refusal() }
}

private final class CancellingPolicy: EntityMigrationPolicy {
  struct Enough: Error {}
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    manager.cancelMigrationWithError(Enough())
  }
}

@Suite struct `Migrations by a manager` {
  // MARK: Persons

  private let persons = try! ManagedObjectModel {
    Entity("Person") {
      Attribute("firstname", .string)
      Attribute("lastname", .string)
      Attribute("type", .integer16)
    }
  }
  private let teachersAndStudents = try! ManagedObjectModel {
    Entity("Person") {
      Attribute("firstname", .string)
      Attribute("lastname", .string)
    }
    Entity("Teacher", parent: "Person")
    Entity("Student", parent: "Person")
  }
  private var split: MappingModel {
    var mapping = EntityMapping(
      from: "Person", to: nil, .customEntityMappingType, name: "PersonToTeacherStudent")
    mapping.entityMigrationPolicyClassName = "PersonToTeacherStudentPolicy"
    return MappingModel(
      entityMappings: [mapping], migrationPolicies: [PersonToTeacherStudentPolicy.self])
  }

  private func fillPersons(_ url: URL, count: Int = 2) throws {
    try withStore(persons, url) { context in
      for number in 0..<count {
        let person = try EntityDescription.insertNewObject(forEntityName: "Person", into: context)
        try person.setValue(["John", "Lily"][number % 2], forKey: "firstname")
        try person.setValue(["Smith", "Brown"][number % 2], forKey: "lastname")
        try person.setValue(number % 2, forKey: "type")
      }
      try context.save()
    }
  }

  private func count(_ entity: String, _ context: ManagedObjectContext) throws -> Int {
    try context.count(for: FetchRequest<ManagedObject>(entityName: entity))
  }

  private func names(_ entity: String, _ context: ManagedObjectContext) throws -> [String] {
    var request = FetchRequest<ManagedObject>(entityName: entity)
    request.sortDescriptors = [FetchSortDescriptor(key: "lastname")]
    return try context.fetch(request).map {
      "\(try $0.value(forKey: "firstname") ?? "-") \(try $0.value(forKey: "lastname") ?? "-")"
    }
  }

  private func files(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
  }

  @Test func `a person becomes a teacher or a student, and the source stays as it was`() throws {
    try withTemporaryFolder { folder in
      let source = folder.appending(path: "SingleViewCoreData.sqlite")
      let destination = folder.appending(path: "SingleViewCoreData1.1.sqlite")
      try fillPersons(source)
      let before = try Data(contentsOf: source)
      let manager = MigrationManager(
        sourceModel: persons, destinationModel: teachersAndStudents)
      try manager.migrateStore(
        from: source, sourceType: SQLiteStoreType, options: nil, with: split,
        toDestinationURL: destination, destinationType: SQLiteStoreType, destinationOptions: nil)
      #expect(try Data(contentsOf: source) == before)
      #expect(
        try files(folder) == ["SingleViewCoreData.sqlite", "SingleViewCoreData1.1.sqlite"])
      try withStore(teachersAndStudents, destination) { context throws in
        #expect(try count("Student", context) == 1)
        #expect(try count("Teacher", context) == 1)
        #expect(try count("Person", context) == 2)
        #expect(try names("Teacher", context) == ["John Smith"])
        #expect(try names("Student", context) == ["Lily Brown"])
      }
      #expect(manager.migrationProgress == 1)
    }
  }

  @Test(arguments: [2_999, 1_000])
  func `a store is migrated in its own place and keeps its identity`(personCount: Int) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      try fillPersons(url, count: personCount)
      let identifier = try StoreSummary(of: url).identifier
      var progress: [Float] = []
      let manager = MigrationManager(
        sourceModel: persons, destinationModel: teachersAndStudents)
      manager.progressHandler = { progress.append($0) }
      try manager.migrateStore(from: url, mapping: split, to: url)
      #expect(try files(folder) == ["people.quire"])
      #expect(try StoreSummary(of: url).identifier == identifier)
      #expect(try StoreInspection(of: url).findings == [])
      try withStore(teachersAndStudents, url) { context in
        #expect(try count("Person", context) == personCount)
        #expect(try count("Student", context) == personCount / 2)
        // The keys of new objects go on behind those of the migrated ones.
        try EntityDescription.insertNewObject(forEntityName: "Student", into: context)
        try context.save()
        #expect(try count("Person", context) == personCount + 1)
      }
      #expect(progress == progress.sorted() && progress.last == 1)
    }
  }

  // MARK: Countries and moods

  private let countries = try! ManagedObjectModel {
    Entity("Country") {
      Attribute("name", .string, optional: false, default: "")
      Relationship("capital", toOne: "City", inverse: "capitalOf")
      Relationship("cities", toMany: "City", inverse: "country", ordered: true)
    }
    Entity("City") {
      Attribute("name", .string)
      Relationship("country", toOne: "Country", inverse: "cities")
      Relationship("capitalOf", toOne: "Country", inverse: "capital")
    }
  }
  private let states = try! ManagedObjectModel {
    Entity("State") {
      Attribute("title", .string, optional: false)
      Attribute("length", .integer32)
      Relationship("towns", toMany: "Town", inverse: "state", ordered: true)
      Relationship("seat", toOne: "Town", inverse: "seatOf")
    }
    Entity("Town") {
      Attribute("title", .string)
      Relationship("state", toOne: "State", inverse: "towns")
      Relationship("seatOf", toOne: "State", inverse: "seat")
    }
  }
  private func rewriting(_ policy: EntityMigrationPolicy.Type?) -> MappingModel {
    var state = EntityMapping(from: "Country", to: "State", .transformEntityMappingType)
    state.attributeMappings = [
      PropertyMapping("title", source: "name"),
      PropertyMapping("length") { try ($0.source?.value(forKey: "name") as? String)?.count },
    ]
    state.relationshipMappings = [
      PropertyMapping("towns", destinationsOf: "cities", in: "CityToTown"),
      PropertyMapping("seat", destinationsOf: "capital", in: "CityToTown"),
    ]
    var town = EntityMapping(from: "City", to: "Town", .transformEntityMappingType)
    town.attributeMappings = [PropertyMapping("title", source: "name")]
    state.entityMigrationPolicy = policy
    town.entityMigrationPolicy = policy
    return MappingModel(entityMappings: [state, town])
  }

  private func fillCountries(_ url: URL, _ names: [String], cityCount: Int = 3) throws {
    try withStore(countries, url) { context in
      for name in names {
        let country = try EntityDescription.insertNewObject(
          forEntityName: "Country", into: context)
        try country.setValue(name, forKey: "name")
        var cities: [ManagedObject] = []
        for number in 0..<cityCount {
          let city = try EntityDescription.insertNewObject(forEntityName: "City", into: context)
          try city.setValue("\(name) \(number)", forKey: "name")
          cities.append(city)
        }
        try country.setValue(Array(cities.reversed()), forKey: "cities")
        try country.setValue(cities[1], forKey: "capital")
      }
      try context.save()
    }
  }

  @Test func `attributes are computed, and relationships lead to what became of their objects`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "world.quire")
      // More than one batch.
      let (count, batchCount) = Amount.of(debug: (140, 200), release: (700, 1_000))
      let names = (0..<count).map { "Country \($0)" }
      try fillCountries(url, names)
      let manager = MigrationManager(sourceModel: countries, destinationModel: states)
      try MigrationBatch.$instanceCount.withValue(batchCount) {
        try manager.migrateStore(from: url, mapping: rewriting(nil), to: url)
      }
      try withStore(states, url) { context in
        let found = try context.fetch(FetchRequest<ManagedObject>(entityName: "State"))
        #expect(found.count == names.count)
        for (state, name) in zip(found, names) {
          #expect(try state.value(forKey: "title") as? String == name)
          #expect(try state.value(forKey: "length") as? Int == name.count)
          let towns = try #require(try state.value(forKey: "towns") as? [ManagedObject])
          #expect(
            try towns.map { try $0.value(forKey: "title") as? String }
              == [2, 1, 0].map { "\(name) \($0)" })
          #expect(try state.value(forKeyPath: "seat.title") as? String == "\(name) 1")
          #expect(try towns[0].value(forKey: "state") as? ManagedObject === state)
        }
      }
      #expect(try StoreInspection(of: url).findings == [])
    }
  }

  @Test func `policies are asked in Core Data's order`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "world.quire")
      try fillCountries(url, ["A"], cityCount: 2)
      let manager = MigrationManager(sourceModel: countries, destinationModel: states)
      try manager.migrateStore(from: url, mapping: rewriting(LoggingPolicy.self), to: url)
      #expect(
        manager.userInfo["log"] as? [String] == [
          "begin CountryToState", "create CountryToState", "created CountryToState",
          "begin CityToTown", "create CityToTown", "create CityToTown", "created CityToTown",
          "relate CountryToState", "related CountryToState",
          "relate CityToTown", "relate CityToTown", "related CityToTown",
          "validate CountryToState", "end CountryToState", "validate CityToTown",
          "end CityToTown",
        ])
    }
  }

  @Test func `the source's options ask for a backup, or that it is not written`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "world.quire")
      try fillCountries(url, ["A"])
      let manager = MigrationManager(sourceModel: countries, destinationModel: states)
      var options = PersistentStoreOptions()
      options.isReadOnly = true
      let error = #expect(throws: PersistenceError.self) {
        try manager.migrateStore(from: url, options: options, mapping: rewriting(nil), to: url)
      }
      #expect(error?.code == .migrationManagerSourceStore)
      #expect(error?.message.contains("read-only") ?? false)
      options.migrationBackup = .beside
      try manager.migrateStore(
        from: url, options: options, mapping: rewriting(nil),
        to: folder.appending(path: "other.quire"))
      #expect(try files(folder) == ["other.quire", "world.quire", "world.quire~"])
      options.isReadOnly = false
      try manager.migrateStore(from: url, options: options, mapping: rewriting(nil), to: url)
      try withStore(states, url) { context throws in #expect(try count("Town", context) == 3) }
      try PersistentStoreCoordinator.restorePersistentStore(
        at: url, fromBackupAt: folder.appending(path: "world.quire~"))
      try withStore(countries, url) { context throws in #expect(try count("City", context) == 3) }
    }
  }

  // MARK: Refusals

  /// Runs a migration that must fail, in place and to another file, and looks whether anything is
  /// left of it.
  private func expectFailure(
    _ mapping: MappingModel, to model: ManagedObjectModel? = nil, _ names: [String] = ["A", "B"],
    _ check: (any Error) -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "world.quire")
      try fillCountries(url, names)
      let before = try Data(contentsOf: url)
      for destination in [url, folder.appending(path: "other.quire")] {
        let manager = MigrationManager(sourceModel: countries, destinationModel: model ?? states)
        do {
          try manager.migrateStore(from: url, mapping: mapping, to: destination)
          Issue.record("the migration did not fail")
        } catch {
          check(error)
        }
        #expect(try Data(contentsOf: url) == before)
        #expect(try files(folder) == ["world.quire"])
        try withStore(countries, url) { context throws in
          #expect(try count("City", context) == 3 * names.count)
        }
      }
    }
  }

  private func expectCode(
    _ code: PersistenceError.Code, _ mapping: MappingModel, says text: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try expectFailure(mapping) { error in
      let error = error as? PersistenceError
      #expect(error?.code == code, sourceLocation: sourceLocation)
      #expect(
        error?.description.contains(text) ?? false, "\(error.map { "\($0)" } ?? "")",
        sourceLocation: sourceLocation)
    }
  }

  @Test func `an error thrown by a policy ends the migration`() throws {
    try expectFailure(rewriting(RefusingPolicy.self)) { #expect($0 is RefusingPolicy.Refusal) }
  }

  @Test func `a cancelled migration leaves the old store, and hands back the error it was given`()
    throws
  {
    try expectFailure(rewriting(CancellingPolicy.self)) { #expect($0 is CancellingPolicy.Enough) }
  }

  @Test func `a migration without objects is cancelled by an error of its own, too`() throws {
    struct Enough: Error {}
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "world.quire")
      try fillCountries(url, (0..<400).map { "Country \($0)" })
      let before = try Data(contentsOf: url)
      let larger = try ManagedObjectModel(
        entities: countries.declaration.entities.map { entity in
          var entity = entity
          entity.attributes.append(AttributeDescription("note", .string))
          return entity
        })
      let manager = MigrationManager(sourceModel: countries, destinationModel: larger)
      manager.progressHandler = { [unowned manager] _ in
        manager.cancelMigrationWithError(Enough())
      }
      let mapping = try MappingModel.inferredMappingModel(
        forSourceModel: countries, destinationModel: larger)
      for destination in [url, folder.appending(path: "other.quire")] {
        #expect(throws: Enough.self) {
          try manager.migrateStore(from: url, mapping: mapping, to: destination)
        }
      }
      #expect(try Data(contentsOf: url) == before)
      #expect(try files(folder) == ["world.quire"])
    }
  }

  @Test func `a store that is opened hands back the error that a policy has cancelled with`() throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "world.quire")
      try fillCountries(url, ["A"])
      let model = try #require(
        VersionedModel(versions: [.init("1", countries), .init("2", states)]))
      var options = PersistentStoreOptions.migrating
      options.mappingModels = [rewriting(CancellingPolicy.self)]
      #expect(throws: CancellingPolicy.Enough.self) {
        try PersistentStoreCoordinator(versionedModel: model)
          .addPersistentStore(type: .quire, at: url, options: options)
      }
      try withStore(countries, url) { context throws in #expect(try count("City", context) == 3) }
    }
  }

  @Test func `the outcome is validated before it counts`() throws {
    var mapping = rewriting(nil)
    mapping.entityMappings[0].attributeMappings.removeFirst()
    try expectFailure(mapping) { error in
      let error = error as? PersistenceError
      #expect(error?.code == .validationMultipleErrors)
      #expect(error?.detailedErrors.map(\.key) == ["title", "title"])
      #expect(error?.detailedErrors.first?.code == .validationMissingMandatoryProperty)
    }
  }

  @Test func `a mapping that names what is not there is an error that says so`() throws {
    var mapping = rewriting(nil)
    mapping.entityMappings[0].entityMigrationPolicyClassName = "App.Absent"
    try expectCode(.entityMigrationPolicy, mapping, says: "App.Absent")
    mapping = rewriting(nil)
    mapping.entityMappings[1].sourceEntityName = "Village"
    try expectCode(.migration, mapping, says: "Village")
    mapping = rewriting(nil)
    mapping.entityMappings[1].destinationEntityName = "Village"
    try expectCode(.migration, mapping, says: "Village")
    mapping = rewriting(nil)
    mapping.entityMappings[1].name = mapping.entityMappings[0].name
    try expectCode(.migration, mapping, says: "two mappings")
    mapping = rewriting(nil)
    mapping.entityMappings[1].sourceEntityVersionHash = states.entities[0].versionHash
    try expectCode(.migrationMissingMappingModel, mapping, says: "another version of City")
    mapping = rewriting(nil)
    mapping.entityMappings[1].attributeMappings = [PropertyMapping("title", source: "nome")]
    try expectCode(.undefinedKey, mapping, says: "nome")
    mapping.entityMappings[1].attributeMappings = [PropertyMapping("titre", source: "name")]
    try expectCode(.undefinedKey, mapping, says: "titre")
    mapping = rewriting(nil)
    mapping.entityMappings[0].relationshipMappings = [PropertyMapping("seat", source: "name")]
    try expectCode(.unacceptableValue, mapping, says: "seat")
  }

  @Test func `a source of another model, or none, is an error that says so`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "world.quire")
      let other = folder.appending(path: "other.quire")
      let manager = MigrationManager(sourceModel: countries, destinationModel: states)
      let error = #expect(throws: PersistenceError.self) {
        try manager.migrateStore(from: url, mapping: rewriting(nil), to: other)
      }
      #expect(error?.code == .migrationManagerSourceStore)
      try fillPersons(url)
      let second = #expect(throws: PersistenceError.self) {
        try manager.migrateStore(from: url, mapping: rewriting(nil), to: other)
      }
      #expect(second?.code == .migrationManagerSourceStore)
      #expect(second?.message.contains("Person") ?? false)
    }
  }

  @Test func `a destination that is there already is not touched`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "world.quire")
      let other = folder.appending(path: "other.quire")
      try fillCountries(url, ["A"])
      try Data("precious".utf8).write(to: other)
      let manager = MigrationManager(sourceModel: countries, destinationModel: states)
      let error = #expect(throws: PersistenceError.self) {
        try manager.migrateStore(from: url, mapping: rewriting(nil), to: other)
      }
      #expect(error?.code == .migrationManagerDestinationStore)
      #expect(try Data(contentsOf: other) == Data("precious".utf8))
    }
  }
}
