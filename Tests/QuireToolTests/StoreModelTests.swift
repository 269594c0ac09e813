import Foundation
import Quire
import QuireModel
import QuireTool
import Testing

/// A model that was written in Swift has no file; its stores carry it.
@Suite struct StoreModelTests {
  private let folder: TemporaryFolder
  private let shipped: String
  private let fresh: String

  init() throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    func store(_ name: String, _ attributes: [Attribute]) throws -> String {
      let url = folder.url.appending(path: name)
      let model = try ManagedObjectModel {
        Entity("Person") { for attribute in attributes { attribute } }
      }
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      let context = ManagedObjectContext()
      context.persistentStoreCoordinator = coordinator
      _ = try EntityDescription.insertNewObject(forEntityName: "Person", into: context)
      try context.save()
      try coordinator.remove(store)
      return url.path
    }
    shipped = try store("shipped.quire", [Attribute("name", .string)])
    fresh = try store("fresh.quire", [Attribute("name", .string), Attribute("age", .integer16)])
  }

  @Test func `models shows the model that a store carries`() throws {
    let run = ToolRun("models", fresh)
    #expect(run.code == .good, "\(run.errors)")
    #expect(run.output.contains("* fresh  1 entity"), "\(run.output)")
    #expect(run.output.contains("Person  2 attributes"), "\(run.output)")
    let json = try ToolRun("models", shipped, "--json").json()
    #expect(json["current"] as? String == "shipped")
  }

  @Test func `diff compares the models of two stores`() {
    let run = ToolRun("diff", shipped, fresh)
    #expect(run.code == .good, "\(run.errors)")
    #expect(run.output.hasPrefix("shipped → fresh\n"), "\(run.output)")
    #expect(run.output.contains("+ attribute age: integer16"), "\(run.output)")
    #expect(ToolRun("diff", fresh, fresh).output.hasSuffix("read each other's stores.\n"))
  }

  @Test func `diff asks for the newer version where one alone is named`() {
    let run = ToolRun("diff", Fixtures.model, "Gallery 1.3")
    #expect(run.code == .bad)
    #expect(run.errors.contains("name the newer version too"), "\(run.errors)")
  }

  @Test func `migrate brings a store to the model of another`() throws {
    let plan = ToolRun("migrate", shipped, "--model", fresh, "--dry-run")
    #expect(plan.code == .good, "\(plan.errors)")
    #expect(plan.output.contains("(the store's own model) → fresh"), "\(plan.output)")
    #expect(ToolRun("migrate", shipped, "--model", fresh).code == .good)
    #expect(ToolRun("diff", shipped, fresh).output.hasSuffix("read each other's stores.\n"))
    #expect(ToolRun("check", shipped).code == .good)
  }

  @Test func `models names a file that is neither a store nor a model`() throws {
    let odd = folder.url.appending(path: "odd.quire")
    try Data("rubbish".utf8).write(to: odd)
    let run = ToolRun("models", odd.path)
    #expect(run.code == .bad)
    #expect(run.errors.contains("odd.quire"), "\(run.errors)")
  }
}
