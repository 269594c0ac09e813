import QuireModel

extension CoreDataStore {
  /// Compares the store's tables with those a model would have.
  ///
  /// Compared are the entities listed, the tables and their columns, declared types where Core
  /// Data's choice is certain, and what holds the links of each relationship. Not compared is what
  /// leaves no trace in tables: whether an attribute is optional, its default value, delete rules,
  /// version hash modifiers.
  public func match(_ model: ManagedObjectModel) -> StructuralDistance {
    match(model, in: [model])
  }

  /// - Parameter history: all versions of the model, whose renaming identifiers may lead from an
  ///   entity's former name in the store to its name in the model.
  private func match(
    _ model: ManagedObjectModel, in history: [ManagedObjectModel]
  ) -> StructuralDistance {
    let entities = entities(of: model, in: history)
    let layout = CoreDataLayout(of: model, entities, tables: database.tables)
    let plans = CoreDataLinkPlanner(
      model: model, numbers: entities.numbers, tables: database.tables
    ).plans()
    var comparison = StructureComparison(store: self, entities: entities)
    comparison.compareEntities(with: model)
    for table in layout.tables { comparison.compare(table, plans) }
    comparison.compareLinks(plans)
    comparison.findExtraTables()
    return StructuralDistance(comparison.differences)
  }

  /// The version of a model whose structure is exactly that of the store.
  ///
  /// Several versions may have one structure, if they differ in what leaves no trace in columns. Of
  /// these the one is taken whose fetch indexes are the store's; then one whose identifier the
  /// store names; then the current version, or else the latest.
  ///
  /// - Throws: ``CoreDataStoreError/Reason/noVersionFits(nearest:_:)`` with the nearest version.
  public func version(
    in model: VersionedModel
  ) throws(CoreDataStoreError) -> VersionedModel.Version {
    try ranking(in: model)[0]
  }

  /// The version of this name, if it has the structure of the store.
  public func version(
    named name: String, in model: VersionedModel
  ) throws(CoreDataStoreError) -> VersionedModel.Version {
    guard let version = model.version(named: name) else {
      throw CoreDataStoreError(
        file: url.path, reason: .noSuchVersion(name, versions: model.versions.map(\.name)))
    }
    let distance = match(version.model, in: model.versions.map(\.model))
    guard distance.isZero else {
      throw CoreDataStoreError(file: url.path, reason: .versionDoesNotFit(name, distance))
    }
    return version
  }

  /// All versions with the structure of the store, the likeliest first.
  func ranking(
    in model: VersionedModel
  ) throws(CoreDataStoreError) -> [VersionedModel.Version] {
    let history = model.versions.map(\.model)
    let distances = model.versions.map { ($0, match($0.model, in: history)) }
    let fitting = distances.filter { $0.1.isZero }.map(\.0)
    guard !fitting.isEmpty else {
      // Of equally near versions the later is chosen: the store is likelier to be of a version that
      // came after it.
      let nearest = distances.reversed().min { $0.1.count < $1.1.count } ?? distances[0]
      var error = CoreDataStoreError(
        file: url.path, reason: .noVersionFits(nearest: nearest.0.name, nearest.1))
      error.remark = model.remarkOnUnreadableVersions
      throw error
    }
    func rank(_ version: VersionedModel.Version, _ position: Int) -> [Int] {
      let identifiers = Set(version.model.versionIdentifiers)
      return [
        indexDifferenceCount(version.model, entities(of: version.model, in: history)),
        identifiers.isDisjoint(with: metadata.versionIdentifiers) ? 1 : 0,
        version.name == model.currentVersion.name ? 0 : 1, -position,
      ]
    }
    return fitting.enumerated().map { (rank($1, $0), $1) }
      .sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
  }

  /// The number of fetch indexes that only the store or only the model has.
  ///
  /// An index is named `Z_`, entity, `_` and its own name. The indexes that Core Data makes for
  /// single attributes and for uniqueness have such names as well; those are not counted.
  private func indexDifferenceCount(
    _ model: ManagedObjectModel, _ entities: CoreDataEntityTable
  ) -> Int {
    // The indexes of a renamed entity may have either name.
    let names = Set(
      entities.formerNames.flatMap { name, formerName in
        let prefix = "Z_\(formerName)_"
        return database.indexNames.filter { $0.hasPrefix(prefix) }
          .map { "Z_\(name)_" + $0.dropFirst(prefix.count) }
      }
    ).union(database.indexNames)
    var expected: Set<String> = []
    var others: Set<String> = []
    for entity in model.entities {
      let prefix = "Z_\(entity.name)_"
      expected.formUnion(entity.declaration.indexes.map { prefix + $0.name })
      others.formUnion((entity.attributes.map(\.name)).map { prefix + $0 })
      others.formUnion(names.filter { $0.hasPrefix(prefix + "UNIQUE_") })
    }
    let found = names.filter { name in
      model.entities.contains { name.hasPrefix("Z_\($0.name)_") }
    }
    return expected.symmetricDifference(found.subtracting(others.subtracting(expected))).count
  }
}

/// The comparison of a store with a model, difference by difference.
private struct StructureComparison {
  let store: CoreDataStore
  let entities: CoreDataEntityTable
  private(set) var differences: [StructuralDistance.Difference] = []
  private var claimedTables: Set<String> = []

  init(store: CoreDataStore, entities: CoreDataEntityTable) {
    self.store = store
    self.entities = entities
  }

  mutating func compareEntities(with model: ManagedObjectModel) {
    let names = Set(entities.numbers.keys)
    let expected = Set(model.entities.map(\.name))
    differences += expected.subtracting(names).sorted().map { .missingEntity($0) }
    differences += names.subtracting(expected).sorted().map { .extraEntity($0) }
  }

  mutating func compare(_ layout: CoreDataLayout.Table, _ plans: [CoreDataLinkPlan]) {
    claimedTables.insert(layout.name)
    guard let table = store.database.table(named: layout.name) else {
      differences.append(.missingTable(layout.name, columnCount: layout.columns.count))
      return
    }
    var claimed: Set<Int> = []
    for column in layout.columns {
      guard let index = column.index(in: table) else {
        differences.append(.missingColumn(table: layout.name, column: column.names[0]))
        continue
      }
      claimed.insert(index)
      let declared = table.definition.columns[index].type.sqlName
      if let type = column.type, !declared.isEmpty, declared != type {
        differences.append(
          .columnType(
            table: layout.name, column: table.columnNames[index], declared: declared,
            expected: type))
      }
    }
    for plan in plans {
      if case .columnOfDestination(let name) = plan.storage,
        layout.family.contains(where: { $0.name == plan.source.relationship.destination }),
        let index = table.column(named: name)
      {
        claimed.insert(index)
      }
    }
    for (index, name) in table.columnNames.enumerated()
    where !claimed.contains(index) && Self.isOfProperty(name.sqlName) {
      differences.append(.extraColumn(table: layout.name, column: name))
    }
  }

  mutating func compareLinks(_ plans: [CoreDataLinkPlan]) {
    for plan in plans {
      switch plan.storage {
      case .joinTable(let table, _): claimedTables.insert(table.name.sqlName)
      case .missing: differences.append(.missingLinks(relationship: plan.source.name))
      case .columns, .columnOfDestination: break
      }
    }
  }

  mutating func findExtraTables() {
    for (name, table) in store.database.tables.sorted(by: { $0.key < $1.key })
    where !claimedTables.contains(name) && name.hasPrefix("Z") {
      if !name.hasPrefix("Z_") {
        let columns = table.columnNames.filter { Self.isOfProperty($0.sqlName) }
        differences.append(.extraTable(name, columnCount: columns.count))
      } else if name.dropFirst(2).first?.isNumber == true {
        differences.append(.extraJoinTable(name))
      }
    }
  }

  /// Whether a column holds a property: not what Core Data keeps about a row (`Z_PK`), an order
  /// (`Z_FOK_PARENT`) or the entity of a destination (`Z7_COVER`).
  private static func isOfProperty(_ column: String) -> Bool {
    guard column.hasPrefix("Z"), !column.hasPrefix("Z_") else { return false }
    let rest = column.dropFirst().drop { $0.isNumber }
    return !(rest.count < column.count - 1 && rest.first == "_")
  }
}

extension CoreDataLayout.Column {
  func index(in table: SQLiteTable) -> Int? {
    names.lazy.compactMap { table.column(named: $0) }.first
  }
}
