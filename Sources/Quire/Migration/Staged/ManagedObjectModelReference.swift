import QuireModel

/// A version of a model, with the checksum that it had when it was released.
///
/// The checksum is written separately from the model on purpose: if a released version is edited, a
/// staged migration reports an error instead of misreading stores.
public struct ManagedObjectModelReference: Sendable {
  /// The model itself.
  public let resolvedModel: ManagedObjectModel
  /// `ManagedObjectModel.versionChecksum` as a string of 64 hexadecimal digits.
  public let versionChecksum: String

  /// - Parameter versionChecksum: what `ManagedObjectModel.versionChecksum` was when the version
  ///   was shipped, as 64 hexadecimal digits. A staged migration compares it with the model's.
  public init(model: ManagedObjectModel, versionChecksum: String) {
    resolvedModel = model
    self.versionChecksum = versionChecksum
  }

  /// - Parameter versionChecksum: what `ManagedObjectModel.versionChecksum` was when the version
  ///   was shipped.
  public init(model: ManagedObjectModel, versionChecksum: VersionHash) {
    self.init(model: model, versionChecksum: versionChecksum.description)
  }

  /// A version by its name; `nil` if the model has none of the name.
  public init?(name: String, in versionedModel: VersionedModel, versionChecksum: String) {
    guard let version = versionedModel.version(named: name) else { return nil }
    self.init(model: version.model, versionChecksum: versionChecksum)
  }

  /// - Throws: ``PersistenceError/Code/managedObjectModelReferenceNotFound`` if the model has
  ///   another checksum.
  func model() throws -> ManagedObjectModel {
    guard resolvedModel.hasChecksum(versionChecksum) else {
      throw PersistenceError(
        .managedObjectModelReferenceNotFound,
        "the model of a stage has the checksum \(resolvedModel.versionChecksum), but its reference "
          + "says \(versionChecksum): the version was edited, or the reference names another one")
    }
    return resolvedModel
  }
}

extension ManagedObjectModel {
  /// Whether a checksum, as a string, is one of this version of the model.
  func hasChecksum(_ text: String) -> Bool {
    VersionHash(hex: text).map(hasVersionChecksum) ?? false
  }
}
