import QuireTesting
import XCTest

// The same lines in the other framework: an application need not have both.
final class GalleryMigrationXCTests: XCTestCase {
  func testEveryShippedStoreMigrates() throws {
    try MigrationFixtures(in: Gallery.folder)
      .check(migratingTo: Gallery.model(), budget: Gallery.budget, dropped: Gallery.dropped)
  }

  func testEveryShippedVersionHasAFixture() throws {
    try MigrationFixtures(in: Gallery.folder).requireFixtures(of: Gallery.model(), shipped: .all)
  }

  func testAFailureIsOneErrorThatSaysEverything() throws {
    let fixtures = MigrationFixtures(in: Gallery.folder)
    let counts: [String: ExpectedCounts] = [
      "Gallery 1.3.quire": ["Artwork": 25, "Note": 1], "Gallery 2.7.quire": ["Edition": 8],
    ]
    XCTAssertThrowsError(
      try fixtures.check(migratingTo: Gallery.model(), counts: counts, dropped: Gallery.dropped)
    ) {
      let path = Gallery.folder.path(percentEncoded: false)
      XCTAssertEqual(
        "\($0)",
        """
        2 failures of the fixtures in “\(path)”:
          1. 2 failures of the fixture “Gallery 1.3.quire”:
               1. Artwork: objects: 24 instead of 25
               2. Note: objects: 0 instead of 1
          2. 1 failure of the fixture “Gallery 2.7.quire”:
               1. Edition: objects: 9 instead of 8
        """)
    }
  }
}
