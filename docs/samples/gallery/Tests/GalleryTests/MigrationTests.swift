import Foundation
import Gallery
import QuireTesting
import Testing

/// Every store that a release of the gallery has written can be opened by this one.
///
/// In `Fixtures` is a store of each release. It was recorded on the day the release was made:
///
///     GALLERY_RELEASE=1.1 swift test --filter recorded
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
      for (title, price, year) in [
        ("The Great Wave", 1_600_000.0, 1831), ("Red Fuji", 85_000, 1830),
      ] {
        let artwork = Artwork(context: context)
        (artwork.title, artwork.price, artwork.artist) = (title, price, hokusai)
        artwork.year = Int16(year)
      }
      let lost = Artwork(context: context)
      lost.title = "Untitled"
    }
  }
}
