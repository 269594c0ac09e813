import QuireModel

/// A relationship, together with its inverse if it has one, and where a store keeps its links.
///
/// Links are stored once for both sides, or twice in the two columns of a one-to-one relationship:
///
/// - a column of the source's table holds the key of the one destination;
/// - a join table holds the keys of both sides, and `Z_FOK_` columns the order of either;
/// - a column of the destination's table, named with the number of the source's entity, holds the
///   key of the source: for to-many relationships without an inverse.
struct CoreDataLinkPlan {
  /// One side: a relationship as an entity declares it.
  struct Side: Hashable {
    var entity: EntityDescription
    var relationship: RelationshipDescription

    var name: String { "\(entity.name).\(relationship.name)" }
  }

  enum Storage {
    /// Columns of the source's table and, if the inverse is to-one too, of the destination's.
    case columns
    case joinTable(SQLiteTable, JoinColumns)
    /// A column of the destination's table.
    case columnOfDestination(String)
    case missing
  }

  struct JoinColumns {
    /// The columns with the keys of the source and of the destination.
    var source: Int
    var destination: Int
    /// The columns with the order of destinations and with that of sources.
    var destinationOrder: Int?
    var sourceOrder: Int?
  }

  var source: Side
  /// The other side; `nil` for a relationship without an inverse.
  var inverse: Side?
  var storage: Storage

  /// Whether the relationship is its own inverse, as `Person.friends` may be.
  var isReflexive: Bool { source == inverse }
}

/// Finds where a store holds the relationships of a model.
struct CoreDataLinkPlanner {
  private let model: ManagedObjectModel
  private let numbers: [String: Int64]
  private let tables: [String: SQLiteTable]

  init(model: ManagedObjectModel, numbers: [String: Int64], tables: [String: SQLiteTable]) {
    self.model = model
    self.numbers = numbers
    self.tables = tables
  }

  /// One plan for each relationship without an inverse and one for each pair.
  ///
  /// In a pair the to-one side is the source, if there is one.
  func plans() -> [CoreDataLinkPlan] {
    var result: [CoreDataLinkPlan] = []
    var done: Set<String> = []
    for entity in model.entities {
      for relationship in entity.declaration.relationships where !relationship.isTransient {
        let side = CoreDataLinkPlan.Side(entity: entity, relationship: relationship)
        guard done.insert(side.name).inserted else { continue }
        let inverse = inverse(of: side)
        if let inverse { done.insert(inverse.name) }
        if let inverse, relationship.isToMany, !inverse.relationship.isToMany {
          result.append(plan(inverse, side))
        } else {
          result.append(plan(side, inverse))
        }
      }
    }
    return result
  }

  /// The other side, where it refers back: an engine cannot keep a triangle.
  private func inverse(of side: CoreDataLinkPlan.Side) -> CoreDataLinkPlan.Side? {
    guard let name = side.relationship.inverse,
      let declarer = model.entity(named: side.relationship.destination)?
        .declarer(ofRelationship: name),
      let inverse = declarer.declaration.relationships.first(where: { $0.name == name }),
      !inverse.isTransient, inverse.inverse == side.relationship.name
    else { return nil }
    return .init(entity: declarer, relationship: inverse)
  }

  private func plan(
    _ source: CoreDataLinkPlan.Side, _ inverse: CoreDataLinkPlan.Side?
  ) -> CoreDataLinkPlan {
    CoreDataLinkPlan(source: source, inverse: inverse, storage: storage(source, inverse))
  }

  private func storage(
    _ source: CoreDataLinkPlan.Side, _ inverse: CoreDataLinkPlan.Side?
  ) -> CoreDataLinkPlan.Storage {
    if !source.relationship.isToMany { return .columns }
    if inverse == nil, let column = columnOfDestination(source) {
      return .columnOfDestination(column)
    }
    for (side, other) in [(source, inverse), (inverse, source)] {
      guard let side else { continue }
      for number in numbers(of: side.entity) {
        let name = "Z_\(number)\(side.relationship.name.sqlName)"
        guard let table = tables[name] else { continue }
        if let columns = joinColumns(table, source, inverse) { return .joinTable(table, columns) }
      }
      if other == nil { break }
    }
    return .missing
  }

  private func columnOfDestination(_ side: CoreDataLinkPlan.Side) -> String? {
    guard let destination = model.entity(named: side.relationship.destination),
      let table = tables["Z" + destination.root.name.sqlName]
    else { return nil }
    return numbers(of: side.entity).lazy
      .map { "Z\($0)\(side.relationship.name.sqlName)" }.first { table.column(named: $0) != nil }
  }

  /// The number of an entity, then those of its ancestors and descendants: old stores may be
  /// numbered by the root.
  private func numbers(of entity: EntityDescription) -> [Int64] {
    (entity.lineage + model.family(of: entity).dropFirst()).compactMap { numbers[$0.name] }
  }

  private func joinColumns(
    _ table: SQLiteTable, _ source: CoreDataLinkPlan.Side, _ inverse: CoreDataLinkPlan.Side?
  ) -> CoreDataLinkPlan.JoinColumns? {
    let names = table.columnNames.map(\.sqlName)
    let keys = names.indices.filter { !names[$0].hasPrefix("Z_FOK_") }
    guard keys.count == 2 else { return nil }
    // A column is named after the relationship that refers to what it holds, so the column of the
    // destinations has the name of the relationship itself.
    func score(_ sourceColumn: Int, _ destinationColumn: Int) -> Int {
      let ofDestination = match(
        names[destinationColumn], source, heldBy: source.relationship.destination)
      guard let inverse else { return ofDestination }
      if inverse == source {
        return ofDestination + (names[sourceColumn] == "REFLEXIVE" ? 2 : 0)
      }
      return ofDestination + match(names[sourceColumn], inverse, heldBy: source.entity.name)
    }
    let (forward, backward) = (score(keys[0], keys[1]), score(keys[1], keys[0]))
    guard forward != backward else { return nil }
    let (first, second) = forward > backward ? (keys[0], keys[1]) : (keys[1], keys[0])
    return .init(
      source: first, destination: second, destinationOrder: order(of: names[second], in: table),
      sourceOrder: order(of: names[first], in: table))
  }

  /// The degree to which a column's name is that of a relationship's objects: 2 for an exact match,
  /// 1 for one with a number appended, which Core Data adds to distinguish equal names among all
  /// join tables, 0 for no match.
  private func match(
    _ column: String, _ side: CoreDataLinkPlan.Side, heldBy entity: String
  ) -> Int {
    guard let entity = model.entity(named: entity) else { return 0 }
    var best = 0
    for number in numbers(of: entity) {
      let name = "Z_\(number)\(side.relationship.name.sqlName)"
      if column == name { best = 2 }
      if best < 1, column.hasPrefix(name), column.dropFirst(name.count).allSatisfy(\.isNumber) {
        best = 1
      }
    }
    return best
  }

  /// The column with the order of the objects in a column of a join table.
  private func order(of column: String, in table: SQLiteTable) -> Int? {
    guard column.hasPrefix("Z_") else { return nil }
    let name = "Z_FOK_" + column.dropFirst(2)
    var short = name
    while short.last?.isNumber == true { short.removeLast() }
    return table.column(named: name) ?? table.column(named: short)
  }
}
