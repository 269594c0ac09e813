import QuireModel

/// Where a plan finds the rows of which a predicate may be true, without reading all rows.
indirect enum RowSource {
  case index(IndexSearch)
  /// The objects that the predicate names, in order.
  case names([Reference])
  /// The rows that lead to certain objects.
  case inverse(InverseSearch)
  /// Rows that one of the parts finds.
  case union([RowSource])
  /// Rows that all parts find.
  case intersection([RowSource])

  /// Whether each row is named by a key of an index: then it exists, or the store is damaged. A
  /// link may be left of a deleted object.
  var isIndex: Bool {
    switch self {
    case .index: true
    case .names, .inverse: false
    case .union(let parts): parts.allSatisfy(\.isIndex)
    case .intersection(let parts): parts.contains(where: \.isIndex)
    }
  }
}

/// The rows that lead to certain objects by a relationship: the inverse relationship of those
/// objects has them all.
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
