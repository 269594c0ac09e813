import QuireModel

/// The part of a model for a store of one of its configurations: the entities of the configuration,
/// with their ancestors.
///
/// It is a complete model, with which the store is created, compared and migrated as if there were
/// no other entities.
struct ModelSubset {
  let name: String
  let model: ManagedObjectModel
  /// The entities of the configuration, of which the store has objects.
  let entityNames: Set<String>

  /// - Parameter name: `nil` for all entities.
  /// - Returns: `nil` if the configuration has all entities.
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` (134070) if the model has no such
  ///   configuration, or if a relationship leads out of it.
  init?(_ name: String?, of model: ManagedObjectModel) throws(PersistenceError) {
    guard let name, name != DefaultConfigurationName || model.configurations[name] != nil else {
      return nil
    }
    guard let entities = model.entities(forConfigurationName: name) else {
      let names = model.configurations.keys.sorted()
      throw PersistenceError(
        .persistentStoreOperation,
        "the model has no configuration \(name); "
          + (names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"))
    }
    self.name = name
    entityNames = Set(entities.map(\.name))
    var members: Set<String> = []
    for entity in entities {
      var level: EntityDescription? = entity
      while let member = level {
        members.insert(member.name)
        level = member.parent
      }
    }
    var declaration = model.declaration
    declaration.entities = declaration.entities.filter { members.contains($0.name) }
    for entity in declaration.entities {
      for relationship in entity.relationships where !members.contains(relationship.destination) {
        var error = PersistenceError(
          .persistentStoreOperation,
          "the configuration \(name) cannot be a store's: \(entity.name).\(relationship.name) refers "
            + "to \(relationship.destination), which it does not have. A fetched property, or an "
            + "attribute with the URI of the other object, can refer to another store")
        error.entityName = entity.name
        error.key = relationship.name
        throw error
      }
    }
    // Templates may be of any entity of the whole model.
    declaration.fetchRequestTemplates = []
    declaration.configurations = [name: entities.map(\.name)]
    do {
      // Unchecked, as fetched properties may have destinations in other stores.
      self.model = try ManagedObjectModel(unchecked: declaration)
    } catch {
      throw PersistenceError(
        .persistentStoreOperation, "the configuration \(name) cannot be a store's",
        underlying: error)
    }
  }

  /// The versions of a model that have the configuration, each with the configuration's entities.
  func history(of versions: VersionedModel) -> VersionedModel {
    guard versions.hasNamedVersions else { return VersionedModel(model, name: versions.name) }
    let name = name
    return versions.mapping(current: model) { version in
      guard version.configurations[name] != nil else { return nil }
      return (try? ModelSubset(name, of: version))?.model
    }
  }

  /// The hashes of a store for a configuration; `nil` if the model has no such configuration.
  static func hashes(_ name: String?, of model: ManagedObjectModel) -> [String: VersionHash]? {
    guard let name else { return model.entityVersionHashesByName }
    guard model.configurations[name] != nil else { return nil }
    return (try? ModelSubset(name, of: model))?.model.entityVersionHashesByName
  }
}
