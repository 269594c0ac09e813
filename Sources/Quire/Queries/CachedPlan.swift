import QuireModel
import QuireStorage

/// A plan that was made for one request and serves all of its shape: the index that narrows the
/// search most, and which of the request's constants its keys are searched by.
///
/// It finds saved rows of one entity in one store. The keys in the range of the constants name the
/// rows, if these are few, and the whole predicate is tested on the bytes of each. In any other
/// case its methods return `nil`, and ``FetchExecution``, which knows all plans and reports all
/// errors, gives the same answer.
final class CachedPlan {
  /// An element of the index that an equality fixes to a value, or the last one, in which
  /// comparisons by order are a range. Plain, as a look-up walks through them.
  private struct Step {
    let kind: FieldKind
    let isAscending: Bool
    /// The part of the shape that is the equality; `nil` where there is a range.
    let equality: Int?
  }

  let shape: RequestShape
  private let storage: EntityStorage
  private let entities: StoreEntities
  private let rows: RecordTree
  /// `nil` when the index has no key.
  private let keys: IndexTree?
  private let steps: [Step]
  /// The parts of the shape that are the range of the last step; empty where it is an equality.
  private let rangeParts: [Int]
  /// The types of the parts' attributes; `nil` for a relationship.
  private let types: [AttributeType?]
  private let isOneEquality: Bool
  /// The test of a predicate that compares one text, but for the text.
  private let textTest: RowTest?
  /// Whether the keys of the index, if they are exact, are those of all rows that match, and of no
  /// others.
  private let countsKeys: Bool

  /// The entity of the last constant that was an object, and its number in the store.
  private var lastDestination: (name: String, number: UInt16)?

  /// The largest number of keys. More are left to a plan that compares its costs with others.
  private static let limit = 64

  /// - Parameter view: a view of a store with rows and indexes of its own.
  /// - Returns: `nil` if the entity has subentities, or no index by which to find its rows.
  init?(_ shape: RequestShape, _ binding: EntityBinding, in view: StoreView) throws {
    guard !binding.entity.isAbstract, binding.entity.subentityNames.isEmpty,
      let storage = view.entities.byIndex[binding.index], let rows = try view.rows(of: storage)
    else { return nil }
    var types: [AttributeType?] = []
    for part in shape.parts {
      guard let slot = binding.slot(named: part.name), storage.fieldBySlot[slot] >= 0 else {
        return nil
      }
      let trait = binding.traits[slot]
      guard part.isOfObject == (trait.attributeType == nil) else { return nil }
      types.append(trait.attributeType)
    }
    var best: (index: EntityIndex, found: Steps)?
    for index in try view.indexes().indexes(of: storage.stored.number) where index.predicate == nil
    {
      let found = Self.steps(index, shape, binding)
      if found.rank > best?.found.rank ?? 0 { best = (index, found) }
    }
    guard let (index, found) = best else { return nil }
    self.shape = shape
    self.storage = storage
    self.rows = rows
    steps = found.steps
    rangeParts = found.rangeParts
    self.types = types
    isOneEquality = shape.parts.count == 1 && shape.parts[0].operator == .equal
    textTest = Self.textTest(shape, types, storage)
    entities = view.entities
    keys = try view.indexTree(index.stored)
    countsKeys =
      index.stored.entities == [storage.stored.number]
      && found.partCount == shape.parts.count
  }

  private struct Steps {
    var steps: [Step] = []
    var rangeParts: [Int] = []

    /// The number of comparisons that narrow the search.
    var partCount: Int { steps.count { $0.equality != nil } + rangeParts.count }
    /// A number by which indexes are compared: the one that narrows more has the higher rank.
    var rank: Int { steps.count { $0.equality != nil } * 4 + min(rangeParts.count, 2) }
  }

  /// The elements of an index, from the first, that the comparisons of a shape narrow.
  private static func steps(
    _ index: EntityIndex, _ shape: RequestShape, _ binding: EntityBinding
  ) -> Steps {
    var found = Steps()
    for element in index.stored.elements {
      let parts = shape.parts.indices.filter { element.path == [shape.parts[$0].name] }
      let slot = binding.slot(named: element.path[0])
      // A key may hold a dangling reference.
      let canDangle = slot.map { binding.traits[$0].canDangle } ?? true
      if parts.isEmpty || element.kind == .reference && canDangle { break }
      func step(_ equality: Int?) -> Step {
        Step(kind: element.kind, isAscending: element.isAscending, equality: equality)
      }
      if parts.count == 1, shape.parts[parts[0]].operator == .equal {
        found.steps.append(step(parts[0]))
        continue
      }
      if parts.allSatisfy({ shape.parts[$0].operator.isRange }) {
        found.steps.append(step(nil))
        found.rangeParts = parts
      }
      break
    }
    return found
  }

  private static func textTest(
    _ shape: RequestShape, _ types: [AttributeType?], _ storage: EntityStorage
  ) -> RowTest? {
    guard shape.parts.count == 1, types[0] == .string,
      let slot = storage.binding.slot(named: shape.parts[0].name)
    else { return nil }
    let form: RowTest.Form
    switch shape.parts[0].operator {
    case .equal: form = .text
    case .beginsWith: form = .prefix
    default: return nil
    }
    return RowTest(form: form, orders: [.same], field: storage.table.fields[slot])
  }

  // MARK: Rows

  /// The objects of the rows that match a predicate of the plan's shape, in order.
  ///
  /// - Parameters:
  ///   - descriptors: the order; none for that of the references.
  ///   - limit: 0 for all.
  func objects<Result: ManagedObject>(
    _ predicate: FetchPredicate, sortedBy descriptors: [FetchSortDescriptor], limit: Int,
    _ session: StoreSession, _ intake: FetchIntake
  ) throws -> [Result]? {
    guard hasRightTypes(predicate), let range = range(of: predicate)?.range,
      let references = try references(in: range)
    else { return nil }
    guard let rows = try rows(at: references, predicate, sortedBy: descriptors, limit: limit) else {
      return nil
    }
    if rows.isEmpty { return [] }
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

  /// The number of rows that match a predicate of the plan's shape, if the keys tell.
  ///
  /// - Parameter descriptors: the order of the request, which may be in error.
  func count(
    _ predicate: FetchPredicate, sortedBy descriptors: [FetchSortDescriptor]
  ) throws -> Int? {
    guard countsKeys, hasRightTypes(predicate), let (range, isExact) = range(of: predicate),
      isExact, descriptors.isEmpty || RowOrder(descriptors, storage) != nil
    else { return nil }
    guard let keys, !range.isEmpty else { return 0 }
    return try range.lower.withUnsafeBytes { lower in
      guard let upper = range.upper else {
        return try IndexKey.withSuccessor(of: lower) { try keys.keyCount(from: lower, to: $0) }
      }
      return try upper.withUnsafeBytes { try keys.keyCount(from: lower, to: $0) }
    }
  }

  /// Whether each constant is of its attribute's type. What others mean, or whether they are an
  /// error, is left to a plan.
  private func hasRightTypes(_ predicate: FetchPredicate) -> Bool {
    // A value of another type has no key, or that of the value which it equals.
    if isOneEquality { return true }
    for index in types.indices {
      guard let type = types[index] else { continue }
      guard case .value(let value)? = predicate.constant(index), value.isOf(type),
        shape.parts[index].operator != .beginsWith || type == .string
      else { return false }
    }
    return true
  }

  /// The range of the keys of all rows that can match.
  ///
  /// - Returns: a range without an end if it has all keys that begin with its start, and whether
  ///   its keys are only those of rows that match; `nil` if the constants correspond to no range.
  private func range(of predicate: FetchPredicate) -> (range: KeyRange, isExact: Bool)? {
    var prefix: [UInt8] = []
    for index in steps.indices {
      let step = steps[index]
      if !prefix.isEmpty, !hasRoom(after: prefix) { return (KeyRange(lower: prefix), false) }
      guard let equality = step.equality else { return range(of: predicate, step, after: prefix) }
      guard let value = predicate.constant(equality),
        let (element, isWhole) = element(value, step.kind, after: prefix)
      else { return prefix.isEmpty ? nil : (KeyRange(lower: prefix), false) }
      let start = prefix.count
      if prefix.isEmpty { prefix = element } else { prefix += element }
      if !step.isAscending {
        for index in start..<prefix.count { prefix[index] = ~prefix[index] }
      }
      if !isWhole { return (KeyRange(lower: prefix), false) }
    }
    return (KeyRange(lower: prefix), true)
  }

  private func range(
    of predicate: FetchPredicate, _ step: Step, after prefix: [UInt8]
  ) -> (range: KeyRange, isExact: Bool)? {
    var interval = KeyInterval()
    for part in rangeParts {
      guard case .value(let value)? = predicate.constant(part),
        let demand = FetchCondition.Demand(shape.parts[part].operator, value)
      else { return nil }
      interval.narrow(by: demand, step.kind, after: prefix)
    }
    guard interval.isBoundedBelow || interval.isBoundedAbove else {
      return prefix.isEmpty ? nil : (KeyRange(lower: prefix), false)
    }
    let range = interval.range(isAscending: step.isAscending)
    let upper = range.upper.map { prefix + $0 }
    return (KeyRange(lower: prefix + range.lower, upper: upper), interval.isExact)
  }

  private func hasRoom(after prefix: [UInt8]) -> Bool {
    var writer = IndexKeyWriter()
    writer.append(contentsOf: prefix)
    return writer.hasRoom()
  }

  /// The element of a value in keys, and whether it holds the whole value.
  private func element(
    _ value: PredicateValue, _ kind: FieldKind, after prefix: [UInt8]
  ) -> ([UInt8], isWhole: Bool)? {
    switch value {
    case .value(let value):
      guard let bounds = KeyBounds(value, kind, after: prefix), bounds.low == bounds.high else {
        return nil
      }
      return (bounds.low, bounds.isExact)
    case .object(let identity):
      guard kind == .reference, let reference = identity.objectID.flatMap(reference) else {
        return nil
      }
      var writer = IndexKeyWriter()
      writer.append(to: reference)
      return (writer.bytes, true)
    case .collection: return nil
    }
  }

  private func reference(of id: ManagedObjectID) -> Reference? {
    if let last = lastDestination, id.store == storage.identity, id.entity.name == last.name {
      return Reference(entity: last.number, key: id.key)
    }
    guard let reference = entities.reference(of: id) else { return nil }
    if id.store == storage.identity { lastDestination = (id.entity.name, reference.entity) }
    return reference
  }

  /// The rows that the keys of a range name, in order.
  ///
  /// - Returns: `nil` if there are too many, or keys of other entities.
  private func references(in range: KeyRange) throws -> [Reference]? {
    guard let keys else { return [] }
    var found: [Reference] = []
    var isUsual = true
    try range.lower.withUnsafeBytes { lower in
      try (range.upper ?? []).withUnsafeBytes { upper in
        try keys.visitKeys(from: lower) { key in
          // Most ranges consist of the keys that begin with `lower`.
          guard
            key.begins(with: lower)
              || range.upper != nil && CanonicalText.byteOrder(key, upper) == .ascending
          else { return false }
          guard let reference = IndexKey.reference(of: key) else { return true }
          isUsual = reference.entity == storage.stored.number && found.count < Self.limit
          if isUsual { found.append(reference) }
          return isUsual
        }
      }
    }
    guard isUsual else { return nil }
    if found.count > 1 { found.sort() }
    return found
  }

  private typealias Found = (reference: Reference, row: RowBytes)

  /// The matching ones of some rows, in order.
  private func rows(
    at references: [Reference], _ predicate: FetchPredicate,
    sortedBy descriptors: [FetchSortDescriptor], limit: Int
  ) throws -> [Found]? {
    let limit = limit == 0 ? .max : limit
    if descriptors.isEmpty {
      return references.isEmpty ? [] : try rows(at: references, predicate, limit: limit)
    }
    guard let order = RowOrder(descriptors, storage) else { return nil }
    if references.isEmpty { return [] }
    guard let found = try rows(at: references, predicate, limit: .max) else { return nil }
    let sorted = try order.sorted(found) { $0.row }
    return sorted.count > limit ? Array(sorted.prefix(limit)) : sorted
  }

  private func rows(
    at references: [Reference], _ predicate: FetchPredicate, limit: Int
  ) throws -> [Found]? {
    // In most cases one text is compared, which is tested where it is.
    if var test = textTest, case .value(.string(var text))? = predicate.constant(0) {
      return try text.withUTF8 { text in
        test.high = UInt64(text.count)
        return try withUnsafePointer(to: test) { test in
          try rows(
            at: references, UnsafeBufferPointer(start: test, count: 1),
            UnsafeRawBufferPointer(text), limit: limit)
        }
      }
    }
    var builder = RowFilterBuilder(storage, of: entities)
    for index in shape.parts.indices {
      guard let comparison = predicate.comparison(index),
        builder.append(.comparison(comparison))
      else { return nil }
    }
    return try builder.constants.withUnsafeBytes { constants in
      try builder.tests.withUnsafeBufferPointer {
        try rows(at: references, $0, constants, limit: limit)
      }
    }
  }

  /// - Returns: `nil` if a row is missing or has another layout.
  private func rows(
    at references: [Reference], _ tests: UnsafeBufferPointer<RowTest>,
    _ constants: UnsafeRawBufferPointer, limit: Int
  ) throws -> [Found]? {
    let shape = storage.shape
    var found: [Found] = []
    found.reserveCapacity(min(references.count, limit))
    for reference in references where found.count < limit {
      var isUsual = false
      let isThere = try rows.withKeepableValue(for: reference.key) { row, owner in
        guard let start = row.baseAddress, shape.isRight(start, row.count) else { return }
        isUsual = true
        // A test without constants does not read this pointer.
        let constants = constants.baseAddress ?? start
        for test in tests where !test.holds(in: start, constants) { return }
        let owner = owner.takeUnretainedValue()
        found.append((reference, RowBytes(start: start, byteCount: row.count, owner: owner)))
      }
      // A plan reads rows of other layouts, and reports a key without a row.
      guard isThere, isUsual else { return nil }
    }
    return found
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes begin with a prefix; compares eight bytes at a time.
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

extension FetchPredicate.Operator {
  /// Whether the values of which it is true are adjacent in an index.
  fileprivate var isRange: Bool {
    switch self {
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .beginsWith: true
    default: false
    }
  }
}
