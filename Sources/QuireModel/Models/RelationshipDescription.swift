/// The effect on the destinations of a relationship when the object that has them is deleted.
///
/// Raw values are Core Data's and are written into stores.
public enum DeleteRule: Int, Sendable, CaseIterable {
  /// Nothing: the destinations keep pointing at an object that is gone.
  case noAction = 0
  /// The inverse of each destination is cleared.
  case nullify = 1
  /// The destinations are deleted too.
  case cascade = 2
  /// The deletion fails at save while a destination remains.
  case deny = 3
}

// What code asks of a rule: a new one has to answer each.
extension DeleteRule {
  /// Whether the destinations are deleted with the object.
  package var deletesDestinations: Bool {
    switch self {
    case .cascade: true
    case .noAction, .nullify, .deny: false
    }
  }

  /// Whether a destination that is left refuses the deletion.
  package var deniesDeletion: Bool {
    switch self {
    case .deny: true
    case .noAction, .nullify, .cascade: false
    }
  }

  /// Whether the other ends stay as they are, and refer to an object that is gone.
  package var leavesOtherEnds: Bool {
    switch self {
    case .noAction: true
    case .nullify, .cascade, .deny: false
    }
  }
}

/// A relationship of an entity to another, or to itself.
///
/// ## Example
///
/// Setting one side of `artist` and `artworks`, which are each other's inverse, sets the other. The
/// delete rule of `artworks` is cascade, so that the works go with their artist:
///
/// ```swift
/// let hokusai = Artist(context: context)
/// hokusai.name = "Katsushika Hokusai"
/// let wave = Artwork(context: context)
/// wave.artist = hokusai
/// print(hokusai.artworks.count)
/// try context.save()
///
/// context.delete(hokusai)
/// try context.save()
/// print(try context.count(for: FetchRequest<Artwork>()))
/// ```
///
/// prints
///
/// ```
/// 1
/// 0
/// ```
public struct RelationshipDescription: Hashable, Sendable {
  /// The name, unique among the properties of the entity and its ancestors.
  public var name: String
  /// The name of the destination entity; its subentities are destinations too.
  public var destination: String
  /// The name of the relationship of the destination that refers back, if there is one.
  public var inverse: String?
  /// What happens to the destinations when the object is deleted.
  public var deleteRule = DeleteRule.nullify
  /// The smallest number of destinations; ``isOptional`` says when it counts.
  public var minCount = 0
  /// The largest number of destinations; 0 is no limit, 1 makes the relationship to-one.
  public var maxCount: Int
  /// Whether the destinations of a to-many relationship have an order.
  public var isOrdered = false
  /// Whether a to-one relationship may be `nil`; a to-many one may be empty in any case, unless its
  /// ``minCount`` is above 0: then this tells whether it may be empty all the same.
  public var isOptional = true
  /// Whether the destinations live in memory only.
  public var isTransient = false
  /// The name this relationship had in an earlier version, when it was renamed.
  public var renamingIdentifier: String?
  /// Changes the version hash without any other change of the model.
  public var versionHashModifier: String?
  /// Whether Core Data gives the destinations to Spotlight. Kept from the model; nothing here
  /// depends on it.
  public var isIndexedBySpotlight = false
  /// Texts of the application's own by its own keys, no part of the version hash.
  public var userInfo: [String: String] = [:]

  /// Whether there may be more than one destination.
  public var isToMany: Bool { maxCount != 1 }

  /// Whether there are numbers of destinations that are not allowed. A required to-many
  /// relationship may be empty, as in Core Data, unless its smallest count says otherwise.
  package var limitsCount: Bool { isToMany ? minCount > 0 || maxCount > 0 : !isOptional }

  /// A to-one relationship.
  ///
  /// - Parameters:
  ///   - inverse: needed on one of the two sides only.
  ///   - minCount: 0 or 1. It adds nothing to `optional`, but it counts in the version hash: Xcode
  ///     writes 1 into some models.
  ///   - renamingIdentifier: the name in an earlier version of the model.
  ///   - versionHashModifier: any text; another text makes another version of the relationship.
  public init(
    _ name: String, toOne destination: String, inverse: String? = nil,
    deleteRule: DeleteRule = .nullify, optional: Bool = true, minCount: Int = 0,
    transient: Bool = false, renamedFrom renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil, userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.deleteRule = deleteRule
    self.isOptional = optional
    self.minCount = minCount
    self.maxCount = 1
    self.isTransient = transient
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
  }

  /// A to-many relationship.
  ///
  /// - Parameter count: how many destinations are legal; the upper bound `Int.max` means no limit.
  public init(
    _ name: String, toMany destination: String, inverse: String? = nil, ordered: Bool = false,
    count: ClosedRange<Int> = 0...Int.max, deleteRule: DeleteRule = .nullify,
    optional: Bool = true, transient: Bool = false,
    renamedFrom renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.deleteRule = deleteRule
    self.isOptional = optional
    self.isOrdered = ordered
    self.minCount = count.lowerBound
    self.maxCount = count.upperBound == Int.max ? 0 : count.upperBound
    self.isTransient = transient
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
  }
}

/// The short name of ``RelationshipDescription`` for models written in code.
public typealias Relationship = RelationshipDescription
