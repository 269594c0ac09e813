/// A model in all the versions it was ever shipped in.
///
/// A store written by any of them can be migrated to the current one, or to a chosen one.
///
/// ## Example
///
/// A store that the first version of a model wrote is opened with the second one, which renames an
/// attribute and adds another:
///
/// ```swift
/// let first = try ManagedObjectModel { Entity("Artwork") { Attribute("name", .string) } }
/// let second = try ManagedObjectModel {
///   Entity("Artwork") {
///     Attribute("title", .string, renamedFrom: "name")
///     Attribute("price", .double, default: 0)
///   }
/// }
/// let old = PersistentContainer(name: "Gallery", managedObjectModel: first)
/// try old.loadPersistentStore(at: url)
/// let context = old.newBackgroundContext()
/// let wave = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
/// try wave.setValue("The Great Wave", forKey: "name")
/// try context.save()
/// try old.close()
///
/// guard
///   let model = VersionedModel(
///     versions: [.init("Gallery 1", first), .init("Gallery 2", second)])
/// else { return }
/// let new = PersistentContainer(name: "Gallery", versionedModel: model)
/// try new.loadPersistentStore(at: url)
/// let request = FetchRequest<ManagedObject>(entityName: "Artwork")
/// for artwork in try new.newBackgroundContext().fetch(request) {
///   print(try artwork.value(forKey: "title") ?? "", try artwork.value(forKey: "price") ?? "")
/// }
/// try new.close()
/// ```
///
/// prints
///
/// ```
/// The Great Wave 0.0
/// ```
public struct VersionedModel: Sendable {
  /// One version: a model and what it was called.
  public struct Version: Sendable, Hashable {
    /// The name, unique among the versions.
    public var name: String
    /// The model as this version had it.
    public var model: ManagedObjectModel

    /// - Parameter name: unique among the versions, such as `"Gallery 3"`.
    public init(_ name: String, _ model: ManagedObjectModel) {
      self.name = name
      self.model = model
    }
  }

  /// A version that was shipped, but whose model is not available.
  public struct UnreadableVersion: Sendable, Hashable {
    /// The name of the version.
    public var name: String
    /// The reason, in readable words.
    public var reason: String

    /// - Parameter reason: in words for people.
    public init(_ name: String, reason: String) {
      self.name = name
      self.reason = reason
    }
  }

  /// A readable name, such as the file name of the model without its extension.
  public let name: String
  /// The versions in the order they were given, which should be the order of their history.
  public let versions: [Version]
  /// The version that stores are migrated to.
  public let currentVersion: Version
  /// Whether the versions were given names; `false` for a model that has no history.
  public let hasNamedVersions: Bool
  /// Versions whose models could not be loaded: stores that they wrote are not recognized, and the
  /// errors about such stores name them.
  public var unreadableVersions: [UnreadableVersion] = []

  /// - Parameter current: the name of the current version; the last one when `nil`.
  /// - Returns: `nil` when there is no version, two versions share a name, or none is called
  ///   `current`.
  public init?(name: String = "Model", versions: [Version], current: String? = nil) {
    guard Set(versions.map(\.name)).count == versions.count,
      let version = current == nil ? versions.last : versions.first(where: { $0.name == current })
    else { return nil }
    self.name = name
    self.versions = versions
    self.currentVersion = version
    hasNamedVersions = true
  }

  /// A model that has had one version so far.
  public init(_ model: ManagedObjectModel, name: String = "Model") {
    self.name = name
    currentVersion = Version(name, model)
    versions = [currentVersion]
    hasNamedVersions = false
  }

  /// The model of the current version.
  public var current: ManagedObjectModel { currentVersion.model }

  /// The version of that name; `nil` when there is none.
  public func version(named name: String) -> Version? { versions.first { $0.name == name } }

  /// The same versions, with another one as the current version.
  public func endingAt(_ name: String) -> VersionedModel? {
    var model = VersionedModel(name: self.name, versions: versions, current: name)
    model?.unreadableVersions = unreadableVersions
    return model
  }

  /// The version whose entities are exactly those with these hashes.
  ///
  /// Two versions may be equal in everything that is stored; then the later one is found.
  public func version(matching hashes: [String: VersionHash]) -> Version? {
    versions.last { $0.model.entityVersionHashesByName == hashes }
  }

  /// A sentence for an error about a store that no version fits; empty when all could be loaded.
  package var remarkOnUnreadableVersions: String {
    guard let first = unreadableVersions.first else { return "" }
    let names = unreadableVersions.map { "“\($0.name)”" }.joined(separator: ", ")
    let more = unreadableVersions.count > 1 ? ", among others" : ""
    return ". It may be of a version that could not be loaded: \(names) (\(first.reason)\(more))"
  }
}
