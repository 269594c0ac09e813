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
    var isUsual = true
    try bounds.low.withUnsafeBytes { lower in
      try keys.visitKeys(from: lower) { key in
        guard key.begins(with: lower) else { return false }
        guard let reference = IndexKey.reference(of: key) else { return true }
        // What a plan would do about a key that leads elsewhere is left to it.
        isUsual = reference.entity == storage.stored.number && found.count < ExactIndex.limit
        if isUsual { found.append(reference) }
        return isUsual
      }
    }
    guard isUsual else { return nil }
    if found.count > 1 { found.sort() }
    return found
  }

  private static let limit = 64
}

extension UnsafeRawBufferPointer {
  /// Eight bytes at a time.
  fileprivate func begins(with prefix: UnsafeRawBufferPointer) -> Bool {
    guard count >= prefix.count else { return false }
    var index = 0
    while index + 8 <= prefix.count {
      if loadUnaligned(fromByteOffset: index, as: UInt64.self)
        != prefix.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      {
        return false
      }
      index += 8
    }
    while index < prefix.count {
      if self[index] != prefix[index] { return false }
      index += 1
    }
    return true
  }
}

/// A request for `attribute == constant`, and nothing else, over saved rows of one store.
///
/// Such a request is answered from an index by a look at its keys and rows. What is not as usual is
/// left to ``FetchExecution``, whose answer is the same.
struct ExactFetch: ~Copyable {
  private let predicate: FetchPredicate
  private let index: ExactIndex
  private let session: StoreSession
  private let value: AttributeValue
  private let limit: Int

  // A function, as an initialiser would take a copy of the request.
  /// - Returns: `nil` when the request is another, or something is not as usual.
  static func objects<Result: ManagedObject>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext, _ intake: FetchIntake
  ) throws -> [Result]? {
    guard case .comparison(let comparison)? = request.predicate,
      request.sortDescriptors.isEmpty, request.fetchOffset == 0, request.fetchLimit >= 0,
      request.affectedStores == nil, context.family == nil,
      context.changes.isEmpty || !request.includesPendingChanges,
      let exact = try find(comparison, request.entityName, request.fetchLimit, in: context)
    else { return nil }
    return try exact.objects(intake)
  }

  private static func find(
    _ comparison: FetchPredicate.Comparison, _ entityName: String, _ fetchLimit: Int,
    in context: ManagedObjectContext
  ) throws -> ExactFetch? {
    guard comparison.operator == .equal, comparison.modifier == .direct,
      comparison.options.comparesTextAsItIs,
      case .keyPath(let path) = comparison.left, path.count == 1,
      case .constant(.value(let value)?) = comparison.right
    else { return nil }
    let sessions = context.presentSessions()
    guard sessions.count == 1, let model = context.modelBinding else { return nil }
    let session = sessions[0]
    let view = try session.latestView()
    guard view.isPlain,
      let index = try view.exactIndex(entityName, path[0], model)
    else { return nil }
    return ExactFetch(
      predicate: .comparison(comparison), index: index, session: session, value: value,
      limit: fetchLimit == 0 ? .max : fetchLimit)
  }

  /// - Returns: `nil` when something is not as usual.
  private borrowing func objects<Result: ManagedObject>(
    _ intake: FetchIntake
  ) throws -> [Result]? {
    guard let references = try index.references(value) else { return nil }
    if references.isEmpty { return [] }
    guard let rows = try rows(at: references) else { return nil }
    // From here on objects are told that their rows come. The intake sees to their class.
    if rows.count == 1 {
      let object = try intake.take(try session.object(at: rows[0].reference), rows[0].row)
      return [unsafeDowncast(object, to: Result.self)]
    }
    var objects: [Result] = []
    objects.reserveCapacity(rows.count)
    for (reference, row) in rows {
      let object = try intake.take(try session.object(at: reference), row)
      objects.append(unsafeDowncast(object, to: Result.self))
    }
    return objects
  }

  private typealias Found = (reference: Reference, row: RowBytes)

  private borrowing func rows(at references: [Reference]) throws -> [Found]? {
    // As the builder would make it.
    if case .string(var text) = value, index.element.kind == .string,
      let slot = index.storage.binding.slot(named: index.property)
    {
      return try text.withUTF8 { text in
        var test = RowTest(form: .text)
        (test.orders, test.field) = ([.same], index.storage.table.places[slot])
        test.high = UInt64(text.count)
        return try rows(at: references, test, UnsafeRawBufferPointer(text))
      }
    }
    var builder = RowFilterBuilder(storage: index.storage)
    guard builder.append(predicate), builder.tests.count == 1, let test = builder.tests.first
    else { return nil }
    return try builder.constants.withUnsafeBytes { try rows(at: references, test, $0) }
  }

  /// - Returns: `nil` when a row is not as usual.
  private borrowing func rows(
    at references: [Reference], _ test: RowTest, _ constants: UnsafeRawBufferPointer
  ) throws -> [Found]? {
    let shape = index.storage.shape
    var found: [Found] = []
    for reference in references where found.count < limit {
      var isUsual = false
      let isThere = try index.rows.withKeepableValue(for: reference.key) { row, owner in
        guard let start = row.baseAddress, shape.isRight(start, row.count) else { return }
        isUsual = true
        // A constant without bytes is looked at by nobody.
        guard test.holds(in: start, constants.baseAddress ?? start) else { return }
        let owner = owner.takeUnretainedValue()
        found.append((reference, RowBytes(start: start, byteCount: row.count, owner: owner)))
      }
      // An index that leads to no row: the plan says what is wrong.
      guard isThere, isUsual else { return nil }
    }
    return found
  }
}
