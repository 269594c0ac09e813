import Quire
import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// An input is the format of a predicate: a byte for the form, then either text or, a byte each,
// words of the language and names of the model. What is read prints as a format that reads the
// same, is encoded and decoded, and is asked of objects by a fetch, by indexes or not, and in
// memory.

private let words = [
  "name", "alias", "size", "weight", "cost", "isOpen", "born", "parent", "children", "friends",
  "steps", "hint", "word", "number", "node", "home.city", "entity", "objectID", "colour", "SELF",
  ".", ".@count", ".@sum", ".@avg", ".@min", ".@max", ".@unionOfObjects",
  ".@distinctUnionOfObjects", ".length", "[FIRST]", "[LAST]", "[SIZE]", "[0]", "[", "]", "==",
  "!=", "<", "<=", ">", ">=", "BETWEEN", "IN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE",
  "MATCHES", "[c]", "[cd]", "[l]", "[n]", "isKindOfClass:", "'Leaf'", "'Node'", "AND", "OR", "NOT",
  "(", ")", "{", "}", ",", "ANY", "ALL", "NONE", "SOME", "TRUEPREDICATE", "FALSEPREDICATE", "nil",
  "YES", "NO", "0", "1", "2", "-1", "0.5", "3", "''", "'a'", "'ab'", "'B'", "'a*'", "'(a|b)+'",
  "+", "-", "*", "/", "**", "UNION", "MINUS", "INTERSECT", "$x", "$y", "SUBQUERY(", "TERNARY(",
  "FUNCTION(", "CAST(", "'NSDate'", "'NSNumber'", "now()", "abs:(", "length:(", "uppercase:(",
  "count:(", "sum:(", "max:(", "modulus:by:(", "objectFrom:withIndex:(", "'length'",
  "'description'",
]

private let model = try! ManagedObjectModel {
  Entity("Node") {
    Attribute("name", .string)
    Attribute("alias", .string)
    Attribute("size", .integer32)
    Attribute("weight", .double)
    Attribute("cost", .decimal)
    Attribute("isOpen", .boolean)
    Attribute("born", .date)
    Attribute("home", .composite) { Attribute("city", .string) }
    Relationship("parent", toOne: "Node", inverse: "children")
    Relationship("children", toMany: "Node", inverse: "parent")
    Relationship("friends", toMany: "Node", inverse: "friends")
    Relationship("steps", toMany: "Step", inverse: "node", ordered: true)
    Relationship("hint", toOne: "Step")
    FetchIndex("byName", on: "name")
    FetchIndex("bySize", on: "size", "name")
    FetchIndex("byParent", on: "parent")
  }
  Entity("Leaf", parent: "Node") { Attribute("colour", .string) }
  Entity("Step") {
    Attribute("word", .string)
    Attribute("number", .integer64)
    Relationship("node", toOne: "Node", inverse: "steps")
    FetchIndex("byWord", on: "word")
  }
}

/// The context and all nodes, which it does not hold.
private nonisolated(unsafe) let world: (context: ManagedObjectContext, nodes: [ManagedObject]) =
  try! makeWorld()

private func makeWorld() throws -> (ManagedObjectContext, [ManagedObject]) {
  let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
  try coordinator.addPersistentStore(type: .inMemory, at: nil)
  let context = ManagedObjectContext()
  context.persistentStoreCoordinator = coordinator
  func insert(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
    let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }
  let texts = ["", "a", "A", "ab", "b", "B", "é"]
  var nodes: [ManagedObject] = []
  // Enough that an index is worth while.
  for number in 0..<60 {
    let node = try insert(number % 5 == 0 ? "Leaf" : "Node", [:])
    if number % 7 > 0 { try node.setValue(texts[number % 7], forKey: "name") }
    if number % 3 > 0 { try node.setValue(texts[number * 5 % 7], forKey: "alias") }
    if number % 4 > 0 { try node.setValue(number % 9 - 2, forKey: "size") }
    if number % 6 > 0 { try node.setValue(Double(number) / 2, forKey: "weight") }
    if number % 8 > 0 { try node.setValue(Decimal(number) / 4, forKey: "cost") }
    try node.setValue(number % 2 == 0, forKey: "isOpen")
    try node.setValue(Date(timeIntervalSinceReferenceDate: Double(number % 5)), forKey: "born")
    if number % 3 == 0 { try node.setValue(["city": texts[number % 7]], forKey: "home") }
    let steps = try (0..<number % 4).map {
      try insert("Step", ["word": texts[($0 + number) % 7], "number": $0])
    }
    try node.setValue(steps, forKey: "steps")
    try node.setValue(steps.first, forKey: "hint")
    if let other = nodes.last {
      try node.setValue(nodes[number / 3], forKey: "parent")
      try node.setValue(Set([other, nodes[0]]), forKey: "friends")
    }
    nodes.append(node)
  }
  try context.save()
  return (context, nodes)
}

func seeds() -> [[UInt8]] {
  [
    "name == 'a' OR size == 2", "size > 1 AND name BEGINSWITH 'a'", "ANY steps.word == 'a'",
    "steps[FIRST].word == 'ab'", "SUBQUERY(steps, $x, $x.number > 0).@count > 1",
    "parent.name == 'b' AND NOT size IN {1, 2, nil}", "self isKindOfClass: 'Leaf'",
    "TERNARY(isOpen == YES, weight, size) BETWEEN {1, 9}", "name MATCHES '(a|b)+'",
    "children.@sum.size + 1 > weight * 2", "entity == 'Node' AND name <[l] 'ab'",
    "NONE friends.name LIKE[c] 'A*'", "CAST(born, 'NSNumber') > 2", "home['city'] == 'a'",
  ].map { [0] + Array($0.utf8) }
}

func fuzz(_ bytes: [UInt8]) {
  guard let form = bytes.first else { return }
  let rest = bytes.dropFirst()
  let format =
    form & 1 == 0
    ? String(decoding: rest, as: UTF8.self)
    : rest.prefix(60).map { words[Int($0) % words.count] }.joined(
      separator: form & 2 == 0 ? " " : "")
  guard let predicate = try? FetchPredicate(format: format) else { return }
  let printed = predicate.description
  guard let again = try? FetchPredicate(format: printed), again == predicate else {
    fatalError("\(format) prints as \(printed), which is another")
  }
  guard let data = try? JSONEncoder().encode(predicate),
    (try? JSONDecoder().decode(FetchPredicate.self, from: data)) == predicate
  else { fatalError("\(format) is encoded as another") }
  // What is another value each time, or says where it lies in memory, is not compared.
  let lowercased = printed.lowercased()
  if ["random", "now", "description"].contains(where: lowercased.contains) { return }
  var request = FetchRequest<ManagedObject>(entityName: "Node")
  request.predicate = predicate
  guard let found = try? world.context.fetch(request) else { return }
  guard let count = try? world.context.count(for: request), count == found.count else {
    fatalError("\(printed): another count than \(found.count)")
  }
  let ids = Set(found.map(\.objectID))
  guard ids.count == found.count else { fatalError("\(printed): an object is found twice") }
  for node in world.nodes {
    guard let holds = try? predicate.evaluate(with: node) else { continue }
    if holds != ids.contains(node.objectID) {
      fatalError("\(printed): \(holds) in memory of \(node.objectID), and not in a fetch")
    }
  }
  request.sortDescriptors = [FetchSortDescriptor(key: "size"), FetchSortDescriptor(key: "name")]
  request.fetchLimit = 5
  guard let first = try? world.context.fetch(request), first.count == min(5, found.count) else {
    fatalError("\(printed): another number with a limit")
  }
  _ = try? request.explain(in: world.context)
}
