import QuireModel
import Testing

@Suite struct ManagedObjectModelTests {
  @Test func `a child has the properties of its parent before its own`() throws {
    let model = try ManagedObjectModel {
      Entity("Document", abstract: true) {
        Attribute("title", .string)
        Relationship("artist", toOne: "Artist", inverse: "documents")
      }
      Entity("ArtistDocument", parent: "Document") { Attribute("year", .integer16) }
      Entity("Artist") { Relationship("documents", toMany: "Document", inverse: "artist") }
    }
    let child = try #require(model.entity(named: "ArtistDocument"))
    #expect(child.attributes.map(\.name) == ["title", "year"])
    #expect(child.relationships.map(\.name) == ["artist"])
    #expect(child.root.name == "Document")
    let parent = try #require(model.entity(named: "Document"))
    #expect(model.family(of: parent).map(\.name) == ["Document", "ArtistDocument"])
  }

  @Test(arguments: [
    ([Entity("A"), Entity("A")], ModelError.Reason.duplicateEntity),
    ([Entity("A", parent: "B")], .unknownParent("B")),
    ([Entity("A", parent: "B"), Entity("B", parent: "A")], .parentCycle),
    (
      [Entity("A") { Relationship("b", toOne: "B") }],
      .unknownDestination(relationship: "b", destination: "B")
    ),
    (
      [Entity("A") { Relationship("a", toOne: "A", inverse: "x") }],
      .unknownInverse(relationship: "a", inverse: "x")
    ),
    (
      [Entity("A") { Attribute("x", .string, default: 3) }],
      .defaultType(attribute: "x")
    ),
  ])
  func `a set of declarations that is no model is refused with the reason`(
    entities: [Entity], reason: ModelError.Reason
  ) {
    #expect { try ManagedObjectModel(entities: entities) } throws: {
      ($0 as? ModelError)?.reason == reason
    }
  }

  @Test func `an inverse named on one side is known on both`() throws {
    let half = try ManagedObjectModel {
      Entity("A") { Relationship("bs", toMany: "B", inverse: "a") }
      Entity("B") { Relationship("a", toOne: "A") }
    }
    #expect(half.entity(named: "B")?.relationship(named: "a")?.inverse == "bs")
    #expect {
      try ManagedObjectModel {
        Entity("A") {
          Relationship("bs", toMany: "B", inverse: "a")
          Relationship("cs", toMany: "B", inverse: "a")
        }
        Entity("B") { Relationship("a", toOne: "A") }
      }
    } throws: {
      ($0 as? ModelError)?.reason == .inverseMismatch(relationship: "cs", inverse: "a")
    }
  }

  @Test func `a literal is a default for any kind of number, and no number is one for text`() throws
  {
    #expect(Attribute("x", .double, default: 1).defaultValue == .double(1))
    #expect(Attribute("x", .decimal, default: 0.5).defaultValue == .decimal(0.5))
    #expect(Attribute("x", .float, default: 2).defaultValue == .float(2))
    #expect(throws: ModelError.self) {
      try ManagedObjectModel { Entity("A") { Attribute("x", .integer16, default: 0.5) } }
    }
  }
}
