/// The order of an ordered relationship that two contexts have changed.
package enum MergedOrder {
  /// Members in the order of a list; those that are not in it come at the end, in their order.
  ///
  /// - Parameters:
  ///   - present: all members, each once.
  ///   - wanted: the list, each once.
  /// - Complexity: O(*members*).
  package static func order<Member: Hashable>(
    of present: [Member], as wanted: [Member]
  ) -> [Member] {
    let (isPresent, isWanted) = (Set(present), Set(wanted))
    return wanted.filter(isPresent.contains) + present.filter { !isWanted.contains($0) }
  }

  /// Members in the order of a list. Those that are not in it come after the nearest member that
  /// they follow in the store, and at the end if the store does not have them.
  ///
  /// - Parameters:
  ///   - present: all members, each once.
  ///   - wanted: the list.
  ///   - identity: finds the identity of a member in the store.
  ///   - stored: the identities of the store's members, in their order.
  /// - Complexity: O(*members*).
  package static func order<Member: Hashable, Identity: Hashable>(
    of present: [Member], as wanted: [Member], _ identity: (Member) -> Identity,
    _ stored: [Identity]
  ) -> [Member] {
    let (isPresent, isWanted) = (Set(present), Set(wanted))
    let known = wanted.filter(isPresent.contains)
    let others = present.filter { !isWanted.contains($0) }
    if others.isEmpty { return known }
    var newByIdentity = Dictionary(others.map { (identity($0), $0) }, uniquingKeysWith: { $1 })
    let isKnown = Set(known.map(identity))
    // New members that follow a known one in the store, and those before all known ones.
    var followers: [Identity: [Member]] = [:]
    var first: [Member] = []
    var last: Identity?
    for storedIdentity in stored {
      if isKnown.contains(storedIdentity) {
        last = storedIdentity
      } else if let member = newByIdentity.removeValue(forKey: storedIdentity) {
        if let last { followers[last, default: []].append(member) } else { first.append(member) }
      }
    }
    var order = first
    for member in known {
      order.append(member)
      if let followers = followers[identity(member)] { order += followers }
    }
    return order + others.filter { newByIdentity[identity($0)] != nil }
  }
}
