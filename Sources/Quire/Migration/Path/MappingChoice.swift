import QuireModel

/// The choice of mapping models for pairs of versions.
struct MappingChoice {
  private struct Pair: Hashable {
    let start: Int
    let end: Int
  }

  /// By the indices of versions on the way; the first mapping model for a pair counts.
  private var mappings: [Pair: MappingModel] = [:]

  /// A choice without mapping models.
  init() {}

  /// - Parameters:
  ///   - versions: all known versions, in their order; asked for if there are mapping models.
  ///   - way: the versions that a store may pass.
  /// - Throws: ``PersistenceError/Code/migrationMissingMappingModel`` if a mapping model may be for
  ///   several pairs of versions, and does not say for which.
  init(
    _ models: [MappingModel], _ versions: @autoclosure () -> [VersionedModel.Version],
    _ way: [VersionedModel.Version]
  ) throws {
    if models.isEmpty { return }
    let versions = versions()
    for model in models {
      var pairs = MappingChoice.pairs(versions).filter {
        model.matches(source: $0.model, destination: $1.model)
      }
      // A migration to an earlier version needs a mapping model that names both versions.
      let isBackward = way.count == 2 && !pairs.contains { $0 == way[0] && $1 == way[1] }
      if isBackward, model.matches(source: way[0].model, destination: way[1].model),
        pairs.isEmpty || model.namesAll(of: way[0].model, way[1].model)
      {
        pairs = [(way[0], way[1])]
      }
      let whole = pairs.filter { model.namesAll(of: $0.model, $1.model) }
      if !whole.isEmpty { pairs = whole }
      guard pairs.count <= 1 || !whole.isEmpty else {
        let names = pairs.map { "\($0.name) → \($1.name)" }.joined(separator: ", ")
        throw PersistenceError(
          .migrationMissingMappingModel,
          "the mapping model of \(model.entityMappings.map(\.name).joined(separator: ", ")) may be for "
            + "\(names): set its sourceVersionChecksum and destinationVersionChecksum")
      }
      for (source, destination) in pairs {
        guard let start = way.firstIndex(of: source), let end = way.firstIndex(of: destination),
          mappings[Pair(start: start, end: end)] == nil
        else { continue }
        mappings[Pair(start: start, end: end)] = model
      }
    }
  }

  private static func pairs(
    _ versions: [VersionedModel.Version]
  ) -> [(VersionedModel.Version, VersionedModel.Version)] {
    versions.indices.flatMap { start in
      versions[(start + 1)...].map { (versions[start], $0) }
    }
  }

  func mapping(_ start: Int, _ end: Int) -> MappingModel? {
    mappings[Pair(start: start, end: end)]
  }

  func hasMapping(within range: ClosedRange<Int>) -> Bool {
    mappings.keys.contains { range.contains($0.start) && range.contains($0.end) }
  }
}

extension MappingModel {
  /// Whether the mapping identifies its models, by checksums or by naming every concrete entity.
  fileprivate func namesAll(of source: ManagedObjectModel, _ destination: ManagedObjectModel)
    -> Bool
  {
    func isNamed(
      _ model: ManagedObjectModel, _ checksum: VersionHash?,
      _ names: (EntityMapping) -> String?, _ hashes: (EntityMapping) -> VersionHash?
    ) -> Bool {
      if checksum != nil { return true }
      let named = entityMappings.filter { hashes($0) != nil }.compactMap(names)
      return Set(model.entities.filter { !$0.isAbstract }.map(\.name)).isSubset(of: named)
    }
    return isNamed(
      source, sourceVersionChecksum, \.sourceEntityName, \.sourceEntityVersionHash)
      && isNamed(
        destination, destinationVersionChecksum, \.destinationEntityName,
        \.destinationEntityVersionHash)
  }
}
