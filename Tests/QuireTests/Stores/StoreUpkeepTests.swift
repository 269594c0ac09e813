import Foundation
import Quire
import QuireSimulation
import Synchronization
import Testing

private final class Sheet: ManagedObject {
  @Managed var title: String = ""
  @Managed var text: String = ""
}

/// An open store is checked, copied and compacted while it is used.
@Suite struct StoreUpkeepTests {
  private func filled(_ folder: URL, count: Int = 2_000) throws -> PersistentContainer {
    let container = try PersistentContainer(name: "Sheets", for: Sheet.self)
    try container.loadPersistentStore(at: folder.appending(path: "sheets.quire"))
    try container.writeAndWait { context in
      for number in 0..<count {
        let sheet = Sheet(context: context)
        (sheet.title, sheet.text) = ("sheet \(number)", String(repeating: "text ", count: 20))
      }
    }
    return container
  }

  @Test func `an open store is inspected`() async throws {
    try await withTemporaryFolder { folder in
      let container = try filled(folder)
      let inspections = try await container.check()
      #expect(inspections.map(\.isSound) == [true])
      #expect(inspections.map(\.objectCount) == [2_000])
      try container.close()
    }
  }

  @Test func `a backup has the last save, and opens as a store`() async throws {
    try await withTemporaryFolder { folder in
      let container = try filled(folder)
      let context = container.newBackgroundContext()
      Sheet(context: context).title = "unsaved"
      let copy = folder.appending(path: "copy.quire")
      let states = Mutex<[StoreProgress]>([])
      try await container.backUp(to: copy) { state in states.withLock { $0.append(state) } }
      #expect(states.withLock { $0.last?.fractionCompleted } == 1)
      #expect(!FileManager.default.fileExists(atPath: copy.path(percentEncoded: false) + "-log"))
      let error = await #expect(throws: PersistenceError.self) {
        try await container.backUp(to: copy)
      }
      #expect(error?.code == .persistentStoreOperation)
      try container.close()
      let other = try PersistentContainer(name: "Sheets", for: Sheet.self)
      try other.loadPersistentStore(at: copy)
      #expect(try other.readAndWait { try $0.count(for: Sheet.fetchRequest()) } == 2_000)
      try other.close()
    }
  }

  @Test func `a store in memory is copied to a file`() async throws {
    try await withTemporaryFolder { folder in
      let container = try PersistentContainer(name: "Sheets", for: Sheet.self)
      try container.loadPersistentStore(at: nil)
      try container.writeAndWait { Sheet(context: $0).title = "only" }
      let copy = folder.appending(path: "copy.quire")
      try await container.backUp(to: copy)
      let other = try PersistentContainer(name: "Sheets", for: Sheet.self)
      try other.loadPersistentStore(at: copy)
      #expect(try other.readAndWait { try $0.fetch(Sheet.fetchRequest()).map(\.title) } == ["only"])
      try other.close()
    }
  }

  @Test func `a store that has shrunk is made smaller beside readers`() async throws {
    try await withTemporaryFolder { folder in
      let container = try filled(folder)
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      let url = try #require(store.url)
      let reader = container.newBackgroundContext()
      let sheets = try reader.fetch(Sheet.sorted(by: \.title))
      try container.writeAndWait { context in
        for sheet in try context.fetch(Sheet.where { !$0.title.endsWith("7") }) {
          context.delete(sheet)
        }
      }
      let before = store.statistics.pageCount
      try await container.compact()
      #expect(store.statistics.pageCount < before / 4)
      // Objects that were read before are still readable, and saves go on.
      #expect(sheets.filter { $0.title.hasSuffix("7") }.count == 200)
      try container.writeAndWait { Sheet(context: $0).title = "after" }
      #expect(try container.readAndWait { try $0.count(for: Sheet.fetchRequest()) } == 201)
      #expect(try await container.check().allSatisfy(\.isSound))
      try container.close()
      try container.loadPersistentStore(at: url)
      #expect(try container.readAndWait { try $0.count(for: Sheet.fetchRequest()) } == 201)
      try container.close()
    }
  }

  @Test func `an error thrown by a progress block ends the task and leaves no file`() async throws {
    struct Enough: Error {}
    try await withTemporaryFolder { folder in
      let container = try filled(folder)
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      let copy = folder.appending(path: "copy.quire")
      #expect(throws: Enough.self) { try store.backUp(to: copy) { _ in throw Enough() } }
      #expect(throws: Enough.self) { try store.compact { _ in throw Enough() } }
      let cancelled = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await container.backUp(to: copy)
      }
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      let names = try FileManager.default.contentsOfDirectory(
        atPath: folder.path(percentEncoded: false))
      #expect(names.allSatisfy { $0.hasPrefix("sheets.quire") }, "\(names)")
      #expect(try await container.check().allSatisfy(\.isSound))
      try container.close()
      await #expect(throws: PersistenceError.self) { try await container.backUp(to: copy) }
    }
  }
}
