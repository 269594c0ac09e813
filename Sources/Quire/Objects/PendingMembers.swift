import QuireStorage

/// What was changed in a to-many relationship since the object was last fetched or saved.
///
/// Only differences are kept, so that an object can be added to a relationship with a million
/// members without reading them. An ordered relationship keeps its whole new order besides.
final class PendingMembers {
  /// The positions of members, for lookups among many: made by the first lookup.
  fileprivate final class Places {
    var additions: [ObjectIdentifier: Int]?
    var list: Set<ObjectIdentifier>?
    /// Where a member was last removed from the list. The next one is usually beside it.
    var removal = 0
    /// Members of the store's order that were added all the same: their own rows, which were read
    /// before another save wrote them, led elsewhere.
    var confirmed: Set<Reference> = []
  }

  /// The number of members up to which a list is searched without a table.
  private static let searchLimit = 16

  // Unchecked as in ``ManagedObject``: each access is over before anything else is called.
  @exclusivity(unchecked) private var additions: [ManagedObject] = []
  @exclusivity(unchecked) var removed: Set<Reference> = []
  @exclusivity(unchecked) private var list: [ManagedObject]?
  @exclusivity(unchecked) fileprivate var places: Places?
  /// The state whose members these are differences from, by ``StoreSession/viewState``; the context
  /// may have read later ones since.
  var basis: UInt32 = 0
  /// Whether the order had members when it was set.
  private var hadOrder = false

  /// In no order.
  var added: [ManagedObject] {
    get { additions }
    set {
      additions = newValue
      places?.additions = nil
    }
  }

  /// All members in their order; in ordered relationships only.
  var order: [ManagedObject]? {
    get { list }
    set {
      list = newValue
      places?.list = nil
      hadOrder = !(newValue ?? []).isEmpty
    }
  }

  var isOrdered: Bool { list != nil }

  // MARK: Changes

  /// Records an object that was added, at the end of an order.
  func add(_ object: ManagedObject) {
    if hadOrder, isInOrder(object) {
      if !isAdded(object) {
        appendAddition(object)
        madePlaces().confirmed.insert(object.reference)
      }
      return
    }
    if removed.isEmpty || removed.remove(object.reference) == nil { appendAddition(object) }
    if list != nil {
      list?.append(object)
      places?.list?.insert(ObjectIdentifier(object))
    }
  }

  private func appendAddition(_ object: ManagedObject) {
    additions.append(object)
    places?.additions?[ObjectIdentifier(object)] = additions.count - 1
  }

  /// Gives the same members another order.
  func rearrange(_ order: [ManagedObject]) { list = order }

  /// Records an object that was removed.
  func remove(_ object: ManagedObject) {
    if let place = placeAmongAdditions(of: object) {
      removeAddition(at: place)
      if places?.confirmed.remove(object.reference) != nil { removed.insert(object.reference) }
    } else {
      removed.insert(object.reference)
    }
    if list != nil { removeFromList(object) }
  }

  private func removeAddition(at place: Int) {
    guard additions.count > Self.searchLimit, places?.additions != nil else {
      additions.remove(at: place)
      places?.additions = nil
      return
    }
    places?.additions?[ObjectIdentifier(additions[place])] = nil
    let last = additions.removeLast()
    if place < additions.count {
      additions[place] = last
      places?.additions?[ObjectIdentifier(last)] = place
    }
  }

  private func removeFromList(_ object: ManagedObject) {
    // An object that leads to itself, by a relationship that is its own inverse, is there twice.
    guard let places = placesInList(), places.list?.count == list?.count else {
      list?.removeAll { $0 === object }
      places?.list = nil
      return
    }
    guard places.list?.remove(ObjectIdentifier(object)) != nil,
      let place = list?.withUnsafeBufferPointer({ Self.place(of: object, $0, near: places.removal) }
      )
    else { return }
    list?.remove(at: place)
    places.removal = place
  }

  private static func place(
    of object: ManagedObject, _ members: UnsafeBufferPointer<ManagedObject>, near start: Int
  ) -> Int? {
    var above = min(start, members.count)
    var below = above - 1
    while below >= 0 || above < members.count {
      if above < members.count, members[above] === object { return above }
      if below >= 0, members[below] === object { return below }
      (below, above) = (below - 1, above + 1)
    }
    return nil
  }

  // MARK: Questions

  /// Whether no member was added or removed; the order may still have changed.
  var hasNoMemberChange: Bool { additions.isEmpty && removed.isEmpty }

  /// Whether nothing differs from the members that the store has, hidden ones among them.
  func isUnchanged(as stored: [Reference]) -> Bool {
    hasNoMemberChange && list.map { $0.lazy.map(\.reference).elementsEqual(stored) } ?? true
  }

  func isAdded(_ object: ManagedObject) -> Bool { placeAmongAdditions(of: object) != nil }

  /// Whether an object is among the members of an ordered relationship.
  func isInOrder(_ object: ManagedObject) -> Bool {
    if let places = placesInList() {
      return places.list?.contains(ObjectIdentifier(object)) ?? false
    }
    return list?.contains { $0 === object } ?? false
  }

  private func placeAmongAdditions(of object: ManagedObject) -> Int? {
    guard additions.count > Self.searchLimit else {
      return additions.firstIndex { $0 === object }
    }
    let places = madePlaces()
    if places.additions == nil {
      places.additions = Dictionary(
        zip(additions.lazy.map(ObjectIdentifier.init), 0...), uniquingKeysWith: { $1 })
    }
    // As in the list: the table has fewer entries when an object is there twice.
    guard places.additions?.count == additions.count else {
      return additions.firstIndex { $0 === object }
    }
    return places.additions?[ObjectIdentifier(object)]
  }

  /// The positions, with the set of the list's members; `nil` where there are few.
  private func placesInList() -> Places? {
    guard let list, list.count > Self.searchLimit else { return nil }
    let places = madePlaces()
    if places.list == nil { places.list = Set(list.lazy.map(ObjectIdentifier.init)) }
    return places
  }

  fileprivate func madePlaces() -> Places {
    if let places { return places }
    let places = Places()
    self.places = places
    return places
  }
}

extension ManagedObject.Slot {
  /// A copy of the content that later changes of the object do not reach.
  var copy: ManagedObject.Slot {
    guard case .many(let members) = self else { return self }
    let copy = PendingMembers()
    (copy.added, copy.removed, copy.order) = (members.added, members.removed, members.order)
    if let confirmed = members.places?.confirmed, !confirmed.isEmpty {
      copy.madePlaces().confirmed = confirmed
    }
    return .many(copy)
  }
}
