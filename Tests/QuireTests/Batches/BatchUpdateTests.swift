import Quire
import QuireModel
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Changing objects where they are stored.
@Suite struct BatchUpdateTests {
  private func fill(_ context: ManagedObjectContext, _ count: Int = 10) throws {
    for number in 0..<count {
      try context.insert("Plain", ["number": number, "title": "title \(number % 3)"])
    }
    try context.save()
  }

  private func failure(_ body: () throws -> Void) -> PersistenceError? {
    do {
      try body()
      return nil
    } catch { return error as? PersistenceError }
  }

  @Test(arguments: GotchaHome.own)
  func `a request sets values and expressions, and says how many objects it found`(
    _ home: GotchaHome
  ) throws {
    try BatchScene.with(home) { context in
      try fill(context)
      var request = BatchUpdateRequest(entityName: "Plain", predicate: Key("number") >= 7)
      request.propertiesToUpdate = [
        "number": try FetchExpression(format: "number * 10"), "title": "title 0",
      ]
      request.resultType = .updatedObjectIDsResultType
      let result = try context.execute(request)
      #expect(result.objectIDs.map(\.description) == ["Plain/p8", "Plain/p9", "Plain/p10"])
      #expect(
        try context.values(of: "number", "Plain", sortedBy: "number").suffix(4)
          == ["6", "70", "80", "90"])
      #expect(try context.found("Plain", Key("number") == 80).objects.count == 1)
      #expect(try context.found("Plain", Key("number") == 8).objects.isEmpty)
      let notice = result.objectIDNotification()
      #expect(notice.updatedObjectIDs == Set(result.objectIDs))
      #expect(notice.changedProperties[result.objectIDs[0]] == ["number", "title"])
      // Number 9 had its title already.
      #expect(notice.changedProperties[result.objectIDs[2]] == ["number"])
      request = BatchUpdateRequest(entityName: "Plain")
      request.propertiesToUpdate = ["title": "title 0"]
      request.resultType = .updatedObjectsCountResultType
      #expect(try context.execute(request).result as? Int == 10)
      #expect(try context.execute(request).result as? Int == 10)
      request.propertiesToUpdate = ["title": nil]
      #expect(try context.execute(request).count == 10)
      #expect(try context.values(of: "title", "Plain", "title == nil").count == 10)
    }
  }

  // They did not count, so that "none was found" and "none was changed" looked the same.
  @Test(arguments: GotchaHome.own)
  func `objects that have the values already count, and stay as they are`(
    _ home: GotchaHome
  ) throws {
    try BatchScene.with(home) { context in
      let owners = [try context.insert("Thing"), try context.insert("Thing")]
      for number in 0..<5 {
        let values = ["number": number, "small": number / 2, "limited": 7]
        let part = try context.insert("Part", values)
        try part.setValue(owners[number % 2], forKey: "owner")
        try context.insert("Plain", ["number": number % 2, "title": "title \(number % 2)"])
      }
      try context.save()
      // Rows that are patched, rows that are written anew, rows with an indexed value, and links.
      let cases: [(entity: String, properties: [String: Any?], changed: Set<Int>)] = [
        ("Part", ["small": 1], [1, 2, 5]),
        ("Part", ["limited": 7], []),
        ("Plain", ["title": "title 1"], [1, 3, 5]),
        ("Plain", ["number": 0], [2, 4]),
        ("Part", ["owner": owners[0].objectID], [2, 4]),
        ("Part", ["small": 1, "owner": owners[1].objectID], [1, 2, 3, 4, 5]),
      ]
      for (index, (entity, properties, changed)) in cases.enumerated() {
        // A predicate has the rows changed by their keys, none may have them changed in one pass.
        let all = index % 2 == 0 ? nil : Key("number") >= 0
        for changed in [changed, []] {
          var request = BatchUpdateRequest(
            entityName: entity, predicate: all, propertiesToUpdate: properties)
          let (before, token) = (try BatchScene.lines(context), context.historyToken)
          request.resultType = .objectIDs
          let result = try context.execute(request)
          #expect(result.objectIDs.map(\.description) == (1...5).map { "\(entity)/p\($0)" })
          #expect(result.count == 5, "\(entity) \(properties)")
          let updated = result.objectIDNotification().updatedObjectIDs
          #expect(
            Set(updated.map(\.description).filter { $0.hasPrefix(entity) })
              == Set(changed.map { "\(entity)/p\($0)" }))
          #expect((try BatchScene.lines(context) == before) == changed.isEmpty)
          #expect((context.historyToken == token) == changed.isEmpty)
        }
        var request = BatchUpdateRequest(
          entityName: entity, predicate: all, propertiesToUpdate: properties)
        request.resultType = .count
        #expect(try context.execute(request).result as? Int == 5)
        request.predicate = Key("number") == 1_000
        #expect(try context.execute(request).result as? Int == 0)
      }
    }
  }

  @Test(arguments: GotchaHome.own)
  func `a history tells which objects an update changed, and which of their properties`(
    _ home: GotchaHome
  ) throws {
    try home.withHistory { context in
      let author = try context.insert("Author", ["name": "Ursula"])
      for title in ["a", "b", "c"] { try context.insert("Book", ["title": title]) }
      try context.save()
      func changes(_ properties: [String: Any?]) throws -> [String]? {
        let token = context.historyToken
        context.transactionAuthor = "batch"
        try context.execute(
          BatchUpdateRequest(
            entityName: "Book", predicate: Key("title") != "c", propertiesToUpdate: properties))
        let transactions = try context.history(after: token)
        #expect(transactions.allSatisfy { $0.author == "batch" })
        #expect(transactions.count <= 1)
        return transactions.first?.changes?.map(\.text)
      }
      #expect(
        try changes(["title": "b", "price": Decimal(2)])
          == ["update Book/p1 price,title", "update Book/p2 price"])
      #expect(try changes(["title": "b", "price": Decimal(2)]) == nil, "nothing is another")
      #expect(
        try changes(["price": try FetchExpression(format: "price + 1")])
          == ["update Book/p1 price", "update Book/p2 price"])
      #expect(
        try changes(["author": author.objectID])
          == ["update Author/p1 books", "update Book/p1 author", "update Book/p2 author"])
    }
  }

  @Test func `expressions see every object as it was before`() throws {
    try BatchScene.with { context in
      let one = try context.insert("Thing", ["weight": 1])
      let two = try context.insert("Thing", ["weight": 2, "parent": one])
      try one.setValue(two, forKey: "parent")
      try context.save()
      var request = BatchUpdateRequest(entityName: "Thing")
      request.propertiesToUpdate = ["weight": try FetchExpression(format: "parent.weight")]
      try context.execute(request)
      context.refreshAllObjects()
      #expect(try one.value(forKey: "weight") as? Int == 2)
      #expect(try two.value(forKey: "weight") as? Int == 1)
      #expect(try two.value(forKey: "doubled") as? Int == 2)
      #expect(try two.value(forKey: "load") as? Int == 2)
    }
  }

  @Test func `a member that comes to an ordered relationship comes to its end`() throws {
    try BatchScene.with { context in
      let (one, two) = (try context.insert("Thing"), try context.insert("Thing"))
      for number in 1...4 {
        try context.insert("Part", ["number": number, "owner": number < 3 ? one : two])
      }
      try context.save()
      // The one that comes has a lower key than those that are there.
      let request = BatchUpdateRequest(
        entityName: "Part", predicate: Key("number") == 1,
        propertiesToUpdate: ["owner": two.objectID])
      try context.execute(request)
      context.refreshAllObjects()
      let parts = try two.value(forKey: "parts") as? [ManagedObject] ?? []
      let numbers = try parts.map { try $0.value(forKey: "number") as? Int }
      #expect(numbers == [3, 4, 1])
    }
  }

  @Test func `a batch update refuses an invalid property or value, and changes nothing`() throws {
    try BatchScene.with { context in
      try fill(context)
      let thing = try context.insert("Thing", ["number": 1])
      let tag = try context.insert("Tag", ["number": 1])
      try context.insert("Tag", ["number": 2])
      try context.insert("Part", ["owner": thing])
      try context.save()
      func code(_ entity: String, _ properties: [String: Any?]) -> PersistenceError.Code? {
        failure {
          try context.execute(
            BatchUpdateRequest(entityName: entity, propertiesToUpdate: properties))
        }?.code
      }
      let before = try BatchScene.lines(context)
      #expect(code("Unknown", [:]) == .undefinedKey)
      #expect(code("Plain", ["unknown": 1]) == .undefinedKey)
      #expect(code("Plain", ["number": "text"]) == .unacceptableValue)
      #expect(code("Plain", ["number": try? FetchExpression(format: "nothing + 1")]) != nil)
      #expect(
        code("Plain", ["number": try? FetchExpression(format: "title")]) == .unacceptableValue)
      #expect(code("Thing", ["friends": []]) == .unacceptableValue)
      #expect(code("Thing", ["doubled": 1]) == .unacceptableValue)
      #expect(code("Thing", ["number": Int.max]) == .validationNumberTooLarge)
      #expect(code("Thing", ["parent": tag.objectID]) == .unacceptableValue)
      #expect(code("Part", ["owner": nil]) == .validationMissingMandatoryProperty)
      #expect(code("Tag", ["number": 7]) == .managedObjectConstraintMerge)
      let error = failure {
        try context.execute(
          BatchUpdateRequest(entityName: "Tag", propertiesToUpdate: ["number": 7]))
      }
      #expect(error?.message.contains("number of Tag is to be unique") == true)
      #expect(error?.message.contains("would be 7 in Tag/p1, Tag/p2") == true)
      #expect(error?.constraintConflicts.first?.values == ["number": .attribute(.integer(7))])
      let gone = try context.insert("Thing")
      #expect(code("Thing", ["parent": gone]) == .managedObjectExternalRelationship)
      try context.save()
      context.delete(gone)
      try context.save()
      #expect(code("Thing", ["parent": gone.objectID]) == .managedObjectReferentialIntegrity)
      #expect(try BatchScene.lines(context) == before)
    }
  }

  @Test func `subentities are changed unless they are left out, abstract ones by their families`()
    throws
  {
    try GotchaHome.memory.withContext { context in
      try context.insert("Contract", ["title": "c"])
      try context.insert("Letter", ["title": "l"])
      try context.save()
      var request = BatchUpdateRequest(entityName: "Document", propertiesToUpdate: ["title": "x"])
      #expect(try context.execute(request).count == 2)
      #expect(try context.values(of: "title", "Document") == ["x", "x"])
      request.propertiesToUpdate = ["title": "y"]
      request.includesSubentities = false
      #expect(try context.execute(request).count == 0)
      request.entityName = "Letter"
      #expect(try context.execute(request).count == 1)
      #expect(try context.values(of: "title", "Contract") == ["x"])
    }
  }

  @Test func `unsaved changes stay on top, and conflict by the version that has risen`() throws {
    try BatchScene.with { context in
      try fill(context, 3)
      let objects = try context.fetch(BatchScene.request("Plain"))
      try objects[0].setValue("unsaved", forKey: "title")
      _ = try objects[1].value(forKey: "title")
      var request = BatchUpdateRequest(entityName: "Plain", propertiesToUpdate: ["title": "batch"])
      request.resultType = .objectIDs
      let result = try context.execute(request)
      // Nobody is told who does not ask.
      #expect(objects[0].text("title") == "unsaved" && objects[1].text("title") == "title 1")
      #expect(failure { try context.save() }?.code == .managedObjectMerge)
      context.mergeChanges(fromContextDidSave: result.objectIDNotification())
      #expect(objects[0].text("title") == "unsaved" && objects[1].text("title") == "batch")
      try context.save()
      #expect(try context.values(of: "title", "Plain", sortedBy: "number")[0] == "unsaved")
    }
  }

  @Test func `a changed large value frees the one before`() throws {
    try BatchScene.with { context in
      try context.insert("Thing", ["photo": Data(repeating: 1, count: 200_000), "weight": 1])
      try context.save()
      var request = BatchUpdateRequest(entityName: "Thing")
      request.propertiesToUpdate = ["weight": 2]
      try context.execute(request)
      let thing = try #require(try context.fetch(BatchScene.request("Thing")).first)
      #expect((try thing.value(forKey: "photo") as? Data)?.count == 200_000)
      request.propertiesToUpdate = ["photo": Data(repeating: 2, count: 300_000)]
      try context.execute(request)
      #expect(try StoreFacts(context).findings == [])
      request.propertiesToUpdate = ["photo": nil]
      try context.execute(request)
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test func `progress is told, and a refusal changes nothing`() throws {
    try BatchScene.with { context in
      try fill(context, 3_000)
      var request = BatchUpdateRequest(entityName: "Plain", propertiesToUpdate: ["title": "x"])
      var told: [Int] = []
      request.progress = {
        told.append($0)
        return $0 < 2_000
      }
      #expect(throws: CancellationError.self) { try context.execute(request) }
      #expect(told == [1024, 2048])
      #expect(try context.values(of: "title", "Plain", "title == 'x'").isEmpty)
      request.progress = {
        told.append($0)
        return true
      }
      try context.execute(request)
      #expect(told.last == 3_000)
      #expect(try context.values(of: "title", "Plain", "title == 'x'").count == 3_000)
    }
  }

  // Each value was checked twice where a relationship changed as well.
  @Test func `a value that is not allowed is reported once for each object`() throws {
    try BatchScene.with { context in
      let thing = try context.insert("Thing", ["number": 1])
      let other = try context.insert("Thing", ["number": 2])
      try context.insert("Part", ["number": 1, "owner": thing])
      try context.save()
      var request = BatchUpdateRequest(entityName: "Part")
      request.propertiesToUpdate = ["limited": 41, "owner": other.objectID]
      let error = #expect(throws: PersistenceError.self) { try context.execute(request) }
      #expect(error?.code == .validationNumberTooLarge)
      #expect(error?.detailedErrors.isEmpty == true)
    }
  }

  @Test func `all objects of a family change in one pass, also those with long rows`() throws {
    let model = try ManagedObjectModel {
      Entity("Animal") {
        Attribute("number", .integer32)
        Attribute("name", .string)
        Attribute("weight", .double, range: 0...1_000)
      }
      Entity("Bird", parent: "Animal") { Attribute("span", .double) }
      Entity("Fish", parent: "Animal") { Attribute("isFresh", .boolean) }
    }
    try BatchScene.with(.file, model) { context in
      for number in 0..<4_000 {
        let entity = ["Animal", "Bird", "Fish"][number % 3]
        // Some are so long that they lie outside of their leaves.
        let name = String(repeating: "name ", count: number % 500 == 0 ? 900 : 3)
        let object = try context.insert(entity, ["number": number, "name": name])
        if number % 7 != 0 { try object.setValue(Double(number % 400), forKey: "weight") }
      }
      try context.save()
      var told: [Int] = []
      var request = BatchUpdateRequest(entityName: "Animal")
      request.progress = {
        told.append($0)
        return true
      }
      request.resultType = .objectIDs
      request.propertiesToUpdate = ["weight": try FetchExpression(format: "weight * 2 + 1")]
      let result = try context.execute(request)
      #expect(result.count == 4_000 && Set(result.objectIDs).count == 4_000)
      #expect(told.last == 4_000)
      // What has no weight gets none.
      let updated = result.objectIDNotification().updatedObjectIDs
      #expect(updated.count == (0..<4_000).filter { $0 % 7 != 0 }.count)
      #expect(updated.isSubset(of: result.objectIDs))
      let fresh = SmallGallery.sibling(of: context)
      for object in try fresh.fetch(BatchScene.request("Animal")) {
        let number = try #require(try object.value(forKey: "number") as? Int)
        let weight = try object.value(forKey: "weight") as? Double
        #expect(weight == (number % 7 == 0 ? nil : Double(number % 400) * 2 + 1))
        #expect(object.version == (number % 7 == 0 ? 1 : 2))
      }
      // What is not allowed for one changes nothing for any.
      request.propertiesToUpdate = ["weight": try FetchExpression(format: "number * 1.0")]
      #expect(throws: PersistenceError.self) { try context.execute(request) }
      request.includesSubentities = false
      request.propertiesToUpdate = ["weight": 6.0]
      #expect(try context.execute(request).count == 1_334)
      let heavy = BatchScene.request("Animal", Key("weight") == 6.0)
      #expect(try fresh.count(for: heavy) == 1_334)
    }
  }
}
