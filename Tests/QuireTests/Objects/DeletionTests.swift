import Quire
import QuireTesting
import Testing

// What an object may do when it is told that it is about to be deleted.
@Suite struct DeletionTests {
  /// Calls whatever it was given when it is about to be deleted.
  private final class Node: ManagedObject {
    @Managed var name: String
    @Managed var parent: Node?
    @Managed var children: Set<Node>
    var whenDeleted: (Node) -> Void = { _ in }

    override func prepareForDeletion() { whenDeleted(self) }
  }

  private static let model = try! ManagedObjectModel {
    Entity("Node") {
      Attribute("name", .string)
      Relationship("parent", toOne: "Node", inverse: "children")
      Relationship("children", toMany: "Node", inverse: "parent", deleteRule: .cascade)
    }
  }

  private func nodes() throws -> (ManagedObjectContext, parent: Node, child: Node) {
    let context = try ManagedObjectContext.stubbed(Self.model, classes: [Node.self])
    let (parent, child) = (Node(context: context), Node(context: context))
    child.parent = parent
    try context.save()
    return (context, parent, child)
  }

  // What happened: the list of objects whose rules were to be applied was emptied when all was
  // done. An object that fetched when it was told began with itself again, for ever.
  @Test func `an object that fetches before it is deleted is told once`() throws {
    let (context, parent, child) = try nodes()
    var told: [String] = []
    parent.whenDeleted = { node in
      told.append("parent")
      context.processPendingChanges()
      let found = try? context.fetch(FetchRequest<Node>())
      #expect(found == [child] && node.children == [child], "still whole")
    }
    child.whenDeleted = { _ in
      told.append("child")
      _ = try? context.count(for: FetchRequest<Node>())
    }
    context.delete(parent)
    try context.save()
    #expect(told == ["parent", "child"])
    #expect(try context.fetch(FetchRequest<Node>()).isEmpty)
  }

  @Test func `an object that deletes others before it is deleted takes them along`() throws {
    let (context, parent, child) = try nodes()
    let other = Node(context: context)
    try context.save()
    child.whenDeleted = { _ in context.delete(other) }
    context.delete(parent)
    context.processPendingChanges()
    #expect(parent.isDeleted && child.isDeleted && other.isDeleted)
    try context.save()
    #expect(try context.fetch(FetchRequest<Node>()).isEmpty)
  }

  @Test func `an object can be taken back before it is deleted`() throws {
    let (context, parent, child) = try nodes()
    parent.whenDeleted = { context.insert($0) }
    context.delete(parent)
    context.processPendingChanges()
    #expect(!parent.isDeleted && !child.isDeleted && parent.children == [child])
    #expect(!context.hasChanges)
    #expect(try context.count(for: FetchRequest<Node>()) == 2)
  }
}
