import Foundation
import QuireModel

/// The folder with the model of the gallery and a store of each of its versions.
///
/// ```
/// Fixtures/
///   Gallery.xcdatamodeld
///   Gallery/
///     Gallery 1.3.quire
///     …
/// ```
struct FixtureFolder {
  static let modelName = "Gallery"
  static let storeExtension = "quire"

  let url: URL

  var modelURL: URL { url.appending(path: "\(Self.modelName).xcdatamodeld") }
  var storesURL: URL { url.appending(path: Self.modelName) }

  /// The folder the user names; otherwise `Fixtures` in the working directory or in the nearest
  /// folder around it that has one, otherwise the one of the package this program was built from.
  static func find(_ path: String?) throws -> FixtureFolder {
    if let path {
      let folder = FixtureFolder(url: URL(filePath: path))
      guard folder.isPresent else {
        throw InputError("there is no \(modelName).xcdatamodeld in \(path)")
      }
      return folder
    }
    let workingDirectory = URL(filePath: FileManager.default.currentDirectoryPath)
    for start in [workingDirectory, URL(filePath: #filePath).deletingLastPathComponent()] {
      if let folder = search(upwardFrom: start) { return folder }
    }
    throw InputError(
      "found no folder Fixtures with \(modelName).xcdatamodeld, neither here nor around; "
        + "run this in the package, or say where it is")
  }

  private static func search(upwardFrom start: URL) -> FixtureFolder? {
    var candidate = start.standardizedFileURL
    while true {
      let folder = FixtureFolder(url: candidate.appending(path: "Fixtures"))
      if folder.isPresent { return folder }
      let parent = candidate.deletingLastPathComponent().standardizedFileURL
      if parent.path == candidate.path { return nil }
      candidate = parent
    }
  }

  private var isPresent: Bool { FileManager.default.fileExists(atPath: modelURL.path) }

  /// The stores, in the order of the versions they are named after, others after them.
  ///
  /// - Throws: when a version has no store, because its stores would then not be tested.
  func stores(of model: VersionedModel) throws -> [URL] {
    let files = try FileManager.default.contentsOfDirectory(
      at: storesURL, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == Self.storeExtension }
    let byName = Dictionary(
      uniqueKeysWithValues: files.map { ($0.deletingPathExtension().lastPathComponent, $0) })
    let names = model.versions.map(\.name)
    for name in names where byName[name] == nil {
      throw InputError(
        "the version \(name) has no fixture: \(storesURL.path) has no file “\(name).quire”")
    }
    return names.compactMap { byName[$0] }
      + byName.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
  }
}
