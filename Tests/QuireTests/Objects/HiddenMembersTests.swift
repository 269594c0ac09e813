import Quire
import QuireSimulation
import Testing

/// Members of an order that it does not show, as their deletion is not saved and nobody told it.
@Suite struct HiddenMembersTests {
  private static let model = try! ManagedObjectModel {
    Entity("Node") {
      Attribute("number", .integer32)
      Relationship("rows", toMany: "Node", inverse: "rowOf", ordered: true)
      Relationship("rowOf", toOne: "Node", inverse: "rows", deleteRule: .noAction)
      Relationship("before", toMany: "Node", inverse: "after", ordered: true)
      Relationship("after", toMany: "Node", inverse: "before", deleteRule: .noAction)
      Relationship("list", toMany: "Node", ordered: true)
    }
  }

  enum Change: CaseIterable {
    case exchange, move, sort, insert, replace, byChild

    /// What 1, 2, 3 and 4 are, of which the first and the third are hidden, when all are shown.
    var result: [Int] {
      switch self {
      case .exchange, .move, .byChild: [1, 4, 2, 3]
      case .sort: [1, 4, 2, 3]
      case .insert: [1, 5, 2, 3, 4]
      case .replace: [1, 5, 3, 4]
      }
    }
  }

  private static func apply(
    _ change: Change, _ owner: ManagedObject, _ key: String, _ spare: ManagedObject
  ) throws {
    let members = try owner.mutableOrderedSetValue(forKey: key)
    switch change {
    case .exchange: try members.exchangeObject(at: 0, withObjectAt: 1)
    case .move: try members.moveObjects(at: [1], to: 0)
    case .sort:
      try members.sort {
        try $0.value(forKey: "number") as? Int ?? 0 > $1.value(forKey: "number") as? Int ?? 0
      }
    case .insert: try members.insert(spare, at: 0)
    case .replace: try members.replaceObject(at: 0, with: spare)
    case .byChild:
      let child = try #require(owner.managedObjectContext).newChildContext()
      let own = try child.existingObject(with: owner.objectID)
      try own.mutableOrderedSetValue(forKey: key).exchangeObject(at: 0, withObjectAt: 1)
      try child.save()
    }
  }

  private static func numbers(_ owner: ManagedObject, _ key: String) throws -> [Int] {
    let members = try #require(try owner.value(forKey: key) as? [ManagedObject])
    return try members.map { try #require(try $0.value(forKey: "number") as? Int) }
  }

  @Test(arguments: ["rows", "before", "list"], Change.allCases)
  func `an order keeps what it hides when it changes`(_ key: String, _ change: Change) throws {
    let ways = [GotchaHome.memory, .file].flatMap { [($0, false), ($0, true)] }
    let place = Change.allCases.firstIndex(of: change)!
    for (home, undoes) in Amount.some(of: ways, oneIn: 2, at: key == "rows" ? place : place + 1) {
      try home.withContext(Self.model, classes: []) { context in
        let owner = try context.insert("Node")
        let nodes = try (1...5).map { try context.insert("Node", ["number": $0]) }
        try owner.setValue(Array(nodes[..<4]), forKey: key)
        try context.save()
        if undoes { context.undoManager = UndoManager() }
        for node in [nodes[0], nodes[2]] { context.delete(node) }
        context.processPendingChanges()
        #expect(try Self.numbers(owner, key) == [2, 4])
        try Self.apply(change, owner, key, nodes[4])
        context.processPendingChanges()
        if undoes {
          context.undo()
          context.undo()
          #expect(try Self.numbers(owner, key) == [1, 2, 3, 4])
        } else {
          for node in [nodes[0], nodes[2]] { context.insert(node) }
          #expect(try Self.numbers(owner, key) == change.result)
        }
        let shown = try Self.numbers(owner, key)
        try context.save()
        let fresh = SmallGallery.sibling(of: context)
        let stored = try fresh.existingObject(with: owner.objectID)
        #expect(try Self.numbers(stored, key) == shown)
        #expect(try StoreFacts(context).findings == [])
      }
    }
  }
}
