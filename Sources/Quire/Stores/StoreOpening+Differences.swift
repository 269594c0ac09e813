import QuireModel

// In what a store differs from the model that it was to be opened with.
extension StoreOpening {
  func nearestVersion(_ hashes: [String: VersionHash]) -> String {
    func distance(_ version: VersionedModel.Version) -> Int {
      StoreOpening.differingEntities(hashes, version.model).count
    }
    guard let nearest = model.versions.min(by: { distance($0) < distance($1) }) else {
      return "none"
    }
    return "\(nearest.name) (\(StoreOpening.differences(hashes, nearest.model)))"
  }

  private static func differingEntities(
    _ hashes: [String: VersionHash], _ model: ManagedObjectModel
  ) -> [String] {
    let ours = model.entityVersionHashesByName
    return Set(hashes.keys).union(ours.keys).filter { hashes[$0] != ours[$0] }.sorted()
  }

  static func differences(_ hashes: [String: VersionHash], _ model: ManagedObjectModel) -> String {
    let ours = model.entityVersionHashesByName
    let names = differingEntities(hashes, model)
    let texts = names.prefix(5).map { name in
      hashes[name] == nil
        ? "\(name) is missing in the store"
        : ours[name] == nil ? "\(name) is not in the model" : "\(name) differs"
    }
    return texts.joined(separator: ", ")
      + (names.count > 5 ? " and \(names.count - 5) entities more" : "")
  }
}
