import QuireModel

/// The changes of one save in an incremental store, to be written completely or not at all.
///
/// A link is given once if one row has it, and in both rows if both have it. An unordered
/// one-to-many relationship consists only of the to-one relationships of its members.
public struct IncrementalStoreSave: Sendable {
  /// Changes of a to-many relationship that is more than the other side's to-one.
  public struct MemberChange: Hashable, Sendable {
    /// The members that the relationship has got.
    public let added: [IncrementalStoreKey]
    /// The members that the relationship has lost.
    public let removed: [IncrementalStoreKey]
    /// All present members of an ordered relationship.
    public let order: [IncrementalStoreKey]?

    /// The new members, given the old ones; a member that is present already is not added again.
    public func applied(to members: [IncrementalStoreKey]) -> [IncrementalStoreKey] {
      if let order { return order }
      let (gone, present) = (Set(removed), Set(members))
      return members.filter { !gone.contains($0) } + added.filter { !present.contains($0) }
    }
  }

  /// A row that is new, and its members of to-many relationships.
  public struct Insertion: Hashable, Sendable {
    /// All that the row holds, with its first version.
    public let node: IncrementalStoreNode
    /// By the names of the relationships.
    public let members: [String: MemberChange]
  }

  /// A row that has changed, and its changed members of to-many relationships.
  public struct Update: Hashable, Sendable {
    /// All new values of the row, with its new version.
    public let node: IncrementalStoreNode
    /// The version on which the changes are based.
    public let formerVersion: UInt32
    /// The names of the properties that have changed.
    public let changedProperties: Set<String>
    /// By the names of the relationships.
    public let members: [String: MemberChange]
  }

  /// A row with the version that it must have.
  public struct Expectation: Hashable, Sendable {
    /// Names the row.
    public let key: IncrementalStoreKey
    /// `nil` if it must exist in any version.
    public let version: UInt32?
  }

  /// The rows that are new.
  public internal(set) var inserted: [Insertion] = []
  /// The rows that have changed.
  public internal(set) var updated: [Update] = []
  /// Rows to remove.
  public internal(set) var deleted: [Expectation] = []
  /// Unchanged rows on which the save depends.
  public internal(set) var unchanged: [Expectation] = []
  /// All of the user's metadata: strings, 64-bit integers, doubles, booleans, dates, data, arrays
  /// and dictionaries; `nil` if they stay as they are.
  public internal(set) var metadata: [String: any Sendable]?
  /// ``ManagedObjectContext/transactionAuthor`` of the context.
  public internal(set) var author: String?

  /// Whether there is nothing to write.
  public var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && metadata == nil
  }

  /// The rows whose version is not the one on which the save is based.
  ///
  /// - Parameter version: returns the present version of a row; `nil` if it does not exist.
  public func conflicts(
    _ version: (IncrementalStoreKey) throws -> UInt32?
  ) rethrows -> [IncrementalStoreKey] {
    var keys: [IncrementalStoreKey] = []
    for insertion in inserted where try version(insertion.node.key) != nil {
      keys.append(insertion.node.key)
    }
    for update in updated where try version(update.node.key) != update.formerVersion {
      keys.append(update.node.key)
    }
    for expectation in deleted + unchanged {
      let found = try version(expectation.key)
      if found == nil || expectation.version != nil && found != expectation.version {
        keys.append(expectation.key)
      }
    }
    return keys
  }
}
