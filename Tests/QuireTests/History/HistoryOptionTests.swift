import Quire
import QuireModel
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// When a store keeps a history, and what becomes of it when the store goes elsewhere.
@Suite struct HistoryOptionTests {
  private func save(_ name: String, _ context: ManagedObjectContext) throws {
    try context.insert("Author", ["name": name])
    context.transactionAuthor = name
    try context.save()
  }

  private func expired(_ body: () throws -> Void) throws {
    let error = #expect(throws: PersistenceError.self) { try body() }
    #expect(error?.code == .persistentHistoryTokenExpired)
  }

  @Test func `a store that keeps a history keeps it whoever opens it, until one says false`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "library.quire")
      func open(_ options: PersistentStoreOptions) throws -> ManagedObjectContext {
        try HistoryLibrary.open(.file, folder, HistoryLibrary.model, options)
      }
      var context = try open([:])
      try save("unseen", context)
      try context.closeStores()
      let plain = try StoreSummary(of: url)
      #expect(plain.objectFormat == 1)

      context = try open(HistoryLibrary.tracking)
      let start = try #require(context.historyToken)
      try save("a", context)
      try context.closeStores()
      context = try open([:])
      try save("b", context)
      #expect(try context.history(after: start).map(\.author) == ["a", "b"])
      try context.closeStores()
      let summary = try StoreSummary(of: url)
      #expect(summary.objectFormat == 5)
      #expect(summary.history?.transactionCount == 2 && summary.history?.changeCount == 2)

      // Read-only nothing changes, and everything can be read.
      context = try open([PersistentHistoryTrackingKey: false, ReadOnlyPersistentStoreOption: true])
      #expect(try context.history().count == 2)
      #expect(throws: PersistenceError.self) {
        try context.execute(.deleteHistory(before: Date.distantFuture))
      }
      try context.closeStores()

      context = try open([PersistentHistoryTrackingKey: false])
      try save("c", context)
      #expect(context.historyToken == nil)
      try expired { _ = try context.history(after: start) }
      try context.closeStores()
      #expect(try StoreSummary(of: url).objectFormat == 1)
      #expect(try StoreInspection(of: url).findings == [])

      // A history that begins anew knows nothing of tokens of the other one.
      context = try open(HistoryLibrary.tracking)
      try expired { _ = try context.history(after: start) }
      try save("d", context)
      #expect(try context.history().map(\.author) == ["d"])
      try expired { _ = try context.history(after: start) }
      try context.closeStores()
      #expect(try StoreInspection(of: url).findings == [])
    }
  }

  @Test func `a store is byte for byte the same before, and after a history has ended`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "library.quire")
      func trees() throws -> [String] {
        var options = PageStoreOptions()
        options.isReadOnly = true
        let pages = try PageStore.open(url.path(percentEncoded: false), options: options)
        defer { try? pages.close() }
        return try pages.read { snapshot in
          try snapshot.treeNames().flatMap { tree -> [String] in
            var lines = ["\(tree.name) \(tree.count)"]
            guard let schema = tree.name == "schema" ? try snapshot.indexTree("schema") : nil else {
              return lines
            }
            var cursor = schema.cursor()
            while try cursor.next() {
              lines.append("\(Array(try cursor.key)) \(Array(try cursor.valueBytes))")
            }
            return lines
          }
        }
      }
      var context = try HistoryLibrary.open(.file, folder, HistoryLibrary.model, [:])
      try save("a", context)
      try context.closeStores()
      let before = try trees()
      context = try HistoryLibrary.open(.file, folder)
      try context.closeStores()
      #expect(try trees() != before)
      context = try HistoryLibrary.open(
        .file, folder, HistoryLibrary.model, [PersistentHistoryTrackingKey: false])
      try context.closeStores()
      #expect(try trees() == before)
    }
  }

  @Test func `a history that another coordinator begins tells of this one's saves, too`() throws {
    try withTemporaryFolder { folder in
      let one = try HistoryLibrary.open(.file, folder, HistoryLibrary.model, [:])
      try save("before", one)
      let two = try HistoryLibrary.open(.file, folder)
      try save("after", one)
      #expect(try two.history().map(\.author) == ["after"])
      #expect(try one.history().map(\.author) == ["after"])
      try two.closeStores()
      try one.closeStores()
    }
  }

  @Test func `tokens hold for a store that moves, in whichever commits are counted`() throws {
    try withTemporaryFolder { folder in
      let context = try HistoryLibrary.open(.file, folder)
      let coordinator = try #require(context.persistentStoreCoordinator)
      for name in ["a", "b", "c"] { try save(name, context) }
      let token = try #require(context.historyToken)
      // In memory commits are counted from 1.
      try coordinator.migratePersistentStore(try context.historyStore, to: nil, type: .inMemory)
      #expect(context.historyToken == token)
      try save("d", context)
      try save("e", context)
      #expect(try context.history(after: token).map(\.author) == ["d", "e"])
      #expect(try context.history().count == 5)
      #expect(try StoreFacts(context).findings == [])
      let url = folder.appending(path: "other.quire")
      try coordinator.migratePersistentStore(try context.historyStore, to: url, type: .quire)
      try save("f", context)
      #expect(try context.history(after: token).map(\.author) == ["d", "e", "f"])
      try context.closeStores()
      #expect(try StoreInspection(of: url).findings == [])
    }
  }

  @Test func `a store that was restored refuses tokens of what it does not know`() throws {
    try withTemporaryFolder { folder in
      let context = try HistoryLibrary.open(.file, folder)
      try save("a", context)
      let backup = folder.appending(path: "backup.quire")
      try context.historyStore.backUp(to: backup)
      try save("b", context)
      let token = try #require(context.historyToken)
      try context.closeStores()
      let coordinator = PersistentStoreCoordinator(managedObjectModel: HistoryLibrary.model)
      try coordinator.addPersistentStore(type: .quire, at: backup)
      let restored = GotchaHome.context(of: coordinator)
      try expired { _ = try restored.history(after: token) }
      try expired { _ = try restored.execute(.deleteHistory(before: token)) }
      #expect(try restored.history().map(\.author) == ["a"])
      try restored.closeStores()
    }
  }

  @Test func `an inspection finds a history that does not fit the objects`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "library.quire")
      let context = try HistoryLibrary.open(.file, folder)
      try save("a", context)
      try save("b", context)
      let number = try #require(try context.history().last?.transactionNumber)
      try context.closeStores()
      func change(_ body: (WriteTransaction) throws -> Void) throws -> [String] {
        let copy = folder.appending(path: "copy.quire")
        try? FileManager.default.removeItem(at: copy)
        try FileManager.default.copyItem(at: url, to: copy)
        let pages = try PageStore.open(copy.path(percentEncoded: false))
        try pages.write(body)
        try pages.close()
        return try StoreInspection(of: copy).findings
      }
      #expect(try change { _ in } == [])
      let lost = try change { transaction in
        try #require(try transaction.mutableRecordTree("rows/1")).remove(2)
      }
      #expect(lost.contains { $0.contains("Author/p2 does not exist") }, "\(lost)")
      let cut = try change { transaction in
        let tree = try #require(try transaction.mutableRecordTree("history"))
        try tree.put([1, 2, 3], for: number)
      }
      #expect(cut.contains { $0.contains("transaction \(number)") }, "\(cut)")
      let missing = try change { transaction in
        let tree = try #require(try transaction.mutableRecordTree("history"))
        try tree.remove(try #require(try tree.firstKey))
      }
      #expect(missing.contains { $0.contains("begins with change 2") }, "\(missing)")
      // A format that older versions would read is no format of this store.
      let early = try change { transaction in
        let schema = try #require(try transaction.mutableIndexTree("schema"))
        try schema.put([1, 0, 0, 0], for: Array("format".utf8))
      }
      #expect(early.contains { $0.contains("makes it format 5") }, "\(early)")
      #expect {
        try change { transaction in
          let schema = try #require(try transaction.mutableIndexTree("schema"))
          try schema.put([6, 0, 0, 0], for: Array("format".utf8))
        }
      } throws: { error in
        "\(error)".contains("134080") && "\(error)".contains("format 6; this version reads up to 5")
      }
    }
  }
}
