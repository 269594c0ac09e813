import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The tests on the bytes of an entity's rows, and an evaluator for the rest of the predicate.
final class RowCheck {
  let filter: RowFilter?
  /// `nil` if the filter covers the whole predicate.
  let evaluator: PredicateEvaluator?
  /// The paths of the evaluator.
  let paths: [FetchPath]

  /// - Parameter paths: paths of the target, from the entity of `storage`.
  init(
    _ target: FetchTarget, _ paths: FetchTarget.Paths, on storage: EntityStorage,
    in view: StoreView
  ) throws {
    guard let predicate = target.predicate else {
      (filter, evaluator, self.paths) = (nil, nil, [])
      return
    }
    var builder = RowFilterBuilder(storage, of: view.entities)
    // A parent may have deleted the destination of a row's reference, whatever the delete rules
    // are.
    builder.takesRelationships = view.parentRows == nil
    var rest: [FetchPredicate] = []
    var canFail = false
    for conjunct in FetchCondition.conjuncts(of: predicate) {
      // A conjunct that can fail comes before those after it: a filter must not hide its error.
      if !canFail, builder.append(conjunct) { continue }
      rest.append(conjunct)
      canFail = canFail || conjunct.canFail
    }
    if builder.tests.isEmpty {
      (filter, evaluator, self.paths) = (nil, try target.evaluator(), paths.predicate)
      return
    }
    filter = RowFilter(builder.tests, builder.constants)
    if rest.isEmpty {
      (evaluator, self.paths) = (nil, [])
      return
    }
    let other = try PredicateEvaluator(fetched: .and(rest))
    let others = other.paths.compactMap { names in paths.predicate.first { $0.names == names } }
    guard others.count == other.paths.count else {
      assertionFailure("a part of a predicate has paths of its own")
      // The whole predicate has the same value for a row that has passed the filter.
      (evaluator, self.paths) = (try target.evaluator(), paths.predicate)
      return
    }
    (evaluator, self.paths) = (other, others)
  }
}

extension RowCheck {
  /// Removes the entries whose rows fail the filter, and removes the bytes of entries whose rows
  /// must be looked up. Rows that keep their bytes have a complete fixed part and a valid end.
  func sift(_ entries: inout [RecordEntry], _ shape: RowShape) {
    if let filter { return filter.sift(&entries, shape) }
    entries.sift { $0.sift { start, byteCount in shape.endsRight(start, byteCount) ? true : nil } }
  }
}

extension FetchPredicate {
  /// Whether evaluation may throw an error for an object.
  fileprivate var canFail: Bool {
    switch self {
    case .constant: false
    case .comparison(let comparison):
      comparison.operator == .matches || comparison.left.canFail || comparison.right.canFail
    case .and(let parts), .or(let parts): parts.contains(where: \.canFail)
    case .not(let part): part.canFail
    }
  }
}

extension FetchExpression {
  fileprivate var canFail: Bool {
    switch self {
    case .constant, .evaluatedObject: false
    case .keyPath(let names):
      names.contains { CollectionOperator.isOperator($0) && $0 != FetchExpression.countOperator }
        || names.count > 1 && ValueProperty.isKnown(names.last ?? "")
    case .aggregate(let members): members.contains(where: \.canFail)
    default: true
    }
  }
}

/// Makes tests from the parts of a predicate that compare a field with constants of its kind.
struct RowFilterBuilder {
  let storage: EntityStorage
  private let entities: StoreEntities
  var takesRelationships = true
  private(set) var tests: [RowTest] = []
  private(set) var constants: [UInt8] = []

  /// Longer lists are left to an evaluator, which makes sets of them.
  private static let listLimit = 8

  init(_ storage: EntityStorage, of entities: StoreEntities) {
    self.storage = storage
    self.entities = entities
  }

  /// - Returns: whether tests cover the predicate; if not, none was added.
  mutating func append(_ predicate: FetchPredicate) -> Bool {
    let count = tests.count
    if add(predicate, isNegated: false) { return true }
    tests.removeLast(tests.count - count)
    return false
  }

  private mutating func add(_ predicate: FetchPredicate, isNegated: Bool) -> Bool {
    switch predicate {
    case .constant(let flag): return addGroup(flag ? .all : .any, isNegated, of: [])
    case .and(let parts): return addGroup(.all, isNegated, of: parts)
    case .or(let parts): return addGroup(.any, isNegated, of: parts)
    case .not(let part): return add(part, isNegated: !isNegated)
    case .comparison(let comparison): return add(comparison, isNegated)
    }
  }

  private mutating func addGroup(
    _ form: RowTest.Form, _ isNegated: Bool, of parts: [FetchPredicate]
  ) -> Bool {
    let index = beginGroup(form, isNegated)
    for part in parts where !add(part, isNegated: false) { return false }
    endGroup(index)
    return true
  }

  private mutating func beginGroup(_ form: RowTest.Form, _ isNegated: Bool) -> Int {
    tests.append(RowTest(form: form, isNegated: isNegated))
    return tests.count - 1
  }

  private mutating func endGroup(_ index: Int) {
    tests[index].low = UInt64(tests.count - index - 1)
  }

  private mutating func add(_ comparison: FetchPredicate.Comparison, _ isNegated: Bool) -> Bool {
    guard comparison.modifier == .direct, comparison.options.comparesTextAsItIs
    else { return false }
    if case .keyPath(let path) = comparison.left, let field = field(path) {
      return add(field, comparison.operator, comparison.right, isNegated)
    }
    guard case .keyPath(let path) = comparison.right, let field = field(path),
      let mirrored = comparison.operator.mirrored
    else { return false }
    return add(field, mirrored, comparison.left, isNegated)
  }

  /// The field of an attribute, or of a relationship whose destination exists if it is not absent;
  /// `nil` for other paths.
  private func field(_ path: [String]) -> (tableField: FieldTable.Field, kind: FieldKind)? {
    guard path.count == 1, let slot = storage.binding.slot(named: path[0]),
      storage.fieldBySlot[slot] >= 0
    else { return nil }
    let trait = storage.binding.traits[slot]
    if trait.attributeType == nil, trait.canDangle || !takesRelationships { return nil }
    return (storage.table.fields[slot], storage.layout.fields[storage.fieldBySlot[slot]].kind)
  }

  private typealias Field = (tableField: FieldTable.Field, kind: FieldKind)

  private mutating func add(
    _ field: Field, _ operator: FetchPredicate.Operator, _ right: FetchExpression,
    _ isNegated: Bool
  ) -> Bool {
    switch (`operator`, right) {
    case (.notEqual, .constant(let value)):
      return add(field, [.same], value, !isNegated)
    case (.beginsWith, .constant(.value(.string(let text))?)) where field.kind == .string:
      addConstant(.prefix, field, text.utf8, isNegated)
      return true
    case (.between, _):
      guard let bounds = right.constantMembers, bounds.count == 2 else { return false }
      let index = beginGroup(.all, isNegated)
      guard add(field, [.same, .descending], bounds[0], false),
        add(field, [.ascending, .same], bounds[1], false)
      else { return false }
      endGroup(index)
      return true
    case (.in, _):
      guard let members = right.constantMembers, members.count <= Self.listLimit else {
        return false
      }
      let index = beginGroup(.any, isNegated)
      for member in members where !add(field, [.same], member, false) { return false }
      endGroup(index)
      return true
    case (_, .constant(let value)):
      guard let orders = `operator`.orders else { return false }
      return add(field, orders, value, isNegated)
    default: return false
    }
  }

  /// Adds a test that the value has one of these orders relative to a constant.
  private mutating func add(
    _ field: Field, _ orders: RowTest.Orders, _ value: PredicateValue?, _ isNegated: Bool
  ) -> Bool {
    guard let value else {
      // An absent value has no order; it equals only an absent one.
      addTest(orders == [.same] ? .absent : .never, field, isNegated)
      return true
    }
    switch value {
    case .value(let value): return add(field, orders, value, isNegated)
    case .object(let identity):
      // Objects have no order.
      guard field.kind == .reference, orders == [.same],
        let id = identity.objectID, let reference = entities.reference(of: id)
      else { return false }
      addTest(.integer64, field, isNegated, reference.rawValue, reference.rawValue)
      return true
    case .collection: return false
    }
  }

  private mutating func add(
    _ field: Field, _ orders: RowTest.Orders, _ value: AttributeValue, _ isNegated: Bool
  ) -> Bool {
    switch (field.kind, value) {
    case (.string, .string(let text)):
      addConstant(.text, field, text.utf8, isNegated, orders)
    case (.uuid, .uuid(let uuid)):
      addConstant(.uuid, field, withUnsafeBytes(of: uuid.uuid) { Array($0) }, isNegated, orders)
    default:
      guard let interval = NumberInterval(orders, value, field.kind) else { return false }
      addTest(interval.form, field, isNegated, interval.low, interval.high)
    }
    return true
  }

  private mutating func addConstant(
    _ form: RowTest.Form, _ field: Field, _ bytes: some Sequence<UInt8>, _ isNegated: Bool,
    _ orders: RowTest.Orders = []
  ) {
    let start = constants.count
    constants.append(contentsOf: bytes)
    addTest(
      form, field, isNegated, UInt64(start), UInt64(constants.count - start), orders)
  }

  private mutating func addTest(
    _ form: RowTest.Form, _ field: Field, _ isNegated: Bool, _ low: UInt64 = 0, _ high: UInt64 = 0,
    _ orders: RowTest.Orders = []
  ) {
    tests.append(
      RowTest(
        form: form, isNegated: isNegated, orders: orders, field: field.tableField, low: low,
        high: high))
  }
}

extension FetchPredicate.Operator {
  /// The orders of a value, relative to a constant, that satisfy the operator.
  fileprivate var orders: RowTest.Orders? {
    switch self {
    case .equal: [.same]
    case .lessThan: [.ascending]
    case .lessThanOrEqual: [.ascending, .same]
    case .greaterThan: [.descending]
    case .greaterThanOrEqual: [.descending, .same]
    default: nil
    }
  }
}
