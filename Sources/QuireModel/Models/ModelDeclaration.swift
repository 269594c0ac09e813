/// A model as it is declared: plain data, to be edited and checked again.
///
/// A ``ManagedObjectModel`` never changes. To make one that differs, change its declaration:
///
/// ```swift
/// var declaration = model.declaration
/// declaration.configurations["Cloud"] = ["Artist", "Artwork"]
/// let split = try ManagedObjectModel(declaration)
/// ```
public struct ModelDeclaration: Hashable, Sendable {
  /// The entities, in any order.
  public var entities: [Entity] = []
  /// Readable hints: never part of a comparison.
  public var versionIdentifiers: [String] = []
  /// Names of entity subsets, each with the names of its entities in order.
  public var configurations: [String: [String]] = [:]
  /// The fetch requests that the model keeps.
  public var fetchRequestTemplates: [FetchRequestTemplate] = []
  /// Texts of the application's own by its own keys.
  public var userInfo: [String: String] = [:]
  /// Readable names and texts; ``ManagedObjectModel/localizationDictionary`` lists the keys.
  public var localizationDictionary: [String: String] = [:]

  /// A declaration of nothing, to be filled.
  public init() {}

  /// A declaration of the members between the braces. Nothing is checked before a model is made of
  /// it.
  public init(@ModelBuilder _ members: () -> [any ModelMember]) {
    for member in members() { member.add(to: &self) }
  }
}

/// Anything that can stand between the braces of a ``ManagedObjectModel``.
public protocol ModelMember: Sendable {
  /// Adds the member to the declaration that it stands in.
  func add(to model: inout ModelDeclaration)
}

extension ModelMember {
  /// A copy with changes, for the facts that no initialiser has a parameter for:
  /// `FetchRequestTemplate("cheap", of: "Artwork").with { $0.fetchBatchSize = 20 }`.
  public func with(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}

extension Entity: ModelMember {
  public func add(to model: inout ModelDeclaration) { model.entities.append(self) }
}

extension FetchRequestTemplate: ModelMember {
  public func add(to model: inout ModelDeclaration) { model.fetchRequestTemplates.append(self) }
}

/// A name for some entities of a model, so that a store can hold only those.
///
/// ```swift
/// ModelConfiguration("Cloud", "Artist", "Artwork")
/// ```
public struct ModelConfiguration: ModelMember {
  /// The name of the configuration.
  public var name: String
  /// The names of its entities, in order.
  public var entityNames: [String]

  /// - Parameter entityNames: subentities are no part of a configuration unless they are named.
  public init(_ name: String, _ entityNames: String...) {
    self.name = name
    self.entityNames = entityNames
  }

  /// Adds the entities to the configuration. Two configurations of one name become one with the
  /// entities of both.
  public func add(to model: inout ModelDeclaration) {
    model.configurations[name, default: []] += entityNames
  }
}

/// Collects the members between the braces of a ``ManagedObjectModel``.
@resultBuilder
public enum ModelBuilder {
  public static func buildExpression(_ member: any ModelMember) -> [any ModelMember] { [member] }
  public static func buildExpression(_ members: [any ModelMember]) -> [any ModelMember] { members }
  public static func buildBlock(_ members: [any ModelMember]...) -> [any ModelMember] {
    members.flatMap { $0 }
  }
  public static func buildOptional(_ members: [any ModelMember]?) -> [any ModelMember] {
    members ?? []
  }
  public static func buildEither(first: [any ModelMember]) -> [any ModelMember] { first }
  public static func buildEither(second: [any ModelMember]) -> [any ModelMember] { second }
  public static func buildArray(_ members: [[any ModelMember]]) -> [any ModelMember] {
    members.flatMap { $0 }
  }
}
