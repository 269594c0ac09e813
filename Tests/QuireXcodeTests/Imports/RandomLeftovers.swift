import Foundation
import QuireModel
import QuireSimulation
import QuireXcode

/// A project of Xcode's at random, with what Xcode and Core Data leave behind in real ones:
/// defaults of former types, versions that cannot be loaded, unfinished mappings, and a store whose
/// entities were renamed in place.
struct RandomLeftovers {
  struct Entity {
    /// Its names in the versions.
    var names: [String]
    /// Whether each name has the one before as its renaming identifier, or the first of all.
    var namesLast: [Bool]
    var attributes: [(name: String, type: String, leftover: String?)]
    /// A to-many relationship to the next entity, whose inverse is to-one.
    var hasChildren: Bool
  }

  static let versionCount = 3
  let seed: UInt64
  private(set) var entities: [Entity] = []
  /// The versions that cannot be loaded, by name.
  private(set) var legacy: [String] = []
  /// The version whose names `Z_PRIMARYKEY` has, by entity.
  private(set) var listed: [Int] = []
  /// The version whose names the tables have.
  private(set) var tabled: [Int] = []
  /// Of each entity: of each object the values, and the place of its parent in the entity before.
  private(set) var objects: [[(values: [SQLiteValue], parent: Int?)]] = []
  let unfinishedCount: Int

  init(seed: UInt64) {
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    unfinishedCount = Int.random(in: 0...3, using: &random)
    let types = [
      ("String", ["NO", "0.0", "12"]), ("Integer 32", ["NO", "YES", "0.0", "text"]),
      ("Boolean", ["0.0", "text", "2"]), ("Double", ["NO", "text"]), ("Date", ["NO", "0"]),
    ]
    for number in 0..<Int.random(in: 2...4, using: &random) {
      var names = ["E\(number)"]
      for version in 1..<Self.versionCount {
        names.append(chance(45) ? "E\(number)v\(version)" : names[version - 1])
      }
      let attributes = (0..<Int.random(in: 1...4, using: &random)).map { index in
        let (type, leftovers) = types[Int.random(in: 0..<types.count, using: &random)]
        return (
          name: "a\(index)", type: type,
          leftover: chance(40) ? leftovers.randomElement(using: &random) : nil
        )
      }
      entities.append(
        Entity(
          names: names, namesLast: (0..<Self.versionCount).map { _ in chance(50) },
          attributes: attributes, hasChildren: chance(70)))
      listed.append(Int.random(in: 0..<Self.versionCount, using: &random))
      tabled.append(chance(50) ? listed[number] : Self.versionCount - 1)
    }
    for name in ["Old", "Model 0", "zz"] where chance(50) { legacy.append(name) }
    for number in entities.indices {
      let parents = number > 0 && entities[number - 1].hasChildren ? objects[number - 1].count : 0
      objects.append(
        (0..<Int.random(in: 0...5, using: &random)).map { _ in
          (
            entities[number].attributes.map { Self.value($0.type, &random) },
            parents > 0 && chance(80) ? Int.random(in: 0..<parents, using: &random) : nil
          )
        })
    }
  }

  private static func value(_ type: String, _ random: inout SeededGenerator) -> SQLiteValue {
    let number = Int64.random(in: 0...1, using: &random)
    return switch type {
    case "String": .text("text \(Int64.random(in: 0...99, using: &random)) < & \\u3c00")
    case "Boolean": .integer(number)
    case "Integer 32": .integer(Int64.random(in: -99...99, using: &random))
    default: .real(Double(Int64.random(in: 0...999, using: &random)) / 4)
    }
  }

  func name(_ entity: Int, _ version: Int) -> String { entities[entity].names[version] }
  var last: Int { Self.versionCount - 1 }

  // MARK: The project

  func write(to folder: TemporaryFolder) throws {
    for version in 0..<Self.versionCount {
      try folder.write(contents(version), to: "\(Self.folder(version)).xcdatamodel/contents")
    }
    for name in legacy {
      try folder.write([0x62, 0x70], to: "Model.xcdatamodeld/\(name).xcdatamodel/elements")
    }
    try folder.write(
      """
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key>
      <string>Model \(Self.versionCount).xcdatamodel</string></dict></plist>
      """, to: "Model.xcdatamodeld/.xccurrentversion")
    try folder.write(mapping, to: "Copy.xcmappingmodel/xcmapping.xml")
    try folder.write(try store().bytes(), to: "Model.sqlite")
  }

  private static func folder(_ version: Int) -> String {
    "Model.xcdatamodeld/" + (version == 0 ? "Model" : "Model \(version + 1)")
  }

  private func contents(_ version: Int) -> String {
    var text = "<model>"
    for (number, entity) in entities.enumerated() {
      let name = entity.names[version]
      var identifier = ""
      if version > 0, entity.names[0] != name {
        let former = entity.names[0..<version].last { $0 != name } ?? entity.names[0]
        identifier = #" elementID="\#(entity.namesLast[version] ? former : entity.names[0])""#
      }
      text += #"<entity name="\#(name)"\#(identifier)>"#
      for attribute in entity.attributes {
        let leftover = attribute.leftover.map { #" defaultValueString="\#($0)""# } ?? ""
        text += """
          <attribute name="\(attribute.name)" optional="YES" \
          attributeType="\(attribute.type)"\(leftover)/>
          """
      }
      if entity.hasChildren, number + 1 < entities.count {
        text += """
          <relationship name="children" optional="YES" toMany="YES" deletionRule="Nullify" \
          destinationEntity="\(entities[number + 1].names[version])" inverseName="parent"/>
          """
      }
      if number > 0, entities[number - 1].hasChildren {
        text += """
          <relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" \
          destinationEntity="\(entities[number - 1].names[version])" inverseName="children"/>
          """
      }
      text += "</entity>"
    }
    return text + "</model>"
  }

  // MARK: The store

  private func store() -> CoreDataStoreWriter {
    var writer = CoreDataStoreWriter()
    for (number, entity) in entities.enumerated() {
      let listedName = entity.names[listed[number]]
      writer.addEntity(Int64(number + 1), listedName, maximum: Int64(objects[number].count))
      if listedName != entity.names[last] {
        writer.renamedEntities[listedName] = entity.names[last]
      }
      var columns = entity.attributes.map { "Z\($0.name.uppercased()) \(Self.sqlType($0.type))" }
      let hasParent = number > 0 && entities[number - 1].hasChildren
      if hasParent { columns.append("ZPARENT INTEGER") }
      writer.addTable(
        "Z" + entity.names[tabled[number]].uppercased(), columns,
        objects[number].enumerated().map { index, object in
          let parent: [SQLiteValue] =
            hasParent ? [object.parent.map { .integer(Int64($0 + 1)) } ?? .null] : []
          return (Int64(index + 1), Int64(number + 1), object.values + parent)
        })
    }
    return writer
  }

  private static func sqlType(_ type: String) -> String {
    switch type {
    case "String": "VARCHAR"
    case "Boolean", "Integer 32": "INTEGER"
    case "Double": "FLOAT"
    default: "TIMESTAMP"
    }
  }

  // MARK: The mapping

  /// Copies all objects of the last version, with some mappings that nobody has finished.
  private var mapping: String {
    func attribute(_ name: String, _ value: String) -> String {
      #"<attribute name="\#(name)">\#(value)</attribute>"#
    }
    var text = ""
    var ids: [String] = []
    for (number, entity) in entities.enumerated() {
      let name = entity.names[last]
      let attributes = entity.attributes.indices.map { "a\(number)_\($0)" }
      for (id, property) in zip(attributes, entity.attributes) {
        text += """
          <object type="XDDEVATTRIBUTEMAPPING" id="\(id)">\(attribute("name", property.name))</object>
          """
      }
      let links = number > 0 && entities[number - 1].hasChildren ? ["r\(number)"] : []
      for id in links {
        text += """
          <object type="XDDEVRELATIONSHIPMAPPING" id="\(id)">\(attribute("name", "parent"))
          \(attribute("sourcekeypath", "$source.parent"))</object>
          """
      }
      text += """
        <object type="XDDEVENTITYMAPPING" id="e\(number)">
        \(attribute("sourcename", name))\(attribute("destinationname", name))
        \(attribute("mappingnumber", "\(number + 1)"))
        \(attribute("sourcefilterpredicatestring", #"1 \u3c00 2 AND 3 \u3e00 2"#))
        <relationship name="attributemappings" idrefs="\(attributes.joined(separator: " "))"/>
        <relationship name="relationshipmappings" idrefs="\(links.joined(separator: " "))"/>
        </object>
        """
      ids.append("e\(number)")
    }
    for number in 0..<unfinishedCount {
      text += #"<object type="XDDEVENTITYMAPPING" id="u\#(number)"></object>"#
      ids.insert("u\(number)", at: number % 2 == 0 ? 0 : ids.count)
    }
    return """
      <database><object type="XDDEVMAPPINGMODEL" id="z">
      <relationship name="entitymappings" idrefs="\(ids.joined(separator: " "))"/></object>
      \(text)</database>
      """
  }
}
