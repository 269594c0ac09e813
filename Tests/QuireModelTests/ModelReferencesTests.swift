import QuireModel
import Testing

@Suite struct ModelReferencesTests {
  struct Mistake: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var reason: ModelError.Reason
    var members: [any EntityMember]

    init(
      _ description: String, _ reason: ModelError.Reason,
      @EntityBuilder _ members: () -> [any EntityMember]
    ) {
      testDescription = description
      self.reason = reason
      self.members = members()
    }
  }

  private static func model(_ members: [any EntityMember]) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Thing") {
        Attribute("name", .string)
        Relationship("owner", toOne: "Artist")
      }
      Entity("Work", parent: "Thing") {
        Attribute("title", .string)
        Attribute("seen", .boolean, transient: true)
        Attribute("size", .composite) { Attribute("width", .double) }
        Relationship("artist", toOne: "Artist", inverse: "works")
        Relationship("rooms", toMany: "Work")
        members
      }
      Entity("Artist") {
        Attribute("born", .integer16)
        Relationship("works", toMany: "Work")
      }
    }
  }

  @Test func `constraints, indexes and paths may use inherited properties`() throws {
    let model = try Self.model([
      UniquenessConstraint("name", "owner"), UniquenessConstraint("size.width"),
      FetchIndex("a", on: "name", "size.width", "artist", where: "owner.works.@count > 1"),
      FetchIndex("b", on: .expression("lowercase:(name)")),
      Attribute("n", .integer32, derivedFrom: "artist.works.@count"),
      Attribute("b", .integer32, derivedFrom: "rooms.artist.@max.born"),
      Attribute("now", .date, derivedFrom: "now()"),
      FetchedProperty(
        "near", of: "Artist",
        where: "SUBQUERY(works, $x, $x.title == 'a').@count > 0 "
          + "AND born < $FETCH_SOURCE.artist.born"),
    ])
    #expect(model.entity(named: "Work")?.uniquenessConstraints.count == 2)
  }

  static let mistakes: [Mistake] = [
    Mistake("constraint", .unknownProperty("nam", in: .uniquenessConstraint)) {
      UniquenessConstraint("nam")
    },
    Mistake("element in a constraint", .unknownProperty("size.depth", in: .uniquenessConstraint)) {
      UniquenessConstraint("title", "size.depth")
    },
    Mistake(
      "empty constraint",
      .empty(.uniquenessConstraint, wanted: "one or more names of properties")
    ) { UniquenessConstraint() },
    Mistake(
      "constraint on many",
      .unsuitableProperty(
        "rooms", in: .uniquenessConstraint, wanted: "attributes and to-one relationships")
    ) { UniquenessConstraint("rooms") },
    Mistake("index", .unknownProperty("titel", in: .index("i"))) { FetchIndex("i", on: "titel") },
    Mistake(
      "transient index",
      .unsuitableProperty(
        "seen", in: .index("i"), wanted: "stored attributes, and this is transient")
    ) { FetchIndex("i", on: "seen") },
    Mistake(
      "index through a relationship",
      .unsuitableProperty("artist.born", in: .index("i"), wanted: "properties of Work itself")
    ) { FetchIndex("i", on: "artist.born") },
    Mistake("empty index", .empty(.index("i"), wanted: "one or more names of properties")) {
      FetchIndex("i")
    },
    Mistake("two indexes", .duplicate(.index("i"))) {
      FetchIndex("i", on: "title")
      FetchIndex("i", on: "name")
    },
    Mistake("index expression", .unknownProperty("titel", in: .index("i"))) {
      FetchIndex("i", on: .expression("length:(titel)"))
    },
    Mistake("partial index", .unknownProperty("artist.age", in: .index("i"))) {
      FetchIndex("i", on: "title", where: "artist.age > 3")
    },
    Mistake("derivation", .unknownProperty("work", in: .derivation(attribute: "n"))) {
      Attribute("n", .integer32, derivedFrom: "work.@count")
    },
    Mistake("fetched property", .unknownProperty("age", in: .fetchedProperty("f"))) {
      FetchedProperty("f", of: "Artist", where: "age > 3")
    },
    Mistake("fetch source", .unknownProperty("age", in: .fetchedProperty("f"))) {
      FetchedProperty("f", of: "Artist", where: "born > $FETCH_SOURCE.age")
    },
    Mistake("order", .unknownProperty("works.titel", in: .fetchedProperty("f"))) {
      FetchedProperty("f", of: "Artist", sortedBy: [FetchSortDescriptor(key: "works.titel")])
    },
    Mistake("fetched entity", .unknownEntity("Nobody", in: .fetchedProperty("f"))) {
      FetchedProperty("f", of: "Nobody")
    },
    Mistake(
      "limits",
      .invalid(.limits(attribute: "x"), "the smallest is 5 and the largest 3: exchange them")
    ) {
      Attribute("x", .integer16).with {
        $0.validation.minimum = "5"
        $0.validation.maximum = "3"
      }
    },
    Mistake(
      "circle",
      .invalid(.derivation(attribute: "x"), "x is derived from itself, by way of z, y")
    ) {
      Attribute("x", .integer16, derivedFrom: "z + 1")
      Attribute("y", .integer16, derivedFrom: "x + 1")
      Attribute("z", .integer16, derivedFrom: "y + 1")
    },
    Mistake("itself", .invalid(.derivation(attribute: "x"), "x is derived from itself")) {
      Attribute("x", .integer16, derivedFrom: "x + 1")
    },
    Mistake("limit", .invalid(.limits(attribute: "x"), "“five” is no number")) {
      Attribute("x", .integer16).with { $0.validation.minimum = "five" }
    },
  ]

  @Test(arguments: mistakes)
  func `a name that leads nowhere is an error of the entity that has it`(mistake: Mistake) {
    #expect {
      try Self.model(mistake.members)
    } throws: {
      let error = $0 as? ModelError
      return error?.reason == mistake.reason && error?.entity == "Work"
    }
  }

  @Test func `a text that cannot be read is an error with the place`() {
    let members: [(any EntityMember, ModelError.Place)] = [
      (Attribute("x", .string, pattern: "("), .pattern(attribute: "x")),
      (Attribute("x", .string, derivedFrom: "title +"), .derivation(attribute: "x")),
      (FetchIndex("i", on: "title", where: "title =="), .index("i")),
      (FetchedProperty("f", of: "Work", where: "=="), .fetchedProperty("f")),
    ]
    for (member, place) in members {
      #expect {
        try Self.model([member])
      } throws: {
        if case .invalid(place, _)? = ($0 as? ModelError)?.reason { true } else { false }
      }
    }
  }

  @Test func `the error says what could be written instead`() {
    #expect {
      try Self.model([FetchIndex("i", on: "title", where: "artist.age > 3")])
    } throws: {
      "\($0)"
        == "entity Work names the property artist.age in its index i, but there is no such property; "
        + "there are artist.born, artist.works"
    }
  }

  @Test func `configurations and templates name entities that are there`() {
    func reason(@ModelBuilder _ members: () -> [any ModelMember]) -> ModelError? {
      do throws(ModelError) {
        _ = try ManagedObjectModel(ModelDeclaration(members))
        return nil
      } catch {
        return error
      }
    }
    let configuration = reason {
      Entity("A")
      ModelConfiguration("c", "A", "B")
    }
    #expect(configuration?.reason == .unknownEntity("B", in: .configuration("c")))
    #expect(
      configuration?.description
        == "the model names the entity B in its configuration c, but there is no such entity; "
        + "there are A")
    let entity = reason {
      Entity("A")
      FetchRequestTemplate("t", of: "B")
    }
    #expect(entity?.reason == .unknownEntity("B", in: .template("t")))
    let name = reason {
      Entity("A")
      FetchRequestTemplate("t", of: "A")
      FetchRequestTemplate("t", of: "A", limit: 1)
    }
    #expect(name?.reason == .duplicate(.template("t")))
    let predicate = reason {
      Entity("A")
      FetchRequestTemplate("t", of: "A", where: "x == $X")
    }
    #expect(predicate?.reason == .unknownProperty("x", in: .template("t")))
  }
}
