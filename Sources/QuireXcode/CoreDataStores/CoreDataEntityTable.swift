import QuireModel

/// The table `Z_PRIMARYKEY`: the number of each entity, and the highest key given to an object.
struct CoreDataEntityTable {
  /// Core Data numbers what it adds for history and CloudKit from here.
  static let firstNumberOfCoreDataItself: Int64 = 16000

  private(set) var numbers: [String: Int64] = [:]
  private(set) var names: [Int64: String] = [:]
  /// Not reliable: real stores have 0 and -1 where there are rows.
  private(set) var maximumKeys: [String: Int64] = [:]
  /// The names that the table has for entities which are called otherwise here.
  private(set) var formerNames: [String: String] = [:]

  init(of database: SQLiteDatabase) throws(CoreDataStoreError) {
    func fail(_ words: String) -> CoreDataStoreError {
      CoreDataStoreError(file: database.path, reason: .notACoreDataStore(words))
    }
    guard let table = database.table(named: "Z_PRIMARYKEY") else {
      throw fail("it has no table Z_PRIMARYKEY")
    }
    guard let number = table.column(named: "Z_ENT"), let name = table.column(named: "Z_NAME"),
      let maximum = table.column(named: "Z_MAX")
    else { throw fail("its Z_PRIMARYKEY has no columns Z_ENT, Z_NAME and Z_MAX") }
    do {
      var rows = try database.rows(of: table)
      while let row = try rows.next() {
        guard case .integer(let number) = row[number], case .text(let name) = row[name],
          number < Self.firstNumberOfCoreDataItself
        else { continue }
        numbers[name] = number
        names[number] = name
        if case .integer(let maximum) = row[maximum] { maximumKeys[name] = maximum }
      }
    } catch {
      throw CoreDataStoreError(error)
    }
  }

  /// A copy of the table in which entities have the names that a model gives them.
  ///
  /// An entity that Core Data has renamed in place keeps its former name in this table, while the
  /// version hashes in the store's metadata have its new name. So a name without a hash and a hash
  /// without a name may be the same entity. They are, if one is the other's renaming identifier,
  /// directly or by way of other versions of the model, as an entity may have been renamed more
  /// than once; or if they are the only ones left, for every entity of a store has a hash and a
  /// number.
  ///
  /// - Parameters:
  ///   - hashedNames: the names that the store's metadata has version hashes of.
  ///   - history: all versions of the model.
  func renamed(
    as model: ManagedObjectModel, hashedNames: Set<String>, history: [ManagedObjectModel]
  ) -> CoreDataEntityTable {
    guard !hashedNames.isEmpty else { return self }
    var former = Set(numbers.keys).subtracting(hashedNames)
    var new = hashedNames.subtracting(numbers.keys)
    guard !former.isEmpty, !new.isEmpty else { return self }
    var result = self
    func pair(_ name: String, _ formerName: String) {
      result.rename(formerName, to: name)
      former.remove(formerName)
      new.remove(name)
    }
    for name in new.sorted() {
      guard let identifier = model.entity(named: name)?.renamingIdentifier,
        former.contains(identifier)
      else { continue }
      pair(name, identifier)
    }
    let renamings = RenamingChains(of: history + [model])
    for name in new.sorted() {
      let candidates = renamings.names(like: name).intersection(former)
      // If several are possible, none is likelier than the others.
      if candidates.count == 1, let candidate = candidates.first { pair(name, candidate) }
    }
    if new.count == 1, former.count == 1, let name = new.first, let formerName = former.first {
      pair(name, formerName)
    }
    return result
  }

  private mutating func rename(_ formerName: String, to name: String) {
    formerNames[name] = formerName
    if let number = numbers.removeValue(forKey: formerName) {
      numbers[name] = number
      names[number] = name
    }
    maximumKeys[name] = maximumKeys.removeValue(forKey: formerName)
  }
}

/// The names that belong to the same entity, by the renaming identifiers of several versions.
private struct RenamingChains {
  private var neighbors: [String: Set<String>] = [:]

  init(of models: [ManagedObjectModel]) {
    for model in models {
      for entity in model.entities where entity.renamingIdentifier != entity.name {
        neighbors[entity.name, default: []].insert(entity.renamingIdentifier)
        neighbors[entity.renamingIdentifier, default: []].insert(entity.name)
      }
    }
  }

  func names(like name: String) -> Set<String> {
    var found: Set<String> = [name]
    var open = [name]
    while let next = open.popLast() {
      for neighbor in neighbors[next] ?? [] where found.insert(neighbor).inserted {
        open.append(neighbor)
      }
    }
    return found
  }
}
