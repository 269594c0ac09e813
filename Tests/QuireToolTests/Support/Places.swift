import Foundation
import QuireSimulation

typealias TemporaryFolder = QuireSimulation.TemporaryFolder

extension TemporaryFolder {
  func path(_ name: String) -> String { path + "/" + name }

  /// A copy of a store of the gallery.
  func fixture(_ version: String) throws -> String {
    let copy = path("\(version).quire")
    try FileManager.default.copyItem(atPath: Fixtures.store(version), toPath: copy)
    return copy
  }

  /// Changes bytes of a file, or cuts it.
  func damage(_ path: String, _ change: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(filePath: path))
    change(&data)
    try data.write(to: URL(filePath: path))
  }
}

/// What the repository brings along.
enum Fixtures {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures")

  static var model: String { folder.appending(path: "Gallery.xcdatamodeld").path }
  static var stores: URL { folder.appending(path: "Gallery") }

  static let versions = [
    "Gallery 1.3", "Gallery 1.3.5", "Gallery 1.4", "Gallery 1.6", "Gallery 2.0", "Gallery 2.7",
  ]

  /// In debug the oldest and the newest.
  static let someVersions = Amount.of(debug: ["Gallery 1.3", "Gallery 2.7"], release: versions)

  static func store(_ version: String) -> String {
    stores.appending(path: "\(version).quire").path
  }
}

/// Models and stores of real applications, which are not part of the repository.
///
/// They are searched where `QUIRE_DATA` says, or in the folder `shared/data` beside the package.
enum RealData {
  static let folder: URL? = {
    let candidates =
      ProcessInfo.processInfo.environment["QUIRE_DATA"].map { [URL(filePath: $0)] }
      ?? [
        Fixtures.folder.deletingLastPathComponent().deletingLastPathComponent()
          .appending(path: "shared/data")
      ]
    return candidates.first {
      FileManager.default.fileExists(atPath: $0.appending(path: "artsy-folio").path)
    }
  }()

  static var isPresent: Bool { folder != nil }

  /// Why a test is skipped without it.
  static let absence = "needs the real data: set QUIRE_DATA to its folder"

  static func path(_ path: String) throws -> String {
    struct Absent: Error {}
    guard let folder else { throw Absent() }
    return folder.appending(path: path).path
  }
}
