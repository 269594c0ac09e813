import Foundation

/// Models and stores of real applications, which are not part of the repository.
///
/// They are searched where `QUIRE_DATA` says, or in the folder `shared/data` beside the package.
enum RealData {
  static let folder: URL? = {
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let candidates =
      ProcessInfo.processInfo.environment["QUIRE_DATA"].map { [URL(fileURLWithPath: $0)] }
      ?? [package.deletingLastPathComponent().appendingPathComponent("shared/data")]
    return candidates.first {
      FileManager.default.fileExists(atPath: $0.appendingPathComponent("artsy-folio").path)
    }
  }()

  static var isPresent: Bool { folder != nil }

  /// Why a test is skipped without it.
  static let absence = "needs the real data: set QUIRE_DATA to its folder"

  static func url(_ path: String) throws -> URL {
    struct Absent: Error {}
    guard let folder else { throw Absent() }
    return folder.appendingPathComponent(path)
  }
}
