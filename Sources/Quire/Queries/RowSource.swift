import QuireModel

/// A source of the rows that may match a predicate, other than reading all rows.
indirect enum RowSource {
  case index(IndexSearch)
  /// The objects that the predicate names, in order.
  case names([Reference])
  /// The rows with a relationship to certain objects.
  case inverse(InverseSearch)
  /// Rows that one of the parts finds.
  case union([RowSource])
  /// Rows that all parts find.
  case intersection([RowSource])

  /// Whether a key of an index names each row. Such a row exists, or the store is damaged; a link
  /// may be left over from a deleted object.
  var isIndex: Bool {
    switch self {
    case .index: true
    case .names, .inverse: false
    case .union(let parts): parts.allSatisfy(\.isIndex)
    case .intersection(let parts): parts.contains(where: \.isIndex)
    }
  }
}

/// A search for the rows with a relationship to certain objects: the inverse relationship of those
/// objects refers back to all of them.
struct InverseSearch {
  let relationship: RelationshipDescription
  let inverse: String
  let destinations: Destinations

  enum Destinations {
    /// Objects that the predicate names.
    case named([Reference])
    /// Rows of the destination entity, which are found first.
    case found(RowSource, CandidateSearch)
  }
}

extension RowSource: CustomStringConvertible {
  var description: String {
    switch self {
    case .index(let search): "index \(search.index.stored.title)"
    case .names: "named objects"
    case .inverse(let search):
      switch search.destinations {
      case .named: "links of \(search.relationship.name)"
      case .found(let source, _): "links of \(search.relationship.name) from \(source)"
      }
    case .union(let parts): RowSource.list("union", parts)
    case .intersection(let parts): RowSource.list("intersection", parts)
    }
  }

  private static func list(_ word: String, _ parts: [RowSource]) -> String {
    "\(word) of (\(parts.map(\.description).joined(separator: ", ")))"
  }
}
