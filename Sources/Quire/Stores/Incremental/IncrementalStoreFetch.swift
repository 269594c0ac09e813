import QuireModel

/// A context's request for rows of an incremental store.
public struct IncrementalStoreFetch: Sendable {
  /// The concrete entities of the requested rows.
  public let entityNames: [String]
  /// The condition on rows; `nil` for all. Objects in it are ``ManagedObjectID``s as
  /// `OpaqueIdentity`.
  public let predicate: FetchPredicate?
  /// The order that rows should come in; a store that does not order says so in
  /// ``IncrementalStoreAnswer/handled``.
  public let sortDescriptors: [FetchSortDescriptor]
  /// The number of rows that are enough, in the order of the sort descriptors; 0 for all.
  public let limit: Int
}

/// An incremental store's answer to a fetch.
public struct IncrementalStoreAnswer: Sendable {
  /// The parts of a request that a store has applied.
  public struct Parts: OptionSet, Sendable {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The answer has only rows that satisfy the predicate, with the meaning of `FetchPredicate`.
    public static let predicate = Parts(rawValue: 1)
    /// Rows come in the order of the sort descriptors.
    public static let order = Parts(rawValue: 2)
    /// The answer is cut off at the limit. Requires the other two, if the request has a predicate
    /// or sort descriptors.
    public static let limit = Parts(rawValue: 4)
  }

  /// A row by its key, or with its values, which are not read again then.
  public enum Row: Hashable, Sendable {
    /// A row whose values are asked for when they are needed.
    case key(IncrementalStoreKey)
    /// A row with what it holds.
    case node(IncrementalStoreNode)

    /// The key of the row.
    public var key: IncrementalStoreKey {
      switch self {
      case .key(let key): key
      case .node(let node): node.key
      }
    }
  }

  /// Each row once.
  public var rows: [Row]
  /// What of the request the store has done itself; the rest is done here.
  public var handled: Parts

  /// - Parameter handled: what of the request the store has done itself.
  public init(_ rows: [Row], handled: Parts = []) {
    self.rows = rows
    self.handled = handled
  }

  /// Rows without what they hold.
  public init(_ keys: [IncrementalStoreKey], handled: Parts = []) {
    self.init(keys.map(Row.key), handled: handled)
  }

  /// Rows with what they hold.
  public init(_ nodes: [IncrementalStoreNode], handled: Parts = []) {
    self.init(nodes.map(Row.node), handled: handled)
  }
}
