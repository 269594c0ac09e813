import Foundation
import Quire
import QuireModel
import QuireXcode
import Testing

/// Automatic mappings of relationships that lead to an entity with subentities. Xcode compiles
/// `destinationInstancesForSourceRelationshipNamed:sourceInstances:` for them; looked up in one
/// mapping, links to the objects of all others were lost.
@Suite struct `Automatic mappings of relationships` {
  /// How the value of a relationship is said.
  enum Form: CaseIterable {
    case automatic, automaticByPath, written, writtenBesideAutomatic, compiled
  }
  enum Inverse: CaseIterable { case none, toOne, toMany }

  struct Shape: CustomTestStringConvertible {
    var isAbstract: Bool
    var inverse: Inverse
    /// The order of the mappings.
    var entities: [String]
    var testDescription: String {
      "\(isAbstract ? "abstract" : "concrete"), inverse \(inverse), \(entities)"
    }
  }

  static let shapes: [Shape] = [true, false].flatMap { isAbstract in
    Inverse.allCases.flatMap { inverse in
      [["House", "Dog", "Puppy"], ["Puppy", "House", "Dog"], ["Dog", "Puppy", "House"]].map {
        Shape(
          isAbstract: isAbstract, inverse: inverse, entities: $0 + (isAbstract ? [] : ["Animal"]))
      }
    }
  }

  private func model(_ shape: Shape, isNew: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Animal", abstract: shape.isAbstract) {
        Attribute("name", .string)
        switch shape.inverse {
        case .none: Relationship("den", toOne: "House", inverse: nil)
        case .toOne: Relationship("owner", toOne: "House", inverse: "pet")
        case .toMany: Relationship("owners", toMany: "House", inverse: "pet")
        }
      }
      Entity("Dog", parent: "Animal") {}
      Entity("Puppy", parent: "Dog") {}
      Entity("House") {
        Attribute("name", .string)
        if isNew { Attribute("street", .string) }
        switch shape.inverse {
        case .none: Relationship("pet", toOne: "Animal", inverse: nil)
        case .toOne: Relationship("pet", toOne: "Animal", inverse: "owner")
        case .toMany: Relationship("pet", toOne: "Animal", inverse: "owners")
        }
        Relationship("guests", toMany: "Animal", inverse: nil)
      }
    }
  }

  private func relationships(_ shape: Shape, of entity: String) -> [String] {
    if entity == "House" { return ["guests", "pet"] }
    switch shape.inverse {
    case .none: return ["den"]
    case .toOne: return ["owner"]
    case .toMany: return ["owners"]
    }
  }

  private func function(_ name: String) -> String {
    #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "#
      + #""\#(name)", $source.\#(name))"#
  }

  private func title(_ form: Form) -> String {
    form == .automatic || form == .automaticByPath ? "$source.name" : "uppercase:($source.name)"
  }

  // MARK: The two kinds of files

  private func document(_ shape: Shape, _ form: Form) -> String {
    var objects = ""
    var mappings: [String] = []
    func attribute(_ name: String, _ text: String) -> String {
      let text = text.replacing("\"", with: "&quot;")
      return #"<attribute name="\#(name)" type="string">\#(text)</attribute>"#
    }
    for (number, entity) in shape.entities.enumerated() {
      let id = "e\(number)"
      mappings.append(id)
      var lines: [(id: String, kind: String, name: String, value: String)] = []
      lines.append(("\(id)n", "ATTRIBUTE", "name", title(form)))
      for name in relationships(shape, of: entity) {
        lines.append(("\(id)\(name)", "RELATIONSHIP", name, function(name)))
      }
      objects += #"<object type="XDDEVENTITYMAPPING" id="\#(id)">"#
      objects += attribute("sourcename", entity) + attribute("destinationname", entity)
      objects += attribute("mappingnumber", "\(number)") + attribute("autogenerateexpression", "1")
      for kind in ["ATTRIBUTE", "RELATIONSHIP"] {
        let ids = lines.filter { $0.kind == kind }.map(\.id).joined(separator: " ")
        objects += #"<relationship name="\#(kind.lowercased())mappings" idrefs="\#(ids)"/>"#
      }
      objects += "</object>"
      for line in lines {
        objects += #"<object type="XDDEV\#(line.kind)MAPPING" id="\#(line.id)">"#
        objects += attribute("name", line.name)
        if form != .written { objects += attribute("autogenerateexpression", "1") }
        if form == .written { objects += attribute("autogenerateexpression", "0") }
        if form == .automaticByPath { objects += attribute("sourcekeypath", line.name) }
        if form == .written || form == .writtenBesideAutomatic {
          objects += attribute("valueexpression", line.value)
        }
        objects += "</object>"
      }
    }
    return """
      <?xml version="1.0" standalone="yes"?>
      <database>
      <object type="XDDEVMAPPINGMODEL" id="m">
      <relationship name="entitymappings" idrefs="\(mappings.joined(separator: " "))"/></object>
      \(objects)
      </database>
      """
  }

  private func archive(_ shape: Shape) throws -> [UInt8] {
    let writer = KeyedArchiveWriter()
    func property(_ name: String, _ format: String) throws -> KeyedArchiveWriter.Value {
      writer.object(
        "NSPropertyMapping",
        [
          ("NSDestinationPropertyName", writer.text(name)),
          ("NSValueExpression", try writer.expression(try FetchExpression(format: format))),
        ])
    }
    let mappings = try shape.entities.map { entity in
      let properties = try relationships(shape, of: entity).map { try property($0, function($0)) }
      return writer.object(
        "NSEntityMapping",
        [
          ("NSMappingName", writer.text("\(entity)To\(entity)")), ("NSMappingType", .integer(5)),
          ("NSSourceEntityName", writer.text(entity)),
          ("NSDestinationEntityName", writer.text(entity)),
          ("NSAttributeMappings", writer.array([try property("name", title(.compiled))])),
          ("NSRelationshipMappings", writer.array(properties)),
        ])
    }
    return writer.list(
      root: writer.object("NSMappingModel", [("NSEntityMappings", writer.array(mappings))])
    ).binary
  }

  // MARK: Stores

  private func fill(_ url: URL, _ model: ManagedObjectModel, _ shape: Shape) throws {
    try withStore(model, url) { context in
      let kinds = ["Dog", "Puppy"] + (shape.isAbstract ? [] : ["Animal"])
      let animals = try (0..<9).map { number in
        let animal = try EntityDescription.insertNewObject(
          forEntityName: kinds[number % kinds.count], into: context)
        try animal.setValue("animal \(number)", forKey: "name")
        return animal
      }
      for number in 0..<9 {
        let house = try EntityDescription.insertNewObject(forEntityName: "House", into: context)
        try house.setValue("house \(number)", forKey: "name")
        if number != 4 { try house.setValue(animals[number], forKey: "pet") }
        let guests = [animals[(number + 1) % 9], animals[(number + 3) % 9]]
        try house.setValue(guests, forKey: "guests")
        if shape.inverse == .none { try animals[number].setValue(house, forKey: "den") }
      }
      try context.save()
    }
  }

  /// Every object with its links, by names.
  private func content(_ url: URL, _ model: ManagedObjectModel, _ shape: Shape) throws -> [String] {
    try withStore(model, url) { context in
      var lines: [String] = []
      for entity in ["Animal", "House"] {
        for object in try context.fetch(FetchRequest<ManagedObject>(entityName: entity)) {
          var line = try "\(object.entity.name) \(name(of: object))"
          for key in relationships(shape, of: entity) {
            let value = try object.value(forKey: key)
            let found =
              (value as? Set<ManagedObject>) ?? (value as? ManagedObject).map { [$0] } ?? []
            line += try " \(key): \(found.map(name(of:)).sorted())"
          }
          lines.append(line)
        }
      }
      return lines.sorted()
    }
  }

  private func name(of object: ManagedObject) throws -> String {
    (try object.value(forKey: "name") as? String ?? "").lowercased()
  }

  @Test(arguments: Self.shapes)
  func `every form of a mapping keeps every link`(_ shape: Shape) throws {
    let (old, new) = (try model(shape, isNew: false), try model(shape, isNew: true))
    for form in Form.allCases {
      let folder = try TemporaryFolder()
      let store = folder.file("pets.quire")
      try fill(store, old, shape)
      let before = try content(store, old, shape)
      let file: URL
      if form == .compiled {
        file = try folder.write(try archive(shape), to: "Pets.cdm")
      } else {
        try folder.write(document(shape, form), to: "Pets.xcmappingmodel/xcmapping.xml")
        file = folder.file("Pets.xcmappingmodel")
      }
      let loaded = try XcodeMappingModel(contentsOf: file, sourceModel: old, destinationModel: new)
      #expect(loaded.notes == [], "\(form)")
      try MigrationManager(sourceModel: old, destinationModel: new)
        .migrateStore(from: store, mapping: loaded.mappingModel, to: store)
      #expect(try content(store, new, shape) == before, "\(form)")
      try withStore(new, store) { context in
        let first = try context.fetch(FetchRequest<ManagedObject>(entityName: "House"))[0]
        let name = try first.value(forKey: "name") as? String
        #expect((name == name?.uppercased()) == (title(form) != "$source.name"), "\(form)")
      }
    }
  }

  @Test func `a mapping that makes objects of two kinds links those that fit`() throws {
    let old = try ManagedObjectModel {
      Entity("House") { Relationship("pet", toOne: "Animal", inverse: nil) }
      Entity("Animal") { Attribute("name", .string) }
      Entity("Dog", parent: "Animal") {}
    }
    let new = try ManagedObjectModel {
      Entity("House") { Relationship("pet", toOne: "Animal", inverse: nil) }
      Entity("Animal") { Attribute("name", .string) }
      Entity("Dog", parent: "Animal") {}
      Entity("Tag") { Attribute("name", .string) }
    }
    var house = EntityMapping(from: "House", to: "House", .transformEntityMappingType)
    house.relationshipMappings = [
      PropertyMapping(
        "pet", valueExpression: .expression(try FetchExpression(format: function("pet"))))
    ]
    let tag = EntityMapping(from: "Dog", to: "Tag", .transformEntityMappingType)
    let dog = EntityMapping(from: "Dog", to: "Dog", .transformEntityMappingType)
    let folder = try TemporaryFolder()
    let store = folder.file("pets.quire")
    try withStore(old, store) { context in
      let house = try EntityDescription.insertNewObject(forEntityName: "House", into: context)
      try house.setValue(
        try EntityDescription.insertNewObject(forEntityName: "Dog", into: context), forKey: "pet")
      try context.save()
    }
    func migrate(_ mappings: [EntityMapping], to url: URL) throws {
      try MigrationManager(sourceModel: old, destinationModel: new)
        .migrateStore(from: store, mapping: MappingModel(entityMappings: mappings), to: url)
    }
    try migrate([house, tag, dog], to: folder.file("both.quire"))
    try withStore(new, folder.file("both.quire")) { context in
      let house = try context.fetch(FetchRequest<ManagedObject>(entityName: "House"))[0]
      #expect((try house.value(forKey: "pet") as? ManagedObject)?.entity.name == "Dog")
    }
    // Nothing that fits: that is no empty relationship, but an error, with the place.
    let error = #expect(throws: PersistenceError.self) {
      try migrate([house, tag], to: folder.file("tags.quire"))
    }
    #expect(error?.message.contains("House.pet refers to Animal") == true, "\(error as Any)")
    #expect(
      error?.message.hasSuffix("; in the mapping HouseToHouse, for pet from House/p1") == true)
    #expect(error?.key == "pet")
    #expect(error?.objectID?.description == "House/p1")
  }
}
