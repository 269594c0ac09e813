import Quire
import QuireModel
import Testing

/// Fetches of children that are served by indexes and links of the store.
@Suite struct `Fetches through a parent` {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Relationship("works", toMany: "Work", inverse: "artist")
      }
      Entity("Work") {
        Attribute("title", .string)
        Relationship("artist", toOne: "Artist", inverse: "works")
        FetchIndex("byTitle", on: "title")
      }
    }
  }

  @Test func `an index is used, and what the parent has changed is found where it is now`() throws {
    let parent = try ManagedObjectContext.stubbed(Self.model())
    let artists = try (0..<40).map { try parent.insert("Artist", ["name": "artist \($0)"]) }
    let works = try (0..<400).map {
      try parent.insert("Work", ["title": "title \($0 % 100)", "artist": artists[$0 % 40]])
    }
    try parent.save()
    try works[7].setValue("elsewhere", forKey: "title")
    try works[8].setValue("title 7", forKey: "title")
    parent.delete(works[107])
    try works[40].setValue(artists[1], forKey: "artist")
    let new = try parent.insert("Work", ["title": "title 7", "artist": artists[0]])
    let child = parent.newChildContext()
    let titled = try child.found("Work", Key("title") == "title 7")
    #expect(titled.plan.hasPrefix("index Work.byTitle"))
    #expect(
      Set(titled.objects.map(\.objectID))
        == Set([works[8], works[207], works[307], new].map(\.objectID)))
    let artist = try #require(child.object(with: artists[0].objectID))
    let led = try child.found("Work", Key("artist") == artist)
    #expect(led.plan.hasPrefix("links of artist"))
    #expect(led.objects.count == 10 && !led.objects.contains { $0.objectID == works[40].objectID })
    #expect(led.objects.contains { $0.objectID == new.objectID })
    #expect(try (artist.value(forKey: "works") as? Set<ManagedObject>) == Set(led.objects))
    var limited = FetchRequest<ManagedObject>(entityName: "Work")
    limited.sortDescriptors = [FetchSortDescriptor(key: "title")]
    limited.fetchLimit = 3
    #expect(try child.fetch(limited).first?.objectID == works[7].objectID)
  }
}
