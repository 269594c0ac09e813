import Quire
import QuireTesting
import Testing

/// What happened, in order.
private final class Log {
  var lines: [String] = []

  /// The lines since the last call.
  func take() -> [String] {
    defer { lines = [] }
    return lines
  }
}

/// An object that logs its hooks, and does in them what it was given.
private final class Node: ManagedObject {
  @Managed var name: String
  @Managed var size: Int
  @Managed var shout: String?
  @Managed var parent: Node?
  @Managed var children: Set<Node>
  @Managed var neighbour: Node?

  // Objects are made by their context, so that they find the log by themselves.
  nonisolated(unsafe) private static var logs: [ObjectIdentifier: Log] = [:]
  static func log(of context: ManagedObjectContext, _ log: Log) {
    logs[ObjectIdentifier(context)] = log
  }
  static func forget(_ context: ManagedObjectContext) { logs[ObjectIdentifier(context)] = nil }

  var whenAwake: (Node) -> Void = { _ in }
  var whenSaving: (Node) -> Void = { _ in }
  var whenSaved: (Node) -> Void = { _ in }
  var whenFaulting: (Node) -> Void = { _ in }
  var whenValidating: (Node) throws -> Void = { _ in }

  private func note(_ line: String) {
    guard let context = managedObjectContext else { return }
    Self.logs[ObjectIdentifier(context)]?.lines.append("\(line) \(name)")
  }

  override func awakeFromInsert() { note("awakeFromInsert") }
  override func awakeFromFetch() {
    note("awakeFromFetch")
    shout = name.uppercased()
  }
  override func awake(fromSnapshotEvents events: SnapshotEventType) {
    note("awake \(events.rawValue)")
    whenAwake(self)
  }
  override func willSave() {
    note(isDeleted ? "willSave deleted" : "willSave")
    whenSaving(self)
  }
  override func didSave() {
    note(isDeleted ? "didSave deleted" : "didSave")
    whenSaved(self)
  }
  override func willTurnIntoFault() {
    note("willTurnIntoFault")
    whenFaulting(self)
  }
  override func didTurnIntoFault() {
    guard let context = managedObjectContext else { return }
    Self.logs[ObjectIdentifier(context)]?.lines.append("didTurnIntoFault \(isFault)")
  }
  override func prepareForDeletion() { note("prepareForDeletion") }
  override func validateForInsert() throws {
    note("validateForInsert")
    try super.validateForInsert()
    try whenValidating(self)
  }
  override func validateForUpdate() throws {
    note("validateForUpdate")
    try super.validateForUpdate()
    try whenValidating(self)
  }
  override func validateForDelete() throws {
    note("validateForDelete")
    try super.validateForDelete()
    try whenValidating(self)
  }
}

private let model = try! ManagedObjectModel {
  Entity("Node") {
    Attribute("name", .string, optional: false, default: "new")
    Attribute("size", .integer32, default: 0)
    Attribute("shout", .string, transient: true)
    Relationship("parent", toOne: "Node", inverse: "children")
    Relationship("children", toMany: "Node", inverse: "parent", deleteRule: .cascade)
    transientNeighbour
  }
}

private var transientNeighbour: RelationshipDescription {
  var relationship = Relationship("neighbour", toOne: "Node", inverse: "neighbour")
  relationship.isTransient = true
  return relationship
}

/// Serialised, as the objects' logs are in one place.
@Suite(.serialized) struct LifecycleTests {
  private func withContext(_ body: (ManagedObjectContext, Log) throws -> Void) throws {
    let context = try ManagedObjectContext.stubbed(model, classes: [Node.self])
    let log = Log()
    Node.log(of: context, log)
    defer { Node.forget(context) }
    try body(context, log)
  }

  private func node(_ name: String, in context: ManagedObjectContext) -> Node {
    let node = Node(context: context)
    node.name = name
    return node
  }

  @Test func `an inserted object is told of its insertion, its save and nothing else`() throws {
    try withContext { context, log in
      let node = node("a", in: context)
      #expect(log.take() == ["awakeFromInsert new"])
      try context.save()
      #expect(log.take() == ["willSave a", "validateForInsert a", "didSave a"])
      try context.save()
      #expect(log.take() == [], "nothing to save, nobody to tell")
      node.name = "b"
      try context.save()
      #expect(log.take() == ["willSave b", "validateForUpdate b", "didSave b"])
    }
  }

  @Test func `an object made without a context is told when it is inserted, and once`() throws {
    try withContext { context, log in
      let entity = try #require(EntityDescription.entity(forEntityName: "Node", in: context))
      let node = Node(entity: entity, insertInto: nil)
      #expect(log.take() == [])
      context.insert(node)
      #expect(log.take() == ["awakeFromInsert new"])
      context.rollback()
      context.insert(node)
      #expect(log.take() == [])
    }
  }

  @Test func `a value set in awakeFromFetch is no change`() throws {
    try withContext { context, log in
      _ = node("a", in: context)
      try context.save()
      context.reset()
      _ = log.take()
      let node = try #require(try context.fetch(FetchRequest<Node>()).first)
      #expect(log.take() == ["awakeFromFetch a"])
      #expect(node.shout == "A" && !node.hasChanges && !context.hasChanges)
      context.refresh(node, mergeChanges: false)
      #expect(log.take() == ["willTurnIntoFault a", "didTurnIntoFault true"])
      #expect(node.shout == "A", "the first look wakes it")
      #expect(log.take() == ["awakeFromFetch a"])
      context.refresh(node, mergeChanges: false)
      _ = log.take()
      context.refresh(node, mergeChanges: false)
      #expect(log.take() == [], "a fault cannot become one")
      node.size = 3
      #expect(log.take() == ["awakeFromFetch a"])
      #expect(node.shout == "A" && node.hasChanges)
      try context.save()
      #expect(node.shout == "A" && node.version == 2)
    }
  }

  @Test func `a refresh that keeps changes, and a rollback, say what they are`() throws {
    try withContext { context, log in
      let a = node("a", in: context)
      try context.save()
      a.size = 1
      _ = log.take()
      a.whenAwake = { $0.shout = "awake" }
      context.refresh(a, mergeChanges: true)
      #expect(log.take() == ["awake 32 a"])
      #expect(a.size == 1 && a.shout == "awake")
      context.rollback()
      #expect(
        log.take() == [
          "willTurnIntoFault a", "didTurnIntoFault true", "awakeFromFetch a", "awake 16 a",
        ])
      #expect(a.size == 0 && a.shout == "awake" && !context.hasChanges)
    }
  }

  @Test func `deletion is told before the rules are applied, to cascaded objects too`() throws {
    try withContext { context, log in
      let (parent, child) = (node("parent", in: context), node("child", in: context))
      child.parent = parent
      try context.save()
      _ = log.take()
      context.delete(parent)
      #expect(log.take() == [])
      context.processPendingChanges()
      #expect(log.take() == ["prepareForDeletion parent", "prepareForDeletion child"])
      try context.save()
      #expect(
        log.take() == [
          "willSave deleted parent", "willSave deleted child", "validateForDelete parent",
          "validateForDelete child", "didSave deleted parent", "didSave deleted child",
          "willTurnIntoFault parent", "didTurnIntoFault true", "willTurnIntoFault child",
          "didTurnIntoFault true",
        ])
      #expect(parent.managedObjectContext == nil && !parent.isDeleted)
    }
  }

  @Test func `an object deleted before it was saved is told of no save`() throws {
    try withContext { context, log in
      context.delete(node("a", in: context))
      try context.save()
      #expect(log.take() == ["awakeFromInsert new", "prepareForDeletion a"])
    }
  }

  @Test func `changes in willSave are saved, and willSave repeats until there are none`() throws {
    try withContext { context, log in
      let (a, b, c) = (node("a", in: context), node("b", in: context), node("c", in: context))
      try context.save()
      _ = log.take()
      a.size = 1
      a.whenSaving = { node in
        if node.size < 3 { node.size += 1 }
        b.size = 7
        b.name = "b"
        if node.size == 3 { context.delete(c) }
      }
      b.whenSaving = { if $0.children.isEmpty { self.node("d", in: context).parent = $0 } }
      try context.save()
      let lines = log.take().filter { $0.hasPrefix("willSave") || $0.hasPrefix("awakeFromI") }
      #expect(
        lines == [
          "willSave a", "willSave a", "willSave b", "awakeFromInsert new", "willSave a",
          "willSave b", "willSave deleted c", "willSave d",
        ])
      #expect(!context.hasChanges && c.managedObjectContext == nil)
      context.reset()
      let sizes = try context.fetch(FetchRequest<Node>()).map { "\($0.name) \($0.size)" }
      #expect(sizes == ["a 3", "b 7", "d 0"])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test func `setting what is there, or by primitive accessors, is no reason to be told`() throws {
    try withContext { context, log in
      let a = node("a", in: context)
      let b = node("b", in: context)
      try context.save()
      a.size = 1
      _ = log.take()
      a.whenSaving = { node in
        node.name = "a"
        b.name = "b"
        try? node.setPrimitiveValue(node.size + 1, forKey: "size")
      }
      try context.save()
      #expect(log.take() == ["willSave a", "validateForUpdate a", "didSave a", "didSave b"])
      #expect(a.size == 2 && !b.hasChanges)
      b.name = "c"
      try context.save()
      #expect(b.version == 2, "an object that was set to what it was can be changed afterwards")
    }
  }

  @Test func `objects that never stop changing end the save with an error`() throws {
    try withContext { context, log in
      let a = node("a", in: context)
      a.whenSaving = { $0.size += 1 }
      #expect { try context.save() } throws: { code(of: $0) == .managedObjectContextLocking }
      #expect(log.take().count { $0 == "willSave a" } > ManagedObjectContext.willSaveLimit)
      #expect(a.isInserted && context.hasChanges)
      a.whenSaving = { _ in }
      try context.save()
      #expect(a.version == 1)
    }
  }

  @Test func `an object that saves while it is told of a save gets an error`() throws {
    try withContext { context, _ in
      let a = node("a", in: context)
      var codes: [PersistenceError.Code?] = []
      func save() {
        do {
          try context.save()
          codes.append(nil)
        } catch { codes.append(code(of: error)) }
      }
      a.whenSaving = { _ in save() }
      a.whenSaved = { _ in save() }
      try context.save()
      #expect(codes == Array(repeating: .managedObjectContextBusy, count: 2))
      a.whenSaved = { $0.size = 9 }
      a.name = "changed"
      try context.save()
      #expect(a.isUpdated && a.size == 9, "a change for the next save")
    }
  }

  @Test func `a change that willSave drops by a refresh is not saved`() throws {
    try withContext { context, _ in
      let a = node("a", in: context)
      try context.save()
      a.size = 5
      a.whenSaving = { context.refresh($0, mergeChanges: false) }
      try context.save()
      #expect(a.size == 0 && a.version == 1 && !context.hasChanges)
      #expect(try context.fetch(FetchRequest<Node>()).map(\.size) == [0])
    }
  }

  /// What another object does in its turn may take an object away, or make it clean.
  @Test func `willSave skips objects that an earlier willSave has deleted or refreshed`() throws {
    try withContext { context, log in
      let (a, b) = (node("a", in: context), node("b", in: context))
      _ = log.take()
      a.whenSaving = { _ in
        context.delete(b)
        _ = try? context.count(for: FetchRequest<Node>())
      }
      var toldB = 0
      b.whenSaving = { _ in toldB += 1 }
      try context.save()
      #expect(toldB == 0 && b.managedObjectContext == nil)
      let (first, c) = (node("first", in: context), node("c", in: context))
      a.whenSaving = { _ in }
      first.whenSaving = { _ in context.delete(c) }
      var toldC = 0
      c.whenSaving = { _ in toldC += 1 }
      try context.save()
      #expect(toldC == 0 && c.managedObjectContext == nil)
      let d = node("d", in: context)
      try context.save()
      (a.size, d.size) = (2, 2)
      a.whenSaving = { node in
        for object in [node, d] { context.refresh(object, mergeChanges: false) }
      }
      d.whenSaving = { node in if node.size != 9 { node.size = 9 } }
      try context.save()
      #expect(d.size == 0 && !context.hasChanges)
    }
  }

  private struct Complaint: Error {}

  @Test func `errors of validation are collected from all objects`() throws {
    try withContext { context, log in
      let (a, b, c) = (node("a", in: context), node("b", in: context), node("c", in: context))
      try context.save()
      context.delete(c)
      try a.setValue(nil, forKey: "name")
      b.size = 1
      for node in [b, c] { node.whenValidating = { _ in throw Complaint() } }
      let new = node("d", in: context)
      new.whenValidating = { _ in
        var error = PersistenceError(.managedObjectValidation, "not this one")
        error.key = "name"
        throw error
      }
      _ = log.take()
      do {
        try context.save()
        Issue.record("the save should have failed")
      } catch let error as PersistenceError {
        #expect(error.code == .validationMultipleErrors)
        #expect(error.detailedErrors.map(\.code.rawValue) == [1550, 1550, 1570, 1550])
      }
      #expect(!log.take().contains { $0.hasPrefix("didSave") })
      context.rollback()
      b.size = 1
      #expect(throws: Complaint.self, "one error is thrown as it is") { try context.save() }
      b.whenValidating = { if $0.size < 5 { $0.size += 1 } }
      try context.save()
      context.refresh(b, mergeChanges: false)
      #expect(b.size == 5, "what validation changes is validated and saved")
    }
  }

  @Test func `values can be read before they are forgotten, and not be changed`() throws {
    try withContext { context, _ in
      let (a, b) = (node("a", in: context), node("b", in: context))
      b.parent = a
      try context.save()
      var seen: [String?] = []
      b.whenFaulting = { node in
        seen.append(node.parent?.name)
        node.name = "changed"
      }
      context.refresh(b, mergeChanges: false)
      #expect(!context.hasChanges && b.name == "b")
      context.reset()
      #expect(seen == ["a", "a"] && !context.hasChanges)
    }
  }

  @Test func `transient relationships can be set up when the row comes`() throws {
    try withContext { context, _ in
      let (a, b) = (node("a", in: context), node("b", in: context))
      try context.save()
      a.size = 1
      a.whenAwake = { $0.neighbour = b }
      context.refresh(a, mergeChanges: true)
      #expect(a.neighbour === b && b.neighbour == nil && !b.hasChanges)
    }
  }
}
