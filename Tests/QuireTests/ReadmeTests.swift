import Foundation
import Quire
import Testing

// The lines that the README begins with, compiled and run.
@Suite struct ReadmeTests {
  final class Artist: ManagedObject {
    @Managed var name: String = "Nobody"
    @Managed(inverse: \Artwork.artist, deleteRule: .cascade) var artworks: Set<Artwork>
  }
  final class Artwork: ManagedObject {
    @Managed var title: String = "Untitled"
    @Managed(.indexed) var price: Double = 0
    @Managed var artist: Artist?
  }

  @Test func `the example of the README works`() throws {
    try withTemporaryFolder { folder in
      let container = try PersistentContainer(name: "Gallery", for: Artist.self, Artwork.self)
      try container.loadPersistentStore(at: folder.appending(path: "gallery.quire"))
      let context = container.newBackgroundContext()
      let hokusai = Artist(context: context)
      hokusai.name = "Katsushika Hokusai"
      let wave = Artwork(context: context)
      (wave.title, wave.price, wave.artist) = ("The Great Wave", 1_600_000, hokusai)
      try context.save()

      let dear = Artwork.where { $0.artist.name.beginsWith("Katsushika") && $0.price > 100 }
      var printed: [String] = []
      for artwork in try context.fetch(dear.sorted(by: \.title)) {
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
    let count = readme[(start + 1)..<end].count { !$0.isEmpty && !$0.hasPrefix("import") }
    #expect(count <= 25)
    #expect(readme.count < 200)
  }
}
