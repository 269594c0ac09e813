import Foundation
import Quire
import QuireSimulation
import QuireTesting
import QuireXcode

/// The gallery's model and the stores of all its versions, as an application would keep them.
enum Gallery {
  private static let fixtures = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures")

  static let folder = fixtures.appending(path: "Gallery")

  static func model() throws -> VersionedModel {
    try VersionedModel(contentsOf: fixtures.appending(path: "Gallery.xcdatamodeld"))
  }

  /// What goes on the way to the current version, while something of its kind comes.
  static let dropped: Set = ["Artist.displayName", "Artwork.displayPrice"]
  /// What a migration may take. A debug build, beside all other tests, is no measure.
  static let budget = Amount.of(debug: Duration.seconds(10), release: .milliseconds(200))

  static let artworkCounts = [
    "Gallery 1.3.quire": 24, "Gallery 1.3.5.quire": 63, "Gallery 1.4.quire": 68,
    "Gallery 1.6.quire": 60, "Gallery 2.0.quire": 52, "Gallery 2.7.quire": 27,
  ]
}
