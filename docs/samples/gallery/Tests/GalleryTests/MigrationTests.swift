import Foundation
import Gallery
import QuireTesting
import Testing

/// Every store that a release of the gallery has written can be opened by this one.
///
/// In `Fixtures` is a store of each release. It was recorded on the day the release was made:
///
///     GALLERY_RELEASE=1.0 swift test --filter recorded
@Suite struct MigrationTests {
  private let fixtures = MigrationFixtures(
    in: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures"))

  @Test func `stores of every release open, and keep what they have`() throws {
    try fixtures.requireFixture(for: Artist.self, Artwork.self)
    try fixtures.check(for: Artist.self, Artwork.self, budget: .milliseconds(500))
  }

  private static let release = ProcessInfo.processInfo.environment["GALLERY_RELEASE"]

  @Test(.enabled(if: release != nil))
  func `a store of this release is recorded`() throws {
    let release = try #require(Self.release)
    try fixtures.record(release, for: Artist.self, Artwork.self) { context in
      let hokusai = Artist(context: context)
      hokusai.name = "Katsushika Hokusai"
      for (title, cost) in [("The Great Wave", 1_600_000.0), ("Fine Wind, Clear Morning", 85_000)] {
        let artwork = Artwork(context: context)
        (artwork.title, artwork.cost, artwork.artist) = (title, cost, hokusai)
      }
      let lost = Artwork(context: context)
      lost.title = "Untitled"
    }
  }
}
