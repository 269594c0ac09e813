import QuireModel
import Testing

@Suite struct VersionHashTests {
  /// A model that uses every fact that counts; `change` edits its declarations.
  private func gallery(_ change: (inout [Entity]) -> Void = { _ in }) throws -> ManagedObjectModel {
    var home = Attribute("home", .composite)
    home.elements = [
      Attribute("city", .string), Attribute("zip", .integer32, optional: false),
    ]
    var artists = Relationship(
      "artists", toMany: "Artist", inverse: "works", ordered: true, count: 0...5,
      deleteRule: .cascade)
    artists.versionHashModifier = "m"
    var painting = Entity("Painting", parent: "Work") { home }
    painting.versionHashModifier = "v2"
    var entities = [
      Entity("Artist") { Relationship("works", toMany: "Work", inverse: "artists") },
      Entity("Work", abstract: true) {
        Attribute("title", .string, optional: false)
        artists
      },
      painting,
    ]
    change(&entities)
    return try ManagedObjectModel(entities: entities)
  }

  private func hash(
    of name: String = "Painting", _ change: (inout [Entity]) -> Void = { _ in }
  ) throws -> VersionHash {
    try #require(gallery(change).entity(named: name)).versionHash
  }

  // Hashes are in every store ever written. If this test fails, stores no longer open: give the new
  // facts a new format word instead. The first value was computed by a program in another language.
  // The others are made by the same.
  @Test func `the hashes of known entities are what they were in the first release`() throws {
    let model = try gallery()
    #expect(
      try hash().description
        == "05a83c6225fec4c92538877087124b1352edd4596a06559ee24cdc3a1263ad1c")
    #expect(
      model.versionChecksum.description
        == "75918ac43597b08dc97f33f6ece98e838d1e1dcd2a989439a2d53cb09c1a9be0")
    // Releases that counted delete rules.
    let painting = try #require(model.entity(named: "Painting"))
    #expect(
      painting.formerVersionHash.description
        == "8bfa29f3a3ecfe4a7fbf35fcde600507835d488108c1b2516df4ab53a0829e7c")
    #expect(
      model.formerVersionChecksum.description
        == "730a0cb3e687bdce84cfa479bd624e2c2c585df4a7af50386e81a8fcf0395657")
    // Where all rules are nullify, nothing is different.
    let plain = try gallery { $0[1].relationships[0].deleteRule = .nullify }
    #expect(plain.formerVersionChecksum == plain.versionChecksum)
    #expect(plain.versionChecksum == model.versionChecksum)
  }

  @Test func `every fact that decides how rows are stored changes the hash`() throws {
    let changes: [(String, (inout [Entity]) -> Void)] = [
      ("name of an entity", { $0[2].name = "Fresco" }),
      ("abstract", { $0[2].isAbstract = true }),
      (
        "parent",
        {
          $0 += [Entity("Other", parent: "Work")]; $0[2].parent = "Other"
        }
      ),
      ("entity modifier", { $0[2].versionHashModifier = "v3" }),
      ("entity modifier removed", { $0[2].versionHashModifier = nil }),
      ("entity modifier empty", { $0[2].versionHashModifier = "" }),
      ("attribute added", { $0[2].attributes += [Attribute("x", .string)] }),
      ("attribute removed", { $0[2].attributes = [] }),
      ("inherited attribute added", { $0[1].attributes += [Attribute("y", .string)] }),
      ("attribute name", { $0[1].attributes[0].name = "name" }),
      ("attribute type", { $0[1].attributes[0].type = .uri }),
      ("attribute optional", { $0[1].attributes[0].isOptional = true }),
      ("attribute transient", { $0[1].attributes[0].isTransient = true }),
      ("attribute modifier", { $0[1].attributes[0].versionHashModifier = "2" }),
      ("element name", { $0[2].attributes[0].elements[0].name = "town" }),
      ("element type", { $0[2].attributes[0].elements[1].type = .integer64 }),
      ("element removed", { $0[2].attributes[0].elements.removeLast() }),
      (
        "relationship name",
        {
          $0[1].relationships[0].name = "x"; $0[0].relationships[0].inverse = "x"
        }
      ),
      ("relationship optional", { $0[1].relationships[0].isOptional = false }),
      ("relationship transient", { $0[1].relationships[0].isTransient = true }),
      (
        "destination",
        {
          $0 += [Entity("Duo", parent: "Artist")]; $0[1].relationships[0].destination = "Duo"
        }
      ),
      (
        "inverse",
        {
          $0[1].relationships[0].inverse = nil; $0[0].relationships[0].inverse = nil
        }
      ),
      ("smallest count", { $0[1].relationships[0].minCount = 1 }),
      ("largest count", { $0[1].relationships[0].maxCount = 6 }),
      ("ordered", { $0[1].relationships[0].isOrdered = false }),
      ("relationship modifier", { $0[1].relationships[0].versionHashModifier = nil }),
      (
        "relationship removed",
        {
          $0[1].relationships = []; $0[0].relationships = []
        }
      ),
    ]
    let original = try gallery().entityVersionHashesByName
    var seen = Set(original.values)
    for (what, change) in changes {
      let changed = try gallery(change)
      let name = changed.entity(named: "Painting") == nil ? "Fresco" : "Painting"
      let hash = try #require(changed.entity(named: name)).versionHash
      #expect(seen.insert(hash).inserted, "\(what) does not count, or counts like another change")
      #expect(changed != (try gallery()))
    }
  }

  @Test func `changes that do not affect how rows are stored do not change the hash`() throws {
    let changes: [(String, (inout [Entity]) -> Void)] = [
      ("class", { $0[2].managedObjectClassName = "Painting" }),
      ("entity user info", { $0[2].userInfo = ["a": "b"] }),
      ("entity renaming identifier", { $0[2].renamingIdentifier = "Picture" }),
      ("index", { $0[2].indexes = [FetchIndexDescription("byTitle", on: "title")] }),
      ("constraint", { $0[2].uniquenessConstraints = [["title"]] }),
      ("spotlight", { $0[2].coreSpotlightDisplayNameExpression = "title" }),
      (
        "fetched property",
        {
          let request = FetchRequestTemplate(name: "r", entityName: "Artist")
          $0[2].fetchedProperties = [FetchedPropertyDescription("f", request: request)]
        }
      ),
      ("default", { $0[1].attributes[0].defaultValue = "Untitled" }),
      ("validation", { $0[1].attributes[0].validation.maximum = "9" }),
      ("attribute renaming identifier", { $0[1].attributes[0].renamingIdentifier = "name" }),
      ("attribute user info", { $0[1].attributes[0].userInfo = ["a": "b"] }),
      ("transformer", { $0[1].attributes[0].valueTransformerName = "T" }),
      ("value class", { $0[1].attributes[0].valueClassName = "C" }),
      ("external storage", { $0[1].attributes[0].allowsExternalBinaryDataStorage = true }),
      ("derivation", { $0[1].attributes[0].derivationExpression = "now()" }),
      ("history", { $0[1].attributes[0].preservesValueInHistoryOnDeletion = true }),
      ("scalar", { $0[1].attributes[0].usesScalarValueType = true }),
      ("indexed", { $0[1].attributes[0].isIndexed = true }),
      ("delete rule", { $0[1].relationships[0].deleteRule = .deny }),
      ("relationship renaming identifier", { $0[1].relationships[0].renamingIdentifier = "a" }),
      ("relationship user info", { $0[1].relationships[0].userInfo = ["a": "b"] }),
    ]
    for (what, change) in changes {
      #expect(try gallery(change) == gallery(), "\(what) counts")
      #expect(try gallery(change).versionChecksum == gallery().versionChecksum)
    }
  }

  @Test func `the order of declarations does not change the hash`() throws {
    let reversed = try gallery { entities in
      entities.reverse()
      entities[1].attributes.insert(Attribute("year", .integer16), at: 0)
      entities[0].attributes[0].elements.reverse()
    }
    let straight = try gallery { $0[1].attributes.append(Attribute("year", .integer16)) }
    #expect(reversed.versionChecksum == straight.versionChecksum)
  }

  @Test func `a name counts the same however its accents are spelled`() throws {
    let composed = try ManagedObjectModel { Entity("Caf\u{E9}") }
    let decomposed = try ManagedObjectModel { Entity("Cafe\u{301}") }
    #expect(composed.versionChecksum == decomposed.versionChecksum)
  }

  @Test func `a hash is read back from its hexadecimal digits`() throws {
    let hash = try hash()
    #expect(VersionHash(hex: hash.description) == hash)
    #expect(VersionHash(hex: hash.description.uppercased()) == hash)
    for wrong in ["", "00", hash.description + "0", hash.description.dropLast() + "g", "é"] {
      #expect(VersionHash(hex: wrong) == nil)
    }
    #expect(VersionHash(bytes: [1, 2, 3]) == nil)
  }
}
