import QuireModel

// Paths through several collections; see `PathSubject+Hops.swift`, which does the same on rows.
extension KeyValue {
  /// The value at a path, with the values of each member of a collection once; `nil` for a path
  /// with an operator but for `@count` at its end, or one that is too short to have any twice.
  func valueOfEachOnce(at names: [String]) throws -> KeyValue? {
    let isCount = names.last == FetchExpression.countOperator
    let path = isCount ? names.dropLast() : names[...]
    guard path.count > 2, !path.contains(where: CollectionOperator.isOperator) else { return nil }
    var value = self
    for name in path.dropLast() { value = try value.value(for: name).withEachOnce }
    guard let last = path.last else { return nil }
    value = try value.value(for: last)
    return isCount ? try value.counts : value
  }

  /// A collection of what several members have, each once; any other value unchanged. One absent
  /// value stays.
  private var withEachOnce: KeyValue {
    if case .one = self { return self }
    guard let members = flatMembers else { return self }
    var (hasAbsent, seen) = (false, Set<AnyHashable>())
    return .array(
      members.filter { member in
        if member.isAbsent {
          defer { hasAbsent = true }
          return !hasAbsent
        }
        guard let key = member.identity else { return true }
        return seen.insert(key).inserted
      })
  }

  /// The members of the collection at a path, each with the number of the ways to it;
  /// `nil` for a path with an operator, or to what is no collection.
  func countedMembers(at names: [String]) throws -> [(member: KeyValue, count: Int)]? {
    if names.contains(where: CollectionOperator.isOperator) { return nil }
    var level: [(member: KeyValue, count: Int)] = [(self, 1)]
    var isCollection = false
    for name in names {
      var next: [(member: KeyValue, count: Int)] = []
      var indices: [AnyHashable: Int] = [:]
      for (member, count) in level {
        let value = try member.value(for: name)
        let members = value.flatMembers
        isCollection = isCollection || members != nil
        for member in members ?? [value] {
          let key = member.isAbsent ? nil : member.identity
          if let key, let index = indices[key] {
            next[index].count = next[index].count.addingSaturated(count)
          } else {
            if let key { indices[key] = next.count }
            next.append((member, count))
          }
        }
      }
      level = next
    }
    return isCollection ? level : nil
  }
}

extension Int {
  /// The sum, or the largest number where that is larger.
  func addingSaturated(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
