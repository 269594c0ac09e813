import QuireModel
import QuireStorage

/// A fetch of saved rows of one store by a single comparison of a property with a constant.
///
/// It is answered from an index and the few rows that its keys name, without a plan. In any other
/// case the methods return `nil`, and ``FetchExecution`` gives the same answer.
struct ComparisonFetch: ~Copyable {
  private let comparison: FetchPredicate.Comparison
  private let index: ComparisonIndex
  private let session: StoreSession
  private let value: PredicateValue
  private let limit: Int

  /// The number of objects that a request finds, counted by the keys of an index.
  ///
  /// - Returns: `nil` if the request is of another kind, or if the index cannot tell.
  static func count<Result: ManagedObject>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext
  ) throws -> Int? {
    guard case .comparison(let comparison)? = request.predicate, comparison.operator == .equal,
      request.fetchOffset >= 0, isUsual(request, in: context),
      case .constant(let value?) = comparison.right,
      let (_, index) = try index(for: comparison, request.entityName, in: context),
      let count = try index.count(value)
    else { return nil }
    let rest = max(0, count - request.fetchOffset)
    return request.fetchLimit > 0 ? min(rest, request.fetchLimit) : rest
  }

  /// Whether the request asks for unsorted saved rows of all stores.
  private static func isUsual<Result>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext
  ) -> Bool {
    request.sortDescriptors.isEmpty && request.fetchLimit >= 0 && request.affectedStores == nil
      && context.family == nil && (context.changes.isEmpty || !request.includesPendingChanges)
  }

  // A static function, as an initialiser would copy the request.
  /// The objects that a request finds; `nil` if they must be found by a plan.
  static func objects<Result: ManagedObject>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext, _ intake: FetchIntake
  ) throws -> [Result]? {
    guard case .comparison(let comparison)? = request.predicate, request.fetchOffset == 0,
      isUsual(request, in: context),
      let exact = try find(comparison, request.entityName, request.fetchLimit, in: context)
    else { return nil }
    return try exact.objects(intake)
  }

  private static func find(
    _ comparison: FetchPredicate.Comparison, _ entityName: String, _ fetchLimit: Int,
    in context: ManagedObjectContext
  ) throws -> ComparisonFetch? {
    guard case .constant(let value?) = comparison.right,
      let (session, index) = try index(for: comparison, entityName, in: context)
    else { return nil }
    return ComparisonFetch(
      comparison: comparison, index: index, session: session, value: value,
      limit: fetchLimit == 0 ? .max : fetchLimit)
  }

  /// The index by the property on the left of a comparison, if there is one store only.
  private static func index(
    for comparison: FetchPredicate.Comparison, _ entityName: String,
    in context: ManagedObjectContext
  ) throws -> (session: StoreSession, index: ComparisonIndex)? {
    guard comparison.operator.isOfOneRange, comparison.modifier == .direct,
      comparison.options.comparesTextAsItIs,
      case .keyPath(let path) = comparison.left, path.count == 1
    else { return nil }
    let sessions = context.presentSessions()
    guard sessions.count == 1, let model = context.modelBinding else { return nil }
    let session = sessions[0]
    let view = try session.latestView()
    guard view.isPlain, let index = try view.comparisonIndex(entityName, path[0], model) else {
      return nil
    }
    return (session, index)
  }

  /// - Returns: `nil` if the objects must be found by a plan.
  private borrowing func objects<Result: ManagedObject>(
    _ intake: FetchIntake
  ) throws -> [Result]? {
    guard let references = try index.references(comparison.operator, value) else { return nil }
    if references.isEmpty { return [] }
    guard let rows = try rows(at: references) else { return nil }
    // From here on objects receive their rows, so that `nil` is no longer an answer. The intake
    // checks the class of each.
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
    let form = RowTest.Form(comparison.operator)
    // The test that `RowFilterBuilder` would make, without a copy of the text.
    if let form, case .value(.string(var text)) = value, index.element.kind == .string,
      let slot = index.storage.binding.slot(named: index.property)
    {
      return try text.withUTF8 { text in
        var test = RowTest(form: form)
        (test.orders, test.field) = ([.same], index.storage.table.fields[slot])
        test.high = UInt64(text.count)
        return try rows(at: references, test, UnsafeRawBufferPointer(text))
      }
    }
    var builder = RowFilterBuilder(index.storage, of: index.entities)
    guard builder.append(.comparison(comparison)), builder.tests.count == 1,
      let test = builder.tests.first
    else { return nil }
    return try builder.constants.withUnsafeBytes { try rows(at: references, test, $0) }
  }

  /// - Returns: `nil` if a row is missing or has another layout.
  private borrowing func rows(
    at references: [Reference], _ test: RowTest, _ constants: UnsafeRawBufferPointer
  ) throws -> [Found]? {
    let shape = index.storage.shape
    var found: [Found] = []
    found.reserveCapacity(min(references.count, limit))
    for reference in references where found.count < limit {
      var isUsual = false
      let isThere = try index.rows.withKeepableValue(for: reference.key) { row, owner in
        guard let start = row.baseAddress, shape.isRight(start, row.count) else { return }
        isUsual = true
        // A test without constants does not read this pointer.
        guard test.holds(in: start, constants.baseAddress ?? start) else { return }
        let owner = owner.takeUnretainedValue()
        found.append((reference, RowBytes(start: start, byteCount: row.count, owner: owner)))
      }
      // A plan reads rows of other layouts, and reports a key without a row.
      guard isThere, isUsual else { return nil }
    }
    return found
  }
}

extension FetchPredicate.Operator {
  /// Whether all values of which it may be true are adjacent in an index.
  fileprivate var isOfOneRange: Bool {
    switch self {
    case .equal, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .beginsWith: true
    default: false
    }
  }
}

extension RowTest.Form {
  /// The form of a test for text that equals a constant or begins with it.
  fileprivate init?(_ operator: FetchPredicate.Operator) {
    switch `operator` {
    case .equal: self = .text
    case .beginsWith: self = .prefix
    default: return nil
    }
  }
}
