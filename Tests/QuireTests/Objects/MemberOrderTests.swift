import Quire
import QuireModel
import QuireSimulation
import QuireTesting
import Testing

/// Places of ordered relationships, changed one at a time: beside a plain array that does the same.
@Suite struct `Places of an ordered relationship` {
  private final class List: ManagedObject {
    @Managed(inverse: \Item.list) var items: [Item]
  }

  private final class Item: ManagedObject {
    @Managed var number: Int = 0
    @Managed var list: List?
  }

  private func context() throws -> ManagedObjectContext {
    let container = try PersistentContainer(name: "Order", for: List.self, Item.self)
    try container.loadPersistentStore(at: nil)
    return container.newBackgroundContext()
  }

  private func item(_ number: Int, in context: ManagedObjectContext) -> Item {
    let item = Item(context: context)
    item.number = number
    return item
  }

  /// More than a chunk has, and few enough for lists that are short.
  @Test(arguments: [8, 600])
  func `any changes make what an array makes of them`(count: Int) throws {
    for seed in 1...UInt64(Amount.of(debug: 3, release: 20, exhaustive: 400)) {
      var generator = SeededGenerator(seed: seed)
      let context = try context()
      let other = SmallGallery.sibling(of: context)
      let list = List(context: context)
      var expected: [Item] = []
      var next = 0
      for step in 0..<Amount.of(debug: 400, release: 2_000) {
        let kind = generator.below(expected.count > count ? 12 : 9)
        func place(_ limit: Int) -> Int { generator.below(3) == 0 ? 0 : generator.below(limit) }
        switch kind {
        case 0...4:
          // Some at once now and then, among them one that is there.
          var new = (0...(generator.below(9) == 0 ? 40 : 0)).map { _ in
            next += 1
            return item(next, in: context)
          }
          let index = place(expected.count + 1)
          if let there = expected.first, generator.below(4) == 0 { new.append(there) }
          try list.mutableOrderedSetValue(forKey: "items").insert(new, at: index)
          expected.insert(contentsOf: new.filter { !expected.contains($0) }, at: index)
        case 5:
          next += 1
          let new = item(next, in: context)
          try list.$items.append(new)
          expected.append(new)
        case 6 where !expected.isEmpty:
          let (source, target) = (place(expected.count), place(expected.count))
          try list.$items.move(from: source, to: target)
          expected.insert(expected.remove(at: source), at: target)
        case 7 where !expected.isEmpty:
          let (first, second) = (place(expected.count), place(expected.count))
          try list.mutableOrderedSetValue(forKey: "items")
            .exchangeObject(at: first, withObjectAt: second)
          expected.swapAt(first, second)
        case 8:
          // Whether or not another save came in between since the order was begun.
          if generator.below(3) == 0 {
            _ = List(context: other)
            try other.save()
          }
          try context.save()
          guard generator.below(4) == 0 else { continue }
          let stored = try #require(other.object(with: list.objectID) as? List)
          other.refreshAllObjects()
          #expect(
            stored.items.map(\.number) == expected.map(\.number), "seed \(seed), step \(step)")
        default:
          guard !expected.isEmpty else { continue }
          let index = place(expected.count)
          switch generator.below(4) {
          case 0:
            try list.$items.remove(at: index)
          case 1:
            try list.$items.remove(expected[index])
          case 2:
            expected[index].list = nil
          default:
            context.delete(expected[index])
            context.processPendingChanges()
          }
          expected.remove(at: index)
        }
        #expect(list.$items.count == expected.count, "seed \(seed), step \(step)")
        if let last = expected.indices.last {
          let index = generator.below(last + 1)
          let member = try list.$items.member(at: index)
          #expect(member === expected[index], "seed \(seed), step \(step), place \(index)")
          #expect(list.$items.firstIndex(of: expected[index]) == index)
        }
        if step % 20 == 0 {
          #expect(list.items.map(\.number) == expected.map(\.number), "seed \(seed), step \(step)")
        }
      }
      try context.save()
      let numbers = expected.map(\.number)
      context.reset()
      let stored = try #require(try context.fetch(FetchRequest<List>()).first { !$0.items.isEmpty })
      #expect(stored.items.map(\.number) == numbers, "seed \(seed)")
      #expect(try StoreFacts(context).findings == [], "seed \(seed)")
    }
  }

  /// A rule that leaves deleted members where they are hides them until the save.
  @Test func `places are those that are shown, whatever is hidden between them`() throws {
    let model = try ManagedObjectModel {
      Entity("List") {
        Relationship("items", toMany: "Item", inverse: "list", ordered: true)
      }
      Entity("Item") {
        Attribute("number", .integer64)
        Relationship("list", toOne: "List", inverse: "items", deleteRule: .noAction)
      }
    }
    let context = try ManagedObjectContext.stubbed(model)
    let list = try context.insert("List")
    let items = try (0..<40).map { number in
      let item = try context.insert("Item")
      try item.setValue(number, forKey: "number")
      return item
    }
    let members = try list.mutableOrderedSetValue(forKey: "items")
    for item in items { try members.add(item) }
    try context.save()
    try members.add(try context.insert("Item"))
    for index in [0, 5, 6, 20] { context.delete(items[index]) }
    context.processPendingChanges()
    var expected = items.indices.filter { ![0, 5, 6, 20].contains($0) }.map { items[$0] }
    expected.append(try members.object(at: 36))
    #expect(members.array == expected && members.count == 37)
    let new = try context.insert("Item")
    try members.insert(new, at: 4)
    expected.insert(new, at: 4)
    #expect(members.array == expected)
    try members.moveObjects(at: [30], to: 1)
    expected.insert(expected.remove(at: 30), at: 1)
    #expect(members.array == expected && members.index(of: new) == 5)
    try context.save()
    #expect(try list.mutableOrderedSetValue(forKey: "items").array == expected)
  }

  @Test func `undo puts members back where they were`() throws {
    let context = try context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    let list = List(context: context)
    for number in 0..<700 { try list.$items.append(item(number, in: context)) }
    try context.save()
    context.undoManager = manager
    let before = list.items.map(\.number)
    manager.beginUndoGrouping()
    try list.$items.move(from: 650, to: 0)
    try list.$items.insert(item(-1, in: context), at: 300)
    try list.$items.remove(at: 10)
    try manager.endUndoGrouping()
    let after = list.items.map(\.number)
    try manager.undo()
    #expect(list.items.map(\.number) == before)
    try manager.redo()
    #expect(list.items.map(\.number) == after && after != before)
  }
}
