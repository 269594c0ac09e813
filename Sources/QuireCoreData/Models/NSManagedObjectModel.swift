import Foundation
import Quire
import QuireModel
import QuireXcode
import Synchronization

/// A model, which can be changed until a coordinator uses it.
///
/// Xcode's own files are read (`.xcdatamodeld`, `.xcdatamodel`), not the compiled ones, as
/// compiling them needs a Mac. A program has them among its resources (`.copy` in `Package.swift`).
open class NSManagedObjectModel: NSObject {
  /// The earlier versions of a model that was read from a file, with the present one; `nil` when it
  /// was made or changed in code.
  private var versions: VersionedModel?
  private var made: [NSEntityDescription]?
  private var configured: [String: [NSEntityDescription]] = [:]
  private var templates: [String: NSFetchRequest<NSFetchRequestResult>] = [:]
  private var base = ModelDeclaration()
  private var frozen: ManagedObjectModel?

  /// A model without entities.
  public init(fileID: String = #fileID) {
    made = []
    super.init()
    ClassLookup.addModule(of: fileID)
  }

  /// A model of Quire's.
  public init(_ versions: VersionedModel) {
    self.versions = versions
    base = versions.current.declaration
  }

  /// The model in a file of Xcode's; `nil` when it cannot be read.
  ///
  /// - Parameter url: of an `.xcdatamodeld` or `.xcdatamodel`. A `.momd` or `.mom` represents the
  ///   file of that name which it was compiled from, beside it.
  public convenience init?(contentsOf url: URL, fileID: String = #fileID) {
    guard let versions = Self.versions(at: url) else { return nil }
    self.init(versions)
    ClassLookup.addModule(of: fileID)
  }

  /// One model of all entities of several.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    guard let models,
      let merged = try? ManagedObjectModel(byMerging: models.map { try $0.resolved() })
    else { return nil }
    self.init(VersionedModel(merged))
  }

  private static func versions(at url: URL) -> VersionedModel? {
    let name = url.deletingPathExtension()
    let sources =
      switch url.pathExtension {
      case "momd": [name.appendingPathExtension("xcdatamodeld")]
      case "mom": [name.appendingPathExtension("xcdatamodel")]
      default: [url]
      }
    return sources.lazy.compactMap { source in
      source.pathExtension == "xcdatamodel"
        ? (try? ManagedObjectModel(contentsOf: source)).map { VersionedModel($0) }
        : try? VersionedModel(contentsOf: source)
    }.first
  }

  /// One model of all models among the resources of some bundles; `nil` means the program's.
  open class func mergedModel(
    from bundles: [Bundle]?, fileID: String = #fileID
  ) -> NSManagedObjectModel? {
    ClassLookup.addModule(of: fileID)
    let folders = Resources.folders(of: bundles)
    return (try? ManagedObjectModel.mergedModel(from: folders)).map {
      NSManagedObjectModel(VersionedModel($0))
    }
  }

  // MARK: Content

  /// The entities of the model.
  open var entities: [NSEntityDescription] {
    get { descriptions }
    set {
      made = newValue
      versions = nil
      for entity in newValue { entity.managedObjectModel = self }
    }
  }

  private var descriptions: [NSEntityDescription] {
    if let made { return made }
    let declared = versions?.current.declaration.entities ?? []
    let entities = declared.map(NSEntityDescription.init)
    let byName = Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { $1 })
    for (entity, declaration) in zip(entities, declared) {
      entity.managedObjectModel = self
      if let parent = declaration.parent { byName[parent]?.subentities.append(entity) }
    }
    made = entities
    return entities
  }

  /// The entities as far as something may have changed them: none of a model that was read, and of
  /// which no description was asked for.
  var describedEntities: [NSEntityDescription] { made ?? [] }

  /// The entities by name.
  open var entitiesByName: [String: NSEntityDescription] {
    Dictionary(descriptions.map { ($0.name ?? "", $0) }, uniquingKeysWith: { $1 })
  }

  /// Texts that tell versions apart for people.
  open var versionIdentifiers: Set<AnyHashable> {
    get { Set(base.versionIdentifiers.map { AnyHashable($0) }) }
    set { base.versionIdentifiers = newValue.map { "\($0.base)" }.sorted() }
  }

  /// The names of the configurations.
  open var configurations: [String] {
    Set(base.configurations.keys).union(configured.keys).sorted()
  }

  /// The entities of a configuration; all for `nil`.
  open func entities(forConfigurationName name: String?) -> [NSEntityDescription]? {
    guard let name else { return entities }
    return configured[name] ?? base.configurations[name]?.compactMap { entitiesByName[$0] }
  }

  /// Sets the entities of a configuration.
  open func setEntities(
    _ entities: [NSEntityDescription], forConfigurationName configuration: String
  ) {
    _ = descriptions
    versions = nil
    configured[configuration] = entities
  }

  /// Readable names of entities and properties.
  open var localizationDictionary: [String: String]? {
    get { base.localizationDictionary }
    set { base.localizationDictionary = newValue ?? [:] }
  }

  // MARK: Requests

  /// A request that the model keeps; `nil` when there is none of the name.
  open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<NSFetchRequestResult>? {
    templates[name]
      ?? base.fetchRequestTemplates.first { $0.name == name }.map(NSFetchRequest.init(template:))
  }

  /// The requests that the model keeps, by their names.
  open var fetchRequestTemplatesByName: [String: NSFetchRequest<NSFetchRequestResult>] {
    let read = base.fetchRequestTemplates.map {
      ($0.name, NSFetchRequest<NSFetchRequestResult>(template: $0))
    }
    return Dictionary(read, uniquingKeysWith: { $1 }).merging(templates) { $1 }
  }

  /// Keeps a request in the model; `nil` removes the one of the name.
  open func setFetchRequestTemplate(
    _ template: NSFetchRequest<NSFetchRequestResult>?, forName name: String
  ) {
    templates[name] = template
    if template == nil { base.fetchRequestTemplates.removeAll { $0.name == name } }
  }

  /// A request that the model keeps, with values in the place of its variables.
  open func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<NSFetchRequestResult>? {
    guard let request = fetchRequestTemplate(forName: name) else { return nil }
    let copy = request.copied()
    copy.predicate = request.predicate?.withSubstitutionVariables(variables)
    return copy
  }

  // MARK: Versions

  /// The digests of the entities. They are Quire's, with other bytes than Core Data's.
  open var entityVersionHashesByName: [String: Data] {
    raising("NSManagedObjectModel.entityVersionHashesByName") { try resolved() }
      .entityVersionHashesByName.mapValues { Data($0.bytes) }
  }

  /// Whether a store with this metadata has the entities of a configuration as the model has them.
  open func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    raising("NSManagedObjectModel.isConfiguration") { try resolved() }.isConfiguration(
      withName: configuration, compatibleWithStoreMetadata: metadata)
  }

  /// Whether the other object is a model that says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectModel else { return false }
    if self === other { return true }
    guard let mine = try? resolved(), let its = try? other.resolved() else { return false }
    return mine == its && describedEntities.hasConditions(of: other.describedEntities)
  }

  /// Equal models have equal hashes.
  open override var hash: Int {
    (made?.compactMap(\.name) ?? versions?.current.entities.map(\.name) ?? []).sorted().hashValue
  }

  /// Quire's form of the model as it is now.
  ///
  /// - Throws: what is wrong with the model.
  open func resolved() throws -> ManagedObjectModel {
    if let frozen { return frozen }
    guard let made, !isRead else { return try settled().current }
    var declaration = base
    declaration.entities = try made.map { try $0.declared() }
    for (name, entities) in configured {
      declaration.configurations[name] = entities.compactMap(\.name)
    }
    for (name, template) in templates {
      declaration.fetchRequestTemplates.removeAll { $0.name == name }
      declaration.fetchRequestTemplates.append(try template.template(named: name))
    }
    return try ManagedObjectModel(declaration)
  }

  /// Whether the model was read, and none of its descriptions was asked for.
  private var isRead: Bool { versions != nil && made == nil }

  private func settled() throws -> VersionedModel {
    try versions ?? VersionedModel(ManagedObjectModel(base))
  }

  /// The versions of a model that a coordinator uses, which does not change.
  var versionsInUse: [VersionedModel.Version] {
    versions?.versions ?? frozen.map { [VersionedModel.Version("", $0)] } ?? []
  }

  /// The model with its earlier versions, from now on without changes.
  func freeze() throws -> VersionedModel {
    let model = try resolved()
    frozen = model
    ModelsInUse.add(self)
    guard let versions else { return VersionedModel(model) }
    if model == versions.current { return versions }
    return VersionedModel(model)
  }
}

/// The models that coordinators use, for classes that ask for their entities.
enum ModelsInUse {
  private struct Entry: @unchecked Sendable {
    // Sound: a model that is in use does not change.
    weak var model: NSManagedObjectModel?
  }

  private static let models = Mutex<[Entry]>([])

  static func add(_ model: NSManagedObjectModel) {
    // The entry is made outside, as the model is not Sendable.
    let entry = Entry(model: model)
    models.withLock { models in
      models.removeAll { $0.model == nil || $0.model === entry.model }
      models.insert(entry, at: 0)
    }
  }

  /// The versions of all of them.
  static var versions: [VersionedModel.Version] {
    let entries = models.withLock { $0 }
    return entries.compactMap(\.model).reversed().flatMap(\.versionsInUse)
  }

  static func entity(of type: NSManagedObject.Type) -> NSEntityDescription? {
    let names: Set<String> = [String(describing: type), String(reflecting: type)]
    let entries = models.withLock { $0 }
    for model in entries.compactMap(\.model) {
      if let entity = model.entities.first(where: {
        names.contains($0.managedObjectClassName) || $0.name == type.modelEntityName
          || ".\(type)" == $0.managedObjectClassName
      }) {
        return entity
      }
    }
    return nil
  }
}

/// Folders with the resources of programs.
enum Resources {
  /// The folders of some bundles, and those of packages beside the program.
  static func folders(of bundles: [Bundle]?) -> [URL] {
    let roots = (bundles ?? [.main]).map { $0.resourceURL ?? $0.bundleURL }
    return roots.flatMap { root in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
      let inner = names.filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }.sorted()
      return [root] + inner.map { root.appendingPathComponent($0) }
    }
  }

  /// The model of a name; `nil` when there is none.
  static func model(named name: String) -> URL? {
    let folders = folders(of: nil)
    return folders.lazy.flatMap { folder in
      ["xcdatamodeld", "xcdatamodel"].map { folder.appendingPathComponent("\(name).\($0)") }
    }.first { FileManager.default.fileExists(atPath: $0.path) }
  }
}
