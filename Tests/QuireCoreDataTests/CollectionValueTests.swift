import Foundation
import QuireCoreData
import Testing

@Suite struct CollectionValueTests {
  private let context = Library.context()

  private func shelf(_ pages: Int32...) -> Shelf {
    let shelf = Shelf(context: context)
    for (index, number) in pages.enumerated() {
      Library.book("\(index)", pages: number, on: shelf, in: context)
    }
    return shelf
  }

  @Test func `collections have the values of their members`() {
    let shelf = shelf(3, 5)
    let set = shelf.value(forKey: "books") as! NSSet
    #expect(set.value(forKey: "title") as? Set<String> == ["0", "1"])
    #expect(set.value(forKeyPath: "shelf.books.@count") as? Set<Int> == [2])
    let array = NSArray(
      array: shelf.books.sorted { $0.pages < $1.pages } + [Book(context: context)])
    #expect((array.value(forKey: "title") as? [Any])?.count == 3)
    #expect((array.value(forKey: "title") as? [Any])?.last is NSNull)
    let proxy = shelf.mutableSetValue(forKey: "books")
    #expect(proxy.value(forKey: "pages") as? Set<Int> == [3, 5])
    array.setValue(9, forKey: "pages")
    #expect(shelf.books.allSatisfy { $0.pages == 9 })
  }

  @Test func `operators answer for collections of any kind`() {
    let shelf = shelf(3, 6)
    let set = shelf.value(forKey: "books") as! NSSet
    #expect(set.value(forKeyPath: "@sum.pages") as? Int == 9)
    #expect(set.value(forKeyPath: "@avg.pages") as? Double == 4.5)
    #expect(set.value(forKey: "@count") as? Int == 2)
    #expect(shelf.mutableSetValue(forKey: "books").value(forKeyPath: "@max.pages") as? Int == 6)
    #expect(NSArray(array: [1, 2, 4]).value(forKeyPath: "@sum.self") as? Int == 7)
    let rows = NSArray(array: [["name": "a", "count": 2], ["name": "b", "count": 3]])
    #expect(rows.value(forKeyPath: "@sum.count") as? Int == 5)
    #expect(rows.value(forKey: "name") as? [String] == ["a", "b"])
    #expect(NSDictionary(dictionary: ["a": ["b": 1]]).value(forKeyPath: "a.b") as? Int == 1)
  }

  /// The sum of integers ended the process where 64 bits do not hold it, and so did that of texts.
  @Test func `a sum has an answer where 64 bits do not hold it, and of texts`() {
    let many = NSArray(array: [Int.max, Int.max, 2])
    let sum = many.value(forKeyPath: "@sum.self") as? NSDecimalNumber
    #expect(sum?.stringValue == "18446744073709551616")
    let texts = NSArray(array: ["1.5", "2", "none"])
    #expect(texts.value(forKeyPath: "@sum.self") as? Double == 3.5)
    #expect(NSArray(array: ["1.5", "2.5"]).value(forKeyPath: "@avg.self") as? Double == 2)
    let shelf = shelf(1)
    shelf.books.first?.title = "12 years"
    #expect(shelf.value(forKeyPath: "books.@sum.title") as? Double == 12)
    #expect(shelf.value(forKeyPath: "books.@avg.title") as? Double == 12)
  }

  /// Setting it ended the process; Core Data takes the number, and refuses it at the save.
  @Test func `a number that its attribute cannot hold is refused by the save`() throws {
    let book = Library.book("Emma", in: context)
    book.setValue(100_000, forKey: "rating")
    let error = #expect(throws: CocoaError.self) { try context.save() }
    #expect(error?.code.rawValue == NSValidationNumberTooLargeError)
    #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "rating")
    #expect(throws: CocoaError.self) { try context.save() }
    book.setValue(5, forKey: "rating")
    try context.save()
    book.setValue(UInt64.max, forKey: "pages")
    #expect(throws: (any Error).self) { try context.save() }
    #expect(book.value(forKey: "pages") as? Int == 0)
    book.setValue(2.5, forKeyPath: "pages")
    #expect(throws: (any Error).self) { try context.save() }
    try context.save()
  }

  @Test func `arguments that a format does not ask for are ignored`() {
    let book = Library.book("Emma", pages: 3, in: context)
    #expect(NSPredicate(format: "pages == %d", 3, 4, "more").evaluate(with: book))
    #expect(NSPredicate(format: "pages == 3", argumentArray: ["x"]).evaluate(with: book))
    #expect(
      NSExpression(format: "pages + %d", 1, 2).expressionValue(with: book, context: nil) as? Int
        == 4
    )
  }

  @Test func `variables of predicates that have blocks are substituted`() {
    let block = NSPredicate { _, bindings in bindings?["x"] as? Int == 1 }
    let both = NSCompoundPredicate(
      andPredicateWithSubpredicates: [block, NSPredicate(format: "pages == $x")])
    let book = Library.book("Emma", pages: 1, in: context)
    #expect(both.withSubstitutionVariables(["x": 1]).evaluate(with: book))
    #expect(!both.withSubstitutionVariables(["x": 2]).evaluate(with: book))
  }
}
