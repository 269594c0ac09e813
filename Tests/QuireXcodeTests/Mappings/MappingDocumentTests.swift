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

  @Test func `a property without an expression takes the source property of its name`() throws {
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

  @Test func `a relationship's path may begin with the source, or be the source itself`() throws {
    var document = MappingDocument()
    document.towns = Self.attribute("sourcekeypath", "$source.cities")
    let led = try properties(document)["towns"] as? FetchExpression
    #expect(led?.description.contains(#""CityToTown", $source.cities"#) == true, "\(led as Any)")
    document.towns =
      Self.attribute("sourcekeypath", "$source") + Self.attribute("sourcemappingname", "CityToTown")
    #expect(
      try properties(document)["towns"]
        == .some(
          try FetchExpression(
            format: """
              FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", \
              "CityToTown", $source)
              """)))
    document.title = Self.attribute("sourcekeypath", "$source.name")
    #expect(
      try properties(document)["title"] == .some(try FetchExpression(format: "$source.name")))
  }

  /// One entity becomes two, and what became of an object in one mapping is related to what became
  /// of the same object in the other: the usual way to split an entity.
  @Test func `two objects made of one source object are related by the path $source`() throws {
    let source = try ManagedObjectModel { Entity("Person") { Attribute("name", .string) } }
    let destination = try ManagedObjectModel {
      Entity("Contact") {
        Attribute("name", .string)
        Relationship("card", toOne: "Card", inverse: "contact")
      }
      Entity("Card") {
        Attribute("name", .string)
        Relationship("contact", toOne: "Contact", inverse: "card")
      }
    }
    let folder = try TemporaryFolder()
    func mapping(_ id: Int, _ name: String, _ link: String, _ through: String) -> String {
      """
      <object type="XDDEVENTITYMAPPING" id="z\(id)">
      \(Self.attribute("sourcename", "Person"))\(Self.attribute("destinationname", name))
      \(Self.attribute("mappingnumber", "\(id)"))
      <relationship name="attributemappings" idrefs="z\(id)1"></relationship>
      <relationship name="relationshipmappings" idrefs="z\(id)2"></relationship></object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z\(id)1">\(Self.attribute("name", "name"))</object>
      <object type="XDDEVRELATIONSHIPMAPPING" id="z\(id)2">\(Self.attribute("name", link))
      \(Self.attribute("sourcekeypath", "$source"))\(through)</object>
      """
    }
    // Without a name it is the mapping that makes what the relationship leads to.
    let text = """
      <database><object type="XDDEVMAPPINGMODEL" id="z1">
      <relationship name="entitymappings" idrefs="z2 z3"></relationship></object>
      \(mapping(2, "Contact", "card", ""))
      \(mapping(3, "Card", "contact", Self.attribute("sourcemappingname", "PersonToContact")))
      </database>
      """
    let loaded = try XcodeMappingModel(
      contentsOf: try folder.write(text, to: "xcmapping.xml"), sourceModel: source,
      destinationModel: destination)
    #expect(loaded.notes == [])
    let (store, copy) = (folder.file("people.quire"), folder.file("copy.quire"))
    try withStore(source, store) { context in
      for name in ["Ada", "Grace"] {
        try EntityDescription.insertNewObject(forEntityName: "Person", into: context)
          .setValue(name, forKey: "name")
      }
      try context.save()
    }
    try MigrationManager(sourceModel: source, destinationModel: destination)
      .migrateStore(from: store, mapping: loaded.mappingModel, to: copy)
    try withStore(destination, copy) { context in
      let contacts = try context.fetch(FetchRequest<ManagedObject>(entityName: "Contact"))
      #expect(
        try contacts.map { try $0.value(forKeyPath: "card.name") as? String } == ["Ada", "Grace"])
    }
  }

  @Test func `a relationship that no mapping carries over is left empty, with a note`() throws {
    var document = MappingDocument()
    document.towns = Self.attribute("sourcekeypath", "$source.seas")
    let loaded = try load(document)
    let notes = loaded.notes.map(\.text)
    #expect(notes.contains { $0.contains("towns") && $0.contains("$source.seas") }, "\(notes)")
    document.towns = Self.attribute("sourcekeypath", "$entityPolicy.towns")
    #expect(try load(document).notes.map(\.text).contains { $0.contains("$entityPolicy.towns") })
  }

  @Test func `a mapping that was begun and left empty is skipped, with a note`() throws {
    let empty = """
      <object type="XDDEVENTITYMAPPING" id="z20">
      \(Self.attribute("mappingtypename", "Undefined"))\(Self.attribute("mappingnumber", "4"))
      \(Self.attribute("sourcename", ""))
      <relationship name="attributemappings" idrefs="z21"></relationship></object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z21"></object>
      """
    let whole = MappingDocument(title: "")
    let text = whole.text
      .replacingOccurrences(of: #"idrefs="z4 z2 z3""#, with: #"idrefs="z4 z2 z20 z3""#)
      .replacingOccurrences(of: #"idrefs="z5 z7 z8""#, with: #"idrefs="z5 z7 z21 z8""#)
      .replacingOccurrences(of: "</database>", with: empty + "</database>")
    let folder = try TemporaryFolder()
    let loaded = try XcodeMappingModel(
      contentsOf: try folder.write(text, to: "xcmapping.xml"),
      sourceModel: try CompiledMapping.countries(), destinationModel: try CompiledMapping.states())
    #expect(
      loaded.mappingModel.entityMappings.map(\.name) == ["Sea", "CountryToState", "CityToTown"])
    #expect(
      loaded.mappingModel.entityMappings[1].attributeMappings.map(\.name)
        == ["note", "rank", "title"])
    #expect(loaded.notes.map(\.text).filter { $0.contains("unfinished") }.count == 2)
    #expect(loaded.notes.allSatisfy { $0.line > 0 })
  }

  /// Core Data's XML stores write what XML gives a meaning to as UTF-16 units, low byte first.
  @Test func `texts have Core Data's escapes`() throws {
    var document = MappingDocument()
    document.state =
      Self.attribute("sourcefilterpredicatestring", #"rank \u3c00 3 AND name != "\u2600""#)
      + Self.attribute("name", #"A\\u3c00B"#)
    let mapping = try load(document).mappingModel.entityMappings[1]
    let format = try #require(try format(mapping.sourceExpression)).description
    #expect(format.contains("rank < 3") && format.contains("&"), "\(format)")
    #expect(mapping.name == #"A\u3c00B"#)
    document.state = ""
    document.title = Self.attribute("valueexpression", #"$source.name.\u4600l\u6500n"#)
    #expect(
      try properties(document)["title"] == .some(try FetchExpression(format: "$source.name.Flen")))
    document.title = ""
    // What is no escape, or half a sign, stays as it is written; two halves are one sign.
    for (written, read) in [
      (#"A\u3c0 \x"#, #"A\u3c0 \x"#), (#"A\u00d8"#, #"A\u00d8"#), (#"A\u3dd8\u00de"#, "A😀"),
      (#"A\"#, #"A\"#), (#"A\uz000"#, #"A\uz000"#),
    ] {
      document.state = Self.attribute("name", written)
      #expect(try load(document).mappingModel.entityMappings[1].name == read)
    }
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

  /// The copy of a model that a document has, with what tells one model from another.
  private func copy(of model: ManagedObjectModel) -> String {
    let writer = KeyedArchiveWriter()
    let entities = model.entities.map { entity -> (String, KeyedArchiveWriter.Value) in
      let properties =
        entity.declaration.attributes.map { ($0.name, writer.object("XDPMAttribute", [])) }
        + entity.declaration.relationships.map { ($0.name, writer.object("XDPMRelationship", [])) }
      let bucket = ("XDBucketForOwnedAttributesstorage", writer.dictionary(properties))
      return (entity.name, writer.object("XDPMEntity", [bucket]))
    }
    let package = writer.object(
      "XDPackage", [("XDBucketForClassesstorage", writer.dictionary(entities))])
    let root = writer.object("XDModel", [("_xd_rootPackage", package)])
    return Data(writer.list(root: root).binary).base64EncodedString(
      options: [.lineLength64Characters, .endLineWithLineFeed])
  }

  // An application may have a hundred documents, whose XML takes longer to read than a migration.
  @Test func `of a document between other models nothing is read but its copies of them`() throws {
    let folder = try TemporaryFolder()
    let (source, destination) = (try CompiledMapping.countries(), try CompiledMapping.states())
    func document(_ from: ManagedObjectModel, _ to: ManagedObjectModel) -> MappingDocument {
      MappingDocument(
        copies: Self.attribute("sourcemodeldata", copy(of: from), "binary") + "\n"
          + Self.attribute("destinationmodeldata", copy(of: to), "binary"))
    }
    func search() throws -> MappingModel? {
      try MappingModel(
        from: [folder.url], forSourceModel: source, destinationModel: destination)
    }
    // The end is missing: whoever reads more than the copies says so.
    for (name, other) in [
      ("A", document(destination, source)), ("B", document(source, source)),
    ] {
      let text = other.text.replacingOccurrences(of: "</database>", with: "")
      try folder.write(text, to: "\(name).xcmappingmodel/xcmapping.xml")
    }
    #expect(try search() == nil)
    let own = document(source, destination).text
    try folder.write(own, to: "C.xcmappingmodel/xcmapping.xml")
    #expect(try search()?.entityMappings.count == 3)
    try folder.write(
      own.replacingOccurrences(of: "</database>", with: ""), to: "C.xcmappingmodel/xcmapping.xml")
    #expect(throws: XcodeMappingError.self) { try search() }
    // Cut within its copies, a document is an error, and nothing is read behind its end.
    let start = try #require(own.range(of: "sourcemodeldata")).lowerBound
    for length in stride(from: 0, through: 120, by: 1) {
      let end = own.index(start, offsetBy: length)
      try folder.write(String(own[..<end]), to: "C.xcmappingmodel/xcmapping.xml")
      #expect(throws: XcodeMappingError.self, "\(length)") { try search() }
    }
  }
}
