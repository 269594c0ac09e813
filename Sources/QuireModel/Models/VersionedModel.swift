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

    /// Why a version cannot be loaded, in words for people.
    package struct Cause: Error {
      package let reason: String
      package init(_ reason: String) { self.reason = reason }
    }

    /// - Parameter reason: in words for people.
    public init(_ name: String, reason: String) {
      self.name = name
      self.reason = reason
    }
  }

  /// A readable name, such as the file name of the model without its extension.
  public let name: String
  /// The version that stores are migrated to.
  public let currentVersion: Version
  /// Whether the versions were given names; `false` for a model that has no history.
  public let hasNamedVersions: Bool
  private let history: VersionHistory
  private var givenUnreadableVersions: [UnreadableVersion]?

  /// The versions in the order they were given, which should be the order of their history.
  ///
  /// A model that was made of a document loads each version when it is asked for the first time:
  /// this asks for all of them.
  public var versions: [Version] { history.names.indices.compactMap(history.version(at:)) }

  /// Versions whose models could not be loaded: stores that they wrote are not recognized, and the
  /// errors about such stores name them.
  ///
  /// A model that was made of a document tries to load all its versions to find out.
  public var unreadableVersions: [UnreadableVersion] {
    get {
      givenUnreadableVersions
        ?? history.names.indices.compactMap(history.unreadableVersion(at:))
    }
    set { givenUnreadableVersions = newValue }
  }

  /// - Parameter current: the name of the current version; the last one when `nil`.
  /// - Returns: `nil` when there is no version, two versions share a name, or none is called
  ///   `current`.
  public init?(name: String = "Model", versions: [Version], current: String? = nil) {
    guard Set(versions.map(\.name)).count == versions.count,
      let version = current == nil ? versions.last : versions.first(where: { $0.name == current })
    else { return nil }
    self.name = name
    self.currentVersion = version
    history = VersionHistory(versions)
    hasNamedVersions = true
  }

  /// A model that has had one version so far.
  public init(_ model: ManagedObjectModel, name: String = "Model") {
    self.name = name
    currentVersion = Version(name, model)
    history = VersionHistory([currentVersion])
    hasNamedVersions = false
  }

  /// A model whose versions are loaded when they are asked for.
  ///
  /// - Parameters:
  ///   - names: of all versions, in their order, the current one's among them; no two are equal.
  ///   - load: the model of a version, or why there is none. Called once for each version at most,
  ///     on any thread.
  package init(
    name: String, versionNames names: [String], current: Version,
    load: @escaping @Sendable (String) -> Result<ManagedObjectModel, UnreadableVersion.Cause>
  ) {
    precondition(names.contains(current.name) && Set(names).count == names.count)
    self.name = name
    currentVersion = current
    hasNamedVersions = true
    history = VersionHistory(names) { name in
      if name == current.name { return .version(current) }
      return switch load(name) {
      case .success(let model): .version(Version(name, model))
      case .failure(let cause): .unreadable(UnreadableVersion(name, reason: cause.reason))
      }
    }
  }

  private init(_ other: VersionedModel, current: Version, _ history: VersionHistory) {
    name = other.name
    currentVersion = current
    hasNamedVersions = other.hasNamedVersions
    self.history = history
    givenUnreadableVersions = other.givenUnreadableVersions
  }

  /// The model of the current version.
  public var current: ManagedObjectModel { currentVersion.model }

  /// The version of that name; `nil` when there is none.
  public func version(named name: String) -> Version? {
    history.index(of: name).flatMap(history.version(at:))
  }

  /// Whether one version comes before another in the history; `false` where one of them has no
  /// name in it.
  package func isVersion(named name: String, before other: String) -> Bool {
    guard let one = history.index(of: name), let other = history.index(of: other) else {
      return false
    }
    return one < other
  }

  /// The versions from one to another, both included.
  package func versions(from name: String, through other: String) -> [Version] {
    guard let one = history.index(of: name), let other = history.index(of: other), one <= other
    else { return [] }
    return (one...other).compactMap(history.version(at:))
  }

  /// The same versions, with another one as the current version.
  public func endingAt(_ name: String) -> VersionedModel? {
    version(named: name).map { VersionedModel(self, current: $0, history) }
  }

  /// The versions of which `body` makes a model, the current one as it is given.
  package func mapping(
    current: ManagedObjectModel,
    _ body: @escaping @Sendable (ManagedObjectModel) -> ManagedObjectModel?
  ) -> VersionedModel {
    let (history, current) = (history, Version(currentVersion.name, current))
    let mapped = VersionHistory(history.names) { name in
      if name == current.name { return .version(current) }
      guard let index = history.index(of: name), let version = history.version(at: index),
        let model = body(version.model)
      else { return .absent }
      return .version(Version(name, model))
    }
    return VersionedModel(self, current: current, mapped)
  }

  /// The version whose entities are exactly those with these hashes.
  ///
  /// Two versions may be equal in everything that is stored; then the later one is found.
  public func version(matching hashes: [String: VersionHash]) -> Version? {
    version(matching: hashes, probably: nil)
  }

  /// The same. The version of a name is tried first, so that no others need be loaded.
  package func version(
    matching hashes: [String: VersionHash], probably name: String?
  ) -> Version? {
    func matches(_ version: Version) -> Bool { version.model.entityVersionHashesByName == hashes }
    if let version = name.flatMap(version(named:)), matches(version) { return version }
    return history.names.indices.reversed().lazy.compactMap(self.history.version(at:))
      .first(where: matches)
  }

  /// A sentence for an error about a store that no version fits; empty when all could be loaded.
  package var remarkOnUnreadableVersions: String {
    guard let first = unreadableVersions.first else { return "" }
    let names = unreadableVersions.map { "“\($0.name)”" }.joined(separator: ", ")
    let more = unreadableVersions.count > 1 ? ", among others" : ""
    return ". It may be of a version that could not be loaded: \(names) (\(first.reason)\(more))"
  }
}
