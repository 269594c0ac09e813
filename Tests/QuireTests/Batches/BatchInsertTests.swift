import Quire
import QuireModel
import QuireSimulation
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Inserting objects where they are stored.
@Suite struct BatchInsertTests {
  private func failure(_ body: () throws -> Void) -> PersistenceError? {
    do {
      try body()
      return nil
    } catch { return error as? PersistenceError }
  }

  private func numbers(_ context: ManagedObjectContext, _ entity: String = "Plain") throws
    -> [String]
  {
    try context.values(of: "number", entity, sortedBy: "number")
  }

  @Test(arguments: GotchaHome.own)
  func `dictionaries, a handler of dictionaries and a handler of rows insert objects`(
    _ home: GotchaHome
  ) throws {
    try BatchScene.with(home) { context in
      var request = BatchInsertRequest(
        entityName: "Plain",
        objects: (1...3).lazy.map { ["number": $0, "title": "title \($0)"] })
      request.resultType = .objectIDs
      let result = try context.execute(request)
      #expect(result.objectIDs.map(\.description) == ["Plain/p1", "Plain/p2", "Plain/p3"])
      #expect(result.objectIDNotification().insertedObjectIDs == Set(result.objectIDs))
      var last = 3
      let handler = BatchInsertRequest(entityName: "Plain") { (values: inout [String: Any]) in
        values["number"] = last + 1
        last += 1
        return last > 5
      }
      #expect(try context.execute(handler).count == 2)
      let rows = BatchInsertRequest(entityName: "Plain") { (row: BatchRow) in
        guard last < 8 else { return true }
        row.set("number", to: last)
        row["title"] = "title \(last)"
        #expect(row["number"] as? Int == last)
        last += 1
        return false
      }
      #expect(try context.execute(rows).count == 2)
      #expect(try numbers(context) == ["1", "2", "3", "4", "5", "6", "7"])
      #expect(try context.values(of: "title", "Plain", "number == 5") == ["nil"])
      #expect(try context.found("Plain", Key("number") == 6).objects.count == 1)
      // A request runs again as it did the first time.
      #expect(try context.execute(request).objectIDs.map(\.description).last == "Plain/p10")
    }
  }

  @Test func `defaults, and relationships by IDs, are set`() throws {
    try BatchScene.with { context in
      let shelf = try context.insert("Shelf", ["number": 1])
      try context.save()
      let request = BatchInsertRequest(
        entityName: "Tag", objects: [["home": shelf.objectID], ["home": shelf, "note": "given"]])
      try context.execute(request)
      context.refreshAllObjects()
      #expect(try context.values(of: "note", "Tag") == ["none", "given"])
      let tags = try #require(try shelf.value(forKey: "tags") as? [ManagedObject])
      #expect(tags.map(\.objectID.description) == ["Tag/p1", "Tag/p2"])
      #expect(try shelf.value(forKey: "tagCount") as? Int == 2)
    }
  }

  @Test func `a batch insert names the object at fault by number, and inserts nothing`() throws {
    try BatchScene.with { context in
      func error(_ entity: String, _ objects: [[String: Any]]) -> PersistenceError? {
        failure { try context.execute(BatchInsertRequest(entityName: entity, objects: objects)) }
      }
      let thing = try context.insert("Thing")
      let unsaved = try context.insert("Thing")
      try context.save()
      let required = error("Part", [["owner": thing.objectID], [:], ["number": Int.max]])
      #expect(required?.code == .validationMultipleErrors)
      let details = required?.detailedErrors ?? []
      #expect(
        details.map(\.code) == [
          .validationMissingMandatoryProperty, .validationNumberTooLarge,
          .validationMissingMandatoryProperty,
        ])
      #expect(
        details.first?.message == "Part.owner of object 1 of the batch request has no destination")
      #expect(error("Part", [["what": 1]])?.code == .undefinedKey)
      #expect(error("Part", [["number": "text"]])?.code == .unacceptableValue)
      #expect(error("Thing", [["friends": [thing.objectID]]])?.code == .unacceptableValue)
      #expect(error("Part", [["owner": 1]])?.code == .unacceptableValue)
      #expect(error("Unknown", [])?.code == .undefinedKey)
      context.delete(unsaved)
      try context.save()
      #expect(
        error("Part", [["owner": unsaved.objectID]])?.code
          == .managedObjectReferentialIntegrity)
      #expect(try context.count(for: BatchScene.request("Part")) == 0)
      let many = error("Part", Array(repeating: [:], count: 1_000))
      #expect(many?.detailedErrors.count == 100)
      struct Refusal: Error {}
      #expect(throws: Refusal.self) {
        try context.execute(
          BatchInsertRequest(entityName: "Plain") { (row: BatchRow) in
            row["number"] = 1
            throw Refusal()
          })
      }
    }
    try GotchaHome.memory.withContext { context in
      let abstract = failure {
        try context.execute(BatchInsertRequest(entityName: "Document", objects: [[:]]))
      }
      #expect(abstract != nil)
    }
  }

  @Test func `a constraint that is broken is told with its values, also within one request`() throws
  {
    try BatchScene.with { context in
      let tags = (1...3).map { ["number": $0] }
      try context.execute(BatchInsertRequest(entityName: "Tag", objects: tags))
      func error(_ objects: [[String: Any]]) -> PersistenceError? {
        failure { try context.execute(BatchInsertRequest(entityName: "Tag", objects: objects)) }
      }
      let stored = error([["number": 7], ["number": 2]])
      #expect(stored?.code == .managedObjectConstraintMerge)
      #expect(stored?.message.contains("would be 2 in Tag/p2") == true)
      #expect(stored?.message.contains("object 1 of the request") == true)
      #expect(stored?.constraintConflicts.first?.databaseObjectID?.description == "Tag/p2")
      #expect(
        error([["number": 7], ["number": 8], ["number": 7]])?.code
          == .managedObjectConstraintMerge)
      #expect(try numbers(context, "Tag") == ["1", "2", "3"])
    }
  }

  // An index has the beginning of a long text; the whole texts decide.
  @Test func `long texts that differ at their ends are different, and equal ones are refused`()
    throws
  {
    try BatchScene.with { context in
      let start = String(repeating: "long ", count: 400)
      func insert(_ ends: [String]) throws -> Int {
        let tags = ends.map { ["code": start + $0] }
        return try context.execute(BatchInsertRequest(entityName: "Tag", objects: tags)).count
      }
      let counts = [try insert(["a", "b"]), try insert(["c"])]
      #expect(counts == [2, 1])
      for ends in [["b"], ["d", "d"]] {
        let error = failure { _ = try insert(ends) }
        #expect(error?.code == .managedObjectConstraintMerge)
      }
    }
  }

  @Test func `a merge policy writes over, leaves out or replaces what is there`() throws {
    try BatchScene.with { context in
      let objects: [[String: Any]] = [
        ["number": 1, "code": "a", "note": "first"], ["number": 2],
        ["number": 1, "note": "second"],
      ]
      context.mergePolicy = .mergeByPropertyObjectTrump
      var request = BatchInsertRequest(entityName: "Tag", objects: objects)
      request.resultType = .objectIDs
      let result = try context.execute(request)
      #expect(result.objectIDs.map(\.description) == ["Tag/p1", "Tag/p2"])
      #expect(try context.values(of: "note", "Tag", sortedBy: "number") == ["second", "none"])
      // What was not given is as it was.
      #expect(try context.values(of: "code", "Tag", "number == 1") == ["a"])
      #expect(try context.execute(request).objectIDs.count == 2)
      context.mergePolicy = .mergeByPropertyStoreTrump
      let left = BatchInsertRequest(
        entityName: "Tag", objects: [["number": 1, "note": "late"], ["number": 3]])
      #expect(try context.execute(left).count == 1)
      #expect(
        try context.values(of: "note", "Tag", sortedBy: "number") == ["second", "none", "none"])
      context.mergePolicy = .overwrite
      let over = BatchInsertRequest(entityName: "Tag", objects: [["number": 1, "note": "new"]])
      #expect(try context.execute(over).count == 1)
      #expect(try context.values(of: "code", "Tag", "number == 1") == ["nil"])
      #expect(try numbers(context, "Tag") == ["1", "2", "3"])
    }
  }

  @Test(arguments: GotchaHome.own, [false, true])
  func `many objects are built with indexes and links, or put behind those that are there`(
    _ home: GotchaHome, _ isEmpty: Bool
  ) throws {
    try BatchScene.with(home, BatchScene.library) { context in
      // Keys and links go aside in many runs.
      try KeyMemory.$byteCount.withValue(2_000) {
        var authors: [ManagedObject] = []
        for number in 0..<7 { authors.append(try context.insert("Author", ["name": "\(number)"])) }
        if !isEmpty { try context.insert("Book", ["number": -1, "author": authors[0]]) }
        try context.save()
        let ids = authors.map(\.objectID)
        let count = Amount.of(debug: 1_500, release: 5_000)
        let request = BatchInsertRequest(
          entityName: "Book",
          objects: (0..<count).lazy.map { number -> [String: Any] in
            [
              "number": number * 7919 % count, "title": "title \(number)",
              "author": ids[number % 7],
            ]
          })
        #expect(try context.execute(request).count == count)
        #expect(try context.count(for: BatchScene.request("Book")) == count + (isEmpty ? 0 : 1))
        for number in stride(from: 0, to: count, by: 97) {
          let found = try context.found("Book", Key("number") == number)
          #expect(found.plan.contains("byNumber") && found.objects.count == 1)
        }
        context.refreshAllObjects()
        for (place, author) in authors.enumerated() {
          let books = try #require(try author.value(forKey: "books") as? Set<ManagedObject>)
          let expected = (0..<count).filter { $0 % 7 == place }.count
          #expect(books.count == expected + (!isEmpty && place == 0 ? 1 : 0))
        }
        // Objects come behind them as behind any others.
        try context.insert("Book", ["number": count, "author": authors[0]])
        try context.save()
        #expect(try context.found("Book", Key("number") == count).objects.count == 1)
      }
    }
  }

  @Test func `contexts that merge by themselves show new objects, and progress is told`() throws {
    try BatchScene.with { context in
      context.transactionAuthor = "batch"
      var told: [Int] = []
      var request = BatchInsertRequest(
        entityName: "Plain", objects: (0..<3_000).lazy.map { ["number": $0] })
      request.progress = {
        told.append($0)
        return $0 < 2_000
      }
      #expect(throws: CancellationError.self) { try context.execute(request) }
      #expect(told == [1024, 2048])
      #expect(try context.count(for: BatchScene.request("Plain")) == 0)
      #expect(try context.history().isEmpty)
      request.progress = nil
      let remote = RemoteChangeList()
      let observation = try #require(context.persistentStoreCoordinator).observeRemoteChanges {
        remote.take($0)
      }
      defer { observation.cancel() }
      try context.execute(request)
      #expect(remote.all.first?.insertedObjectIDs.count == 3_000)
      #expect(try context.history().last?.changeCount == 3_000)
      #expect(try context.history().last?.author == "batch")
      #expect(remote.all.first?.historyToken == context.historyToken)
    }
  }

  @Test func `the first store that can be written and has the entity gets the objects`() throws {
    try SeveralStoresScene.with(configurations: ("Collection", nil)) { scene in
      let notes = BatchInsertRequest(entityName: "Note", objects: [["text": "a"]])
      try scene.context.execute(notes)
      var artists = BatchInsertRequest(entityName: "Artist", objects: [["name": "a"]])
      try scene.context.execute(artists)
      artists.affectedStores = [scene.second]
      try scene.context.execute(artists)
      var request = BatchScene.request("Artist")
      request.affectedStores = [scene.first]
      #expect(try scene.context.count(for: request) == 1)
      request = BatchScene.request("Note")
      request.affectedStores = [scene.second]
      #expect(try scene.context.count(for: request) == 1)
      var refused = notes
      refused.affectedStores = [scene.first]
      #expect(failure { try scene.context.execute(refused) }?.code == .persistentStoreSave)
    }
  }

  private static let labels = try! ManagedObjectModel {
    Entity("Label") {
      Attribute("number", .integer32)
      Attribute("code", .string)
      Relationship("next", toOne: "Label", inverse: "previous", deleteRule: .cascade)
      Relationship("previous", toMany: "Label", inverse: "next")
      UniquenessConstraint("number")
      UniquenessConstraint("code")
    }
  }

  // An object that had given way to one of the request was found once more by a key that was still
  // to leave its tree: what came later was merged into it, and lost.
  @Test(arguments: [
    MergePolicyType.overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
  ])
  func `an object that gave way within a request is no rival any more`(
    _ policy: MergePolicyType
  ) throws {
    try BatchScene.with(.memory, Self.labels) { context in
      try context.insert("Label", ["number": 1, "code": "a"])
      try context.insert("Label", ["number": 2, "code": "b"])
      try context.save()
      context.mergePolicy = MergePolicy(merge: policy)
      let request = BatchInsertRequest(
        entityName: "Label",
        objects: [["number": 1, "code": "b"], ["number": 2, "code": "c"]])
      #expect(try context.execute(request).count == 2)
      #expect(try context.values(of: "number", "Label", sortedBy: "number") == ["1", "2"])
      #expect(try context.values(of: "code", "Label", sortedBy: "number") == ["b", "c"])
      let gone = try context.history().last?.changes?.filter { $0.changeType == .delete }
      #expect(gone?.count == (policy == .overwriteMergePolicyType ? 2 : 1))
    }
  }

  // The object that was to get the values was deleted by the delete rule of another that gave way,
  // and the values were lost without a word.
  @Test func `an object is inserted where the one to merge into has gone with another`() throws {
    try BatchScene.with(.memory, Self.labels) { context in
      let first = try context.insert("Label", ["number": 1, "code": "a"])
      try context.insert("Label", ["number": 2, "code": "b", "next": first])
      try context.save()
      context.mergePolicy = MergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
      let request = BatchInsertRequest(
        entityName: "Label", objects: [["number": 1, "code": "b"]])
      #expect(try context.execute(request).count == 1)
      #expect(try context.values(of: "number", "Label") == ["1"])
      #expect(try context.values(of: "code", "Label") == ["b"])
    }
  }

  // It dropped the tree of rows and made another.
  @Test func `a request without objects commits nothing`() throws {
    try BatchScene.with(.memory, BatchScene.library) { context in
      try context.insert("Author", ["name": "one"])
      try context.save()
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      let commit = store.statistics.commitNumber
      try context.execute(BatchInsertRequest(entityName: "Book", objects: []))
      #expect(store.statistics.commitNumber == commit)
    }
  }

  // They waited for each other for ever.
  @Test func `a handler that saves, or runs another request, is refused`() throws {
    try BatchScene.with { context in
      func code(_ body: @escaping () throws -> Void) -> PersistenceError.Code? {
        failure {
          try context.execute(
            BatchInsertRequest(entityName: "Plain") { (row: BatchRow) in
              try body()
              return true
            })
        }?.code
      }
      try context.insert("Plain", ["number": 1])
      #expect(code { try context.save() } == .managedObjectContextBusy)
      #expect(
        code { try context.execute(BatchUpdateRequest(entityName: "Plain")) }
          == .managedObjectContextBusy)
      #expect(try context.count(for: BatchScene.request("Plain")) == 1)
      try context.save()
      #expect(code { _ = try context.fetch(BatchScene.request("Plain")) } == nil)
    }
  }
}
