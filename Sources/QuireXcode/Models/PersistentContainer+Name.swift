import Foundation
import Quire
import QuireModel

extension PersistentContainer {
  /// A container whose model is found by its name, as Core Data finds it in the main bundle: a
  /// folder `.xcdatamodeld` or `.xcdatamodel` of that name.
  ///
  /// - Parameters:
  ///   - name: of the model, and of the store.
  ///   - folders: where to look, in this order, in each also one folder deeper where that is one of
  ///     resources. `nil` looks beside the program, where Swift's package manager puts the
  ///     resources of targets (`Package_Target.resources`).
  ///   - classes: the classes of the model's objects.
  /// - Throws: ``PersistenceError/Code/migrationMissingSourceModel`` (134130) when there is no such
  ///   model, naming the folders; ``XcodeModelError`` when it cannot be read.
  public convenience init(
    name: String, in folders: [URL]? = nil, classes: [ManagedObject.Type] = []
  ) throws {
    let folders = folders ?? [Bundle.main.bundleURL]
    let searchedFolders = folders.flatMap { [$0] + Self.resourceFolders(in: $0) }
    let model = searchedFolders.lazy.flatMap { folder in
      ["xcdatamodeld", "xcdatamodel"].map {
        folder.appendingPathComponent(name).appendingPathExtension($0)
      }
    }.first { $0.isExistingFolder == true }
    guard let model else {
      throw PersistenceError(
        .migrationMissingSourceModel,
        "there is no model \(name).xcdatamodeld or \(name).xcdatamodel in "
          + searchedFolders.map(\.path).joined(separator: ", ")
          + ": add it to the target's resources with .copy, or name its folder")
    }
    self.init(name: name, versionedModel: try VersionedModel(contentsOf: model), classes: classes)
  }

  private static func resourceFolders(in folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }.sorted()
      .map { folder.appendingPathComponent($0) }
  }
}
