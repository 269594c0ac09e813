import QuireModel
import QuireStorage

/// An index that has all rows of one entity by the value of one attribute first: what a request for
/// `attribute == constant` is answered from, without a plan.
final class ExactIndex {
  let entityName: String
  let property: String
  let storage: EntityStorage
  let element: StoredIndex.Element
  /// `nil` when the index has no key.
  let keys: IndexTree?
  let rows: RecordTree

  init(
    _ entityName: String, _ property: String, _ storage: EntityStorage,
    _ element: StoredIndex.Element, _ keys: IndexTree?, _ rows: RecordTree
  ) {
    self.entityName = entityName
    self.property = property
    self.storage = storage
    self.element = element
    self.keys = keys
    self.rows = rows
  }

  /// - Parameter view: of a store that has rows and indexes of its own.
  /// - Returns: `nil` where there is none such, or the entity has heirs.
  static func find(
    _ binding: EntityBinding, _ property: String, in view: StoreView
  ) throws -> ExactIndex? {
    guard !binding.entity.isAbstract, binding.entity.subentityNames.isEmpty,
      let storage = view.entities.byIndex[binding.index], let rows = try view.rows(of: storage)
    else { return nil }
    for index in try view.indexes().indexes(of: storage.stored.number) {
      guard let element = index.stored.elements.first, element.path == [property],
        element.kind != .reference, element.isAscending, index.predicate == nil
      else { continue }
      return ExactIndex(
        binding.entity.name, property, storage, element, try view.indexTree(index.stored), rows)
    }
    return nil
  }

  /// The rows whose keys begin as a value's do, in order; `nil` when they are more than a plan
  /// would look up without a thought.
  func references(_ value: AttributeValue) throws -> [Reference]? {
    guard let bounds = KeyBounds(value, element.kind, after: []), bounds.low == bounds.high else {
      return nil
    }
    guard let keys else { return [] }
    var found: [Reference] = []
    var cursor = keys.cursor()
    defer { withExtendedLifetime(cursor) {} }
    var isInside = try cursor.seek(to: bounds.low)
    while isInside {
      let key = try cursor.key
      guard key.starts(with: bounds.low) else { break }
      if let reference = IndexKey.reference(of: key) {
        // What a plan would do about a key that leads elsewhere is left to it.
        guard reference.entity == storage.stored.number, found.count < ExactIndex.limit else {
          return nil
        }
        found.append(reference)
      }
      isInside = try cursor.next()
    }
    if found.count > 1 { found.sort() }
    return found
  }

  private static let limit = 64
}

/// A request for `attribute == constant`, and nothing else, over saved rows of one store.
///
/// Such a request is answered from an index by a look at its keys and rows. What is not as usual is
/// left to ``FetchExecution``, whose answer is the same.
struct ExactFetch {
  private let predicate: FetchPredicate
  private let index: ExactIndex
  private let session: StoreSession
  private let value: AttributeValue
  private let limit: Int

  /// - Returns: `nil` when the request is another.
  init?<Result: ManagedObject>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext
  ) throws {
    guard case .comparison(let comparison)? = request.predicate, comparison.operator == .equal,
      comparison.modifier == .direct, comparison.options.subtracting(.normalized).isEmpty,
      case .keyPath(let path) = comparison.left, path.count == 1,
      case .constant(.value(let value)?) = comparison.right,
      request.sortDescriptors.isEmpty, request.fetchOffset == 0, request.fetchLimit >= 0,
      request.affectedStores == nil, context.family == nil,
      context.changes.isEmpty || !request.includesPendingChanges
    else { return nil }
    let sessions = context.presentSessions()
    guard sessions.count == 1, let model = context.modelBinding else { return nil }
    session = sessions[0]
    let view = try session.latestView()
    guard view.isPlain,
      let index = try view.exactIndex(request.entityName, path[0], model)
    else { return nil }
    predicate = .comparison(comparison)
    self.index = index
    self.value = value
    limit = request.fetchLimit == 0 ? .max : request.fetchLimit
  }

  /// What came of a look at a row.
  private enum Outcome {
    case noMatch
    case match(RowBytes)
    case unusual
  }

  /// - Returns: `nil` when something is not as usual.
  func objects<Result: ManagedObject>(_ intake: FetchIntake) throws -> [Result]? {
    guard let references = try index.references(value) else { return nil }
    if references.isEmpty { return [] }
    var builder = RowFilterBuilder(storage: index.storage)
    guard builder.append(predicate), builder.tests.count == 1, let test = builder.tests.first
    else { return nil }
    var rows: [(reference: Reference, row: RowBytes)] = []
    for reference in references where rows.count < limit {
      switch try builder.constants.withUnsafeBytes({ try look(at: reference, test, $0) }) {
      case .noMatch: continue
      case .match(let row): rows.append((reference, row))
      case .unusual: return nil
      }
    }
    // From here on objects are told that their rows come.
    var objects: [Result] = []
    objects.reserveCapacity(rows.count)
    for (reference, row) in rows {
      let object = try intake.take(try session.object(at: reference), row)
      // The intake has seen to the class.
      objects.append(unsafeDowncast(object, to: Result.self))
    }
    return objects
  }

  private func look(
    at reference: Reference, _ test: RowTest, _ constants: UnsafeRawBufferPointer
  ) throws -> Outcome {
    let shape = index.storage.shape
    let outcome = try index.rows.withKeepableValue(for: reference.key) { row, owner -> Outcome in
      guard let start = row.baseAddress, shape.isRight(start, row.count) else { return .unusual }
      // A constant without bytes is looked at by nobody.
      guard test.holds(in: start, constants.baseAddress ?? start) else { return .noMatch }
      return .match(
        RowBytes(start: start, byteCount: row.count, owner: owner.takeUnretainedValue()))
    }
    // An index that leads to no row: the plan says what is wrong.
    return outcome ?? .unusual
  }
}
