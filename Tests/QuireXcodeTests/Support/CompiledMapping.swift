import Quire
import QuireModel

/// Countries that become states: two models, and the mapping between them as Core Data compiles it.
struct CompiledMapping {
  static func countries() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Country") {
        Attribute("name", .string)
        Attribute("rank", .integer32)
        Relationship("cities", toMany: "City", inverse: "country", ordered: true)
      }
      Entity("City") {
        Attribute("name", .string)
        Relationship("country", toOne: "Country", inverse: "cities")
      }
      Entity("Sea") { Attribute("name", .string) }
    }
  }

  static func states() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("State") {
        Attribute("title", .string)
        Attribute("size", .string)
        Attribute("rank", .double)
        Attribute("note", .string)
        Relationship("towns", toMany: "Town", inverse: "state", ordered: true)
      }
      Entity("Town") {
        Attribute("name", .string)
        Relationship("state", toOne: "State", inverse: "towns")
      }
    }
  }

  /// What `State.title` gets.
  var title = "uppercase:($source.name)"
  var policy: String?
  var mappingType = 5

  /// The property list, to be written in either form.
  func list() throws -> KeyedArchiveWriter.Value {
    let writer = KeyedArchiveWriter()
    func property(_ name: String, _ format: String) throws -> KeyedArchiveWriter.Value {
      writer.object(
        "NSPropertyMapping",
        [
          ("NSDestinationPropertyName", writer.text(name)),
          ("NSValueExpression", try writer.expression(try FetchExpression(format: format))),
          ("NSUserInfo", .uid(0)), ("NSPropertyTransforms", writer.array([])),
        ])
    }
    func destinations(_ mapping: String, _ path: String) -> String {
      """
      FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", \
      "\(mapping)", $source.\(path))
      """
    }
    func mapping(
      _ name: String, _ type: Int, _ source: String, _ destination: String?, _ policy: String?,
      _ attributes: [(String, String)], _ relationships: [(String, String)]
    ) throws -> KeyedArchiveWriter.Value {
      let fetch = """
        FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", \
        "\(source)", "TRUEPREDICATE"), $manager.sourceContext, NO)
        """
      return writer.object(
        "NSEntityMapping",
        [
          ("NSMappingName", writer.text(name)), ("NSMappingType", .integer(type)),
          ("NSSourceEntityName", writer.text(source)),
          ("NSSourceEntityVersionHash", writer.add(.data(Array(name.utf8)))),
          ("NSDestinationEntityName", writer.text(destination)),
          ("NSDestinationEntityVersionHash", writer.add(.data([1, 2, 3]))),
          ("NSSourceExpression", try writer.expression(try FetchExpression(format: fetch))),
          ("NSUserInfo", writer.dictionary([("by", writer.text("hand – ü"))])),
          ("NSEntityMigrationPolicyClassName", writer.text(policy)),
          ("NSAttributeMappings", writer.array(try attributes.map(property))),
          ("NSRelationshipMappings", writer.array(try relationships.map(property))),
        ])
    }
    let mappings = [
      try mapping(
        "CountryToState", mappingType, "Country", "State", policy,
        [
          ("title", title), ("rank", "$source.rank * 1.5"),
          (
            "size",
            #"TERNARY($source.rank > 1 AND $source.name BEGINSWITH[c] "a", "large", "small")"#
          ),
        ], [("towns", destinations("CityToTown", "cities"))]),
      try mapping(
        "CityToTown", 5, "City", "Town", nil, [("name", "$source.name")],
        [("state", destinations("CountryToState", "country"))]),
      try mapping("Sea", 3, "Sea", nil, nil, [], []),
    ]
    return writer.list(
      root: writer.object("NSMappingModel", [("NSEntityMappings", writer.array(mappings))]))
  }
}
