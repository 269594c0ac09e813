import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A manager that keeps a diary of what it is asked, and answers a function of its own.
private final class DiaryManager: MigrationManager {
  private(set) var diary: [String] = []

  override func migrateStore(
    from sourceURL: URL, type sourceType: StoreType, options sourceOptions: PersistentStoreOptions,
    mapping: MappingModel, to destinationURL: URL, type destinationType: StoreType,
    options destinationOptions: PersistentStoreOptions
  ) throws {
    diary.append("migrate")
    try super.migrateStore(
      from: sourceURL, type: sourceType, options: sourceOptions, mapping: mapping,
      to: destinationURL, type: destinationType, options: destinationOptions)
  }
  override func associate(
    sourceInstance: ManagedObject, withDestinationInstance destinationInstance: ManagedObject,
    for entityMapping: EntityMapping
  ) throws {
    diary.append("associate \(entityMapping.name)")
    try super.associate(
      sourceInstance: sourceInstance, withDestinationInstance: destinationInstance,
      for: entityMapping)
  }
  override func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [ManagedObject]?
  ) throws -> [ManagedObject] {
    diary.append("destinations \(mappingName)")
    return try super.destinationInstances(
      forEntityMappingName: mappingName, sourceInstances: sourceInstances)
  }
  override func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [ManagedObject]?
  ) throws -> [ManagedObject] {
    diary.append("sources \(mappingName)")
    return try super.sourceInstances(
      forEntityMappingName: mappingName, destinationInstances: destinationInstances)
  }
  override func call(_ selector: String, _ arguments: [Any?]) throws -> Any? {
    if selector == "shout:" { return (arguments.first as? String)?.uppercased() }
    return try super.call(selector, arguments)
  }
  override func cancelMigrationWithError(_ error: any Error) {
    diary.append("cancel")
    super.cancelMigrationWithError(error)
  }
  override var migrationProgress: Float { super.migrationProgress / 2 }
  override var currentEntityMapping: EntityMapping? { super.currentEntityMapping }
  override func reset() {
    diary.append("reset")
    super.reset()
  }
}

/// A large migration may be split over several mapping models, which are carried out one after the
/// other into one destination. The second was refused, as the destination was there already.
@Suite struct `Several mapping models into one destination` {
  private let old = try! ManagedObjectModel {
    Entity("Country") {
      Attribute("name", .string)
      Relationship("cities", toMany: "City", inverse: "country")
    }
    Entity("City") {
      Attribute("name", .string)
      Relationship("country", toOne: "Country", inverse: "cities")
    }
    Entity("Sea") { Attribute("name", .string) }
  }
  private let new = try! ManagedObjectModel {
    Entity("State") {
      Attribute("name", .string)
      Relationship("towns", toMany: "Town", inverse: "state")
      UniquenessConstraint("name")
    }
    Entity("Town") {
      Attribute("name", .string)
      Relationship("state", toOne: "State", inverse: "towns")
    }
    Entity("Water") {
      Attribute("title", .string)
      FetchIndex("byTitle", on: "title")
    }
  }

  private func land() -> MappingModel {
    var state = EntityMapping(from: "Country", to: "State", .transformEntityMappingType)
    state.attributeMappings = [PropertyMapping("name", source: "name")]
    state.relationshipMappings = [
      PropertyMapping("towns", destinationsOf: "cities", in: "CityToTown")
    ]
    var town = EntityMapping(from: "City", to: "Town", .transformEntityMappingType)
    town.attributeMappings = [PropertyMapping("name", source: "name")]
    return MappingModel(entityMappings: [state, town])
  }

  private func sea(_ expression: String = "$source.name") throws -> MappingModel {
    var sea = EntityMapping(from: "Sea", to: "Water", .transformEntityMappingType)
    let title = try FetchExpression(format: expression)
    sea.attributeMappings = [PropertyMapping("title", valueExpression: .expression(title))]
    return MappingModel(entityMappings: [sea])
  }

  private func fill(_ url: URL) throws {
    try withStore(old, url) { context in
      for name in ["Austria", "Belgium"] {
        let country = try EntityDescription.insertNewObject(forEntityName: "Country", into: context)
        try country.setValue(name, forKey: "name")
        let city = try EntityDescription.insertNewObject(forEntityName: "City", into: context)
        try city.setValue("City of \(name)", forKey: "name")
        try city.setValue(country, forKey: "country")
      }
      for name in ["North", "Baltic", "Black"] {
        try EntityDescription.insertNewObject(forEntityName: "Sea", into: context)
          .setValue(name, forKey: "name")
      }
      try context.save()
    }
  }

  private func contents(_ url: URL) throws -> [String] {
    try withStore(new, url) { context in
      let towns = try context.fetch(FetchRequest<ManagedObject>(entityName: "Town")).map { town in
        let state = try town.value(forKeyPath: "state.name") ?? "-"
        return "\(state): \(try town.value(forKey: "name") ?? "-")"
      }
      var request = FetchRequest<ManagedObject>(entityName: "Water")
      request.predicate = try FetchPredicate(format: "title >= \"A\"")
      let waters = try context.fetch(request).map {
        try $0.value(forKey: "title") as? String ?? "-"
      }
      return (towns + waters).sorted()
    }
  }

  private let everything = [
    "Austria: City of Austria", "Baltic", "Belgium: City of Belgium", "Black", "North",
  ]

  @Test func `the second adds to what the first has made`() throws {
    try withTemporaryFolder { folder in
      let (source, destination) = (
        folder.appending(path: "old.quire"), folder.appending(path: "new.quire")
      )
      try fill(source)
      let manager = MigrationManager(sourceModel: old, destinationModel: new)
      try manager.migrateStore(from: source, mapping: land(), to: destination)
      let identifier = try StoreSummary(of: destination).identifier
      #expect(try contents(destination) == everything.filter { $0.contains("City") })
      try manager.migrateStore(from: source, mapping: try sea(), to: destination)
      #expect(try contents(destination) == everything)
      let summary = try StoreSummary(of: destination)
      #expect(summary.identifier == identifier)
      #expect(summary.migrationHistory.count == 2)
      #expect(try StoreInspection(of: destination).findings == [])
      // Keys go on behind those that were given.
      try withStore(new, destination) { context in
        try EntityDescription.insertNewObject(forEntityName: "Water", into: context)
          .setValue("Red", forKey: "title")
        try context.save()
      }
      #expect(try contents(destination).count == 6)
    }
  }

  @Test func `a failed migration leaves the destination as the previous one made it`() throws {
    try withTemporaryFolder { folder in
      let (source, destination) = (
        folder.appending(path: "old.quire"), folder.appending(path: "new.quire")
      )
      try fill(source)
      let manager = MigrationManager(sourceModel: old, destinationModel: new)
      try manager.migrateStore(from: source, mapping: land(), to: destination)
      let before = try contents(destination)
      #expect(throws: (any Error).self) {
        try manager.migrateStore(from: source, mapping: try sea("$source.nome"), to: destination)
      }
      // The same objects once more break the destination's constraint.
      #expect {
        try manager.migrateStore(from: source, mapping: land(), to: destination)
      } throws: { ($0 as? PersistenceError)?.code == .migrationConstraintViolation }
      #expect(try contents(destination) == before)
      #expect(try StoreInspection(of: destination).findings == [])
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
          .sorted() == ["new.quire", "old.quire"])
      try manager.migrateStore(from: source, mapping: try sea(), to: destination)
      #expect(try contents(destination) == everything)
    }
  }

  @Test func `a destination that another has made is added to only when the manager is told to`()
    throws
  {
    try withTemporaryFolder { folder in
      let (source, destination) = (
        folder.appending(path: "old.quire"), folder.appending(path: "new.quire")
      )
      try fill(source)
      try MigrationManager(sourceModel: old, destinationModel: new)
        .migrateStore(from: source, mapping: land(), to: destination)
      let manager = MigrationManager(sourceModel: old, destinationModel: new)
      let error = #expect(throws: PersistenceError.self) {
        try manager.migrateStore(from: source, mapping: try sea(), to: destination)
      }
      #expect(error?.code == .migrationManagerDestinationStore)
      #expect(error?.description.contains("addsToDestination") ?? false, "\(error as Any)")
      manager.addsToDestination = true
      var options = PersistentStoreOptions()
      options.storeUUID = UUID()
      let second = #expect(throws: PersistenceError.self) {
        try manager.migrateStore(
          from: source, type: .quire, options: [:], mapping: try sea(), to: destination,
          type: .quire, options: options)
      }
      #expect(second?.description.contains("UUID") ?? false)
      try manager.migrateStore(from: source, mapping: try sea(), to: destination)
      #expect(try contents(destination) == everything)
      // Also told to, it adds to nothing but a store of the destination model.
      let other = folder.appending(path: "other.quire")
      try fill(other)
      let third = #expect(throws: PersistenceError.self) {
        try manager.migrateStore(from: source, mapping: try sea(), to: other)
      }
      #expect(third?.code == .migrationManagerDestinationStore)
      try Data("precious".utf8).write(to: folder.appending(path: "text"))
      #expect(throws: PersistenceError.self) {
        try manager.migrateStore(
          from: source, mapping: try sea(), to: folder.appending(path: "text"))
      }
      #expect(
        try Data(contentsOf: folder.appending(path: "text")) == Data("precious".utf8))
      // One that is not there is made.
      try manager.migrateStore(
        from: source, mapping: try sea(), to: folder.appending(path: "third.quire"))
    }
  }

  @Test func `a subclass of the manager is asked, and answers functions of its own`() throws {
    try withTemporaryFolder { folder in
      let (source, destination) = (
        folder.appending(path: "old.quire"), folder.appending(path: "new.quire")
      )
      try fill(source)
      let manager = DiaryManager(sourceModel: old, destinationModel: new)
      try manager.migrateStore(
        from: source, sourceType: .quire, with: land(), toDestinationURL: destination,
        destinationType: .quire)
      // The overrides have no default arguments.
      let base: MigrationManager = manager
      try base.migrateStore(
        from: source, mapping: try sea(#"FUNCTION($manager, "shout:", $source.name)"#),
        to: destination)
      #expect(try contents(destination).contains("BALTIC"))
      for entry in [
        "associate CountryToState", "associate CityToTown", "associate SeaToWater",
        "destinations CityToTown", "sources CountryToState",
      ] { #expect(manager.diary.contains(entry), "\(entry)") }
      #expect(manager.diary.filter { $0 == "migrate" }.count == 2)
      #expect(manager.migrationProgress == 0.5)
      // A subclass that forgets more is asked to by its owner alone.
      #expect(!manager.diary.contains("reset"))
      manager.reset()
      #expect(manager.diary.last == "reset")
    }
  }
}
