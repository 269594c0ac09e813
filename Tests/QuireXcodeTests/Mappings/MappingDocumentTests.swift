import Foundation
import Quire
import QuireModel
import QuireXcode
import Testing

@Suite struct MappingDocumentTests {
  private func load(_ document: MappingDocument) throws -> XcodeMappingModel {
    let folder = try TemporaryFolder()
    try folder.write(document.text, to: "World.xcmappingmodel/xcmapping.xml")
    return try XcodeMappingModel(
      contentsOf: folder.file("World.xcmappingmodel"),
      sourceModel: try CompiledMapping.countries(),
      destinationModel: try CompiledMapping.states())
  }

  private func format(_ expression: MappingExpression?) throws -> FetchExpression? {
    guard let expression else { return nil }
    guard case .expression(let found) = expression else {
      Issue.record("it is no expression of Core Data's language")
      return nil
    }
    return found
  }

  /// The properties of the mapping of countries, with their expressions.
  private func properties(_ document: MappingDocument) throws -> [String: FetchExpression?] {
    let mapping = try #require(
      try load(document).mappingModel.entityMappings.first { $0.sourceEntityName == "Country" })
    var found: [String: FetchExpression?] = [:]
    for property in mapping.attributeMappings + mapping.relationshipMappings {
      found[property.name] = .some(try format(property.valueExpression))
    }
    return found
  }

  private static func attribute(_ name: String, _ text: String, _ type: String = "string") -> String
  {
    #"<attribute name="\#(name)" type="\#(type)">\#(text)</attribute>"#
  }

  @Test func `mappings have their order, types, sources and paths`() throws {
    let loaded = try load(MappingDocument())
    #expect(loaded.name == "World")
    #expect(loaded.sourceModelPath == "World/World.xcdatamodel")
    #expect(loaded.destinationModelPath == "World/World 2.xcdatamodel")
    let mappings = loaded.mappingModel.entityMappings
    #expect(mappings.map(\.name) == ["Sea", "CountryToState", "CityToTown"])
    #expect(
      mappings.map(\.mappingType) == [
        .removeEntityMappingType, .transformEntityMappingType, .transformEntityMappingType,
      ])
    #expect(
      try format(mappings[1].sourceExpression)
        == FetchExpression(
          format: """
            FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", \
            "Country", "TRUEPREDICATE"), $manager.sourceContext, NO)
            """))
    let source = try CompiledMapping.countries()
    #expect(mappings[1].sourceEntityVersionHash == source.entity(named: "Country")?.versionHash)
  }

  @Test func `what is left to Xcode is what Xcode generates`() throws {
    let found = try properties(MappingDocument())
    #expect(found["rank"] == .some(try FetchExpression(format: "$source.rank")))
    // The source has nothing of the name.
    #expect(found["towns"] == .some(nil))
    #expect(found["note"] == .some(nil))
    #expect(found["title"] == .some(nil))
  }

  @Test func `relationships of one name lead to what their objects became`() throws {
    let folder = try TemporaryFolder()
    func object(_ kind: String, _ id: String, _ lines: String) -> String {
      #"<object type="XDDEV\#(kind)" id="\#(id)">\#(lines)</object>"#
    }
    func references(_ name: String, _ ids: String) -> String {
      #"<relationship name="\#(name)" idrefs="\#(ids)"></relationship>"#
    }
    func entity(_ id: String, _ name: String, _ attributes: String, _ link: String) -> String {
      object(
        "ENTITYMAPPING", id,
        Self.attribute("sourcename", name) + Self.attribute("destinationname", name)
          + references("attributemappings", attributes) + references("relationshipmappings", link))
    }
    func property(_ kind: String, _ id: String, _ name: String) -> String {
      object("\(kind)MAPPING", id, Self.attribute("name", name))
    }
    let text = [
      "<database>", object("MAPPINGMODEL", "z1", references("entitymappings", "z2 z3")),
      entity("z2", "Country", "z4 z5", "z6"), entity("z3", "City", "z7", "z8"),
      property("ATTRIBUTE", "z4", "name"), property("ATTRIBUTE", "z5", "rank"),
      property("RELATIONSHIP", "z6", "cities"), property("ATTRIBUTE", "z7", "name"),
      property("RELATIONSHIP", "z8", "country"), "</database>",
    ].joined(separator: "\n")
    let model = try CompiledMapping.countries()
    let mapping = try MappingModel(
      contentsOf: try folder.write(text, to: "xcmapping.xml"), sourceModel: model,
      destinationModel: model)
    #expect(
      mapping.entityMappings.map(\.mappingType) == [
        .copyEntityMappingType, .copyEntityMappingType,
      ])
    #expect(
      try format(mapping.entityMappings[0].relationshipMappings.first?.valueExpression)
        == FetchExpression(
          format: """
            FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", \
            "CityToCity", $source.cities)
            """))
    let store = folder.file("world.quire")
    try withStore(model, store) { context in
      for name in ["Austria", "Belgium"] {
        let country = try EntityDescription.insertNewObject(forEntityName: "Country", into: context)
        try country.setValue(name, forKey: "name")
        let city = try EntityDescription.insertNewObject(forEntityName: "City", into: context)
        try city.setValue("City of \(name)", forKey: "name")
        try city.setValue(country, forKey: "country")
      }
      try context.save()
    }
    let copy = folder.file("copy.quire")
    try MigrationManager(sourceModel: model, destinationModel: model)
      .migrateStore(from: store, mapping: mapping, to: copy)
    try withStore(model, copy) { context in
      let cities = try context.fetch(FetchRequest<ManagedObject>(entityName: "City"))
      #expect(
        try cities.map { try $0.value(forKeyPath: "country.name") as? String }
          == ["Austria", "Belgium"])
      #expect(
        try cities.map { try $0.value(forKey: "name") as? String }
          == ["City of Austria", "City of Belgium"])
    }
  }

  @Test func `a relationship may name its path and its mapping`() throws {
    var document = MappingDocument()
    document.towns =
      Self.attribute("sourcekeypath", "cities") + Self.attribute("sourcemappingname", "Other")
    let named = try properties(document)["towns"] as? FetchExpression
    #expect(named?.description.contains(#""Other", $source.cities"#) == true, "\(named as Any)")
    document.towns = Self.attribute("sourcekeypath", "cities")
    let found = try properties(document)["towns"] as? FetchExpression
    #expect(found?.description.contains(#""CityToTown", $source.cities"#) == true)
  }

  @Test func `expressions may be archives or text`() throws {
    let format = #"FUNCTION($entityPolicy, "titleFrom:", $source.name)"#
    let expression = try FetchExpression(format: format)
    let writer = KeyedArchiveWriter()
    let root = try writer.expression(expression)
    let archive = Data(writer.list(root: root).binary).base64EncodedString(
      options: .lineLength76Characters)
    var document = MappingDocument()
    document.title = Self.attribute("valueexpressiondata", archive, "binary")
    #expect(try properties(document)["title"] == .some(expression))
    document.title = Self.attribute(
      "valueexpression", format.replacingOccurrences(of: "\"", with: "&quot;"))
    #expect(try properties(document)["title"] == .some(expression))
  }

  @Test func `a filter is part of the fetch of the sources`() throws {
    var document = MappingDocument()
    document.state = Self.attribute("sourcefilterpredicatestring", "rank &gt; 1")
    let mapping = try load(document).mappingModel.entityMappings[1]
    #expect("\(try #require(try format(mapping.sourceExpression)))".contains("rank > 1"))
  }

  @Test func `a policy makes a mapping a custom one, and is found by its name without the module`()
    throws
  {
    final class StatePolicy: EntityMigrationPolicy {}
    var document = MappingDocument()
    document.state = Self.attribute("migrationpolicyclassname", "World.StatePolicy")
    let folder = try TemporaryFolder()
    let url = try folder.write(document.text, to: "xcmapping.xml")
    let mapping = try MappingModel(
      contentsOf: url, sourceModel: try CompiledMapping.countries(),
      destinationModel: try CompiledMapping.states(), migrationPolicies: [StatePolicy.self])
    #expect(mapping.entityMappings[1].mappingType == .customEntityMappingType)
    #expect(mapping.entityMappings[1].entityMigrationPolicyClassName == "World.StatePolicy")
    #expect(mapping.migrationPolicies["StatePolicy"] == StatePolicy.self)
  }

  @Test(arguments: [
    (
      MappingDocument(title: attribute("valueexpressiondata", "YnBsaXN0MDDU", "binary")),
      "valueexpressiondata: ends too early"
    ),
    (MappingDocument(title: attribute("valueexpressiondata", "(?)", "binary")), "base 64"),
    (MappingDocument(title: attribute("valueexpression", "1 +")), "is not an expression"),
    (MappingDocument(state: attribute("mappingnumber", "first")), "is no number"),
    (MappingDocument(destination: "Province"), "Province, which the destination model"),
    (MappingDocument(destination: "Town"), "Town.note, which is no attribute"),
  ])
  func `a document that cannot be right is an error that says where`(
    _ document: MappingDocument, _ words: String
  ) throws {
    do {
      _ = try load(document)
      Issue.record("no error")
    } catch let error as XcodeMappingError {
      #expect(error.description.contains(words), "\(error)")
      #expect(error.description.contains("xcmapping.xml"))
    }
  }

  @Test func `folders are searched for the mapping between two models`() throws {
    let folder = try TemporaryFolder()
    let (source, destination) = (try CompiledMapping.countries(), try CompiledMapping.states())
    try folder.write(
      MappingDocument(destination: "Province").text, to: "a/A.xcmappingmodel/xcmapping.xml")
    func search(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) throws
      -> MappingModel?
    {
      try MappingModel(
        from: [folder.file("none"), folder.url], forSourceModel: source,
        destinationModel: destination)
    }
    #expect(try search(source, destination) == nil)
    try folder.write(MappingDocument().text, to: "b/B.xcmappingmodel/xcmapping.xml")
    #expect(try search(source, destination)?.entityMappings.count == 3)
    #expect(try search(destination, source) == nil)
    try folder.write("rubbish", to: "a/C.cdm")
    #expect(try search(source, destination) != nil)
    #expect(throws: XcodeMappingError.self) { try search(destination, source) }
  }
}
