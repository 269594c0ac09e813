import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct ModelBuilderTests {
  private static let deadline = Date(timeIntervalSinceReferenceDate: 800_000_000)

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifiers: ["2"], userInfo: ["author": "Ana"]) {
      Entity(
        "Artwork", class: "FolioArtwork", renamedFrom: "Work", versionHashModifier: "3",
        userInfo: ["icon": "frame"]
      ) {
        Attribute(
          "title", .string, optional: false, length: 1...200, pattern: "\\S.*",
          versionHashModifier: "t", userInfo: ["hint": "as on the frame"]
        ).with { $0.isIndexedBySpotlight = true }
        Attribute("rating", .integer16, default: 3, range: 0...5)
        Attribute("price", .decimal, range: 0.5...)
        Attribute("exact", .decimal, range: Decimal(string: "0.1")!...Decimal(string: "0.3")!)
        Attribute("soldAt", .date, range: ...deadline)
        Attribute("seen", .boolean, transient: true)
        Attribute("colour", .transformable, transformer: "ColourTransformer", valueClass: "Colour")
        Attribute("scan", .binaryData, storedExternally: true)
        Attribute("artistName", .string, derivedFrom: "artist.name")
        Attribute("size", .composite) {
          Attributes(.double, "width", "height")
          Attribute("unit", .string, default: "cm")
        }
        Relationship(
          "artist", toOne: "Artist", inverse: "artworks", versionHashModifier: "r",
          userInfo: ["r": "s"])
        Relationship("rooms", toMany: "Artwork", count: 1...3, transient: true)
        UniquenessConstraint("title", "artist")
        UniquenessConstraint("size.width")
        FetchIndex(
          "byRating", on: "rating", .descending("price"), "size.unit", where: "price > 0",
          userInfo: ["i": "j"])
        FetchIndex("folded", on: .expression("canonical:(title)", type: "String"), .rTree("rating"))
        FetchedProperty("namesakes", of: "Artwork", where: "title == $FETCH_SOURCE.title", limit: 9)
      }
      Entity("Artist") {
        Attribute("name", .string)
        Relationship("artworks", toMany: "Artwork")
      }
      ModelConfiguration("Cloud", "Artist", "Artwork")
      ModelConfiguration("Local", "Artist")
      FetchRequestTemplate(
        "cheap", of: "Artwork", where: "price < $PRICE", limit: 10, includesSubentities: false,
        userInfo: ["menu": "1"])
    }
  }

  @Test func `everything that a model can say is said in Swift`() throws {
    let model = try Self.model()
    #expect(model.versionIdentifiers == ["2"] && model.userInfo == ["author": "Ana"])
    let artwork = try #require(model.entity(named: "Artwork"))
    #expect(artwork.managedObjectClassName == "FolioArtwork")
    #expect(artwork.renamingIdentifier == "Work" && artwork.userInfo == ["icon": "frame"])
    #expect(artwork.declaration.versionHashModifier == "3")
    func attribute(_ name: String) throws -> AttributeDescription {
      try #require(artwork.attribute(named: name))
    }
    let title = try attribute("title")
    #expect(title.validation.minimum == "1" && title.validation.maximum == "200")
    #expect(title.validation.regularExpression == "\\S.*")
    #expect(title.versionHashModifier == "t" && title.isIndexedBySpotlight)
    #expect(title.userInfo == ["hint": "as on the frame"])
    #expect(try attribute("rating").validation.minimumNumber == 0)
    #expect(try attribute("rating").validation.maximumNumber == 5)
    #expect(try attribute("price").validation.minimum == "0.5")
    #expect(try attribute("price").validation.maximum == nil)
    #expect(try attribute("exact").validation.maximum == "0.3")
    #expect(try attribute("soldAt").validation.earliestDate == nil)
    #expect(try attribute("soldAt").validation.latestDate == Self.deadline)
    #expect(try attribute("seen").isTransient)
    #expect(try attribute("colour").valueTransformerName == "ColourTransformer")
    #expect(try attribute("colour").valueClassName == "Colour")
    #expect(try attribute("scan").allowsExternalBinaryDataStorage)
    #expect(try attribute("artistName").derivationExpression == "artist.name")
    #expect(try attribute("size").elements.map(\.name) == ["width", "height", "unit"])
    let artist = try #require(artwork.relationship(named: "artist"))
    #expect(artist.versionHashModifier == "r" && artist.userInfo == ["r": "s"])
    let rooms = try #require(artwork.relationship(named: "rooms"))
    #expect(rooms.minCount == 1 && rooms.maxCount == 3 && rooms.isTransient)
    #expect(artwork.uniquenessConstraints == [["title", "artist"], ["size.width"]])
    #expect(artwork.indexes.map(\.name) == ["byRating", "folded"])
    #expect(artwork.indexes[0].elements.map(\.isAscending) == [true, false, true])
    #expect(artwork.indexes[0].partialIndexPredicate == "price > 0")
    #expect(artwork.indexes[0].userInfo == ["i": "j"])
    #expect(artwork.indexes[1].elements[0].expression == "canonical:(title)")
    #expect(artwork.indexes[1].elements[1].kind == .rTree)
    let namesakes = try #require(artwork.fetchedProperty(named: "namesakes"))
    #expect(namesakes.request.entityName == "Artwork" && namesakes.request.fetchLimit == 9)
    #expect(model.configurations == ["Cloud": ["Artist", "Artwork"], "Local": ["Artist"]])
    let cheap = try #require(model.fetchRequestTemplate(forName: "cheap"))
    #expect(cheap.fetchLimit == 10 && !cheap.includesSubentities)
    #expect(cheap.userInfo == ["menu": "1"])
    #expect(model.fetchRequestTemplate(forName: "dear") == nil)
  }

  @Test func `an entity knows what it inherits and who inherits from it`() throws {
    let model = try ManagedObjectModel {
      Entity("Document", abstract: true) {
        Attribute("title", .string)
        Relationship("owner", toOne: "Person")
        FetchIndex("byTitle", on: "title")
        FetchedProperty("alike", of: "Document", where: "title == $FETCH_SOURCE.title")
      }
      Entity("Letter", parent: "Document") {
        Attribute("body", .string)
        Relationship("sender", toOne: "Person")
        Relationship("copyTo", toMany: "Friend")
        FetchIndex("byBody", on: "body", "title")
      }
      Entity("Postcard", parent: "Letter")
      Entity("Person")
      Entity("Friend", parent: "Person")
    }
    let document = try #require(model.entity(named: "Document"))
    let letter = try #require(model.entity(named: "Letter"))
    #expect(letter.indexes.map(\.name) == ["byTitle", "byBody"])
    #expect(letter.fetchedPropertiesByName.keys.sorted() == ["alike"])
    #expect(
      letter.propertiesByName.keys.sorted()
        == ["alike", "body", "copyTo", "owner", "sender", "title"])
    #expect(letter.propertiesByName["alike"]?.isTransient == true)
    #expect(letter.propertiesByName["body"]?.isTransient == false)
    #expect(document.subentitiesByName == ["Letter": letter])
    #expect(document.subentitiesByName["Letter"]?.attributes.map(\.name) == ["title", "body"])
    #expect(document.subentities[0].subentities.map(\.name) == ["Postcard"])
    #expect(document.subentities[0].subentities[0].root === document)
    #expect(letter.subentitiesByName["Postcard"]?.subentities == [])
    let person = try #require(model.entity(named: "Person"))
    #expect(letter.relationships(forDestination: person).map(\.name) == ["owner", "sender"])
  }

  @Test func `a subentity outlives its model`() throws {
    weak var released: ManagedObjectModel?
    let parent: EntityDescription
    do {
      let model = try ManagedObjectModel {
        Entity("A")
        Entity("B", parent: "A")
      }
      released = model
      parent = try #require(model.entity(named: "A"))
    }
    #expect(released == nil)
    #expect(parent.subentitiesByName.keys.sorted() == ["B"])
  }

  @Test func `a configuration is changed in a copy of the model`() throws {
    let model = try Self.model()
    let artist = try #require(model.entity(named: "Artist"))
    #expect(model.entities(forConfigurationName: "Local") == [artist])
    #expect(model.entities(forConfigurationName: nil) == model.entities)
    #expect(model.entities(forConfigurationName: DefaultConfigurationName) == model.entities)
    #expect(model.entities(forConfigurationName: "None") == nil)
    let changed = try model.settingEntities([artist], forConfigurationName: "Cloud")
    #expect(changed.configurations["Cloud"] == ["Artist"])
    #expect(model.configurations["Cloud"] == ["Artist", "Artwork"])
    #expect(changed == model && changed.userInfo == model.userInfo)
    let foreign = try #require(ManagedObjectModel { Entity("Room") }.entity(named: "Room"))
    #expect {
      try model.settingEntities([foreign], forConfigurationName: "Cloud")
    } throws: {
      ($0 as? ModelError)?.reason == .unknownEntity("Room", in: .configuration("Cloud"))
    }
    let renamed = try model.settingFetchRequestTemplate(
      FetchRequestTemplate("x", of: "Artist", where: "name == 'Ana'"), forName: "cheap")
    #expect(renamed.fetchRequestTemplate(forName: "cheap")?.entityName == "Artist")
    #expect(
      try model.settingFetchRequestTemplate(nil, forName: "cheap").fetchRequestTemplates.isEmpty)
  }

  @Test func `a configuration is compatible with the stores that have its entities' hashes`() throws
  {
    let model = try Self.model()
    let hashes = model.entityVersionHashesByName
    #expect(model.isConfiguration(withName: nil, compatibleWithVersionHashes: hashes))
    #expect(model.isConfiguration(withName: "Cloud", compatibleWithVersionHashes: hashes))
    // A store of the whole model has what each configuration asks for.
    #expect(model.isConfiguration(withName: "Local", compatibleWithVersionHashes: hashes))
    let other = hashes.mapValues { _ in hashes["Artist"] }.compactMapValues { $0 }
    #expect(!model.isConfiguration(withName: "Local", compatibleWithVersionHashes: other))
    #expect(!model.isConfiguration(withName: "None", compatibleWithVersionHashes: hashes))
    let artist = hashes.filter { $0.key == "Artist" }
    #expect(model.isConfiguration(withName: "Local", compatibleWithVersionHashes: artist))
    #expect(!model.isConfiguration(withName: nil, compatibleWithVersionHashes: artist))
    let data = hashes.mapValues { Data($0.bytes) }
    for (metadata, isCompatible) in [
      ([StoreModelVersionHashesKey: hashes], true), ([StoreModelVersionHashesKey: data], true),
      ([StoreModelVersionHashesKey: data.mapValues { $0.dropLast() }], false),
      ([StoreModelVersionHashesKey: "none"], false), ([:], false),
    ] as [([String: Any], Bool)] {
      #expect(
        model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
          == isCompatible)
    }
  }

  @Test func `names are translated from the most particular to the most general`() throws {
    let model = try ManagedObjectModel {
      Entity("Document") { Attributes(.string, "title", "body", "note") }
      Entity("Letter", parent: "Document")
    }.settingLocalizationDictionary([
      "Entity/Letter": "Brief", "Property/title/Entity/Document": "Titel", "Property/body": "Text",
    ])
    let letter = try #require(model.entity(named: "Letter"))
    #expect(model.localizedName(of: letter) == "Brief")
    #expect(model.localizedName(ofPropertyNamed: "title", in: letter) == "Titel")
    #expect(model.localizedName(ofPropertyNamed: "body", in: letter) == "Text")
    #expect(model.localizedName(ofPropertyNamed: "note", in: letter) == "note")
    #expect(model.localizationDictionary.count == 3)
  }
}
