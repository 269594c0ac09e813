// Merging puts models together that were written apart: a framework's and an application's, or all
// versions that were ever shipped, of which a store needs one.

extension ManagedObjectModel {
  /// Merges models into one with the content of all.
  ///
  /// An entity, a fetch request template or an entry of the user info that is in several models
  /// must be the same in all. Configurations of one name are joined, and of two translations the
  /// later is taken.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Reason/contradiction(_:)`` when two models declare
  ///   one entity differently, and with other reasons when the whole is not a model.
  public convenience init(byMerging models: [ManagedObjectModel]) throws(ModelError) {
    var merged = ModelDeclaration()
    for model in models { try merged.merge(model.declaration) }
    try self.init(merged)
  }

  /// A model of just the entities that a store has, each as the store has it.
  ///
  /// Where several models have an entity with the right hash, the last of them is taken.
  /// Configurations, templates and user info come from models that have nothing but such entities;
  /// of two that contradict each other, from the last.
  ///
  /// - Parameter hashes: by the names of entities.
  /// - Throws: ``ModelError`` with ``ModelError/Reason/noSuchVersion`` when no model has an entity
  ///   as the store has it.
  public convenience init(
    byMerging models: [ManagedObjectModel], forVersionHashes hashes: [String: VersionHash]
  ) throws(ModelError) {
    var merged = ModelDeclaration()
    for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
      guard
        let entity = models.last(where: { $0.entity(named: name)?.versionHash == hash })?
          .entity(named: name)
      else {
        throw ModelError(entity: name, reason: .noSuchVersion)
      }
      merged.entities.append(entity.declaration)
    }
    // Versions may differ in what has no part in the hashes: as of entities, the last has its say.
    for model in models.reversed()
    where model.entities.allSatisfy({ hashes[$0.name] == $0.versionHash }) {
      var rest = model.declaration
      rest.entities = []
      var more = merged
      if (try? more.merge(rest)) != nil { merged = more }
    }
    try self.init(merged)
  }

  /// A model of just the entities that a store with this metadata has; see
  /// ``init(byMerging:forVersionHashes:)``.
  ///
  /// - Parameter metadata: has hashes under ``StoreModelVersionHashesKey``.
  public convenience init(
    byMerging models: [ManagedObjectModel], forStoreMetadata metadata: [String: Any]
  ) throws(ModelError) {
    guard let hashes = Self.versionHashes(in: metadata) else {
      throw ModelError(entity: "", reason: .noVersionHashes(key: StoreModelVersionHashesKey))
    }
    try self.init(byMerging: models, forVersionHashes: hashes)
  }
}

extension ModelDeclaration {
  /// Adds what another declaration has more.
  mutating func merge(_ other: ModelDeclaration) throws(ModelError) {
    let known = Dictionary(entities.indices.map { (entities[$0].name, $0) }) { first, _ in first }
    for entity in other.entities {
      guard let own = known[entity.name].map({ entities[$0] }) else {
        entities.append(entity)
        continue
      }
      if let what = own.difference(from: entity) {
        throw ModelError(entity: entity.name, reason: .contradiction(what))
      }
    }
    for template in other.fetchRequestTemplates {
      guard let own = fetchRequestTemplates.first(where: { $0.name == template.name }) else {
        fetchRequestTemplates.append(template)
        continue
      }
      if own != template {
        throw ModelError(
          entity: "",
          reason: .contradiction(
            "the \(ModelError.Place.template(template.name)) asks for different objects"))
      }
    }
    for identifier in other.versionIdentifiers where !versionIdentifiers.contains(identifier) {
      versionIdentifiers.append(identifier)
    }
    for (name, members) in other.configurations {
      let own = Set(configurations[name] ?? [])
      configurations[name, default: []] += members.filter { !own.contains($0) }
    }
    for (key, value) in other.userInfo.sorted(by: { $0.key < $1.key }) {
      if let own = userInfo[key], own != value {
        throw ModelError(
          entity: "", reason: .contradiction("the user info has “\(own)” and “\(value)” for \(key)")
        )
      }
      userInfo[key] = value
    }
    localizationDictionary.merge(other.localizationDictionary) { _, later in later }
  }
}

extension Entity {
  /// The difference between two declarations of one entity, in words; `nil` when there is none. The
  /// order of properties makes no difference.
  func difference(from other: Entity) -> String? {
    if parent != other.parent {
      return "its parent is \(parent ?? "none") and \(other.parent ?? "none")"
    }
    if let name = Self.difference(attributes, other.attributes, \.name) {
      return "its attribute \(name) differs"
    }
    if let name = Self.difference(relationships, other.relationships, \.name) {
      return "its relationship \(name) differs"
    }
    if let name = Self.difference(fetchedProperties, other.fetchedProperties, \.name) {
      return "its fetched property \(name) differs"
    }
    if let name = Self.difference(indexes, other.indexes, \.name) {
      return "its index \(name) differs"
    }
    if Set(uniquenessConstraints) != Set(other.uniquenessConstraints) {
      return "its uniqueness constraints differ"
    }
    // Properties that are the same in another order.
    var same = other
    same.attributes = attributes
    same.relationships = relationships
    same.fetchedProperties = fetchedProperties
    same.indexes = indexes
    same.uniquenessConstraints = uniquenessConstraints
    if self == same { return nil }
    if managedObjectClassName != other.managedObjectClassName {
      return "its class is \(managedObjectClassName ?? "none") and "
        + "\(other.managedObjectClassName ?? "none")"
    }
    return "its flags, identifiers or user info differ"
  }

  /// The first name of which one list has something else than the other, or nothing.
  private static func difference<Part: Hashable>(
    _ left: [Part], _ right: [Part], _ name: KeyPath<Part, String>
  ) -> String? {
    let shared = Set(left).intersection(right)
    return (left + right).filter { !shared.contains($0) }.map { $0[keyPath: name] }.min()
  }
}
