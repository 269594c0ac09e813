import QuireModel

/// In which entities a store and a model differ, by the version hashes of both.
enum VersionDifferences {
  static func entities(
    _ hashes: [String: VersionHash], _ model: ManagedObjectModel
  ) -> [String] {
    let ours = model.entityVersionHashesByName
    return Set(hashes.keys).union(ours.keys).filter { hashes[$0] != ours[$0] }.sorted()
  }

  static func text(_ hashes: [String: VersionHash], _ model: ManagedObjectModel) -> String {
    let ours = model.entityVersionHashesByName
    let names = entities(hashes, model)
    let texts = names.prefix(5).map { name in
      hashes[name] == nil
        ? "\(name) is missing in the store"
        : ours[name] == nil ? "\(name) is not in the model" : "\(name) differs"
    }
    return texts.joined(separator: ", ")
      + (names.count > 5 ? " and \(names.count - 5) entities more" : "")
  }
}
