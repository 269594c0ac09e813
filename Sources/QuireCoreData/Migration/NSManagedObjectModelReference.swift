import Foundation
import Quire
import QuireModel
import QuireXcode

/// A version of a model, with the checksum that it had when it was released.
///
/// Checksums are Quire's, with other digits than Core Data's: `quire models` and
/// ``NSManagedObjectModel/versionChecksum`` say them. A model that is not found is an error of the
/// migration that needs it.
open class NSManagedObjectModelReference: NSObject {
  /// What ``NSManagedObjectModel/versionChecksum`` was when the version was released.
  public let versionChecksum: String
  private let found: NSManagedObjectModel?
  /// What was looked for.
  private let text: String

  private init(_ model: NSManagedObjectModel?, _ text: String, _ versionChecksum: String) {
    found = model
    self.text = text
    self.versionChecksum = versionChecksum
  }

  /// A version that is there.
  public convenience init(model: NSManagedObjectModel, versionChecksum: String) {
    self.init(model, "the given one", versionChecksum)
  }

  /// A version by its name, among the resources of a bundle; `nil` means the program's. The
  /// name is that of an `.xcdatamodel` beside others in an `.xcdatamodeld`, or of one by itself.
  public convenience init(
    name modelName: String, in bundle: Bundle?, versionChecksum: String
  ) {
    let model = Resources.versions(in: bundle.map { [$0] }).first { $0.name == modelName }?.model
    self.init(model.map(NSManagedObjectModel.init), modelName, versionChecksum)
  }

  /// A version in a file.
  ///
  /// - Parameter fileURL: as for ``NSManagedObjectModel/init(contentsOf:fileID:)``.
  public convenience init(fileURL: URL, versionChecksum: String) {
    self.init(NSManagedObjectModel(contentsOf: fileURL), fileURL.path, versionChecksum)
  }

  /// The version with these digests of its entities
  /// (``NSManagedObjectModel/entityVersionHashesByName``), among the resources of a bundle; `nil`
  /// means the program's.
  public convenience init(
    entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?,
    versionChecksum: String
  ) {
    var wanted: [String: Data] = [:]
    for (name, hash) in versionHash { wanted["\(name.base)"] = hash as? Data }
    let model = Resources.versions(in: bundle.map { [$0] }).first {
      $0.model.entityVersionHashesByName.mapValues { Data($0.bytes) } == wanted
    }?.model
    self.init(model.map(NSManagedObjectModel.init), "that of the hashes", versionChecksum)
  }

  /// The model. Without it, the program stops.
  open var resolvedModel: NSManagedObjectModel {
    raising("NSManagedObjectModelReference.resolvedModel") {
      guard let found else { throw absence }
      return found
    }
  }

  private var absence: PersistenceError {
    PersistenceError(
      .managedObjectModelReferenceNotFound,
      "the model of a stage, \(text), is not among the resources of the program: copy it there in "
        + "Package.swift")
  }

  /// Quire's form of the reference.
  func resolved() throws -> ManagedObjectModelReference {
    guard let found else { throw absence }
    return ManagedObjectModelReference(
      model: try found.resolved(), versionChecksum: versionChecksum)
  }
}

extension NSManagedObjectModel {
  /// The model of a single version.
  convenience init(_ model: ManagedObjectModel) { self.init(VersionedModel(model)) }

  /// The checksum of the version, as 64 hexadecimal digits. It is Quire's, with other digits than
  /// Core Data's.
  public var versionChecksum: String {
    raising("NSManagedObjectModel.versionChecksum") { try resolved() }.versionChecksum.description
  }

  /// The checksums of all versions in an `.xcdatamodeld`, by their names.
  public class func checksumsForVersionedModel(at url: URL) throws -> [String: String] {
    try translatingErrors {
      let versions = try VersionedModel(contentsOf: url).versions
      return Dictionary(
        versions.map { ($0.name, $0.model.versionChecksum.description) }, uniquingKeysWith: { $1 })
    }
  }
}

// Models of stores, by what a store says about itself.

extension NSManagedObjectModel {
  /// The version of a store among all versions of the models in some bundles; `nil` means the
  /// program's.
  ///
  /// - Returns: `nil` if the store has none of them.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any], fileID: String = #fileID
  ) -> NSManagedObjectModel? {
    ClassLookup.addModule(of: fileID)
    return Resources.versions(in: bundles).first {
      $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }.map { NSManagedObjectModel($0.model) }
  }

  /// One of some models that a store has, or one of all their entities; `nil` if neither is so.
  public convenience init?(
    byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]
  ) {
    let resolved = models.compactMap { try? $0.resolved() }
    let merged = (try? ManagedObjectModel(byMerging: resolved)).map { [$0] } ?? []
    guard
      let model = (resolved + merged).first(where: {
        $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      })
    else { return nil }
    self.init(model)
  }
}

extension Resources {
  /// All versions of all models in some bundles, and in those of packages beside the program.
  static func versions(in bundles: [Bundle]?) -> [VersionedModel.Version] {
    versions(inFolders: folders(of: bundles))
  }

  /// All versions of all models in some folders.
  static func versions(inFolders folders: [URL]) -> [VersionedModel.Version] {
    folders.flatMap { folder in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      return names.sorted().flatMap { name -> [VersionedModel.Version] in
        let url = folder.appendingPathComponent(name)
        switch url.pathExtension {
        case "xcdatamodeld": return (try? VersionedModel(contentsOf: url))?.versions ?? []
        case "xcdatamodel":
          let model = try? ManagedObjectModel(contentsOf: url)
          let name = url.deletingPathExtension().lastPathComponent
          return model.map { [VersionedModel.Version(name, $0)] } ?? []
        default: return []
        }
      }
    }
  }
}
