import Foundation
import Quire
import QuireModel
import QuireTesting
import Testing

private final class Shelf: ManagedObject {
  @Managed(.unique, .indexed) var name: String = ""
  @Managed(inverse: \Book.shelf, deleteRule: .cascade) var books: [Book]
  @Managed(inverse: "shelf") var key: ShelfKey?
}

private final class ShelfKey: ManagedObject {
  @Managed var number: Int = 0
  @Managed var shelf: Shelf?
}

private final class Word: ManagedObject {
  @Managed var text: String = ""
  @Managed(inverse: "words") var books: Set<Book>
}

private class Book: ManagedObject {
  @Managed var title: String = ""
  @Managed var pages: Int = 0
  @Managed var price: Double?
  @Managed var printed: Date?
  @Managed var bought: Date = Date(timeIntervalSinceReferenceDate: 0)
  @Managed var binned: Date?
  @Managed(derivedFrom: "length:(title)") var titleLength: Int = 0
  @Managed var shelf: Shelf?
  @Managed var words: Set<Word>

  var initial: String { String(title.prefix(1)) }
  var isThick: Bool { pages > 100 && price != nil }

  override class var defaultCondition: FetchPredicate? {
    FetchPredicate(Book.self) { $0.binned == nil }
  }
}

private final class Atlas: Book {
  @Managed var scale: Int = 0
}

/// What people try first: of a class, of a request, with values on the left.
@Suite struct FirstCallsTests {
  private static let day = 86_400.0

  private struct Scene {
    let context: ManagedObjectContext
    let books: [Book]
    var shown: [Book] { books.filter { $0.binned == nil } }
  }

  private func scene() throws -> Scene {
    let context = try ManagedObjectContext.stubbed(for: Shelf.self, Book.self, Atlas.self)
    let shelves = (0..<3).map { number in
      let shelf = Shelf(context: context)
      shelf.name = "shelf \(number)"
      return shelf
    }
    let books = (0..<60).map { number -> Book in
      let book = number % 10 == 9 ? Atlas(context: context) : Book(context: context)
      book.title = number % 2 == 0 ? "Even \(number)" : "odd \(number)"
      book.pages = number * 3 - 20
      book.price = number % 5 == 0 ? nil : Double(number)
      book.printed =
        number % 7 == 0
        ? nil : Date(timeIntervalSinceReferenceDate: Double(number) * 31 * Self.day + 1000)
      book.bought = Date(timeIntervalSinceReferenceDate: Double(number) * -45_000)
      book.binned = number % 4 == 3 ? Date(timeIntervalSinceReferenceDate: 0) : nil
      book.shelf = shelves[number % 3]
      return book
    }
    try context.save()
    // Some that no store has yet, as unsaved changes count as well.
    books[8].binned = Date(timeIntervalSinceReferenceDate: 1)
    books[3].binned = nil
    return Scene(context: context, books: books)
  }

  // MARK: Classes and requests

  @Test func `a class is fetched, counted and asked by its name`() throws {
    let scene = try scene()
    let (context, shown) = (scene.context, Set(scene.shown))
    #expect(try Set(context.fetch(Book.self)) == shown && !shown.contains(scene.books[8]))
    #expect(try Set(context.fetch(Book.all)) == shown)
    #expect(try context.fetch(Book.fetchRequest()).count == 60)
    #expect(try context.fetch(Book.self) { $0.pages > 100 }.count == shown.count { $0.pages > 100 })
    let last = try context.first(Book.all.sorted(by: \.pages, ascending: false))
    #expect(last == shown.max { $0.pages < $1.pages })
    #expect(try context.first(Book.self) { $0.title == "Even 2" } == scene.books[2])
    #expect(try context.first(Book.self) { $0.title == "Even 8" } == nil)
    #expect(try context.exists(Book.self) { $0.title == "odd 5" })
    #expect(try !context.exists(Book.self) { $0.title == "Even 8" })
    #expect(try context.exists(Book.fetchRequest().where { $0.title == "Even 8" }))
    #expect(try !context.exists(Shelf.where { $0.name == "none" }))
  }

  @Test func `a default condition counts in all calls that begin with the class`() throws {
    let scene = try scene()
    let (context, shown) = (scene.context, scene.shown)
    let pages = shown.map(\.pages)
    #expect(try context.count(Book.self) == shown.count)
    #expect(try context.count(Book.self) { $0.pages > 10 } == pages.count { $0 > 10 })
    #expect(try context.sum(\Book.pages) == pages.reduce(0, +))
    #expect(try context.maximum(\Book.pages) == pages.max())
    #expect(try context.average(\Book.pages) { $0.pages > 10 } != nil)
    #expect(
      try context.aggregate(Book.self, .count, .minimum(\.pages)) == (shown.count, pages.min()))
    var values: [Int] = []
    for value in try context.values(Book.self, \.pages) { values.append(value) }
    #expect(values.sorted() == pages.sorted())
    let groups = try context.aggregate(Book.self, .count, groupedBy: \.shelf)
    #expect(groups.map(\.values).reduce(0, +) == shown.count)
    #expect(try context.fetch(Book.sorted(by: \.pages)).map(\.pages) == pages.sorted())
    // A subclass has the condition of its parent.
    #expect(try context.fetch(Atlas.self).count == shown.count { $0 is Atlas })
    // What leads there in another way sees all.
    #expect(scene.books[0].shelf?.books.count == 20)
    #expect(
      try context.fetch(Book.fetchRequest().where { $0.binned != nil }).count == 60 - shown.count)
  }

  @Test func `deleting by a condition or a request follows the delete rules`() throws {
    let scene = try scene()
    let context = scene.context
    let expected = scene.shown.count { $0.pages < 40 }
    #expect(try context.delete(Book.self) { $0.pages < 40 } == expected)
    #expect(scene.shown.allSatisfy { $0.isDeleted == ($0.pages < 40) })
    try context.save()
    #expect(try context.count(Book.self) { $0.pages < 40 } == 0)
    #expect(try context.fetch(Book.fetchRequest()).count == 60 - expected)
    #expect(try context.delete(Shelf.where { $0.name == "shelf 1" }) == 1)
    try context.save()
    #expect(try context.fetch(Book.fetchRequest()).allSatisfy { $0.shelf?.name != "shelf 1" })
    #expect(try context.delete(Shelf.self) { $0.name == "none" } == 0)
  }

  @Test func `a sample is of the request's objects, each as likely as any other`() throws {
    let scene = try scene()
    let context = scene.context
    let few = Book.where { $0.pages.in(0..<60) }
    let all = try Set(context.fetch(few))
    var chosen: [ManagedObjectID: Int] = [:]
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<600 {
      let sample = try context.randomSample(of: few, count: 3, using: &generator)
      #expect(sample.count == 3 && Set(sample).count == 3 && all.isSuperset(of: sample))
      for book in sample { chosen[book.objectID, default: 0] += 1 }
    }
    // 600 · 3 / n each; a deviation of half of that is beyond seven standard deviations.
    let mean = 1800 / Double(all.count)
    #expect(all.allSatisfy { abs(Double(chosen[$0.objectID] ?? 0) - mean) < mean / 2 })
    #expect(try Set(context.randomSample(of: few, count: 1000)) == all)
    #expect(try context.randomSample(of: few, count: 0).isEmpty)
    #expect(try context.randomSample(of: few, count: -1).isEmpty)
    #expect(try context.randomSample(of: Book.all.limit(2), count: 9).count == 2)
  }

  // MARK: Values in conditions

  @Test func `values on the left, and functions of values, mean what they do in Swift`() throws {
    let scene = try scene()
    let calendar = {
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = .gmt
      return calendar
    }()
    func part(_ part: Calendar.Component, _ date: Date?) -> Int? {
      date.map { calendar.component(part, from: $0) }
    }
    let cases: [((QueryPath<Book>) -> FetchPredicate, (Book) -> Bool)] = [
      ({ 100 < $0.pages }, { 100 < $0.pages }),
      (
        { 100 <= $0.pages && 10 > $0.price },
        { 100 <= $0.pages && ($0.price.map { 10 > $0 } ?? false) }
      ),
      ({ 10 >= $0.price }, { $0.price.map { 10 >= $0 } ?? false }),
      ({ "Even 4" == $0.title || "odd 5" != $0.title }, { $0.title != "odd 5" }),
      ({ nil == $0.price }, { $0.price == nil }),
      ({ 2 * $0.pages + 1 > 100 - $0.pages }, { 2 * $0.pages + 1 > 100 - $0.pages }),
      ({ 60 / $0.price > 2 }, { $0.price.map { 60 / $0 > 2 } ?? false }),
      ({ ($0.price ?? 7) < 10 }, { ($0.price ?? 7) < 10 }),
      ({ ($0.price ?? 0) + 1 == 1 }, { ($0.price ?? 0) + 1 == 1 }),
      ({ abs($0.pages - 10) < 25 }, { abs($0.pages - 10) < 25 }),
      (
        { $0.title.lowercased().beginsWith("even 1") },
        { $0.title.lowercased().hasPrefix("even 1") }
      ),
      ({ $0.title.uppercased() == "ODD 7" }, { $0.title == "odd 7" }),
      ({ $0.printed.month == 3 }, { part(.month, $0.printed) == 3 }),
      ({ $0.printed.year > 2003 }, { (part(.year, $0.printed) ?? 0) > 2003 }),
      ({ $0.printed.day == nil }, { $0.printed == nil }),
      ({ ($0.printed.year ?? 0) == 0 }, { $0.printed == nil }),
      ({ $0.bought.hour.in(3...9) }, { (3...9).contains(part(.hour, $0.bought) ?? -1) }),
      ({ ($0.bought + 7200).hour < 2 }, { (part(.hour, $0.bought + 7200) ?? 9) < 2 }),
      ({ ($0.bought - 7200).day == 31 }, { part(.day, $0.bought - 7200) == 31 }),
      ({ $0.bought.weekday == 7 }, { part(.weekday, $0.bought) == 7 }),
      ({ $0.bought.minute == 30 && $0.bought.second == 0 }, { part(.minute, $0.bought) == 30 }),
      (
        { $0.shelf.books.any { 3 * $0.pages > 400 } },
        { $0.shelf?.books.contains { 3 * $0.pages > 400 } ?? false }
      ),
    ]
    for (number, (condition, meaning)) in cases.enumerated() {
      let found = try scene.context.fetch(Book.fetchRequest().where(condition))
      #expect(Set(found) == Set(scene.books.filter(meaning)), "case \(number)")
      let predicate = FetchPredicate(Book.self, condition)
      #expect(try FetchPredicate(format: "\(predicate)") == predicate, "case \(number)")
      for book in scene.books {
        #expect(try predicate.evaluate(with: book) == meaning(book), "case \(number)")
      }
    }
  }

  @Test func `groups by what is made of values are those of a dictionary`() throws {
    let scene = try scene()
    let context = scene.context
    struct Key: Hashable {
      let year: Int?
      let month: Int?
    }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let months = Dictionary(grouping: scene.shown) { book in
      Key(
        year: book.printed.map { calendar.component(.year, from: $0) },
        month: book.printed.map { calendar.component(.month, from: $0) })
    }
    let groups = try context.aggregate(
      Book.self, .count, .sum(\.pages), groupedBy: { $0.printed.year }, { $0.printed.month })
    #expect(groups.count == months.count)
    for ((year, month), (count, sum)) in groups {
      let books = months[Key(year: year, month: month)] ?? []
      #expect(count == books.count && sum == books.map(\.pages).reduce(0, +))
    }
    #expect(groups.map { $0.group.0 ?? 0 } == groups.map { $0.group.0 ?? 0 }.sorted())
    // A path and a function, in either order; one group; a predicate.
    let years = try context.aggregate(
      Book.self, .count, groupedBy: { $0.shelf }, { $0.printed.year }, where: { $0.pages > 0 })
    let expected = Dictionary(grouping: scene.shown.filter { $0.pages > 0 }) { book in
      [book.shelf?.name ?? "", "\(book.printed.map { calendar.component(.year, from: $0) } ?? 0)"]
    }
    #expect(years.count == expected.count)
    for ((shelf, year), count) in years {
      #expect(expected[[shelf?.name ?? "", "\(year ?? 0)"]]?.count == count)
    }
    let tens = try context.aggregate(Book.self, .count, groupedBy: { $0.pages / 10 })
    #expect(
      Dictionary(uniqueKeysWithValues: tens.map { ($0.group, $0.values) })
        == Dictionary(grouping: scene.shown) { $0.pages / 10 }.mapValues(\.count))
    let error = persistenceError {
      _ = try context.aggregate(Shelf.self, .count, groupedBy: { $0.books.price.any })
    }
    #expect(error?.message.contains("a group is asked of members") == true)
  }

  @Test func `dictionaries are grouped by expressions as well`() throws {
    let scene = try scene()
    var request = FetchRequest<Book>()
    let year = try ExpressionDescription("year", format: "year:(printed)")
    request.propertiesToGroupBy = [year]
    request.propertiesToFetch = [
      year, try .init("next", format: "year:(printed) + 1"), try .init("n", format: "count:(SELF)"),
    ]
    request.havingPredicate = Key("year") > 2001
    request.sortDescriptors = [FetchSortDescriptor(key: "year", ascending: false)]
    let rows = try scene.context.dictionaries(for: request)
    let years = rows.compactMap { $0["year"] as? Int }
    #expect(years.count > 2 && years == years.sorted(by: >) && !years.contains(2001))
    #expect(rows.allSatisfy { ($0["next"] as? Int) == ($0["year"] as? Int).map { $0 + 1 } })
    let total = rows.compactMap { $0["n"] as? Int }.reduce(0, +)
    request.propertiesToGroupBy = [try ExpressionDescription("pages", format: "sum:(pages)")]
    (request.havingPredicate, request.propertiesToFetch) = (nil, [])
    let error = persistenceError { _ = try scene.context.dictionaries(for: request) }
    #expect(error?.message.contains("no value to group by") == true)
    #expect(
      total
        == scene.books.count { ($0.printed?.timeIntervalSinceReferenceDate ?? 0) >= 365 * Self.day }
    )
  }

  // MARK: What no store has

  @Test func `a computed property is refused with its type and the properties it reads`() throws {
    let scene = try scene()
    let (context, book) = (scene.context, scene.books[0])
    let mistakes: [(words: String, () throws -> Void)] = [
      (
        "of type Bool that Swift works out, and not the store: it reads pages",
        {
          _ = try context.fetch(Book.where { $0.isThick })
        }
      ),
      (
        "of type String that Swift works out, and not the store: it reads title",
        {
          _ = try context.fetch(Book.sorted(by: \.initial))
        }
      ),
      (
        "it reads title",
        { _ = try context.fetch(Shelf.where { $0.books.any { $0.initial == "E" } }) }
      ),
      (
        "it reads title",
        { _ = try context.aggregate(Book.self, .count, groupedBy: \.initial) }
      ),
      (
        "it reads title",
        { _ = try context.aggregate(Book.self, .count, groupedBy: { $0.initial }) }
      ),
      ("it reads title", { _ = try context.values(Book.self, \.initial) }),
      ("it reads title", { _ = try context.sum(\Book.title.count) }),
      (
        "it reads title",
        {
          _ = try FetchPredicate(Book.self) { $0.initial == "E" }.evaluate(with: book)
        }
      ),
      (
        "it reads title",
        {
          _ = try [book].sorted(using: [FetchSortDescriptor(\Book.initial)])
        }
      ),
      (
        "it reads title",
        { _ = try context.fetch(Book.where { Key(\Book.initial) == "E" && $0.pages > 1 }) }
      ),
      (
        "Book.hasChanges is known of objects in memory alone",
        {
          _ = try context.fetch(Book.sorted(by: \.hasChanges))
        }
      ),
      (
        "Book.isInserted is known of objects in memory alone",
        {
          _ = try context.aggregate(Book.self, .valueCount(\.isInserted))
        }
      ),
    ]
    for (number, (words, call)) in mistakes.enumerated() {
      let error = persistenceError(call)
      #expect(error?.code == .undefinedKey, "case \(number)")
      #expect(error?.message.contains(words) == true, "case \(number): \(error?.message ?? "none")")
    }
  }

  // MARK: Copies

  @Test func `a copy has the values, and the relationships that others may have as well`() throws {
    let scene = try scene()
    let context = scene.context
    let shelf = try #require(scene.books[1].shelf)
    let key = ShelfKey(context: context)
    shelf.key = key
    let word = Word(context: context)
    let book = scene.books[19]
    book.words = [word]
    try context.save()

    let copy = try book.copied()
    #expect(copy !== book && copy is Atlas && copy.isInserted && copy.title == book.title)
    #expect(copy.pages == book.pages && copy.price == book.price && copy.binned == book.binned)
    #expect(copy.shelf === book.shelf && copy.words == [word] && word.books == [book, copy])
    #expect(!book.hasChanges || book.changedValues().keys.allSatisfy { $0 == "words" })

    // The other side of these leads to one object.
    let bare = try shelf.copied()
    #expect(bare.name == shelf.name && bare.books.isEmpty && bare.key == nil && shelf.key === key)
    bare.name = "bare"
    let whole = try shelf.copied(with: \.books, \.key)
    whole.name = "whole"
    #expect(whole.books.map(\.title) == shelf.books.map(\.title))
    #expect(
      Set(whole.books).isDisjoint(with: shelf.books)
        && whole.books.allSatisfy { $0.shelf === whole })
    #expect(whole.key != nil && whole.key !== key && whole.key?.number == key.number)
    #expect(shelf.books.allSatisfy { $0.shelf === shelf })
    try context.save()
    #expect(copy.titleLength == copy.title.utf16.count)
    #expect(try context.count(Shelf.self) == 5)
  }

  @Test func `a copy along an attribute or a path, or of a loose object, is an error`() throws {
    let scene = try scene()
    let book = scene.books[0]
    #expect(persistenceError { _ = try book.copied(with: \.title) }?.code == .undefinedKey)
    #expect(persistenceError { _ = try book.copied(with: \.shelf?.books) }?.code == .undefinedKey)
    let loose = Book(entity: book.entity, insertInto: nil)
    #expect(persistenceError { _ = try loose.copied() }?.code == .persistentStoreOperation)
  }
}
