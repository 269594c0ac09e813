import QuireModel
import QuireStorage

/// The versions of the stages, in their order, each with the stage that leads to the next.
struct StageSequence {
  private struct Node {
    let checksum: String
    /// `nil` if the model is not known.
    var model: ManagedObjectModel?
    /// The stage that leads to the next node; `nil` if the next stage begins there.
    var stage: (any MigrationStage)?
  }

  private var nodes: [Node] = []
  private let model: VersionedModel
  private let mappings: [MappingModel]

  /// - Throws: ``PersistenceError/Code/managedObjectModelReferenceNotFound`` if a reference and its
  ///   model do not agree.
  init(
    _ stages: [any MigrationStage], _ model: VersionedModel, _ mappings: [MappingModel]
  ) throws {
    self.model = model
    self.mappings = mappings
    for stage in stages {
      if let stage = stage as? CustomMigrationStage {
        let (current, next) = (try stage.currentModel.model(), try stage.nextModel.model())
        enter(current.versionChecksum.description, current)
        nodes[nodes.count - 1].stage = stage
        nodes.append(Node(checksum: next.versionChecksum.description, model: next))
      } else if let stage = stage as? LightweightMigrationStage {
        for checksum in stage.versionChecksums {
          // A checksum of an earlier release is replaced with that of this release.
          let known = version(checksum)?.model
          enter(known?.versionChecksum.description ?? checksum, known)
          nodes[nodes.count - 1].stage = stage
        }
      }
    }
  }

  /// Appends a version, unless the previous stage has led to it.
  private mutating func enter(_ checksum: String, _ model: ManagedObjectModel?) {
    let known = model ?? version(checksum)?.model
    if nodes.last?.checksum == checksum {
      nodes[nodes.count - 1].model = nodes[nodes.count - 1].model ?? known
    } else {
      nodes.append(Node(checksum: checksum, model: known))
    }
  }

  private func version(_ checksum: String) -> VersionedModel.Version? {
    let current = model.currentVersion
    if current.model.hasChecksum(checksum) { return current }
    return model.versions.last { $0.model.hasChecksum(checksum) }
  }

  // MARK: The path

  /// The steps from a store's version to the current one, which it must not have.
  func path(for snapshot: Snapshot) throws -> MigrationPath {
    let stored = try storedModel(in: snapshot)
    let checksum = stored.versionChecksum.description
    let former = stored.formerVersionChecksum.description
    guard let start = nodes.lastIndex(where: { $0.checksum == checksum || $0.checksum == former })
    else {
      throw PersistenceError(
        .managedObjectModelReferenceNotFound,
        "cannot use staged migration with an unknown model version: no stage names the version of "
          + "the store, \(name(checksum)), which has the checksum \(checksum)")
    }
    let target = model.currentVersion
    var way = Array(nodes[start...])
    if let end = way.firstIndex(where: {
      $0.checksum == target.model.versionChecksum.description
    }) {
      way.removeSubrange((end + 1)...)
    } else {
      guard !nodes.contains(where: { $0.checksum == target.model.versionChecksum.description })
      else {
        throw PersistenceError(
          .stagedMigrationBackwardMigration,
          "the store has the version \(name(checksum)), which the stages reach after "
            + "\(target.name): a staged migration does not lead back")
      }
      way.append(Node(checksum: target.model.versionChecksum.description, model: target.model))
    }
    way[way.count - 1].model = target.model
    way[0].model = way[0].model ?? stored
    return MigrationPath(steps: steps(over: way))
  }

  /// - Throws: ``PersistenceError/Code/stagedMigrationFrameworkVersionMismatch`` if the hashes in
  ///   the store are not those of its model.
  private func storedModel(in snapshot: Snapshot) throws -> ManagedObjectModel {
    let stored = try StoreSchema.model(in: snapshot)
    guard try StoreSchema.isOf(stored, StoreSchema.hashBytes(of: stored), in: snapshot) else {
      throw PersistenceError(
        .stagedMigrationFrameworkVersionMismatch,
        "the version hashes in the store are not those that this release makes of the store's "
          + "model, so its version cannot be found among the stages")
    }
    return stored
  }

  private func steps(over way: [Node]) -> [MigrationPath.Step] {
    var steps: [MigrationPath.Step] = []
    var stage = way[0].stage
    var source = VersionedModel.Version(name(way[0].checksum), way[0].model ?? model.current)
    for node in way.dropFirst() {
      // Versions before a custom stage are never skipped, as its models are known.
      guard let known = node.model else { continue }
      let destination = VersionedModel.Version(name(node.checksum), known)
      let mapping = mappings.first {
        $0.matches(source: source.model, destination: destination.model)
      }
      steps.append(
        MigrationPath.Step(
          source: source, destination: destination, mappingModel: mapping, stage: stage))
      source = destination
      stage = node.stage
    }
    return steps
  }

  private func name(_ checksum: String) -> String {
    version(checksum)?.name ?? String(checksum.prefix(12))
  }
}
