import Foundation
import Quire
import QuireModel

/// A mapping model as Xcode saves it, an `.xcmappingmodel` folder, or compiles it, a `.cdm` file.
///
/// Xcode's document omits what is usual: an attribute without an expression gets the value of the
/// source's attribute of that name, and a relationship gets the objects made from those that the
/// source's relationship refers to. So the document is read together with the two models, as Xcode
/// does when it compiles. A compiled mapping model is a keyed archive and has all expressions.
///
/// ```swift
/// let loaded = try XcodeMappingModel(
///   contentsOf: url, sourceModel: old, destinationModel: new,
///   migrationPolicies: [PostPolicy.self])
/// try MigrationManager(sourceModel: old, destinationModel: new)
///   .migrateStore(from: store, mapping: loaded.mappingModel, to: store)
/// ```
///
/// ## Policies
///
/// A document names the classes of its policies. They are looked up among those that are given
/// here, by `EntityMigrationPolicy.policyName`, with or without the module in the document. A
/// missing one is an error only when the mapping is carried out, so that a document can be
/// inspected without the application's classes.
///
/// ## Hashes
///
/// Each mapping gets the version hashes of the two models' entities. Those in a compiled mapping
/// model are Apple's, and how they are computed is not published: they are not compared with
/// anything, and can be read in ``sourceVersionHashes``.
public struct XcodeMappingModel: Sendable {
  /// The name of the file or folder, without the extension.
  public let name: String
  /// The mapping itself, with entities by their names.
  public let mappingModel: MappingModel
  /// The path of the source model in the project when Xcode saved the mapping; `nil` when compiled.
  public let sourceModelPath: String?
  /// The path of the destination model, in the same way.
  public let destinationModelPath: String?
  /// Apple's hashes of source entities, as ``CoreDataMetadata/versionHashes`` has them; empty
  /// unless compiled.
  public let sourceVersionHashes: [String: Data]
  /// Apple's hashes of destination entities; empty unless compiled.
  public let destinationVersionHashes: [String: Data]
  /// Remarks on content that was not understood, or that was changed in reading.
  public let notes: [XcodeModelNote]

  /// Loads an `.xcmappingmodel` folder, the `xcmapping.xml` in one, or a `.cdm` file.
  ///
  /// - Throws: an error that names the location when the file is malformed, or maps something that
  ///   the models do not have.
  public init(
    contentsOf url: URL, sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel,
    migrationPolicies: [EntityMigrationPolicy.Type] = []
  ) throws(XcodeMappingError) {
    let file = try XcodeMappingFile(contentsOf: url)
    try self.init(file, sourceModel, destinationModel, migrationPolicies)
  }

  init(
    _ file: XcodeMappingFile, _ source: ManagedObjectModel, _ destination: ManagedObjectModel,
    _ policies: [EntityMigrationPolicy.Type]
  ) throws(XcodeMappingError) {
    let checker = MappingModelCheck(file: file.path, source: source, destination: destination)
    name = file.name
    switch file.content {
    case .document(let document):
      var reader = XcodeMappingReader(document, source: source, destination: destination)
      let mappings = try checker.checked(try reader.read())
      mappingModel = MappingModel(entityMappings: mappings, migrationPolicies: policies)
      sourceModelPath = document.sourceModelPath
      destinationModelPath = document.destinationModelPath
      (sourceVersionHashes, destinationVersionHashes) = ([:], [:])
      notes = reader.notes.sorted { $0.line < $1.line }
    case .archive(let archive):
      let mappings = try checker.checked(archive.entityMappings)
      mappingModel = MappingModel(entityMappings: mappings, migrationPolicies: policies)
      (sourceModelPath, destinationModelPath) = (nil, nil)
      sourceVersionHashes = archive.sourceHashes
      destinationVersionHashes = archive.destinationHashes
      notes = archive.notes
    }
  }
}

extension MappingModel {
  /// Loads an `.xcmappingmodel` folder, the `xcmapping.xml` in one, or a compiled `.cdm` file.
  ///
  /// ``XcodeMappingModel`` does the same and reports what it did not understand.
  ///
  /// - Parameter migrationPolicies: the classes that the document may name.
  public init(
    contentsOf url: URL, sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel,
    migrationPolicies: [EntityMigrationPolicy.Type] = []
  ) throws(XcodeMappingError) {
    self =
      try XcodeMappingModel(
        contentsOf: url, sourceModel: sourceModel, destinationModel: destinationModel,
        migrationPolicies: migrationPolicies
      ).mappingModel
  }

  /// Searches folders, and the folders in them, for the mapping model between two models.
  ///
  /// Core Data compares hashes. Here a document of Xcode's fits when the copies of the two models
  /// in it have the entities, attributes and relationships of these models; any other, when all
  /// that it maps is there. Of several that fit, the first in the order of paths is taken.
  ///
  /// - Complexity: of each document of Xcode's between other models, the copies of these are read
  ///   and nothing else.
  /// - Returns: `nil` when none fits.
  /// - Throws: when none fits, and one cannot be read, so that it might have been the one.
  public init?(
    from folders: [URL], forSourceModel sourceModel: ManagedObjectModel?,
    destinationModel: ManagedObjectModel?, migrationPolicies: [EntityMigrationPolicy.Type] = []
  ) throws(XcodeMappingError) {
    guard let sourceModel, let destinationModel else { return nil }
    let source = XcodeModelOutline(sourceModel)
    let destination = XcodeModelOutline(destinationModel)
    var failure: XcodeMappingError?
    for url in MappingModel.candidates(in: folders) {
      do throws(XcodeMappingError) {
        let file = try XcodeMappingFile(contentsOf: url, unlessNotFrom: source, to: destination)
        guard let file, file.outlines.fit(source, destination) else { continue }
        self =
          try XcodeMappingModel(file, sourceModel, destinationModel, migrationPolicies).mappingModel
        return
      } catch {
        if case .otherModels = error.reason { continue }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return nil
  }

  private static func candidates(in folders: [URL]) -> [URL] {
    var found: [URL] = []
    for folder in folders {
      let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
      var inFolder: [URL] = []
      while let url = files?.nextObject() as? URL {
        guard ["xcmappingmodel", "cdm"].contains(url.pathExtension) else { continue }
        inFolder.append(url)
      }
      found += inFolder.sorted { $0.path < $1.path }
    }
    return found
  }
}
