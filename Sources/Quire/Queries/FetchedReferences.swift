import QuireStorage

/// The references of a fetch's objects in the order of the request: eight bytes each, and the index
/// of the store if there are several.
struct FetchedReferences {
  private(set) var references: [Reference] = []
  /// Empty if all objects are in the first store.
  private var stores: [UInt16] = []

  var count: Int { references.count }

  /// The index of an object's store among those that were searched.
  func store(at index: Int) -> Int { stores.isEmpty ? 0 : Int(stores[index]) }

  /// Removes all references. Those that are returned can be changed without being copied.
  mutating func takeReferences() -> [Reference] {
    defer { self = FetchedReferences() }
    return references
  }

  /// The most references for which room is made by a number that is not verified.
  private static let believedCount = 1 << 20

  /// Makes room for more references, so that they are not copied while they become many.
  mutating func reserve(_ more: Int) {
    references.reserveCapacity(references.count + min(more, FetchedReferences.believedCount))
  }

  mutating func append(_ reference: Reference, store: Int) {
    if store > 0, stores.isEmpty {
      stores = Array(repeating: 0, count: references.count)
    }
    references.append(reference)
    if store > 0 || !stores.isEmpty { stores.append(UInt16(truncatingIfNeeded: store)) }
  }
}

/// Collects the references of matches that come in the order of the request.
private struct ReferenceVisitor: MatchVisitor {
  /// The index of the store that is searched.
  var store = 0
  /// The number of matches still to be skipped.
  private var offset: Int
  /// The largest number of matches.
  private let limit: Int
  private(set) var fetched = FetchedReferences()

  /// - Parameter limit: 0 for all.
  init(offset: Int, limit: Int) {
    self.offset = offset
    self.limit = limit == 0 ? .max : limit
  }

  var readsKeys: Bool { false }
  static var takesKeys: Bool { true }

  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) -> Bool {
    takeKey(at: reference)
  }

  mutating func beginKeys(count: Int) {
    fetched.reserve(min(max(0, count - offset), limit - fetched.count))
  }

  mutating func takeKey(at reference: Reference) -> Bool {
    if offset > 0 {
      offset -= 1
      return true
    }
    fetched.append(reference, store: store)
    return fetched.count < limit
  }
}

extension StoreFetch {
  func takesKeys<Visitor: MatchVisitor>(_ visitor: Visitor) -> Bool { Visitor.takesKeys }

  /// Takes all rows by their keys: pages are read, but no row is decoded.
  func takeKeys(
    of tree: RecordTree, _ number: UInt16, _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    visitor.beginKeys(count: tree.count)
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let reference = Reference(entity: number, key: try cursor.key)
      if isVisible(reference), try !visitor.takeKey(at: reference) { return false }
      isInside = try cursor.next()
    }
    return true
  }
}

extension FetchExecution {
  /// The references of the objects, in the order of the request, with offset and limit applied. No
  /// objects are made; rows are read only for the predicate and the sort keys.
  ///
  /// - Parameter watch: reports the progress of the search, and can end it.
  func references(_ watch: FetchWatch? = nil) throws -> FetchedReferences {
    let first = try parts.first?.plan(capacity: capacity)
    let isInOrder = sortDescriptors.isEmpty || parts.count == 1 && first?.isSorted ?? false
    if isInOrder, !parts.contains(where: \.isPending) {
      var visitor = ReferenceVisitor(offset: offset, limit: limit)
      try visitParts(first) { store, part, plan in
        visitor.store = store
        return try part.visitMatches(&visitor, plan, watch)
      }
      return visitor.fetched
    }
    var list = MatchList(sortDescriptors, capacity: capacity)
    list.keepsRows = false
    try visitParts(first) { store, part, plan in
      list.storeIndex = store
      return try part.visitMatches(&list, plan, watch)
    }
    var fetched = FetchedReferences()
    for match in list.sorted().dropFirst(offset) {
      fetched.append(match.reference, store: match.storeIndex)
    }
    return fetched
  }

  /// - Parameters:
  ///   - first: the plan of the first store.
  ///   - visit: returns whether to continue.
  private func visitParts(
    _ first: FetchPlan?, _ visit: (Int, StoreFetch, FetchPlan) throws -> Bool
  ) throws {
    for (store, part) in parts.enumerated() {
      let plan = store == 0 ? first : nil
      if try !visit(store, part, plan ?? part.plan(capacity: capacity)) { return }
    }
  }
}
