import QuireModel

/// Which rows a context looks for in a store of another make.
public struct IncrementalStoreFetch: Sendable {
  /// The concrete entities whose rows are wanted.
  public let entityNames: [String]
  /// What rows have to satisfy; all of them when `nil`. Objects in it are ``ManagedObjectID``s as
  /// ``OpaqueIdentity``.
  public let predicate: FetchPredicate?
  public let sortDescriptors: [FetchSortDescriptor]
  /// How many of the first rows in that order are enough; 0 for all.
  public let limit: Int
}

/// What a store of another make answers to a fetch.
public struct IncrementalStoreAnswer: Sendable {
  /// What of a request a store has taken into account.
  public struct Parts: OptionSet, Sendable {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Only rows that satisfy the predicate are in the answer, by the meaning that predicates have
    /// here: ``FetchPredicate`` says it.
    public static let predicate = Parts(rawValue: 1)
    /// Rows come in the order of the sort descriptors.
    public static let order = Parts(rawValue: 2)
    /// There may be more rows than the limit asked for. Requires the other two, where the request
    /// has a predicate or sort descriptors.
    public static let limit = Parts(rawValue: 4)
  }

  /// A row, with what it holds if the store had that at hand: then nobody asks for it again.
  public enum Row: Hashable, Sendable {
    case key(IncrementalStoreKey)
    case node(IncrementalStoreNode)

    public var key: IncrementalStoreKey {
      switch self {
      case .key(let key): key
      case .node(let node): node.key
      }
    }
  }

  /// Each row once.
  public var rows: [Row]
  public var handled: Parts

  public init(_ rows: [Row], handled: Parts = []) {
    self.rows = rows
    self.handled = handled
  }

  public init(_ keys: [IncrementalStoreKey], handled: Parts = []) {
    self.init(keys.map(Row.key), handled: handled)
  }

  public init(_ nodes: [IncrementalStoreNode], handled: Parts = []) {
    self.init(nodes.map(Row.node), handled: handled)
  }
}
