import Quire
import QuireModel
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a store remembers of its saves.
@Suite struct HistoryTests {
  @Test(arguments: GotchaHome.own)
  func `each save is a transaction with what it changed`(_ home: GotchaHome) throws {
    try home.withHistory { context in
      context.name = "editor"
      context.transactionAuthor = "app"
      let before = Date()
      let author = try context.insert("Author", ["name": "Ursula"])
      let book = try context.insert("Book", ["title": "The Dispossessed", "author": author])
      try context.save()
      try book.setValue("Die Enteigneten", forKey: "title")
      try book.setValue(nil, forKey: "author")
      context.transactionAuthor = "translator"
      try context.save()
      context.transactionAuthor = nil
      context.delete(author)
      try context.save()
      // Nothing to save, and nothing that differs: no transaction.
      try context.save()
      try book.setValue("other", forKey: "title")
      try book.setValue("Die Enteigneten", forKey: "title")
      try context.save()

      let history = try context.history()
      #expect(history.map(\.author) == ["app", "translator", nil])
      #expect(history.map(\.contextName) == ["editor", "editor", "editor"])
      #expect(
        history.map { $0.changes?.map(\.text) } == [
          ["insert Author/p1", "insert Book/p1"],
          ["update Author/p1 books", "update Book/p1 author,title"],
          ["delete Author/p1"],
        ])
      #expect(history.flatMap { $0.changes ?? [] }.map(\.changeID) == [1, 2, 3, 4, 5])
      #expect(history.map(\.changeCount) == [2, 2, 1])
      #expect(history.allSatisfy { $0.timestamp >= before && $0.timestamp <= Date() })
      let numbers = history.map(\.transactionNumber)
      #expect(Set(numbers).count == 3 && numbers == numbers.sorted())
      let uuid = try context.historyStore.identifier
      #expect(history.allSatisfy { $0.storeID == uuid.uuidString })
      #expect(history.allSatisfy { !$0.bundleID.isEmpty && Int($0.processID) != nil })
      let update = try #require(history[1].changes?.last)
      #expect(Set(try #require(update.updatedProperties).map(\.name)) == ["author", "title"])
      #expect(update.changedObjectID == book.objectID)
      #expect(update.transaction?.author == "translator")
      #expect(history[0].changes?.first?.updatedProperties == nil)
    }
  }

  @Test(arguments: GotchaHome.own)
  func `deleted objects leave what is to be preserved of them, as it was saved last`(
    _ home: GotchaHome
  ) throws {
    try home.withHistory { context in
      let number = UUID()
      let book = try context.insert(
        "Book", ["isbn": "first", "number": number, "title": "Solaris"])
      let plain = try context.insert("Author", ["name": "Lem"])
      try context.insert("Book", ["title": "without"])
      try context.save()
      // What was never saved is not what it was.
      try book.setValue("second", forKey: "isbn")
      try context.save()
      try book.setValue("third", forKey: "isbn")
      context.delete(book)
      context.delete(plain)
      try context.save()
      let deletions = try #require(try context.history().last?.changes)
      #expect(deletions.map(\.changeType) == [.delete, .delete])
      let tombstone = try #require(
        deletions.first { $0.changedObjectID.entity.name == "Book" }?.tombstone)
      #expect(Set(tombstone.keys) == ["isbn", "number"])
      #expect(tombstone["isbn"] as? String == "second")
      #expect(tombstone["number"] as? UUID == number)
      #expect(
        deletions.first { $0.changedObjectID.entity.name == "Author" }?.tombstone == nil)
      // A fault that nobody has read leaves it as well; one without values leaves nothing.
      let other = SmallGallery.sibling(of: context)
      other.delete(
        try #require(try other.fetch(FetchRequest<ManagedObject>(entityName: "Book")).first))
      try other.save()
      #expect(try context.history().last?.changes?.first?.tombstone == nil)
    }
  }

  @Test(arguments: GotchaHome.own)
  func `history is asked for from a token, a transaction or a time on`(_ home: GotchaHome) throws {
    try home.withHistory { context in
      let start = try #require(context.historyToken)
      #expect(try context.history().isEmpty)
      var tokens = [start]
      var times: [Date] = []
      for name in ["a", "b", "c"] {
        times.append(Date())
        try context.insert("Author", ["name": name])
        context.transactionAuthor = name
        try context.save()
        tokens.append(try #require(context.historyToken))
      }
      let all = try context.history()
      #expect(all.map(\.token) == Array(tokens.dropFirst()))
      for (index, token) in tokens.enumerated() {
        let rest = ["a", "b", "c"].suffix(3 - index)
        #expect(try context.history(after: token).map(\.author) == Array(rest))
      }
      let second = PersistentHistoryChangeRequest.fetchHistory(after: all[1])
      #expect(try context.execute(second).transactions.map(\.author) == ["c"])
      let late = PersistentHistoryChangeRequest.fetchHistory(after: times[2])
      #expect(try context.execute(late).transactions.map(\.author).last == "c")
      #expect(
        try context.execute(.fetchHistory(after: Date.distantFuture)).transactions.isEmpty)
      #expect(try context.execute(.fetchHistory(after: Date.distantPast)).count == 3)
      // Tokens travel.
      let archived = try JSONEncoder().encode(tokens[1])
      let token = try JSONDecoder().decode(PersistentHistoryToken.self, from: archived)
      #expect(token == tokens[1])
      #expect(try context.history(after: token).map(\.author) == ["b", "c"])
      #expect(tokens[1].merging(tokens[2]) == tokens[2])
      #expect(tokens[2].merging(tokens[1]) == tokens[2])
    }
  }

  @Test(arguments: GotchaHome.own)
  func `a result has the type that was asked for`(_ home: GotchaHome) throws {
    try home.withHistory { context in
      let author = try context.insert("Author", ["name": "a"])
      try context.insert("Book")
      try context.save()
      try author.setValue("b", forKey: "name")
      try context.save()
      var request = PersistentHistoryChangeRequest.fetchHistory(
        after: nil as PersistentHistoryToken?)
      #expect(request.resultType == .transactionsAndChanges)
      request.resultType = .statusOnly
      #expect(try context.execute(request).result as? Bool == true)
      request.resultType = .count
      #expect(try context.execute(request).result as? Int == 2)
      request.resultType = .objectIDs
      let ids = try context.execute(request).result as? [ManagedObjectID]
      #expect(ids?.map(\.description) == ["Author/p1", "Book/p1"])
      request.resultType = .transactionsOnly
      let transactions = try context.execute(request).transactions
      #expect(transactions.map { $0.changes == nil } == [true, true])
      #expect(transactions.map(\.changeCount) == [2, 1])
      request.resultType = .changesOnly
      let changes = try #require(
        try context.execute(request).result as? [PersistentHistoryChange])
      #expect(
        changes.map(\.text) == ["insert Author/p1", "insert Book/p1", "update Author/p1 name"])
      #expect(changes.allSatisfy { $0.transaction == nil })
    }
  }

  @Test(arguments: GotchaHome.own)
  func `predicates choose among transactions and among changes`(_ home: GotchaHome) throws {
    try home.withHistory { context in
      var tokens: [PersistentHistoryToken] = []
      var books: [ManagedObject] = []
      for author in ["import", "app", "sync", "app"] {
        context.transactionAuthor = author
        context.name = author == "app" ? "main" : nil
        for book in books { try book.setValue(author, forKey: "title") }
        books.append(try context.insert("Book", ["isbn": author]))
        try context.save()
        tokens.append(try #require(context.historyToken))
      }
      var fetch = PersistentHistoryTransaction.fetchRequest
      func authors() throws -> [String?] {
        try context.execute(.fetchHistory(withFetch: fetch)).transactions.map(\.author)
      }
      fetch.predicate = Key("author") != "app"
      #expect(try authors() == ["import", "sync"])
      fetch.predicate = try FetchPredicate(format: "contextName == nil AND author LIKE 's*'")
      #expect(try authors() == ["sync"])
      fetch.predicate = try FetchPredicate(format: "timestamp > %@", Date.distantFuture)
      #expect(try authors() == [])
      fetch.predicate = Key("token") == tokens[2]
      #expect(try authors() == ["sync"])
      // Tokens are ordered: what was saved after one, and up to it.
      fetch.predicate = try FetchPredicate(format: "token > %@", tokens[1])
      #expect(try authors() == ["sync", "app"])
      fetch.predicate = try FetchPredicate(format: "%@ >= token", tokens[1])
      #expect(try authors() == ["import", "app"])
      fetch.predicate = Key("token").between(tokens[1], and: tokens[2])
      #expect(try authors() == ["app", "sync"])
      fetch.predicate = Key("token") < tokens[0]
      #expect(try authors() == [])
      fetch.predicate = nil
      fetch.sortDescriptors = [FetchSortDescriptor(key: "transactionNumber", ascending: false)]
      fetch.fetchOffset = 1
      fetch.fetchLimit = 2
      #expect(try authors() == ["sync", "app"])

      // Together with a token.
      var request = PersistentHistoryChangeRequest.fetchHistory(after: tokens[0])
      request.fetchRequest = PersistentHistoryTransaction.fetchRequest
      request.fetchRequest?.predicate = Key("author") == "app"
      #expect(try context.execute(request).transactions.map(\.token) == [tokens[1], tokens[3]])

      var changes = PersistentHistoryChange.fetchRequest
      changes.predicate = try FetchPredicate(
        format: "changeType == 1 AND transaction.author == 'sync' AND 'title' IN updatedProperties")
      let chosen = try context.execute(.fetchHistory(withFetch: changes))
      #expect(chosen.transactions.map(\.token) == [tokens[2]])
      #expect(chosen.changes.map(\.text) == ["update Book/p1 title", "update Book/p2 title"])
      changes.predicate = Key("transaction.token") > tokens[2]
      #expect(
        try context.execute(.fetchHistory(withFetch: changes)).transactions.map(\.token)
          == [tokens[3]])
      changes.predicate = Key("changedObjectID") == books[1].objectID
      #expect(
        try context.execute(.fetchHistory(withFetch: changes)).changes.map(\.text) == [
          "insert Book/p2", "update Book/p2 title", "update Book/p2 title",
        ])
      changes.predicate = Key("changedEntity.name") == "Author"
      var count = PersistentHistoryChangeRequest.fetchHistory(withFetch: changes)
      count.resultType = .count
      #expect(try context.execute(count).count == 0)

      fetch.predicate = Key("writer") == "app"
      let error = #expect(throws: PersistenceError.self) { try authors() }
      #expect(error?.code == .undefinedKey && error?.message.contains("contextName") == true)
    }
  }

  @Test(arguments: GotchaHome.own)
  func `deleted history is gone, and tokens that would need it expire`(_ home: GotchaHome) throws {
    try home.withHistory { context in
      var tokens = [try #require(context.historyToken)]
      for name in ["a", "b", "c", "d"] {
        try context.insert("Author", ["name": name])
        try context.save()
        tokens.append(try #require(context.historyToken))
      }
      #expect(try context.execute(.deleteHistory(before: tokens[3])).result as? Bool == true)
      #expect(try context.history().map(\.token) == [tokens[3], tokens[4]])
      #expect(try context.history().first?.changes?.first?.changeID == 3)
      #expect(try context.history(after: tokens[2]).count == 2)
      for token in tokens[0...1] {
        let error = #expect(throws: PersistenceError.self) { try context.history(after: token) }
        #expect(error?.code == .persistentHistoryTokenExpired)
        #expect(error?.code.rawValue == 134301)
      }
      // Again, and with an older token: there is nothing to do.
      _ = try context.execute(.deleteHistory(before: tokens[1]))
      #expect(try context.history().count == 2)
      var rest = PersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
      rest.resultType = .count
      #expect(try context.execute(rest).count == 2)
      #expect(try context.history().isEmpty)
      #expect(context.historyToken == tokens[4])
      #expect(try context.history(after: tokens[4]).isEmpty)
      // Numbers and IDs go on.
      try context.insert("Author", ["name": "e"])
      try context.save()
      let last = try #require(try context.history(after: tokens[4]).first)
      #expect(last.changes?.map(\.changeID) == [5])
      #expect(last.transactionNumber > tokens[4].transactionNumbers.values.first ?? .max)
      _ = try context.execute(.deleteHistory(before: last))
      #expect(try context.history().count == 1)
    }
  }

  @Test(arguments: GotchaHome.own)
  func `a transaction is neither before nor after its own time`(_ home: GotchaHome) throws {
    try home.withHistory { context in
      for name in ["a", "b", "c"] {
        try context.insert("Author", ["name": name])
        context.transactionAuthor = name
        try context.save()
      }
      let times = try context.history().map(\.timestamp)
      try #require(times.count == 3 && times[0] < times[1] && times[1] < times[2])
      let after = PersistentHistoryChangeRequest.fetchHistory(after: times[1])
      #expect(try context.execute(after).transactions.map(\.author) == ["c"])
      _ = try context.execute(.deleteHistory(before: times[1]))
      #expect(try context.history().map(\.author) == ["b", "c"])
    }
  }

  @Test(arguments: GotchaHome.own)
  func `a transaction is merged into another context`(_ home: GotchaHome) throws {
    try home.withHistory { context in
      let book = try context.insert("Book", ["title": "old"])
      let gone = try context.insert("Book", ["title": "gone"])
      try context.save()
      let other = SmallGallery.sibling(of: context)
      let seen = try #require(other.object(with: book.objectID))
      let seenGone = try #require(other.object(with: gone.objectID))
      #expect(try seen.value(forKey: "title") as? String == "old")
      #expect(try seenGone.value(forKey: "title") as? String == "gone")
      let token = context.historyToken
      try book.setValue("new", forKey: "title")
      context.delete(gone)
      context.transactionAuthor = "app"
      try context.save()
      #expect(try seen.value(forKey: "title") as? String == "old")
      for transaction in try other.history(after: token) {
        let notice = transaction.objectIDNotification()
        #expect(notice.transactionAuthor == "app")
        #expect(notice.changedProperties == [book.objectID: ["title"]])
        other.mergeChanges(fromContextDidSave: notice)
      }
      #expect(try seen.value(forKey: "title") as? String == "new")
      #expect(seenGone.managedObjectContext == nil)
    }
  }

  @Test(arguments: GotchaHome.own)
  func `notices of saves have the token of the transaction`(_ home: GotchaHome) throws {
    try home.withHistory { context in
      let tokens = Mutex<[PersistentHistoryToken?]>([])
      let coordinator = try #require(context.persistentStoreCoordinator)
      let observation = coordinator.observeRemoteChanges { change in
        tokens.withLock { $0.append(change.historyToken) }
        #expect(change.userInfo["historyToken"] as? PersistentHistoryToken == change.historyToken)
      }
      try context.insert("Author")
      try context.save()
      try context.insert("Author")
      try context.save()
      observation.cancel()
      let posted = tokens.withLock { $0 }
      #expect(try context.history().map { Optional($0.token) } == posted)
    }
  }

  @Test(arguments: GotchaHome.own)
  func `saves that conflict, and deletions that are undone, are told as they were written`(
    _ home: GotchaHome
  ) throws {
    try home.withHistory { context in
      let author = try context.insert("Author", ["name": "first"])
      try context.save()
      let other = SmallGallery.sibling(of: context)
      other.mergePolicy = .mergeByPropertyObjectTrump
      let same = try #require(other.object(with: author.objectID))
      #expect(try same.value(forKey: "name") as? String == "first")
      try author.setValue("second", forKey: "name")
      try context.save()
      try same.setValue("third", forKey: "name")
      try other.save()
      // One that fails is not told.
      try author.setValue("fourth", forKey: "name")
      #expect(throws: PersistenceError.self) { try context.save() }
      context.rollback()
      context.refreshAllObjects()
      context.undoManager = UndoManager()
      context.delete(author)
      try context.save()
      try context.undoManager?.undo()
      try context.save()
      #expect(
        try context.history().flatMap { $0.changes ?? [] }.map(\.text) == [
          "insert Author/p1", "update Author/p1 name", "update Author/p1 name",
          "delete Author/p1", "insert Author/p1",
        ])
    }
  }

  @Test(arguments: GotchaHome.own)
  func `without a history none is kept, none can be asked for, and the format stays`(
    _ home: GotchaHome
  ) throws {
    try withTemporaryFolder { folder in
      let context = try HistoryLibrary.open(home, folder, HistoryLibrary.model, [:])
      try context.insert("Author")
      try context.save()
      #expect(context.historyToken == nil)
      let error = #expect(throws: PersistenceError.self) { try context.history() }
      #expect(error?.code == .persistentStoreUnsupportedRequestType)
      let deletion = #expect(throws: PersistenceError.self) {
        try context.execute(.deleteHistory(before: Date()))
      }
      #expect(deletion?.code == .persistentStoreUnsupportedRequestType)
      #expect(try StoreFacts(context).findings == [])
      try context.closeStores()
      guard home == .file else { return }
      let summary = try StoreSummary(of: folder.appending(path: "library.quire"))
      #expect(summary.objectFormat == 1 && summary.history == nil)
    }
  }
}
