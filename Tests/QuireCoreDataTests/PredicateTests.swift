import Foundation
import QuireCoreData
import Testing

@Suite struct PredicateTests {
  private func holds(_ predicate: NSPredicate, _ object: Any) -> Bool {
    predicate.evaluate(with: object)
  }

  @Test func `arguments are of Swift's types and of Foundation's classes`() throws {
    let book: [String: Any] = ["title": "Emma", "pages": 300, "tags": ["a", "b"]]
    #expect(holds(NSPredicate(format: "title == %@", "Emma"), book))
    #expect(holds(NSPredicate(format: "title == %@", NSString("Emma")), book))
    #expect(holds(NSPredicate(format: "%K > %d", "pages", 299), book))
    #expect(holds(NSPredicate(format: "pages == %@", NSNumber(value: 300)), book))
    #expect(holds(NSPredicate(format: "pages IN %@", [1, 300]), book))
    #expect(holds(NSPredicate(format: "title IN %@", NSSet(array: ["Emma"])), book))
    #expect(holds(NSPredicate(format: "title IN %@", argumentArray: [["Emma", "Typee"]]), book))
    #expect(holds(NSPredicate(format: "author == %@", nil as String?), book))
    #expect(holds(NSPredicate(format: "pages BETWEEN {%@, %@}", 1 as NSNumber, 500), book))
    #expect(holds(NSPredicate(format: "'b' IN tags"), book as NSDictionary))
    #expect(holds(NSPredicate(value: true), book) && !holds(NSPredicate(value: false), book))
    let variable = NSPredicate(format: "pages > $LEAST")
    #expect(variable.evaluate(with: book, substitutionVariables: ["LEAST": 299]))
    #expect(!holds(variable.withSubstitutionVariables(["LEAST": NSNumber(value: 300)]), book))
  }

  @Test func `predicates are combined, compared and described`() {
    let emma = NSPredicate(format: "title == 'Emma'")
    let long = NSPredicate(format: "pages > 100")
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [emma, long])
    #expect(both == NSPredicate(format: "title == 'Emma' AND pages > 100"))
    #expect(Set([both, NSPredicate(format: "title == 'Emma' AND pages > 100")]).count == 1)
    #expect(both.predicateFormat == #"title == "Emma" AND pages > 100"#)
    #expect(both.subpredicates.count == 2 && both.compoundPredicateType == .and)
    let either = NSCompoundPredicate(orPredicateWithSubpredicates: [emma, long])
    let not = NSCompoundPredicate(notPredicateWithSubpredicate: either)
    #expect(holds(either, ["title": "Emma", "pages": 1]))
    #expect(holds(not, ["title": "Typee", "pages": 1]))
    let comparison = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "title"),
      rightExpression: NSExpression(forConstantValue: "EM"), modifier: .direct, type: .beginsWith,
      options: .caseInsensitive)
    #expect(comparison == NSPredicate(format: "title BEGINSWITH[c] 'EM'"))
  }

  @Test func `a block is evaluated in memory, and refused by a fetch`() throws {
    let context = Library.context()
    let book = Library.book("Emma", in: context)
    let block = NSPredicate { object, _ in (object as? Book)?.title == "Emma" }
    let all = NSCompoundPredicate(type: .and, subpredicates: [block, NSPredicate(value: true)])
    #expect(holds(all, book) && !holds(NSCompoundPredicate(type: .not, subpredicates: [all]), book))
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.predicate = all
    let error = #expect(throws: NSError.self) { try context.fetch(request) }
    #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
    #expect(([book] as NSArray).filtered(using: block).count == 1)
    #expect(NSSet(object: book).filtered(using: block).count == 1)
    #expect(NSOrderedSet(object: book).filtered(using: block).count == 1)
  }

  @Test func `expressions have values`() {
    let sum = NSExpression(
      forFunction: "sum:", arguments: [NSExpression(forKeyPath: "numbers")])
    #expect(sum.expressionValue(with: ["numbers": [1, 2, 3]], context: nil) as? Int == 6)
    let format = NSExpression(format: "price * (1 + $tax)")
    #expect(
      format.expressionValue(with: ["price": 100.0], context: ["tax": 0.5]) as? Double == 150)
    #expect(NSExpression(forConstantValue: 5).constantValue as? Int == 5)
    #expect(NSExpression(forKeyPath: "a.b").keyPath == "a.b")
    #expect(NSExpression(forVariable: "x") == NSExpression(format: "$x"))
    let conditional = NSExpression(
      forConditional: NSPredicate(format: "SELF > 1"),
      trueExpression: NSExpression(forConstantValue: "many"),
      falseExpression: NSExpression(forConstantValue: "few"))
    #expect(conditional.expressionValue(with: 2, context: nil) as? String == "many")
  }

  @Test func `descriptors order objects in memory and in a fetch`() throws {
    let context = Library.context()
    for (title, pages) in [("file10", 1), ("file2", 1), ("File3", 2)] {
      Library.book(title, pages: Int32(pages), in: context)
    }
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.sortDescriptors = [
      NSSortDescriptor(keyPath: \Book.pages, ascending: false),
      NSSortDescriptor(key: "title", ascending: true, selector: .localizedStandardCompare),
    ]
    let books = try context.fetch(request)
    #expect(books.map(\.title) == ["File3", "file2", "file10"])
    let order = try #require(request.sortDescriptors)
    let sorted = NSSet(array: books).sortedArray(using: order) as? [Book]
    #expect(sorted == books)
    #expect(order[0].compare(books[0], to: books[1]) == .orderedAscending)
    #expect(order[0].reversedSortDescriptor.compare(books[0], to: books[1]) == .orderedDescending)
    #expect(order[0].compare(books[1], to: books[2]) == .orderedSame)
    #expect(order[0] == NSSortDescriptor(key: "pages", ascending: false))
    let byLength = NSSortDescriptor(key: "title", ascending: true) { first, second in
      let counts = [first, second].map { ($0 as? String ?? "").count }
      return counts[0] < counts[1]
        ? .orderedAscending : counts[0] == counts[1] ? .orderedSame : .orderedDescending
    }
    #expect((books as NSArray).sortedArray(using: [byLength]).last as? Book == books[2])
    request.sortDescriptors = [byLength]
    #expect(throws: NSError.self) { try context.fetch(request) }
  }

  @Test func `flags are numbers in formats, however they were written`() {
    func built(_ value: Any?) -> QuireCoreData.NSPredicate {
      QuireCoreData.NSComparisonPredicate(
        leftExpression: QuireCoreData.NSExpression(forKeyPath: "flag"),
        rightExpression: QuireCoreData.NSExpression(forConstantValue: value), modifier: .direct,
        type: .equalTo)
    }
    let read = QuireCoreData.NSPredicate(format: "flag == YES")
    #expect(read.predicateFormat == "flag == 1" && read == built(true) && read == built(1))
    #expect(read == built(NSNumber(value: true)) && read.hash == built(true).hash)
    #expect(QuireCoreData.NSPredicate(format: "flag == NO") == built(NSNumber(value: false)))
    #expect(read != built(false) && built(NSNull()) == built(nil))
  }
}
