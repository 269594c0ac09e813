import Foundation
import Quire
import QuireSimulation
import QuireStorage
import QuireTool
import Testing

/// Commits shipped by a process, and restored by others.
@Suite struct ShipCommandTests {
  private let folder: TemporaryFolder
  private let store: String
  private let shipped: String

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.fixture("Gallery 1.3")
    shipped = folder.path("shipped")
  }

  /// The titles of all artworks of a store.
  private func titles(of path: String) throws -> Set<String> {
    let url = URL(filePath: path)
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try PersistentStoreCoordinator.managedObjectModel(storedAt: url))
    var options = PersistentStoreOptions()
    options.isReadOnly = true
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    defer { try? coordinator.remove(store) }
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return Set(
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Artwork")).map {
        try $0.value(forKey: "title") as? String ?? ""
      })
  }

  private func commit(in output: String) throws -> Int {
    let match = try #require(output.firstMatch(of: /commit (\d+)/), "\(output)")
    return try #require(Int(match.output.1))
  }

  @Test func `what is shipped is shown, and restored by number and by time`() throws {
    var writer = try LiveStoreWriter(store, isShared: false)
    let first = ToolRun("ship", store, "--to", shipped, "--once")
    #expect(first.code == .good, "\(first.errors)")
    // Before a checkpoint, after which the log need not have them.
    for _ in 0..<2 { try writer.save() }
    let behind = ToolRun("ship", store, "--to", shipped, "--status")
    #expect(behind.output.hasSuffix("2 commits since are not there yet.\n"), "\(behind.output)")
    #expect(ToolRun("ship", store, "--to", shipped, "--once").code == .good)
    let status = ToolRun("ship", store, "--to", shipped, "--status")
    #expect(status.code == .good)
    #expect(status.output.hasSuffix("Nothing was committed since.\n"), "\(status.output)")
    let date = try #require(status.output.firstMatch(of: /\S+Z  (\S+Z)/)).output.1
    let number = try commit(in: first.output)
    let restored = folder.path("restored.quire")
    for (words, title) in [
      (["--commit", "\(number)"], "Save 1"), (["--commit", "\(number + 1)"], "Save 2"),
      (["--at", "\(date)"], "Save 3"), ([], "Save 3"),
    ] {
      let run = ToolRun(["restore", "--from", shipped, "--to", restored] + words)
      #expect(run.code == .good, "\(run.errors)")
      #expect(try titles(of: restored) == [title])
      #expect(ToolRun("check", restored).code == .good)
      try FileManager.default.removeItem(atPath: restored)
    }
    let json = ToolRun("ship", store, "--to", shipped, "--status", "--json")
    #expect(json.output.contains("\"commitsBehind\": 0"))
    try writer.close()
  }

  @Test func `what cannot be restored is said`() throws {
    #expect(ToolRun("ship", store, "--to", shipped, "--status").code == .bad)
    #expect(ToolRun("ship", store, "--to", shipped, "--once").code == .good)
    let target = folder.path("restored.quire")
    for (words, text) in [
      (["--commit", "99"], "commit 99 is not in"), (["--at", "2020-01-01"], "it begins later"),
      (["--at", "1/2/2020"], "may be more than one day"), (["--commit", "x"], "not “x”"),
      (["--commit", "1", "--at", "2020-01-01"], "leave one out"), ([store], "not from both"),
    ] {
      let run = ToolRun(["restore", "--from", shipped, "--to", target] + words)
      #expect(run.code != .good && run.errors.contains(text), "\(words): \(run.errors)")
    }
    #expect(ToolRun("restore", "--from", shipped, "--to", store).code == .bad)
    #expect(ToolRun("restore", "--to", target).code == .wrongUsage)
    #expect(ToolRun("restore", store, "--to", target, "--commit", "1").code == .wrongUsage)
    #expect(ToolRun("ship", store, "--to", shipped, "--every", "0").code == .wrongUsage)
    #expect(ToolRun("ship", folder.path("none.quire"), "--to", shipped).code == .bad)
    let segment = shipped + "/00000001-00000000.segment"
    try folder.damage(segment) { $0[100] ^= 1 }
    let run = ToolRun("restore", "--from", shipped, "--to", target)
    #expect(run.code == .bad && run.errors.contains(segment), "\(run.errors)")
    #expect(ToolRun("ship", store, "--to", shipped, "--status").code == .bad)
    #expect(!FileManager.default.fileExists(atPath: target))
  }

  /// Processes that ship and that restore are killed at any moment, while this one saves.
  @Test func `whoever is killed, what is in the folder is what the store was`() throws {
    var writer = try LiveStoreWriter(store, isShared: false)
    var generator = SystemRandomNumberGenerator()
    let target = folder.path("restored.quire")
    for round in 0..<Amount.of(debug: 6, release: 30, exhaustive: 300) {
      let ship = try ToolProcess(
        ["quire", "ship", store, "--to", shipped, "--every", "0.05"], in: folder.url.path)
      let end = ContinuousClock.now + .milliseconds(Int.random(in: 20..<500, using: &generator))
      while ContinuousClock.now < end { try writer.save() }
      ship.send(SIGKILL)
      _ = ship.wait()
      guard round % 2 == 0 else { continue }
      try? FileManager.default.removeItem(atPath: target)
      let restore = try ToolProcess(
        ["quire", "restore", "--from", shipped, "--to", target], in: folder.url.path)
      PageStore.pause(milliseconds: UInt32.random(in: 1..<200, using: &generator))
      restore.send(SIGKILL)
      _ = restore.wait()
      // Either nothing or all of it has the name.
      if FileManager.default.fileExists(atPath: target) {
        #expect(try titles(of: target).count == 1)
      }
    }
    let last = ToolRun("ship", store, "--to", shipped, "--once")
    #expect(last.code == .good, "\(last.errors)")
    let newest = try commit(in: last.output)
    var count = 0
    for number in [newest, 1] + (0..<6).map({ _ in Int.random(in: 1...newest, using: &generator) })
    {
      try? FileManager.default.removeItem(atPath: target)
      let run = ToolRun("restore", "--from", shipped, "--to", target, "--commit", "\(number)")
      guard run.code == .good else {
        #expect(run.errors.contains("is not in"), "\(run.errors)")
        continue
      }
      count += 1
      #expect(try titles(of: target) == ["Save \(writer.saveCount - (newest - number))"])
      #expect(ToolRun("check", target).code == .good)
    }
    #expect(count > 0)
    let status = ToolRun("ship", store, "--to", shipped, "--status")
    #expect(status.code == .good, "\(status.output)\(status.errors)")
    try writer.close()
  }
}
