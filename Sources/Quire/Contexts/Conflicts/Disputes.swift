import QuireModel

// What two saves dispute. A save changes facts: the attributes of an object, where a to-one
// relationship refers to, that an object is a member, an order. Two saves are in conflict if both
// have changed the same fact, or if one changes a fact of an object that the other has deleted;
// that the object's row has another version is no conflict by itself.

/// The facts of an object that a context has changed, and another save too since the object was
/// read.
struct Dispute {
  /// The properties that were changed here, and are disputed.
  private(set) var here: [Int] = []
  /// Those of the same facts that were changed there.
  private(set) var there: [Int] = []

  /// - Parameters:
  ///   - object: has changes and a row, which the store has replaced by a newer one.
  ///   - newest: the store's row, of the state `view`.
  /// - Complexity: O(properties), and O(members) of each order that was changed here.
  init(_ object: ManagedObject, _ newest: Row, _ view: StoreView) throws {
    let traits = object.binding.traits
    let changed = Array(object.slotsToWrite)
    // An object's attributes are one fact: what was decided by one of them, and written to another,
    // would not be so any more.
    let attributes = changed.filter { traits[$0].attributeType != nil }
    if !attributes.isEmpty {
      there = try traits.indices.filter { try object.differs($0, in: newest, view) }
      if !there.isEmpty { here = attributes }
    }
    let relationships = try changed.filter { slot in
      guard traits[slot].attributeType == nil else { return false }
      return object.isToMany(slot)
        ? try object.isOrderDisputed(slot, view) : object.isDestinationDisputed(slot, newest)
    }
    here += relationships
    there += relationships
  }
}

extension ManagedObject {
  /// Whether an attribute of the row that was read differs from the store's newest row. Derived
  /// ones do not count: each save works them out of what it finds.
  fileprivate final func differs(_ slot: Int, in newest: Row, _ view: StoreView) throws -> Bool {
    let trait = binding.traits[slot]
    guard trait.attributeType != nil, !trait.isTransient, !trait.isDerived,
      let field = storage?.fieldBySlot[slot], field >= 0
    else { return false }
    guard let row else { return true }
    let (old, new) = (row.external(field), newest.external(field))
    if old != nil || new != nil { return old != new }
    let (former, value) = (try row.value(field), try newest.value(field, in: view))
    guard let former, let value else { return former != nil || value != nil }
    return !value.isIdentical(to: former)
  }

  /// Whether another save has changed the destination of a to-one relationship that was changed
  /// here, and not in the same way.
  fileprivate final func isDestinationDisputed(_ slot: Int, _ newest: Row) -> Bool {
    guard let field = storage?.fieldBySlot[slot], field >= 0 else { return false }
    let there = newest.reference(field)
    if there == readReference(slot) { return false }
    guard case .one(let destination) = slots[slot] else { return false }
    return present(destination).flatMap { $0.isDeleted ? nil : $0.reference } != there
  }

  /// Whether another save has changed an order that was changed here, unless both have added at the
  /// end only. Members of a relationship without an order are facts of their own, and never
  /// disputed: one that both have added is there, one that both have removed is not.
  fileprivate final func isOrderDisputed(_ slot: Int, _ view: StoreView) throws -> Bool {
    guard case .many(let pending) = slots[slot], let order = pending.order,
      let link = storage?.link(slot)
    else { return false }
    // Changed by other means than those that keep what it was made of.
    guard let former = pending.formerOrder?.members else { return true }
    let here = OrderFact(former, order.lazy.filter { !$0.isDeleted }.map(\.reference))
    let there = OrderFact(former, try view.members(of: reference, link))
    return here.disputes(there)
  }
}

/// What became of an order.
private enum OrderFact {
  /// No member has another position among the others, and none was added.
  case kept
  /// Members were added after all others.
  case extended
  case rearranged

  init(_ former: [Reference], _ order: some Sequence<Reference>) {
    let order = Array(order)
    let isFormer = Set(former)
    let isLeft = Set(order)
    let common = former.filter(isLeft.contains)
    guard common.elementsEqual(order.lazy.filter(isFormer.contains)) else {
      self = .rearranged
      return
    }
    if order.count == common.count {
      self = .kept
    } else {
      self = order.prefix(common.count).elementsEqual(common) ? .extended : .rearranged
    }
  }

  func disputes(_ other: OrderFact) -> Bool {
    switch (self, other) {
    case (.kept, _), (_, .kept), (.extended, .extended): false
    case (.rearranged, .extended), (.rearranged, .rearranged), (.extended, .rearranged): true
    }
  }
}
