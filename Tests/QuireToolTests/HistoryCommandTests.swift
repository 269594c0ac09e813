import Foundation
import Quire
import QuireModel
import QuireTool
import Testing

/// What the commands say about a store that keeps a history.
@Suite struct HistoryCommandTests {
  private func store(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("history.quire")
    let model = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string).with { $0.preservesValueInHistoryOnDeletion = true }
      }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      type: .quire, at: URL(filePath: path), options: [PersistentHistoryTrackingKey: true])
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    context.transactionAuthor = "app"
    let artist = try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
    try artist.setValue("Hokusai", forKey: "name")
    try context.save()
    try artist.setValue("Hiroshige", forKey: "name")
    try context.save()
    context.delete(artist)
    try context.save()
    try coordinator.remove(opened)
    return path
  }

  @Test func `check, stat and dump know the history of a store`() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    #expect(ToolRun("check", path).code == .good)
    let json = try ToolRun("stat", path, "--json").json()
    #expect(json["objectFormat"] as? Int == 5)
    let history = try #require(json["history"] as? [String: Int])
    #expect(history["transactions"] == 3 && history["changes"] == 3)
    #expect(ToolRun("stat", path).output.contains("3 transactions since "))
    let page = try ShowCommandTests.Page(of: path, in: folder)
    #expect((page.data["history"] as? [String: Any])?["transactions"] as? Int == 3)

    let dump = ToolRun("dump", path, "--history")
    #expect(dump.code == .good)
    let lines = try dump.output.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    #expect(lines.count == 3)
    #expect(lines.map { $0["author"] as? String } == ["app", "app", "app"])
    #expect(lines[0]["inserted"] as? [String] == ["Artist/p1"])
    #expect(lines[1]["updated"] as? [String: [String]] == ["Artist/p1": ["name"]])
    #expect(lines[2]["deleted"] as? [String] == ["Artist/p1"])
    #expect(
      lines[2]["tombstones"] as? [String: [String: String]] == ["Artist/p1": ["name": "Hiroshige"]])
    #expect(ToolRun("dump", path, "--history", "--log").code == .wrongUsage)
  }

  @Test func `a store without a history says so`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.4")
    let run = ToolRun("dump", store, "--history")
    #expect(run.code == .good && run.output.isEmpty)
    #expect(run.errors.contains("keeps no history"))
    let json = try ToolRun("stat", store, "--json").json()
    #expect(json["history"] is NSNull)
  }
}
