import Foundation
import Quire
import Testing

// The twenty lines that the README begins with, compiled and run.
@Suite struct ReadmeTests {
  final class Artist: ManagedObject {
    @Managed var name: String
    @Managed var artworks: Set<Artwork>
  }

  final class Artwork: ManagedObject {
    @Managed var title: String
    @Managed var price: Double
    @Managed var artist: Artist?
  }

  @Test func `the example of the README works`() throws {
    try withTemporaryFolder { folder in
      let model = try ManagedObjectModel {
        Entity("Artist") {
          Attribute("name", .string, optional: false)
          Relationship("artworks", toMany: "Artwork", inverse: "artist", deleteRule: .cascade)
        }
        Entity("Artwork") {
          Attribute("title", .string, default: "Untitled")
          Attribute("price", .double, default: 0)
          Relationship("artist", toOne: "Artist", inverse: "artworks")
        }
      }
      let container = PersistentContainer(
        name: "Gallery", managedObjectModel: model, classes: [Artist.self, Artwork.self])
      try container.loadPersistentStore(at: folder.appending(path: "gallery.quire"))

      let context = container.newBackgroundContext()
      let hokusai = Artist(context: context)
      hokusai.name = "Katsushika Hokusai"
      let wave = Artwork(context: context)
      wave.title = "The Great Wave"
      wave.price = 1_600_000
      wave.artist = hokusai
      try context.save()

      var request = FetchRequest<Artwork>()
      request.predicate = Key("artist.name").beginsWith("Katsushika") && Key("price") > 100
      request.sortDescriptors = [FetchSortDescriptor(key: "title")]
      var printed: [String] = []
      for artwork in try context.fetch(request) {
        printed.append(
          "\(artwork.title) \(artwork.artist?.name ?? "") \(artwork.artist?.artworks.count ?? 0)")
      }
      #expect(printed == ["The Great Wave Katsushika Hokusai 1"])
    }
  }

  @Test func `the README shows the lines that are tested here`() throws {
    let file = URL(filePath: #filePath)
    let root = file.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    func lines(_ url: URL) throws -> [String] {
      try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
    let readme = try lines(root.appending(path: "README.md"))
    let start = try #require(readme.firstIndex(of: "```swift"))
    let end = try #require(readme[start...].firstIndex(of: "```"))
    let tested = Set(try lines(file))
    for line in readme[(start + 1)..<end]
    where !line.hasPrefix("import") && !line.hasPrefix("print(") {
      #expect(tested.contains(line), "\(line)")
    }
    #expect(readme.count < 200)
  }
}
