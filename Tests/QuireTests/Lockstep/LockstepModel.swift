import Quire

/// Every shape of relationship, and every delete rule.
enum LockstepModel {
  static let model = try! ManagedObjectModel {
    Entity("Thing") {
      FetchIndex("byWeight", on: "weight")
      Attribute("number", .integer32)
      Attribute("weight", .integer64, default: 0)
      Relationship("parent", toOne: "Thing", inverse: "children")
      Relationship("children", toMany: "Thing", inverse: "parent", deleteRule: .cascade)
      Relationship("twin", toOne: "Thing", inverse: "twin")
      Relationship("cover", toOne: "Thing", inverse: "covered", deleteRule: .noAction)
      Relationship("covered", toOne: "Thing", inverse: "cover", deleteRule: .noAction)
      Relationship("friends", toMany: "Thing", inverse: "friends")
      Relationship("tags", toMany: "Tag", inverse: "things")
      Relationship("ranks", toMany: "Thing", inverse: "rankedBy", ordered: true, count: 0...3)
      Relationship("rankedBy", toMany: "Thing", inverse: "ranks")
      Relationship("before", toMany: "Thing", inverse: "after", ordered: true)
      Relationship("after", toMany: "Thing", inverse: "before", ordered: true)
      Relationship("parts", toMany: "Part", inverse: "owner", ordered: true, deleteRule: .cascade)
      Relationship("lock", toOne: "Lock", inverse: "thing")
      Relationship("locks", toMany: "Lock", inverse: "keeper")
      Relationship("pointer", toOne: "Thing")
      Relationship("bag", toMany: "Tag")
      Relationship("list", toMany: "Thing", ordered: true)
    }
    Entity("SpecialThing", parent: "Thing") {
      Relationship("rival", toOne: "SpecialThing", inverse: "rivals")
      Relationship("rivals", toMany: "SpecialThing", inverse: "rival", deleteRule: .noAction)
    }
    Entity("Tag") {
      Attribute("number", .integer32)
      Attribute("weight", .integer64, default: 0)
      Relationship("things", toMany: "Thing", inverse: "tags", deleteRule: .noAction)
    }
    Entity("Part") {
      Attribute("number", .integer32)
      Attribute("weight", .integer64, default: 0)
      Relationship("owner", toOne: "Thing", inverse: "parts", optional: false)
    }
    Entity("Lock") {
      Attribute("number", .integer32)
      Attribute("weight", .integer64, default: 0)
      Relationship("thing", toOne: "Thing", inverse: "lock", deleteRule: .deny)
      Relationship("keeper", toOne: "Thing", inverse: "locks", deleteRule: .deny)
    }
  }

  static let kinds = ["Thing", "Thing", "SpecialThing", "SpecialThing", "Tag", "Part", "Lock"]
  static let roots = ["Thing", "Tag", "Part", "Lock"]
}

/// A change that names its objects.
enum LockstepChange {
  case insert(Int, String, owner: Int?)
  case set(Int, Int?)
  case one(Int, String, Int?)
  case add(Int, String, Int, at: Int?)
  case remove(Int, String, Int)
  case members(Int, String, [Int])
  case delete(Int)
}

extension ObjectOracle {
  /// What an operation means to these objects; `nil` when that is nothing.
  func change(_ operation: LockstepOperation, new: Int) -> LockstepChange? {
    func pick(_ place: Int, _ numbers: [Int]) -> Int? {
      numbers.isEmpty ? nil : numbers[place % numbers.count]
    }
    func find(_ place: Int, _ which: Int, isToMany: Bool) -> (Int, RelationshipDescription)? {
      guard let id = pick(place, living), let node = nodes[id] else { return nil }
      let all = relationships(of: node.entity).filter { $0.isToMany == isToMany }
      return all.isEmpty ? nil : (id, all[which % all.count])
    }
    switch operation {
    case .insert(let kind):
      if living.count >= 24 { return nil }
      let entity = LockstepModel.kinds[kind % LockstepModel.kinds.count]
      return .insert(new, entity, owner: entity == "Part" ? pick(kind, living("Thing")) : nil)
    case .set(let place, let value):
      guard let id = pick(place, living), nodes[id]?.values["weight"] != value else { return nil }
      return .set(id, value)
    case .one(let place, let which, let target):
      guard let (id, relationship) = find(place, which, isToMany: false) else { return nil }
      let destination = target.flatMap { pick($0, living(relationship.destination)) }
      if members(id, relationship.name).first == destination { return nil }
      return .one(id, relationship.name, destination)
    case .add(let place, let which, let member, let index):
      guard let (id, relationship) = find(place, which, isToMany: true),
        let member = pick(member, living(relationship.destination))
      else { return nil }
      let present = members(id, relationship.name)
      if present.contains(member) { return nil }
      let isPlaced = relationship.isOrdered && index % 2 == 1
      return .add(id, relationship.name, member, at: isPlaced ? index % (present.count + 1) : nil)
    case .remove(let place, let which, let member):
      guard let (id, relationship) = find(place, which, isToMany: true),
        let member = pick(member, members(id, relationship.name))
      else { return nil }
      return .remove(id, relationship.name, member)
    case .rotate(let place, let which, let count):
      guard let (id, relationship) = find(place, which, isToMany: true) else { return nil }
      let present = members(id, relationship.name)
      guard relationship.isOrdered, present.count > 1 else { return nil }
      let count = 1 + count % (present.count - 1)
      return .members(id, relationship.name, Array(present[count...] + present[..<count]))
    case .members(let place, let which, let wanted):
      guard let (id, relationship) = find(place, which, isToMany: true) else { return nil }
      var list: [Int] = []
      for member in wanted.compactMap({ pick($0, living(relationship.destination)) })
      where !list.contains(member) { list.append(member) }
      let present = members(id, relationship.name)
      if relationship.isOrdered ? present == list : Set(present) == Set(list) { return nil }
      return .members(id, relationship.name, list)
    case .delete(let place): return pick(place, living).map { .delete($0) }
    default: return nil
    }
  }

  mutating func apply(_ change: LockstepChange) {
    switch change {
    case .insert(let id, let entity, let owner):
      insert(id, entity)
      set(id, "weight", 0)
      if let owner { link(id, "owner", to: owner) }
    case .set(let id, let value): set(id, "weight", value)
    case .one(let id, let key, let destination):
      setMembers(id, key, destination.map { [$0] } ?? [])
    case .add(let id, let key, let member, let index):
      link(id, key, to: member)
      guard let index else { return }
      // Among those that are shown.
      var order = members(id, key).filter { $0 != member }
      order.insert(member, at: index)
      arrangeShown(id, key, order)
    case .remove(let id, let key, let member): unlink(id, key, from: member)
    case .members(let id, let key, let list): setMembers(id, key, list)
    case .delete(let id): delete(id)
    }
  }
}
