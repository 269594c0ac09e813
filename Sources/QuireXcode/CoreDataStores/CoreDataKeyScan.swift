import QuireModel

/// The first pass over a store: which objects there are, and what their rows say of relationships.
struct CoreDataKeyScan {
  /// A link as a row claims it; whether both ends exist is not yet known.
  struct Claim {
    var source: Int64
    var target: Int64
    /// The position of the target among those of the source, and the other way round.
    var position: Int64?
    var inversePosition: Int64?
  }

  /// A column that holds keys, in the table that is read.
  private struct KeyColumn {
    /// The relationship whose claims these are, and whether the row is its source or its target.
    var name: String
    var isSource: Bool
    var column: Int
    var orderColumn: Int?
    /// Only rows of this entity, or its descendants, mean something by it.
    var entity: EntityDescription
  }

  private let store: CoreDataStore
  private let entities: CoreDataEntityTable
  private let layout: CoreDataLayout
  private let plans: [CoreDataLinkPlan]
  /// By root entity.
  private(set) var keys: [String: CoreDataKeys] = [:]
  private(set) var objectCounts: [String: Int] = [:]
  /// By the name of the relationship, as in `Artwork.artist`.
  private(set) var claims: [String: [Claim]] = [:]
  private(set) var notes: [String] = []

  init(
    store: CoreDataStore, entities: CoreDataEntityTable, layout: CoreDataLayout,
    plans: [CoreDataLinkPlan]
  ) {
    self.store = store
    self.entities = entities
    self.layout = layout
    self.plans = plans
  }

  mutating func run() throws(CoreDataStoreError) {
    for table in layout.tables { try scan(table) }
    for plan in plans {
      if case .joinTable(let table, let columns) = plan.storage {
        try scan(table, columns, of: plan)
      }
    }
  }

  private mutating func scan(
    _ entityTable: CoreDataLayout.Table
  ) throws(CoreDataStoreError) {
    guard let table = store.database.table(named: entityTable.name) else { return }
    let reader = try CoreDataRowReader(
      of: entityTable, table: table, store: store, entities, model: layout.model)
    let columns = keyColumns(of: entityTable, in: table)
    var found = CoreDataKeys()
    var mislabelledCount = 0
    var rows = try store.rows(of: table)
    while let row = try rows.next() {
      let (entity, position) = try reader.entity(of: row)
      if !reader.isHierarchy, !reader.isLabelled(row) { mislabelledCount += 1 }
      found.append(row.rowID, entity: position)
      objectCounts[entity.name, default: 0] += 1
      for column in columns where entity.isKindOf(entity: column.entity) {
        guard let other = Self.key(row[column.column]) else { continue }
        let position = column.orderColumn.flatMap { Self.key(row[$0]) }
        claims[column.name, default: []].append(
          column.isSource
            ? Claim(source: row.rowID, target: other, inversePosition: position)
            : Claim(source: other, target: row.rowID, position: position))
      }
    }
    keys[entityTable.root.name] = found
    if mislabelledCount > 0 {
      notes.append(
        """
        rows of \(table.name) that name another entity: \(mislabelledCount). The table has only \
        \(entityTable.root.name), so that was ignored, as Core Data ignores it
        """)
    }
  }

  private mutating func scan(
    _ table: SQLiteTable, _ columns: CoreDataLinkPlan.JoinColumns, of plan: CoreDataLinkPlan
  ) throws(CoreDataStoreError) {
    var rows = try store.rows(of: table)
    while let row = try rows.next() {
      guard let source = Self.key(row[columns.source]),
        let target = Self.key(row[columns.destination])
      else { continue }
      claims[plan.source.name, default: []].append(
        Claim(
          source: source, target: target,
          position: columns.destinationOrder.flatMap { Self.key(row[$0]) },
          inversePosition: columns.sourceOrder.flatMap { Self.key(row[$0]) }))
    }
  }

  private func keyColumns(
    of entityTable: CoreDataLayout.Table, in table: SQLiteTable
  ) -> [KeyColumn] {
    var result: [KeyColumn] = []
    func add(_ name: String, isSource: Bool, _ column: Int, of entity: EntityDescription) {
      // The order has the name of the column it belongs to, after its Z.
      let order = "Z_FOK_" + table.columnNames[column].dropFirst()
      result.append(
        KeyColumn(
          name: name, isSource: isSource, column: column, orderColumn: table.column(named: order),
          entity: entity))
    }
    let family = Set(entityTable.family.map(\.name))
    for plan in plans {
      switch plan.storage {
      case .columns:
        for side in [plan.source, plan.isReflexive ? nil : plan.inverse].compactMap({ $0 })
        where family.contains(side.entity.name) && !side.relationship.isToMany {
          let property = CoreDataLayout.Property(
            entity: side.entity.name, path: [side.relationship.name])
          let column = entityTable.columns.first { $0.property == property }?.index(in: table)
          if let column { add(side.name, isSource: true, column, of: side.entity) }
        }
      case .columnOfDestination(let name):
        guard let entity = layout.model.entity(named: plan.source.relationship.destination),
          family.contains(entity.name), let column = table.column(named: name)
        else { continue }
        add(plan.source.name, isSource: false, column, of: entity)
      case .joinTable, .missing: continue
      }
    }
    return result
  }

  private static func key(_ value: SQLiteValue) -> Int64? {
    switch value {
    case .integer(let key): key
    case .real(let number): Int64(exactly: number)
    case .null, .text, .blob: nil
    }
  }
}

/// Reads the entity of rows in an entity table.
struct CoreDataRowReader {
  let isHierarchy: Bool
  private let file: String
  private let table: SQLiteTable
  private let entityColumn: Int?
  private let versionColumn: Int?
  private let root: EntityDescription
  private let rootNumber: Int64?
  /// The entities of the hierarchy by their numbers, with their positions among the model's.
  private var entities: [Int64: (EntityDescription, Int)] = [:]
  private var rootPosition = 0

  init(
    of entityTable: CoreDataLayout.Table, table: SQLiteTable, store: CoreDataStore,
    _ entityNumbers: CoreDataEntityTable, model: ManagedObjectModel
  ) throws(CoreDataStoreError) {
    file = store.url.path
    self.table = table
    root = entityTable.root
    isHierarchy = entityTable.family.count > 1
    entityColumn = table.column(named: "Z_ENT")
    versionColumn = table.column(named: "Z_OPT")
    rootNumber = entityNumbers.numbers[entityTable.root.name]
    guard let key = table.definition.rowIDColumn, key == table.column(named: "Z_PK") else {
      throw CoreDataStoreError(
        file: file, reason: .notACoreDataStore("its \(table.name) has no primary key Z_PK"))
    }
    for (position, entity) in model.entities.enumerated() {
      if entity.name == root.name { rootPosition = position }
      guard entityTable.family.contains(where: { $0.name == entity.name }),
        let number = entityNumbers.numbers[entity.name]
      else { continue }
      entities[number] = (entity, position)
    }
  }

  /// The entity of a row, with its position among the model's entities.
  ///
  /// Without subentities there is only one, and the entity number in the row is ignored: Core Data
  /// ignores it too, and real stores have wrong numbers there.
  func entity(of row: SQLiteRow) throws(CoreDataStoreError) -> (EntityDescription, Int) {
    guard isHierarchy else { return (root, rootPosition) }
    let number = number(of: row)
    guard let number, let (entity, position) = entities[number] else {
      throw wrongEntity(row, number, "which is no entity of the hierarchy of \(root.name)")
    }
    guard !entity.isAbstract else {
      throw wrongEntity(row, number, "\(entity.name), which is abstract")
    }
    return (entity, position)
  }

  /// Whether the row names the entity that its table is of.
  func isLabelled(_ row: SQLiteRow) -> Bool { rootNumber == nil || number(of: row) == rootNumber }

  func version(of row: SQLiteRow) -> Int64 {
    if let versionColumn, case .integer(let version) = row[versionColumn] { version } else { 0 }
  }

  private func number(of row: SQLiteRow) -> Int64? {
    if let entityColumn, case .integer(let number) = row[entityColumn] { number } else { nil }
  }

  private func wrongEntity(_ row: SQLiteRow, _ number: Int64?, _ words: String)
    -> CoreDataStoreError
  {
    CoreDataStoreError(
      file: file,
      reason: .wrongEntity(table: table.name, row: row.rowID, number: number, words))
  }
}
