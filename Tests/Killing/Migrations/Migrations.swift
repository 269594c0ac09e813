// Three programs in one: the first makes a store of an old version, the second migrates it until it
// is killed, the third looks at what is left. `Tests/Killing/run-migrations` has them take turns.

import Quire
import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@main
enum Migrations {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let count = Int64(arguments[3]) else {
      fail("make, migrate or verify, then FOLDER COUNT")
    }
    let store = MigratedStore(
      url: URL(filePath: arguments[2]).appending(path: "store"), itemCount: count)
    do {
      switch arguments[1] {
      case "make": try store.make()
      case "migrate": try store.migrate()
      case "verify": print(try store.verify())
      default: fail("not known: \(arguments[1])")
      }
    } catch {
      fail("\(arguments[1]): \(error)")
    }
  }

  static func fail(_ message: String) -> Never {
    print(message)
    exit(1)
  }
}

/// What a store holds follows from its version and the number of its items.
struct MigratedStore {
  let url: URL
  let itemCount: Int64
  private var boxCount: Int64 { max(1, itemCount / 100) }

  struct Wrong: Error, CustomStringConvertible { var description: String }

  init(url: URL, itemCount: Int64) {
    self.url = url
    self.itemCount = itemCount
  }

  private func versions() throws -> VersionedModel {
    let old = try ManagedObjectModel {
      Entity("Item") {
        Attribute("number", .integer64, optional: false)
        Attribute("title", .string)
        Attribute("note", .string)
        Relationship("box", toOne: "Box", inverse: "items")
      }
      Entity("Box") {
        Attribute("number", .integer64, optional: false)
        Relationship("items", toMany: "Item", inverse: "box")
        Relationship("next", toOne: "Box")
      }
      Entity("Gone") { Attribute("number", .integer64) }
    }
    let new = try ManagedObjectModel {
      Entity("Item") {
        Attribute("number", .integer64, optional: false)
        Attribute("name", .string, renamedFrom: "title")
        Attribute("note", .string, optional: false, default: "none")
        Attribute("rating", .integer16, optional: false, default: 3)
        Relationship("box", toOne: "Box", inverse: "items")
      }
      Entity("Box") {
        Attribute("number", .integer64, optional: false)
        Relationship("items", toMany: "Item", inverse: "box")
        Relationship("next", toMany: "Box", inverse: "previous")
        Relationship("previous", toMany: "Box", inverse: "next")
      }
    }
    guard let versions = VersionedModel(versions: [.init("old", old), .init("new", new)]) else {
      throw Wrong(description: "no versions")
    }
    return versions
  }

  private func title(_ number: Int64) -> String? {
    number % 7 == 0 ? nil : String(repeating: "title \(number) ", count: Int(1 + number % 9))
  }

  private func note(_ number: Int64) -> String? { number % 3 == 0 ? nil : "note \(number)" }

  private func box(_ number: Int64) -> Int64 { 1 + number % boxCount }

  func make() throws {
    guard let old = try versions().version(named: "old") else { return }
    let builder = try StoreBuilder(
      creating: url, model: old.model, versionName: "old", uuid: UUID())
    for number in 1...boxCount {
      try builder.insert(
        .init("Box", number), attributes: ["number": .integer(number)],
        toOne: ["next": .init("Box", 1 + number % boxCount)])
      let items = stride(from: number - 1, through: itemCount, by: Int(boxCount)).filter { $0 > 0 }
      try builder.link(.init("Box", number), "items", to: items.map { .init("Item", $0) })
    }
    for number in 1...itemCount {
      var values: [String: AttributeValue] = ["number": .integer(number)]
      values["title"] = title(number).map(AttributeValue.string)
      values["note"] = note(number).map(AttributeValue.string)
      try builder.insert(
        .init("Item", number), attributes: values, toOne: ["box": .init("Box", box(number))])
    }
    try builder.insert(.init("Gone", 1), attributes: ["number": .integer(1)], toOne: [:])
    try builder.finish()
  }

  private func open(
    _ model: VersionedModel, _ options: PersistentStoreOptions
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return context
  }

  func migrate() throws {
    let context = try open(try versions(), .migrating)
    guard let coordinator = context.persistentStoreCoordinator else { return }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// - Returns: the version that was found, whole.
  func verify() throws -> String {
    let versions = try versions()
    var found = "old"
    do {
      guard let old = versions.endingAt("old") else { return "" }
      try verify(try open(old, [:]), isNew: false)
    } catch let error as PersistenceError
      where error.code == .persistentStoreIncompatibleVersionHash
    {
      found = "new"
      try verify(try open(versions, [:]), isNew: true)
    }
    let findings = try StoreInspection(of: url).findings
    if !findings.isEmpty { throw Wrong(description: "\(found): \(findings.prefix(5))") }
    return found
  }

  private func verify(_ context: ManagedObjectContext, isNew: Bool) throws {
    func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
      if !condition { throw Wrong(description: "\(isNew ? "new" : "old"): \(what())") }
    }
    let items = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
    try expect(items.count == Int(itemCount), "\(items.count) items")
    for (index, item) in items.enumerated() {
      let number = Int64(index) + 1
      try expect(
        item.objectID.uriRepresentation().lastPathComponent == "p\(number)",
        "\(item.objectID) in place of \(number)")
      try expect(item.value(forKey: "number") as? Int == Int(number), "the number of \(number)")
      let title = try item.value(forKey: isNew ? "name" : "title") as? String
      try expect(title == self.title(number), "the title of \(number)")
      let note = try item.value(forKey: "note") as? String
      try expect(note == self.note(number) ?? (isNew ? "none" : nil), "the note of \(number)")
      if isNew {
        try expect(item.value(forKey: "rating") as? Int == 3, "the rating of \(number)")
      }
      let box = try item.value(forKey: "box") as? ManagedObject
      try expect(
        box?.objectID.uriRepresentation().lastPathComponent == "p\(self.box(number))",
        "the box of \(number)")
    }
    let boxes = try context.fetch(FetchRequest<ManagedObject>(entityName: "Box"))
    try expect(boxes.count == Int(boxCount), "\(boxes.count) boxes")
    var contained = 0
    for box in boxes {
      contained += (try box.value(forKey: "items") as? Set<ManagedObject>)?.count ?? 0
      let next = try box.value(forKey: "next")
      let name = (next as? Set<ManagedObject>)?.first ?? next as? ManagedObject
      let number = try box.value(forKey: "number") as? Int ?? 0
      try expect(
        name?.objectID.uriRepresentation().lastPathComponent
          == "p\(1 + number % Int(boxCount))", "what comes after box \(number)")
    }
    try expect(contained == Int(itemCount), "\(contained) items in boxes")
    if !isNew {
      try expect(
        context.count(for: FetchRequest<ManagedObject>(entityName: "Gone")) == 1, "Gone is gone")
    }
  }
}
