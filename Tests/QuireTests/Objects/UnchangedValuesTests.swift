import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What a save takes for a change: what it would write otherwise than it is, to the last bit.
@Suite struct UnchangedValuesTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show

  @Test func `an order that is as it was is no change`() throws {
    let context = try SmallGallery.context()
    let show = Show(context: context)
    let artists = (0..<3).map { _ in Artist(context: context) }
    show.artists = artists
    try context.save()
    show.artists = artists
    #expect(show.isUpdated && !show.hasPersistentChangedValues && show.changedValues().isEmpty)
    show.artists = [artists[1], artists[0], artists[2]]
    #expect(show.changedValues().keys.sorted() == ["artists"])
    artists[2].shows = []
    show.artists = artists
    #expect(show.changedValues().isEmpty && !artists[2].hasPersistentChangedValues)
    try context.save()
    #expect(show.version == 1)
  }

  @Test func `an object that came and went is no change of a set`() throws {
    let model = try ManagedObjectModel {
      Entity("Bag") { Relationship("things", toMany: "Thing") }
      Entity("Thing") { Attribute("number", .integer32) }
    }
    let context = try ManagedObjectContext.stubbed(model)
    let bag = try EntityDescription.insertNewObject(forEntityName: "Bag", into: context)
    try context.save()
    let thing = try EntityDescription.insertNewObject(forEntityName: "Thing", into: context)
    try bag.setValue([thing], forKey: "things")
    context.delete(thing)
    context.processPendingChanges()
    #expect(bag.changedValues().isEmpty)
    try context.save()
    #expect(bag.version == 1)
  }

  private static let numbers = try! ManagedObjectModel {
    Entity("Value") {
      Attribute("text", .string)
      Attribute("double", .double)
      Attribute("float", .float)
      Attribute("decimal", .decimal)
      Attribute("date", .date)
      place
    }
  }

  private static var place: AttributeDescription {
    var attribute = Attribute("place", .composite)
    attribute.elements = [Attribute("name", .string), Attribute("height", .double)]
    return attribute
  }

  private func saved(_ values: [String: Any]) throws -> (ManagedObject, ManagedObjectContext) {
    let context = try ManagedObjectContext.stubbed(Self.numbers)
    let object = try EntityDescription.insertNewObject(forEntityName: "Value", into: context)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    try context.save()
    return (object, context)
  }

  @Test func `another spelling of equal text is a change`() throws {
    let (object, context) = try saved(["text": "caf\u{E9}", "place": ["name": "caf\u{E9}"]])
    try object.setValue("cafe\u{301}", forKey: "text")
    try object.setValue(["name": "cafe\u{301}"], forKey: "place")
    #expect(object.changedValues().keys.sorted() == ["place", "text"])
    try context.save()
    context.refresh(object, mergeChanges: false)
    let text = try #require(try object.value(forKey: "text") as? String)
    #expect(Array(text.utf8) == Array("cafe\u{301}".utf8))
    try object.setValue("cafe\u{301}", forKey: "text")
    #expect(!object.hasPersistentChangedValues)
  }

  @Test func `setting NaN over NaN is no change`() throws {
    let (object, context) = try saved([
      "double": Double.nan, "float": Float.nan, "decimal": Decimal.nan,
      "place": ["height": Double.nan],
    ])
    try object.setValue(Double.nan, forKey: "double")
    try object.setValue(Float.nan, forKey: "float")
    try object.setValue(Decimal.nan, forKey: "decimal")
    try object.setValue(["height": Double.nan], forKey: "place")
    #expect(object.changedValues().isEmpty)
    try context.save()
    #expect(object.version == 1)
  }

  @Test func `the sign of nothing is a change`() throws {
    let (object, context) = try saved([
      "double": 0.0, "float": Float(0), "date": Date(timeIntervalSinceReferenceDate: 0),
    ])
    try object.setValue(-0.0, forKey: "double")
    try object.setValue(-Float(0), forKey: "float")
    try object.setValue(Date(timeIntervalSinceReferenceDate: -0.0), forKey: "date")
    #expect(object.changedValues().keys.sorted() == ["date", "double", "float"])
    try context.save()
    context.refresh(object, mergeChanges: false)
    #expect((try object.value(forKey: "double") as? Double)?.sign == .minus)
  }

  // Transient properties are never stored, so a save has no reason to lose them.
  @Test func `transient values and relationships stay over a save`() throws {
    func transient(_ relationship: RelationshipDescription) -> RelationshipDescription {
      var relationship = relationship
      relationship.isTransient = true
      return relationship
    }
    let model = try ManagedObjectModel {
      Entity("Document") {
        Attribute("title", .string)
        Attribute("draft", .string, transient: true)
        transient(Relationship("window", toOne: "Window", inverse: "document"))
        transient(Relationship("recent", toMany: "Window"))
      }
      Entity("Window") {
        transient(Relationship("document", toOne: "Document", inverse: "window"))
      }
    }
    let context = try ManagedObjectContext.stubbed(model)
    func make(_ name: String) throws -> ManagedObject {
      try EntityDescription.insertNewObject(forEntityName: name, into: context)
    }
    let document = try make("Document")
    let (window, other) = (try make("Window"), try make("Window"))
    try document.setValue("draft", forKey: "draft")
    try document.setValue(window, forKey: "window")
    try document.setValue([window, other], forKey: "recent")
    try context.save()
    for _ in 0..<2 {
      #expect(try document.value(forKey: "draft") as? String == "draft")
      #expect(try document.value(forKey: "window") as? ManagedObject === window)
      #expect(try window.value(forKey: "document") as? ManagedObject === document)
      #expect(try document.value(forKey: "recent") as? Set<ManagedObject> == [window, other])
      #expect(!document.hasChanges && !document.hasPersistentChangedValues)
      try document.setValue("another", forKey: "title")
      context.refresh(document, mergeChanges: true)
      try context.save()
    }
    #expect(document.version == 2)
    context.delete(other)
    try context.save()
    #expect(try document.value(forKey: "recent") as? Set<ManagedObject> == [window])
    context.refresh(document, mergeChanges: false)
    #expect(try document.value(forKey: "window") == nil && window.value(forKey: "document") == nil)
  }
}
