#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Core Data's names, so that code ports by search and replace.

/// The name of the configuration that has all entities of a model.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let DefaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

/// The key of a store's metadata for the version hashes of its entities, by their names.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let StoreModelVersionHashesKey = "NSStoreModelVersionHashes"

extension ManagedObjectModel {
  /// The entities of a configuration, in its order.
  ///
  /// - Parameter name: `nil` and ``DefaultConfigurationName`` mean all entities.
  /// - Returns: `nil` when the model has no such configuration.
  public func entities(forConfigurationName name: String?) -> [EntityDescription]? {
    guard let name, name != DefaultConfigurationName || configurations[name] != nil else {
      return entities
    }
    return configurations[name]?.compactMap(entity(named:))
  }

  /// A model whose configuration has these entities; the rest is as it is here.
  ///
  /// - Throws: ``ModelError`` when an entity is not one of the model's.
  public func settingEntities(
    _ entities: [EntityDescription], forConfigurationName name: String
  ) throws(ModelError) -> ManagedObjectModel {
    var declaration = declaration
    declaration.configurations[name] = entities.map(\.name)
    return try ManagedObjectModel(declaration)
  }

  /// A model in which a template has this name; the rest is as it is here.
  ///
  /// - Parameter template: `nil` to have none of the name.
  public func settingFetchRequestTemplate(
    _ template: FetchRequestTemplate?, forName name: String
  ) throws(ModelError) -> ManagedObjectModel {
    var declaration = declaration
    declaration.fetchRequestTemplates.removeAll { $0.name == name }
    if var template {
      template.name = name
      declaration.fetchRequestTemplates.append(template)
    }
    return try ManagedObjectModel(declaration)
  }

  /// Whether a store whose entities have these hashes can be opened with a configuration of this
  /// model without a migration: one that was made with the configuration, or with all entities of
  /// the model.
  ///
  /// - Parameter name: `nil` for all entities. A configuration that the model does not have is
  ///   compatible with nothing.
  public func isConfiguration(
    withName name: String?, compatibleWithVersionHashes hashes: [String: VersionHash]
  ) -> Bool {
    guard let entities = entities(forConfigurationName: name) else { return false }
    let own = Dictionary(entities.map { ($0.name, $0.versionHash) }) { first, _ in first }
    return own == hashes || name != nil && hashes == entityVersionHashesByName
  }

  /// Whether a store with this metadata can be opened with a configuration of this model without a
  /// migration.
  ///
  /// - Parameter metadata: has hashes under ``StoreModelVersionHashesKey``, as `VersionHash` or as
  ///   `Data` of 32 bytes, by the names of entities. Without them nothing is compatible.
  public func isConfiguration(
    withName name: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let hashes = Self.versionHashes(in: metadata) else { return false }
    return isConfiguration(withName: name, compatibleWithVersionHashes: hashes)
  }

  /// - Returns: `nil` when the metadata have none, or something else in their place.
  static func versionHashes(in metadata: [String: Any]) -> [String: VersionHash]? {
    switch metadata[StoreModelVersionHashesKey] {
    case let hashes as [String: VersionHash]: return hashes
    case let bytes as [String: Data]:
      let hashes = bytes.compactMapValues { VersionHash(bytes: Array($0)) }
      return hashes.count == bytes.count ? hashes : nil
    default: return nil
    }
  }
}

// MARK: - Localization

extension ManagedObjectModel {
  /// Readable names and texts, by Core Data's keys: `Entity/Artwork`,
  /// `Property/title/Entity/Artwork`, `Property/title` for properties of any entity, and
  /// `ErrorString/` with a text of an error.
  public var localizationDictionary: [String: String] { declaration.localizationDictionary }

  /// A model with other translations; the rest is as it is here.
  public func settingLocalizationDictionary(
    _ dictionary: [String: String]
  ) throws(ModelError) -> ManagedObjectModel {
    var declaration = declaration
    declaration.localizationDictionary = dictionary
    return try ManagedObjectModel(declaration)
  }

  /// The readable name of an entity; the entity's own name where there is no translation.
  public func localizedName(of entity: EntityDescription) -> String {
    localizationDictionary["Entity/\(entity.name)"] ?? entity.name
  }

  /// The readable name of a property: the one given for the entity or its nearest ancestor that has
  /// one, the one given for any entity, or the property's own name.
  public func localizedName(
    ofPropertyNamed property: String, in entity: EntityDescription
  ) -> String {
    var level: EntityDescription? = entity
    while let owner = level {
      if let name = localizationDictionary["Property/\(property)/Entity/\(owner.name)"] {
        return name
      }
      level = owner.parent
    }
    return localizationDictionary["Property/\(property)"] ?? property
  }
}
