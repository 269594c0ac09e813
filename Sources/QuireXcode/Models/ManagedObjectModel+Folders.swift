import Foundation
import QuireModel

extension ManagedObjectModel {
  /// Merges the current versions of all models in some folders into one model.
  ///
  /// Core Data searches bundles; a folder with an application's resources has the same content.
  ///
  /// - Parameter urls: models (`.xcdatamodeld`, `.xcdatamodel`), and folders that have models
  ///   directly in them. Those of a folder are taken in the order of their names.
  /// - Throws: ``XcodeModelError`` when there is no model, one cannot be loaded, or two contradict
  ///   each other.
  public static func mergedModel(from urls: [URL]) throws(XcodeModelError) -> ManagedObjectModel {
    var models: [ManagedObjectModel] = []
    for url in try modelURLs(in: urls) {
      models.append(try XcodeModelHistory(contentsOf: url).versionedModel.current)
    }
    return try merged(urls) { () throws(ModelError) in try ManagedObjectModel(byMerging: models) }
  }

  /// The model of a store with this metadata, of all versions of all models in some folders.
  ///
  /// - Throws: ``XcodeModelError`` as ``mergedModel(from:)`` does, and when no version has one of
  ///   the entities as the store has it.
  public static func mergedModel(
    from urls: [URL], forStoreMetadata metadata: [String: Any]
  ) throws(XcodeModelError) -> ManagedObjectModel {
    var models: [ManagedObjectModel] = []
    for url in try modelURLs(in: urls) {
      models += try XcodeModelHistory(contentsOf: url).versions.map(\.model)
    }
    return try merged(urls) { () throws(ModelError) in
      try ManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
    }
  }

  private static func merged(
    _ urls: [URL], _ merge: () throws(ModelError) -> ManagedObjectModel
  ) throws(XcodeModelError) -> ManagedObjectModel {
    do {
      return try merge()
    } catch {
      throw XcodeModelError(
        file: urls.map(\.path).joined(separator: ", "), reason: .inconsistent(error))
    }
  }

  private static func modelURLs(in urls: [URL]) throws(XcodeModelError) -> [URL] {
    var result: [URL] = []
    for url in urls {
      if isModel(url.lastPathComponent) {
        result.append(url)
        continue
      }
      do {
        result += try FileManager.default.contentsOfDirectory(atPath: url.path)
          .filter(isModel).sorted().map { url.appendingPathComponent($0) }
      } catch {
        throw XcodeModelError(file: url.path, reason: .unreadable(FileProblem.words(for: error)))
      }
    }
    if result.isEmpty {
      throw XcodeModelError(
        file: urls.map(\.path).joined(separator: ", "),
        reason: .notAModel("there is no .xcdatamodeld and no .xcdatamodel"))
    }
    return result
  }

  private static func isModel(_ name: String) -> Bool {
    name.hasSuffix(".xcdatamodeld") || name.hasSuffix(".xcdatamodel")
  }
}
