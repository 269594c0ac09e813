extension MigrationPlan {
  /// A link that a migration drops although both its objects are kept.
  public struct DroppedLink: Sendable, Hashable, Codable {
    /// Why the new model cannot have the link.
    public enum Reason: String, Sendable, Codable {
      /// An end of the link can have only one, and has another: the first one, by the keys of the
      /// objects, is kept.
      case exclusive
      /// The relationship or its inverse no longer allows the destination.
      case unsuitable
      /// Two relationships become each other's inverse, and only the one that is not read had the
      /// link.
      case oneSided
    }

    /// The largest number of links that a plan lists for each relationship.
    public static let limit = 100

    /// The entity of the object that had the link, in the new model.
    public let entityName: String
    /// The object's key in the store, the number in its URI.
    public let key: Int64
    /// The relationship, in the new model.
    public let relationshipName: String
    /// The destination of the link.
    public let destinationEntityName: String
    /// That object's key in the store.
    public let destinationKey: Int64
    /// Why the link goes.
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
  // The keys that `quire migrate --json` prints and documents. Never change them.
  private enum CodingKeys: String, CodingKey {
    case entityName = "entity"
    case key
    case relationshipName = "relationship"
    case destinationEntityName = "destination"
    case destinationKey, reason
  }
}
