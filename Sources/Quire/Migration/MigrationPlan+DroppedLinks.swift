extension MigrationPlan {
  /// A link that a migration drops though both its objects stay.
  public struct DroppedLink: Sendable, Hashable, Codable {
    public enum Reason: String, Sendable, Codable {
      /// An end of the link may have one only, and has another: the one that comes first, by the
      /// keys of the objects, stays.
      case exclusive
      /// The relationship, or its inverse, may not lead there any more.
      case unsuitable
      /// Two relationships become each other's inverse, and only the one that is not read had it.
      case oneSided
    }

    /// How many of each relationship a plan lists.
    public static let limit = 100

    /// The entity of the object that the link belonged to, in the new model.
    public let entityName: String
    /// The object's key in the store, the number in its URI.
    public let key: Int64
    /// The relationship, in the new model.
    public let relationshipName: String
    /// The object that the link led to.
    public let destinationEntityName: String
    public let destinationKey: Int64
    public let reason: Reason
  }
}

extension MigrationPlan.DroppedLink: CustomStringConvertible {
  public var description: String {
    let why =
      switch reason {
      case .exclusive: "another leads there"
      case .unsuitable: "it may not lead there"
      case .oneSided: "the other side says otherwise"
      }
    return "\(entityName) \(key) → \(destinationEntityName) \(destinationKey) (\(why))"
  }
}

extension MigrationPlan.DroppedLink {
  // What `quire migrate --json` prints and documents. They stay.
  private enum CodingKeys: String, CodingKey {
    case entityName = "entity"
    case key
    case relationshipName = "relationship"
    case destinationEntityName = "destination"
    case destinationKey, reason
  }
}
