import Foundation
import Gallery
import Quire
import QuireTesting
import Testing

/// Every store that a release of the gallery has written can be opened by this one.
///
/// In `Fixtures` is a store of each release. It is recorded on the day when a release is made:
///
///     GALLERY_RELEASE=2.1 swift test --filter recorded
@Suite struct MigrationTests {
  private let fixtures = MigrationFixtures(
    in: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures"))

  @Test func `there is a store of the present classes`() throws {
    try fixtures.requireFixture(for: Artist.self, Artwork.self, Sale.self)
  }

  // Each object, value and link is compared with what was in the store; the rest only the gallery
  // knows.
  @Test func `stores of all releases open, and keep what they have`() throws {
    try fixtures.check(for: Artist.self, Artwork.self, Sale.self, budget: .milliseconds(500)) {
      _, context in
      let wave = try context.fetch(Artwork.where { $0.title == "The Great Wave" })
      #expect(wave.map(\.price) == [1_600_000])
      #expect(wave.compactMap(\.artist?.name) == ["Katsushika Hokusai"])
    }
  }

  private static let release = ProcessInfo.processInfo.environment["GALLERY_RELEASE"]

  @Test(.enabled(if: release != nil))
  func `a store of this release is recorded`() throws {
    let release = try #require(Self.release)
    try fixtures.record(release, for: Artist.self, Artwork.self, Sale.self) { context in
      let hokusai = Artist(context: context)
      hokusai.name = "Katsushika Hokusai"
      let wave = Artwork(context: context)
      (wave.title, wave.price, wave.artist) = ("The Great Wave", 1_600_000, hokusai)
      wave.year = 1831
      let sale = Sale(context: context)
      (sale.artwork, sale.buyer, sale.amount) = (wave, "A museum", 1_500_000)
      // The same bytes each time: no date of today.
      sale.date = Date(timeIntervalSinceReferenceDate: 0)
      // What is optional is absent somewhere.
      let found = Artwork(context: context)
      found.title = "Untitled"
    }
  }
}
