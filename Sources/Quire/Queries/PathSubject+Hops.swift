import QuireModel

// Paths through several to-many relationships. As many ways lead along one as the product of the
// numbers of members says, most of them to objects that were reached before. Where it makes no
// difference how often, each object is followed once from each step; where it does, an object is
// followed once with the number of the ways that refer to it.

/// What tells the subjects of one fetch apart.
enum SubjectKey: Hashable {
  case row(Reference)
  /// An object that no row of the store is read for.
  case object(ObjectIdentifier)
}

extension PathSubject {
  /// The value at a path, as ``value(at:slot:)`` has it, but that a collection has the values of
  /// each object once.
  func valueOfEachOnce(at names: ArraySlice<String>, slot: Int) throws -> PredicateValue? {
    let rest = names.dropFirst()
    guard let next = rest.first else { return try value(at: names, slot: slot) }
    if slot < 0, names.first == "self" {
      return try valueOfEachOnce(at: rest, slot: binding.slot(named: next) ?? -1)
    }
    guard slot >= 0, case .relationship(let relationship) = binding.properties[slot],
      !rest.dropLast().contains(where: CollectionOperator.isOperator),
      next != FetchExpression.countOperator
    else { return try value(at: names, slot: slot) }
    if !relationship.isToMany {
      return try one(slot).flatMap {
        try $0.valueOfEachOnce(at: rest, slot: $0.binding.slot(named: next) ?? -1)
      }
    }
    if rest.last.map(CollectionOperator.isOperator) ?? false,
      rest.last != FetchExpression.countOperator
    {
      return try value(at: names, slot: slot)
    }
    return .collection(try Self.valuesOfEachOnce(of: members(slot), at: rest))
  }

  /// - Parameter members: no two of the same object.
  private static func valuesOfEachOnce(
    of members: [Self], at names: ArraySlice<String>
  ) throws -> [PredicateValue?] {
    guard let first = names.first else { return members.map { .object($0.objectIdentity) } }
    let rest = names.dropFirst()
    var values: [PredicateValue?] = []
    var next: [Self] = []
    var seen: Set<SubjectKey> = []
    for member in members {
      let slot = member.binding.slot(named: first) ?? -1
      if slot < 0, first == "self" {
        if seen.insert(member.key).inserted { next.append(member) }
      } else if slot >= 0, case .relationship(let relationship) = member.binding.properties[slot],
        rest.first != FetchExpression.countOperator
      {
        if relationship.isToMany {
          for member in try member.members(slot) where seen.insert(member.key).inserted {
            next.append(member)
          }
        } else if let destination = try member.one(slot) {
          if seen.insert(destination.key).inserted { next.append(destination) }
        } else {
          values.append(nil)
        }
      } else {
        let value = try member.value(at: names, slot: slot)
        if case .collection(let more)? = value { values += more } else { values.append(value) }
      }
    }
    if !next.isEmpty { values += try valuesOfEachOnce(of: next, at: rest) }
    return values
  }

  /// The objects at the end of a path through relationships, each with the number of the ways that
  /// lead to it; `nil` for a path to something else.
  func countedMembers(at names: ArraySlice<String>) throws -> [(member: Self, count: Int)]? {
    var level: [(member: Self, count: Int)] = [(self, 1)]
    for name in names {
      var next: [(member: Self, count: Int)] = []
      var indexes: [SubjectKey: Int] = [:]
      for (member, count) in level {
        guard let slot = member.binding.slot(named: name),
          member.binding.traits[slot].attributeType == nil
        else { return nil }
        let members =
          member.binding.traits[slot].isToMany
          ? try member.members(slot) : try member.one(slot).map { [$0] } ?? []
        for member in members {
          if let index = indexes[member.key] {
            next[index].count = next[index].count.addingSaturated(count)
          } else {
            indexes[member.key] = next.count
            next.append((member, count))
          }
        }
      }
      level = next
    }
    return level
  }
}
