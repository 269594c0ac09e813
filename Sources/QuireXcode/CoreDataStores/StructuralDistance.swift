/// The differences between the tables of a store and those that a model would have.
///
/// Core Data itself compares version hashes, but how these are computed is not published. Tables
/// and columns identify a version nearly as well, and they show what is different.
public struct StructuralDistance: Hashable, Sendable {
  /// One thing that a store and a version of the model do not have in common.
  public enum Difference: Hashable, Sendable {
    /// An entity of the model that the store does not list.
    case missingEntity(String)
    /// An entity of the store that the model does not have.
    case extraEntity(String)
    /// A table of the model, with all its columns, that the store does not have.
    case missingTable(String, columnCount: Int)
    /// A table of the store, with all its columns, that the model does not have.
    case extraTable(String, columnCount: Int)
    /// A column of the model that the store's table does not have.
    case missingColumn(table: String, column: String)
    /// A column of the store's table that the model does not have.
    case extraColumn(table: String, column: String)
    /// A column whose declared type is that of another attribute type.
    case columnType(table: String, column: String, declared: String, expected: String)
    /// The store has neither a join table nor a column for a relationship, as in `Album.artworks`.
    case missingLinks(relationship: String)
    /// A join table that no relationship of the model has.
    case extraJoinTable(String)
  }

  /// Everything that differs; empty when the store fits the version.
  public var differences: [Difference]

  /// - Parameter differences: none for a store that fits.
  public init(_ differences: [Difference] = []) { self.differences = differences }

  /// The number of things that differ; a whole table counts its columns too. Zero is a fit.
  public var count: Int {
    differences.reduce(0) { sum, difference in
      switch difference {
      case .missingTable(_, let columnCount), .extraTable(_, let columnCount):
        sum + 1 + columnCount
      default: sum + 1
      }
    }
  }

  /// Whether the store fits the version.
  public var isZero: Bool { differences.isEmpty }
}

extension StructuralDistance: CustomStringConvertible {
  /// One sentence; beyond ten differences it only counts.
  public var description: String {
    if isZero { return "nothing differs" }
    let shown = differences.prefix(10).map { $0.description }.joined(separator: "; ")
    let rest = differences.count - 10
    return rest > 0 ? "\(shown); and \(rest) more" : shown
  }
}

extension StructuralDistance.Difference: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missingEntity(let name): "the store has no entity \(name)"
    case .extraEntity(let name): "the store has an entity \(name) more"
    case .missingTable(let name, _): "the store has no table \(name)"
    case .extraTable(let name, _): "the store has a table \(name) more"
    case .missingColumn(let table, let column): "the store's \(table) has no column \(column)"
    case .extraColumn(let table, let column): "the store's \(table) has a column \(column) more"
    case .columnType(let table, let column, let declared, let expected):
      "the store's \(table).\(column) is \(declared), not \(expected)"
    case .missingLinks(let relationship): "the store has nothing for the links of \(relationship)"
    case .extraJoinTable(let name): "the store has a join table \(name) more"
    }
  }
}
