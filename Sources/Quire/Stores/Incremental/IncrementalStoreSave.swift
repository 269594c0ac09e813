import QuireModel

/// What one save changes in a store of another make: all of it, or nothing.
///
/// Each fact comes once where one row has it, in both rows where both have it. A one-to-many
/// relationship without an order is the to-one relationships of its members, and nothing else.
public struct IncrementalStoreSave: Sendable {
  /// Changes of a to-many relationship that is more than the other side's to-one.
  public struct MemberChange: Hashable, Sendable {
    public let added: [IncrementalStoreKey]
    public let removed: [IncrementalStoreKey]
    /// In an ordered relationship all members, as they are now.
    public let order: [IncrementalStoreKey]?

    /// What becomes of the members that a store has; what is there already is not added again.
    public func applied(to members: [IncrementalStoreKey]) -> [IncrementalStoreKey] {
      if let order { return order }
      let (gone, present) = (Set(removed), Set(members))
      return members.filter { !gone.contains($0) } + added.filter { !present.contains($0) }
    }
  }

  public struct Insertion: Hashable, Sendable {
    public let node: IncrementalStoreNode
    /// By the names of the relationships.
    public let members: [String: MemberChange]
  }

  public struct Update: Hashable, Sendable {
    /// All that the row holds from now on, with its new version.
    public let node: IncrementalStoreNode
    /// The version that was changed.
    public let formerVersion: UInt32
    /// The names of the properties that are others than before.
    public let changedProperties: Set<String>
    public let members: [String: MemberChange]
  }

  /// A row, and the version that it must have.
  public struct Expectation: Hashable, Sendable {
    public let key: IncrementalStoreKey
    /// `nil` when it must be there, in whatever version.
    public let version: UInt32?
  }

  public internal(set) var inserted: [Insertion] = []
  public internal(set) var updated: [Update] = []
  /// Rows that are removed.
  public internal(set) var deleted: [Expectation] = []
  /// Rows that stay as they are, and that the save rests on.
  public internal(set) var unchanged: [Expectation] = []
  /// The user's metadata, all of them: strings, 64-bit integers, doubles, booleans, dates, data,
  /// arrays and dictionaries; `nil` where they stay as they are.
  public internal(set) var metadata: [String: any Sendable]?
  /// ``ManagedObjectContext/transactionAuthor`` of the context.
  public internal(set) var author: String?

  public var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && metadata == nil
  }

  /// The rows that have another version than the save was made on.
  ///
  /// - Parameter version: the version that a row has now; `nil` when there is none.
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
