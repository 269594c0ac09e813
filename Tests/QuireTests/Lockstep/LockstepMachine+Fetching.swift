import Quire

extension LockstepMachine {
  /// Fetches by one of several predicates and orders, and compares with the oracle.
  func fetch(_ query: Int, _ value: Int) throws {
    let objects = oracle.objects
    func weight(_ id: Int?) -> Int? { id.flatMap { objects.nodes[$0]?.values["weight"] } }
    // A fetch finds what a save would leave: nobody leads to what is deleted.
    func one(_ id: Int, _ key: String) -> Int? {
      objects.members(id, key).first.flatMap { objects.nodes[$0]!.isDeleted ? nil : $0 }
    }
    func many(_ id: Int, _ key: String) -> [Int] { objects.members(id, key) }
    let queries: [(String, (Int) -> Bool)] = [
      ("weight > \(value)", { (weight($0) ?? -1) > value }),
      ("weight == nil OR weight <= \(value)", { weight($0).map { $0 <= value } ?? true }),
      ("parent.weight != \(value)", { weight(one($0, "parent")) != value }),
      (
        "ANY children.weight == \(value)", { many($0, "children").contains { weight($0) == value } }
      ),
      ("children.@count >= \(1 + value % 2)", { many($0, "children").count >= 1 + value % 2 }),
      ("weight BETWEEN {1, \(value)}", { weight($0).map { 1 <= $0 && $0 <= value } ?? false }),
      ("ANY tags.number > \(value)", { many($0, "tags").contains { $0 > value } }),
      (
        "NONE friends.weight == \(value)", { !many($0, "friends").contains { weight($0) == value } }
      ),
      ("parts.@count > \(value % 3)", { many($0, "parts").count > value % 3 }),
      (
        "ANY ranks.parent.weight >= \(value)",
        { many($0, "ranks").contains { weight(one($0, "parent")).map { $0 >= value } ?? false } }
      ),
      (
        "pointer == nil AND weight IN {0, \(value)}",
        { one($0, "pointer") == nil && [0, value].contains(weight($0)) }
      ),
    ]
    let (format, isMatch) = queries[query % queries.count]
    let isAscending = query % 2 == 0
    let limit = query % 3 == 0 ? 1 + query % 4 : 0
    let offset = query % 5 == 0 ? query % 3 : 0
    var request = FetchRequest<ManagedObject>(entityName: "Thing")
    request.predicate = try FetchPredicate(format: format)
    request.sortDescriptors = [
      FetchSortDescriptor(key: "weight", ascending: isAscending),
      FetchSortDescriptor(key: "number"),
    ]
    let all = objects.living("Thing").filter(isMatch).sorted { one, two in
      let (left, right) = (weight(one) ?? .min, weight(two) ?? .min)
      return left == right ? one < two : isAscending ? left < right : left > right
    }
    for stack in stacks {
      request.fetchLimit = 0
      request.fetchOffset = 0
      let count = try stack.context.count(for: request)
      try expect(count == all.count, "\(stack.name): \(count) by \(format), expected \(all.count)")
      request.fetchLimit = limit
      request.fetchOffset = offset
      let found = try stack.context.fetch(request).map(LockstepStack.number)
      let wanted = Array(all.dropFirst(offset).prefix(limit == 0 ? all.count : limit))
      try expect(found == wanted, "\(stack.name): \(found) by \(format), expected \(wanted)")
    }
  }
}
