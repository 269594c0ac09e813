import QuireModel

// Descriptions of the difference between a store and the model with which it is opened.
extension StoreOpening {
  func nearestVersion(_ hashes: [String: VersionHash]) -> String {
    func distance(_ version: VersionedModel.Version) -> Int {
      VersionDifferences.entities(hashes, version.model).count
    }
    guard let nearest = model.versions.min(by: { distance($0) < distance($1) }) else {
      return "none"
    }
    return "\(nearest.name) (\(VersionDifferences.text(hashes, nearest.model)))"
  }

  /// A hint for a store with all entities of a version, and others that no version has: it was
  /// probably written with merged models. Empty for any other store.
  func mergingHint(_ hashes: [String: VersionHash]) -> String {
    let strangers = hashes.keys.filter { name in
      fullModel.versions.allSatisfy { $0.model.entity(named: name) == nil }
    }.sorted()
    let hasAll = fullModel.versions.contains { version in
      version.model.entities.allSatisfy { hashes[$0.name] != nil }
    }
    guard hasAll, !strangers.isEmpty else { return "" }
    let rest = strangers.count > 5 ? " and \(strangers.count - 5) more" : ""
    return
      ". The store also has the entities \(strangers.prefix(5).joined(separator: ", "))\(rest), "
      + "of which the model knows nothing: if it was written with several models merged, open it "
      + "with all of them, as ManagedObjectModel(byMerging:) makes one of them"
  }

  /// Checks that a model that is taken for the store's says nothing new of names, which opening the
  /// store would leave undone.
  ///
  /// - Throws: ``PersistenceError/Code/migration``, with what to write.
  func checkRenamings(since stored: ManagedObjectModel) throws {
    let renamings = model.current.unseenRenamings(since: stored)
    guard let first = renamings.first else { return }
    let statements = renamings.map { "\($0.name) was \($0.formerName)" }
    var error = PersistenceError(
      .migration,
      "the model says that \(statements.joined(separator: " and that ")), but the store has both "
        + "names, and is in nothing else of another version: opened as it is, every value would be "
        + "under the other name. Write versionHashModifier: \"2\" beside one of these renamings (Hash "
        + "Modifier in Xcode), so that the versions differ and the values are moved, or take the "
        + "renamings away")
    error.entityName = first.entityName
    error.key = first.propertyName
    throw error
  }
}
