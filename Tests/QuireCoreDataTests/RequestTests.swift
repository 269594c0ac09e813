import Foundation
import QuireCoreData
import Testing

@Suite struct RequestTests {
  private let context = Library.context()

  private func fill() throws {
    let shelf = Shelf(context: context)
    shelf.name = "Top"
    for (title, pages) in [("Emma", 300), ("Typee", 200), ("Omoo", 250)] {
      Library.book(title, pages: Int32(pages), on: shelf, in: context)
    }
    try context.save()
  }

  @Test func `a request finds objects, IDs, dictionaries or a number`() throws {
    try fill()
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
    let books = try context.fetch(request) as? [Book]
    #expect(books?.map(\.title) == ["Typee", "Omoo", "Emma"])
    request.resultType = .managedObjectIDResultType
    #expect(try context.fetch(request) as? [NSManagedObjectID] == books?.map(\.objectID))
    request.resultType = .dictionaryResultType
    let all = try context.fetch(request) as? [NSDictionary]
    #expect(all?.first?["title"] as? String == "Typee" && all?.first?["pages"] as? Int == 200)
    request.propertiesToFetch = ["title", "shelf.name"]
    request.fetchLimit = 1
    let some = try context.fetch(request) as? [[String: Any]]
    #expect(some?.first?.keys.sorted() == ["shelf.name", "title"])
    request.resultType = .countResultType
    request.fetchLimit = 0
    #expect(try context.fetch(request) as? [NSNumber] == [3])
    #expect(try context.count(for: request) == 3)
    let counts = NSFetchRequest<NSNumber>(entityName: "Book")
    counts.resultType = .countResultType
    #expect(try context.fetch(counts).first?.intValue == 3)
  }

  @Test func `a request is an object, and its copy is another`() throws {
    try fill()
    let request = NSFetchRequest<Book>(entityName: "Book")
    let same = request
    same.predicate = NSPredicate(format: "pages > 220")
    #expect(try context.count(for: request) == 2)
    let copy = try #require(request.copy() as? NSFetchRequest<Book>)
    copy.predicate = nil
    #expect(try context.count(for: copy) == 3 && context.count(for: request) == 2)
    let byEntity = NSFetchRequest<Book>()
    byEntity.entity = NSEntityDescription.entity(forEntityName: "Book", in: context)
    #expect(try context.count(for: byEntity) == 3 && byEntity.entityName == "Book")
    let result = try context.execute(request) as? NSAsynchronousFetchResult<Book>
    #expect(result?.finalResult?.count == 2)
  }

  // Core Data wants a computed value named by a variable in such a condition, and every recipe for
  // finding duplicates has it: the result was empty.
  @Test func `a condition on groups names computed values by variables`() throws {
    try fill()
    Library.book("Moby-Dick", pages: 200, in: context)
    let count = NSExpressionDescription()
    count.name = "count"
    count.expression = NSExpression(
      forFunction: "count:", arguments: [NSExpression(forKeyPath: "title")])
    count.expressionResultType = .integer64AttributeType
    let request = NSFetchRequest<NSDictionary>(entityName: "Book")
    request.resultType = .dictionaryResultType
    request.propertiesToGroupBy = ["pages"]
    request.propertiesToFetch = ["pages", count]
    request.havingPredicate = NSPredicate(format: "%@ > 1", NSExpression(forVariable: "count"))
    #expect(try context.fetch(request).map { $0["pages"] as? Int } == [200])
    let limit = NSExpression(format: "%@ + 0", NSExpression(forKeyPath: "pages"))
    #expect(
      NSPredicate(format: "%K == %@ OR SELF IN %@", "a", limit, [1]).predicateFormat
        == NSPredicate(format: "a == pages + 0 OR SELF IN {1}").predicateFormat)
    request.havingPredicate = NSPredicate(format: "$count == 1 AND pages > 250")
    #expect(try context.fetch(request).map { $0["pages"] as? Int } == [300])
    request.havingPredicate = NSPredicate(format: "$number > 1")
    #expect {
      try context.fetch(request)
    } throws: {
      ($0 as NSError).localizedDescription.contains("$number, a variable of havingPredicate")
    }
  }

  @Test func `computed values have the type that is asked for`() throws {
    try fill()
    func value(_ function: String, _ type: NSAttributeType) throws -> NSNumber? {
      let computed = NSExpressionDescription()
      computed.name = "value"
      computed.expression = NSExpression(
        forFunction: function, arguments: [NSExpression(forKeyPath: "pages")])
      computed.expressionResultType = type
      let request = NSFetchRequest<NSDictionary>(entityName: "Book")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [computed]
      return try context.fetch(request).first?["value"] as? NSNumber
    }
    #expect(try value("sum:", .integer64AttributeType) == 750)
    #expect(try value("average:", .doubleAttributeType) == 250)
    #expect(try value("max:", .decimalAttributeType) as? NSDecimalNumber == 300)
    #expect(try value("count:", .undefinedAttributeType) == 3)
  }

  @Test func `batch requests insert from a block, update and delete by IDs`() throws {
    var next = 0
    let insertion = NSBatchInsertRequest(entityName: "Book") { values in
      guard next < 3 else { return true }
      next += 1
      values["title"] = "Volume \(next)"
      values["pages"] = NSNumber(value: next)
      values["price"] = NSDecimalNumber(string: "1.25")
      return false
    }
    insertion.resultType = .count
    let inserted = try context.execute(insertion) as? NSBatchInsertResult
    #expect(inserted?.result as? Int == 3 && insertion.requestType == .batchInsertRequestType)
    let update = NSBatchUpdateRequest(entityName: "Book")
    update.predicate = NSPredicate(format: "pages > 1")
    update.propertiesToUpdate = ["pages": NSExpression(format: "pages * 10"), "rating": 5]
    update.resultType = .updatedObjectIDsResultType
    let updated = try context.execute(update) as? NSBatchUpdateResult
    let ids = try #require(updated?.result as? [NSManagedObjectID])
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
    #expect(try context.fetch(request).map(\.pages) == [1, 20, 30])
    #expect(try context.fetch(request).map(\.rating) == [nil, 5, 5])
    let deletion = NSBatchDeleteRequest(objectIDs: ids)
    #expect(deletion.fetchRequest.entityName == "Book")
    #expect(try context.count(for: deletion.fetchRequest) == 2)
    request.predicate = NSPredicate(format: "pages > 20")
    let longest = NSBatchDeleteRequest(fetchRequest: request)
    longest.fetchRequest.predicate = nil
    #expect(longest.fetchRequest.predicate == request.predicate)
    request.predicate = nil
    let deleted = try context.execute(deletion) as? NSBatchDeleteResult
    #expect(deleted?.result as? Bool == true)
    #expect(try context.count(for: request) == 1)
  }

  @Test func `a sort key that is not fetched orders groups, and does not matter for one row`()
    throws
  {
    let context = Library.context()
    for (title, pages) in [("Emma", 2), ("Typee", 1), ("Dune", 2)] {
      Library.book(title, pages: Int32(pages), in: context)
    }
    func rows(_ groups: [String], _ key: String) throws -> [NSDictionary] {
      let count = NSExpressionDescription()
      count.name = "count"
      count.expression = NSExpression(format: "count:(title)")
      let request = NSFetchRequest<NSDictionary>(entityName: "Book")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [count]
      request.propertiesToGroupBy = groups
      request.sortDescriptors = [NSSortDescriptor(key: key, ascending: false)]
      return try context.fetch(request)
    }
    #expect(try rows([], "pages") == [["count": 3]])
    #expect(try rows(["pages"], "pages") == [["count": 2], ["count": 1]])
    #expect(throws: NSError.self) { try rows([], "page") }
    #expect(throws: NSError.self) { try rows(["pages"], "title") }
  }

  @Test func `a request is made of one with another type of results`() throws {
    let context = Library.context()
    Library.book("Emma", in: context)
    let request = NSFetchRequest<Book>(entityName: "Book")
    (request.fetchLimit, request.predicate) = (3, NSPredicate(format: "title == 'Emma'"))
    let erased = NSFetchRequest<NSFetchRequestResult>(request)
    #expect(erased.fetchLimit == 3 && erased.predicate == request.predicate)
    #expect(try (context.fetch(erased) as? [Book])?.count == 1)
    erased.fetchLimit = 1
    #expect(request.fetchLimit == 3)
  }
}
