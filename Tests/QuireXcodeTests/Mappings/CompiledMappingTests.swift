import Foundation
import Quire
import QuireModel
import QuireXcode
import Testing

/// Mapping models in the form of keyed archives, `.cdm`. Core Data's own are not to be had here:
/// the archives are written by ``KeyedArchiveWriter``, which says where it knows them from.
@Suite struct CompiledMappingTests {
  private func load(
    _ mapping: CompiledMapping, asXML: Bool = false, _ folder: TemporaryFolder
  ) throws -> XcodeMappingModel {
    let list = try mapping.list()
    let url = try folder.write(asXML ? Array(list.xml.utf8) : list.binary, to: "World.cdm")
    return try XcodeMappingModel(
      contentsOf: url, sourceModel: try CompiledMapping.countries(),
      destinationModel: try CompiledMapping.states())
  }

  @Test(arguments: [false, true])
  func `a compiled mapping model is read in both forms of property lists`(_ asXML: Bool) throws {
    let folder = try TemporaryFolder()
    let loaded = try load(
      CompiledMapping(policy: "World.StatePolicy", mappingType: 1), asXML: asXML, folder)
    let (source, destination) = (try CompiledMapping.countries(), try CompiledMapping.states())
    #expect(loaded.name == "World")
    #expect(loaded.notes == [])
    let mappings = loaded.mappingModel.entityMappings
    #expect(mappings.map(\.name) == ["CountryToState", "CityToTown", "Sea"])
    #expect(
      mappings.map(\.mappingType) == [
        .customEntityMappingType, .transformEntityMappingType, .removeEntityMappingType,
      ])
    #expect(mappings[0].entityMigrationPolicyClassName == "World.StatePolicy")
    #expect(mappings[0].userInfo == ["by": "hand – ü"])
    #expect(mappings[0].sourceEntityVersionHash == source.entity(named: "Country")?.versionHash)
    #expect(
      mappings[1].destinationEntityVersionHash == destination.entity(named: "Town")?.versionHash)
    #expect(loaded.sourceVersionHashes["City"] == Data("CityToTown".utf8))
    #expect(
      loaded.destinationVersionHashes == ["State": Data([1, 2, 3]), "Town": Data([1, 2, 3])])
    #expect(mappings[2].destinationEntityName == nil)
    #expect(loaded.mappingModel.matches(source: source, destination: destination))
  }

  @Test(arguments: [
    #""text""#, #""ü""#, "-7", "2.5", "nil", "YES", "SELF", "$source", "name.first",
    "$source.name.b",
    "$entityPolicy.x.@count", "{1, $source.a, \"x\"}", "$source.a + 2 * $source.b ** -1",
    "lowercase:($source.name)", "now()", #"CAST($source.date, "NSNumber")"#,
    #"CAST(1.5, "NSDate")"#, "$source.a UNION $source.b", "$source.a MINUS ($source.b INTERSECT c)",
    #"FUNCTION($entityPolicy, "ageFrom:at:", $source.born, now())"#,
    #"FUNCTION($source, "valueForKeyPath:", "a.b")"#,
    #"TERNARY(NOT (a == nil) OR ANY b.c IN {1, 2}, "x", $source.d)"#,
    "SUBQUERY($source.cities, $c, $c.name CONTAINS[cd] \"a\" AND $c.size != 3).@count",
    #"FETCH(FUNCTION($manager, "request:", "A"), $manager.sourceContext, YES)"#,
    "TERNARY(TRUEPREDICATE, 1, TERNARY(FALSEPREDICATE, 2, 3))",
  ])
  func `an archived expression is the one that its format means`(_ format: String) throws {
    let expression = try FetchExpression(format: format)
    let loaded = try load(CompiledMapping(title: format), try TemporaryFolder())
    let title = loaded.mappingModel.entityMappings[0].attributeMappings.first { $0.name == "title" }
    guard case .expression(let read)? = title?.valueExpression else {
      Issue.record("there is no expression")
      return
    }
    #expect(read == expression)
  }

  @Test func `a compiled mapping model migrates a store`() throws {
    let folder = try TemporaryFolder()
    let loaded = try load(CompiledMapping(), folder)
    let (source, destination) = (try CompiledMapping.countries(), try CompiledMapping.states())
    let store = folder.file("world.quire")
    try withStore(source, store) { context in
      for (rank, name) in ["Austria", "Belgium", "albania"].enumerated() {
        let country = try EntityDescription.insertNewObject(forEntityName: "Country", into: context)
        try country.setValue(name, forKey: "name")
        try country.setValue(rank, forKey: "rank")
        let city = try EntityDescription.insertNewObject(forEntityName: "City", into: context)
        try city.setValue("City of \(name)", forKey: "name")
        try country.setValue([city], forKey: "cities")
      }
      try EntityDescription.insertNewObject(forEntityName: "Sea", into: context)
      try context.save()
    }
    let manager = MigrationManager(sourceModel: source, destinationModel: destination)
    try manager.migrateStore(from: store, mapping: loaded.mappingModel, to: store)
    try withStore(destination, store) { context in
      let states = try context.fetch(FetchRequest<ManagedObject>(entityName: "State"))
      #expect(
        try states.map { try $0.value(forKey: "title") as? String }
          == ["AUSTRIA", "BELGIUM", "ALBANIA"])
      #expect(try states.map { try $0.value(forKey: "rank") as? Double } == [0, 1.5, 3])
      #expect(
        try states.map { try $0.value(forKey: "size") as? String } == ["small", "small", "large"])
      for state in states {
        let towns = try #require(try state.value(forKey: "towns") as? [ManagedObject])
        #expect(towns.count == 1)
        #expect(try towns[0].value(forKey: "state") as? ManagedObject === state)
      }
    }
  }
}

/// Opens a store for a moment.
func withStore<Result>(
  _ model: ManagedObjectModel, _ url: URL, _ body: (ManagedObjectContext) throws -> Result
) throws -> Result {
  let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
  let store = try coordinator.addPersistentStore(type: .quire, at: url)
  defer { try? coordinator.remove(store) }
  let context = ManagedObjectContext()
  context.persistentStoreCoordinator = coordinator
  return try body(context)
}
