import QuireModel
import Testing

@Suite struct ModelDifferenceTests {
  private func difference(_ source: [Entity], _ destination: [Entity]) throws -> ModelDifference {
    ModelDifference(
      from: try ManagedObjectModel(entities: source),
      to: try ManagedObjectModel(entities: destination))
  }

  /// Which source each destination was made of: `Album<Collection`, and `-Name` for what was
  /// removed.
  private func matches(_ difference: ModelDifference) -> [String] {
    difference.entities.map {
      $0.destination == nil ? "-\($0.name)" : "\($0.name)<\($0.source?.name ?? "")"
    }
  }

  // MARK: Matching

  @Test func `a renamed entity is matched by its identifier, then and later`() throws {
    let first = [Entity("Collection") { Attribute("name", .string) }]
    let later = [Entity("Album", renamedFrom: "Collection") { Attribute("name", .string) }]
    let renaming = try difference(first, later)
    #expect(matches(renaming) == ["Album<Collection"])
    #expect(renaming.entities[0].isRenamed)
    #expect(renaming.entities[0].attributes.map(\.isKept) == [true])
    let nothing = try difference(later, later)
    #expect(matches(nothing) == ["Album<Album"])
    #expect(nothing.isEmpty)
    let last = [Entity("Folder", renamedFrom: "Collection")]
    #expect(try matches(difference(later, last)) == ["Folder<Album"])
    #expect(try matches(difference(first, last)) == ["Folder<Collection"])
  }

  @Test func `an identifier that was dropped or names the last version still matches`() throws {
    let chained = [Entity("Album", renamedFrom: "Collection")]
    #expect(try matches(difference(chained, [Entity("Album")])) == ["Album<Album"])
    #expect(
      try matches(difference(chained, [Entity("Folder", renamedFrom: "Album")])) == ["Folder<Album"]
    )
  }

  @Test func `a name that was given up may be taken by something new`() throws {
    let before = [Entity("A")]
    let after = [Entity("A"), Entity("B", renamedFrom: "A")]
    #expect(try matches(difference(before, after)) == ["A<", "B<A"])
    #expect(try matches(difference(after, after)) == ["A<A", "B<B"])
    let later = [Entity("A"), Entity("B", renamedFrom: "A") { Attribute("x", .string) }]
    #expect(try matches(difference(after, later)) == ["A<A", "B<B"])
  }

  @Test func `an identifier does not steal from things that kept their names`() throws {
    let before = [Entity("A"), Entity("B") { Attribute("x", .string) }]
    let stale = [Entity("A"), Entity("B", renamedFrom: "A")]
    #expect(try matches(difference(before, stale)) == ["A<A", "B<B"])
  }

  @Test func `two things may exchange their names`() throws {
    let before = [Entity("A") { Attribute("x", .string) }, Entity("B")]
    let after = [
      Entity("A", renamedFrom: "B"), Entity("B", renamedFrom: "A") { Attribute("x", .string) },
    ]
    let exchange = try difference(before, after)
    #expect(matches(exchange) == ["A<B", "B<A"])
    #expect(exchange.entities.allSatisfy { $0.isRenamed })
  }

  @Test func `renaming identifiers alone make no difference between two models`() throws {
    func entity(_ a: String?, _ b: String?) -> [Entity] {
      [
        Entity("E") {
          Attribute("a", .string, renamedFrom: a)
          Attribute("b", .string, renamedFrom: b)
        }
      ]
    }
    #expect(try difference(entity(nil, nil), entity("b", "a")).isEmpty)
    #expect(
      try difference([Entity("A"), Entity("B")], [Entity("A", renamedFrom: "B"), Entity("B")])
        .isEmpty)
  }

  @Test func `the order of declarations does not decide a match`() throws {
    let sources = [Entity("A"), Entity("B", renamedFrom: "A"), Entity("C")]
    let destinations = [Entity("D", renamedFrom: "A"), Entity("E", renamedFrom: "A"), Entity("C")]
    let expected = try matches(difference(sources, destinations))
    #expect(expected == ["C<C", "D<B", "E<A"])
    #expect(try matches(difference(sources.reversed(), destinations.reversed())) == expected)
  }

  // MARK: Attributes

  @Test func `each facet of an attribute is told`() throws {
    func facets(
      _ old: (inout AttributeDescription) -> Void, _ new: (inout AttributeDescription) -> Void
    ) throws -> [AttributeChange.Facet] {
      var before = Attribute("x", .string)
      var after = before
      old(&before)
      new(&after)
      let change = try difference([Entity("E") { before }], [Entity("E") { after }])
      #expect(change.isEmpty == change.entities[0].attributes.allSatisfy(\.isKept))
      return change.entities[0].attributes.flatMap(\.facets)
    }
    #expect(try facets({ _ in }, { _ in }) == [])
    #expect(try facets({ _ in }, { $0.name = "y" }) == [.added, .removed])
    #expect(try facets({ _ in }, { $0 = Attribute("y", .string, renamedFrom: "x") }) == [.renamed])
    #expect(try facets({ _ in }, { $0.type = .uri }) == [.typeChanged(from: .string, to: .uri)])
    #expect(try facets({ $0.isOptional = false }, { _ in }) == [.becameOptional])
    #expect(
      try facets({ _ in }, { $0 = Attribute("x", .string, optional: false, default: "a") })
        == [.becameRequired(default: "a")])
    #expect(
      try facets({ _ in }, { $0.isTransient = true }) == [.transientChanged(isTransient: true)])
    #expect(try facets({ _ in }, { $0.versionHashModifier = "2" }) == [.modifierChanged])
    let composite: (inout AttributeDescription) -> Void = {
      $0.type = .composite
      $0.elements = [Attribute("city", .string)]
    }
    #expect(try facets(composite, composite) == [])
    #expect(
      try facets(
        composite,
        {
          composite(&$0); $0.elements[0].type = .uri
        }) == [.elementsChanged])
  }

  @Test func `an attribute that moves up or down the hierarchy is kept`() throws {
    let below = [Entity("P", abstract: true), Entity("C", parent: "P") { Attribute("x", .string) }]
    let above = [Entity("P", abstract: true) { Attribute("x", .string) }, Entity("C", parent: "P")]
    for change in [try difference(below, above), try difference(above, below)] {
      let child = try #require(change.change(toDestination: "C"))
      #expect(child.kind == .kept)
      #expect(change.isInferable)
    }
  }

  // MARK: Relationships

  @Test func `each facet of a relationship is told`() throws {
    func facets(
      _ old: (inout RelationshipDescription) -> Void,
      _ new: (inout RelationshipDescription) -> Void
    ) throws -> [RelationshipChange.Facet] {
      var before = Relationship("x", toMany: "D", inverse: "e")
      var after = before
      old(&before)
      new(&after)
      let others = [Entity("D") { Relationship("e", toOne: "E") }, Entity("F")]
      let change = try difference(
        [Entity("E") { before }] + others, [Entity("E") { after }] + others)
      #expect(change.isEmpty == change.entities[1].relationships.allSatisfy(\.isKept))
      return change.entities[1].relationships.flatMap(\.facets)
    }
    #expect(try facets({ _ in }, { _ in }) == [])
    #expect(
      try facets(
        { _ in },
        {
          $0.name = "y"; $0.inverse = nil
        }) == [.added, .removed])
    #expect(
      try facets(
        { _ in },
        {
          $0.name = "y"; $0.renamingIdentifier = "x"
        }) == [.renamed])
    #expect(try facets({ $0.maxCount = 1 }, { _ in }) == [.toOneToToMany])
    #expect(try facets({ _ in }, { $0.maxCount = 1 }) == [.toManyToToOne])
    #expect(try facets({ _ in }, { $0.isOrdered = true }) == [.orderedChanged(isOrdered: true)])
    #expect(
      try facets(
        { $0.inverse = nil },
        {
          $0.inverse = nil; $0.destination = "F"
        })
        == [.destinationChanged(from: "D", to: "F")])
    #expect(try facets({ _ in }, { $0.inverse = nil }) == [.inverseChanged(from: "e", to: nil)])
    #expect(try facets({ _ in }, { $0.deleteRule = .cascade }).isEmpty)
    #expect(try facets({ _ in }, { $0.minCount = 1 }) == [.countsChanged])
    #expect(try facets({ _ in }, { $0.maxCount = 7 }) == [.countsChanged])
    #expect(try facets({ _ in }, { $0.isOptional = false }) == [.becameRequired])
    #expect(try facets({ $0.isOptional = false }, { _ in }) == [.becameOptional])
    #expect(
      try facets({ _ in }, { $0.isTransient = true }) == [.transientChanged(isTransient: true)])
    #expect(try facets({ _ in }, { $0.versionHashModifier = "2" }) == [.modifierChanged])
  }

  @Test func `renaming both ends of a relationship does not change it`() throws {
    let before = [
      Entity("Show") { Relationship("cover", toOne: "Picture", inverse: "show") },
      Entity("Picture") { Relationship("show", toOne: "Show", inverse: "cover") },
    ]
    let after = [
      Entity("Show") { Relationship("cover", toOne: "Image", inverse: "exhibition") },
      Entity("Image", renamedFrom: "Picture") {
        Relationship("exhibition", toOne: "Show", inverse: "cover", renamedFrom: "show")
      },
    ]
    let change = try difference(before, after)
    #expect(change.change(toDestination: "Show")?.kind == .kept)
    #expect(change.change(toDestination: "Image")?.relationships[0].facets == [.renamed])
    #expect(!change.isEmpty)
  }

  @Test func `a relationship to what accepts all old objects keeps its values`() throws {
    func model(_ destination: String, image: Bool = true) -> [Entity] {
      [
        Entity("Show") { Relationship("images", toMany: destination) },
        Entity("Image", abstract: true), Entity("Local", parent: "Image"),
        Entity("Install", parent: "Image"), Entity("Artwork"),
      ]
    }
    func facets(_ from: String, _ to: String) throws -> [RelationshipChange.Facet] {
      let change = try #require(difference(model(from), model(to)).change(ofSource: "Show"))
      #expect(
        change.relationships[0].keepsValues
          != change.relationships[0].facets.contains(.destinationChanged(from: from, to: to)))
      return change.relationships[0].facets
    }
    #expect(try facets("Local", "Image") == [.destinationWidened(from: "Local", to: "Image")])
    #expect(try facets("Image", "Local") == [.destinationNarrowed(from: "Image", to: "Local")])
    #expect(try facets("Artwork", "Image") == [.destinationChanged(from: "Artwork", to: "Image")])
    #expect(try difference(model("Artwork"), model("Image")).isInferable)
  }

  // MARK: Obstacles

  @Test func `a change that cannot be inferred is an obstacle with a remedy`() throws {
    var home = Attribute("home", .composite)
    home.elements = [Attribute("zip", .string)]
    var newHome = home
    newHome.elements[0].type = .integer32
    let change = try difference(
      [
        Entity("E") {
          Attribute("price", .string)
          home
          Relationship("fs", toMany: "E")
        }
      ],
      [
        Entity("E") {
          Attribute("price", .decimal)
          newHome
          Relationship("fs", toOne: "E")
        }
      ])
    #expect(!change.isInferable)
    #expect(change.conditionalObstacles.isEmpty)
    #expect(change.obstacles.map(\.property) == ["price", "home.zip", "fs"])
    #expect(
      change.obstacles.map(\.reason) == [
        .typeChanged(from: .string, to: .decimal), .typeChanged(from: .string, to: .integer32),
        .toManyToToOne,
      ])
    #expect(
      change.description.contains("E.fs referred to many objects and now refers to one: write"))
  }

  @Test func `a required attribute without a default is an obstacle only where there are objects`()
    throws
  {
    func destination(_ value: AttributeValue?) -> [Entity] {
      [
        Entity("Note") {
          Attribute("body", .string, optional: false, default: value)
          Attribute("slug", .string, optional: false, default: value)
        },
        Entity("New") { Attribute("x", .string, optional: false) },
      ]
    }
    let source = [Entity("Note") { Attribute("slug", .string) }]
    let change = try difference(source, destination(nil))
    #expect(change.isInferable)
    #expect(
      change.conditionalObstacles.map(\.reason)
        == [.requiredWithoutDefault, .becameRequiredWithoutDefault])
    #expect(change.conditionalObstacles.allSatisfy { $0.sourceEntity == "Note" })
    #expect(try difference(source, destination("")).conditionalObstacles.isEmpty)
  }

  @Test func `an abstract entity has no obstacles, its subentities have`() throws {
    func model(_ type: AttributeType) -> [Entity] {
      [
        Entity("P", abstract: true) { Attribute("x", type) }, Entity("C", parent: "P"),
        Entity("D", parent: "P"),
      ]
    }
    let change = try difference(model(.string), model(.date))
    #expect(change.obstacles.map(\.sourceEntity) == ["C", "D"])
    let concrete = try difference([Entity("P")], [Entity("P", abstract: true)])
    #expect(concrete.conditionalObstacles.map(\.reason) == [.becameAbstract])
  }

  @Test func `transient attributes may change their type`() throws {
    let change = try difference(
      [Entity("E") { Attribute("x", .string, transient: true) }],
      [Entity("E") { Attribute("x", .date, transient: true) }])
    #expect(change.isInferable)
    #expect(!change.isEmpty)
  }

  // MARK: Hierarchies and the report

  @Test func `a new parent is a changed parent, a renamed parent is not`() throws {
    let flat = [Entity("A"), Entity("B")]
    let merged = [Entity("P", abstract: true), Entity("A", parent: "P"), Entity("B", parent: "P")]
    let merging = try difference(flat, merged)
    #expect(merging.isInferable)
    #expect(merging.entities.filter(\.parentChanged).map(\.name) == ["A", "B"])
    let renamed = [
      Entity("Q", abstract: true, renamedFrom: "P"), Entity("A", parent: "Q"),
      Entity("B", parent: "Q"),
    ]
    let renaming = try difference(merged, renamed)
    #expect(renaming.entities.filter(\.parentChanged).isEmpty)
    #expect(
      try difference(merged, flat).entities.filter(\.parentChanged).map(\.name) == ["A", "B"])
  }

  @Test func `a difference prints as a report`() throws {
    let change = try difference(
      [
        Entity("Artwork"), Entity("Gone"),
        Entity("Collection") {
          Attribute("name", .string)
          Attribute("old", .string)
          Attribute("editable", .boolean, optional: false)
          Relationship("cover", toOne: "Artwork")
        },
      ],
      [
        Entity("Artwork"), Entity("Image"),
        Entity("Album", renamedFrom: "Collection") {
          Attribute("title", .string, renamedFrom: "name")
          Attribute("slug", .string, optional: false, default: "untitled")
          Attribute("editable", .boolean)
          Attribute("year", .integer16, optional: false)
          Relationship("cover", toOne: "Image")
          Relationship("artworks", toMany: "Artwork", ordered: true)
        },
      ])
    #expect(
      change.description == """
        entities: 1 kept, 1 changed, 1 added, 1 removed
        ~ Album (was Collection)
            ~ attribute title (was name)
            + attribute slug: string, required, default "untitled"
            ~ attribute editable: optional
            + attribute year: integer16, required
            - attribute old
            ~ relationship cover: refers to Image instead of Artwork, its values are dropped
            + relationship artworks: ordered to-many Artwork
        + Image
        - Gone
        cannot be inferred if there are objects:
            Album.year is new and required, and the model has no default value for the objects that \
        are there: give it a default value that is the same for all of them (UUID() or Date() is made \
        for each new object alone), make it optional, or write a mapping that computes it for each: \
        the guide to migration shows how, under “A value for each object”
        """)
  }
}
