import QuireStorage

/// What was changed in a to-many relationship since the object was last fetched or saved.
///
/// Only differences are kept, so that an object can be added to a relationship with a million
/// members without reading them. An ordered relationship keeps its whole new order besides.
final class PendingMembers {
  /// A moment, by what was hidden before it.
  private struct Hidings: Equatable {
    let context: ObjectIdentifier
    /// The context's ``ManagedObjectContext/hidingCount``.
    let count: Int
  }

  /// The number of additions up to which they are searched without a table.
  private static let searchLimit = 16

  // Unchecked as in ``ManagedObject``: each access is over before anything else is called.
  @exclusivity(unchecked) private var additions: [ManagedObject] = []
  @exclusivity(unchecked) var removed: RemovedReferences = []
  @exclusivity(unchecked) private var list: MemberOrder?
  /// When all members of the order were shown; `nil` where that is not known.
  @exclusivity(unchecked) private var shownAt: Hidings?
  /// The positions of additions, for lookups among many: made by the first lookup.
  @exclusivity(unchecked) private var positions: [ObjectIdentifier: Int]?
  /// In which state the order was made, or made anew, by ``StoreSession/linkState``.
  var basis = 0
  /// Whether the order had members when it was set.
  private var hadOrder = false
  /// The store's members in their order, to which this one's was made; `nil` in relationships
  /// without an order.
  @exclusivity(unchecked) var formerOrder: StoredOrder?
  /// Whether the order was made of exactly these.
  private var isMadeOfFormer = false

  /// In no order.
  var added: [ManagedObject] {
    get { additions }
    set {
      additions = newValue
      positions = nil
    }
  }

  /// All members in their order; in ordered relationships only.
  ///
  /// - Complexity: O(*n*).
  var order: [ManagedObject]? {
    get { list?.array }
    set {
      (list, shownAt, isMadeOfFormer) = (newValue.map { MemberOrder($0) }, nil, false)
      hadOrder = !(newValue ?? []).isEmpty
    }
  }

  var isOrdered: Bool { list != nil }

  /// What a save has to write of the order: the stretches that were changed, and the positions of
  /// the stored links with their commit. `nil` if only a comparison of all members tells.
  var changedStretches: (stretches: [MemberOrder.Stretch], former: StoredOrder)? {
    guard isMadeOfFormer, let list, let formerOrder else { return nil }
    return (list.changedStretches(of: formerOrder.members.count), formerOrder)
  }

  // MARK: Changes

  /// Begins with the members that the store has, in their order.
  ///
  /// - Parameter members: the objects, without those that are gone.
  func begin(_ members: [ManagedObject], formerly stored: StoredOrder) {
    (order, formerOrder) = (members, stored)
    isMadeOfFormer = members.count == stored.members.count
  }

  /// Records an object that was added.
  ///
  /// - Parameter position: where it comes in an order; `nil` for the end.
  func add(_ object: ManagedObject, at position: Int? = nil) {
    let wasRemoved = removed.remove(object.reference)
    if hadOrder, isInOrder(object) { return }
    if !wasRemoved { appendAddition(object) }
    if let list { list.insert(object, at: position ?? list.count) }
    // Undoing refers to what is hidden, or has left, as well.
    if object.state.contains(.propagated) || object.context == nil { shownAt = nil }
  }

  private func appendAddition(_ object: ManagedObject) {
    additions.append(object)
    positions?[ObjectIdentifier(object)] = additions.count - 1
  }

  /// Gives the members another order, or those that they are by now.
  func rearrange(_ order: [ManagedObject]) {
    (list, isMadeOfFormer) = (MemberOrder(order), false)
    hadOrder = hadOrder || !order.isEmpty
  }

  /// The order, if it has no member that the relationship hides, so that positions in it are those
  /// that are shown.
  ///
  /// - Parameter context: of the object that has the relationship.
  /// - Complexity: O(1), and O(*n*) after something was hidden.
  func shownOrder(
    in context: ManagedObjectContext, _ isShown: (ManagedObject) -> Bool
  ) -> MemberOrder? {
    guard let list else { return nil }
    let hidings = Hidings(context: ObjectIdentifier(context), count: context.hidingCount)
    if shownAt != hidings {
      guard list.allSatisfy(isShown) else { return nil }
      shownAt = hidings
    }
    assert(
      list.count > 64 || list.array.allSatisfy(isShown), "a member was hidden, and not counted")
    return list
  }

  /// Records an object that was removed.
  func remove(_ object: ManagedObject) {
    if let position = positionAmongAdditions(of: object) {
      removeAddition(at: position)
    } else {
      removed.insert(object.reference)
    }
    list?.remove(object)
  }

  private func removeAddition(at position: Int) {
    guard additions.count > Self.searchLimit, positions != nil else {
      additions.remove(at: position)
      positions = nil
      return
    }
    positions?[ObjectIdentifier(additions[position])] = nil
    let last = additions.removeLast()
    if position < additions.count {
      additions[position] = last
      positions?[ObjectIdentifier(last)] = position
    }
  }

  // MARK: Questions

  /// Whether no member was added or removed; the order may still have changed.
  var hasNoMemberChange: Bool { additions.isEmpty && removed.isEmpty }

  /// Whether nothing differs from the members that the store has, hidden ones among them.
  func isUnchanged(as stored: [Reference]) -> Bool {
    hasNoMemberChange
      && (list.map { $0.array.lazy.map(\.reference).elementsEqual(stored) } ?? true)
  }

  func isAdded(_ object: ManagedObject) -> Bool { positionAmongAdditions(of: object) != nil }

  /// Whether an object is among the members of an ordered relationship.
  func isInOrder(_ object: ManagedObject) -> Bool { list?.contains(object) ?? false }

  private func positionAmongAdditions(of object: ManagedObject) -> Int? {
    guard additions.count > Self.searchLimit else {
      return additions.firstIndex { $0 === object }
    }
    if positions == nil {
      positions = Dictionary(
        zip(additions.lazy.map(ObjectIdentifier.init), 0...), uniquingKeysWith: { $1 })
    }
    // As in the list: the table has fewer entries when an object is there twice.
    guard positions?.count == additions.count else {
      return additions.firstIndex { $0 === object }
    }
    return positions?[ObjectIdentifier(object)]
  }
}

extension ManagedObject.Slot {
  /// A copy of the content that later changes of the object do not reach.
  var copy: ManagedObject.Slot {
    guard case .many(let members) = self else { return self }
    let copy = PendingMembers()
    (copy.added, copy.removed, copy.order) = (members.added, members.removed, members.order)
    (copy.formerOrder, copy.basis) = (members.formerOrder, members.basis)
    return .many(copy)
  }
}
