import Foundation
import Quire

final class Author: ManagedObject {
  @Managed(.unique) var name: String
  @Managed(inverse: \Book.author, deleteRule: .cascade) var books: Set<Book>
}

final class Book: ManagedObject {
  @Managed var title: String = "Untitled"
  @Managed(.indexed) var year: Int = 0
  @Managed var author: Author?
}

let container = try PersistentContainer(name: "Library", for: Author.self, Book.self)
try container.loadPersistentStore(at: URL(filePath: "library.quire"))
let context = container.newBackgroundContext()

if try context.count(Author.self) == 0 {
  let author = Author(context: context)
  author.name = "Ursula K. Le Guin"
  for (title, year) in [("The Dispossessed", 1974), ("A Wizard of Earthsea", 1968)] {
    let book = Book(context: context)
    book.title = title
    book.year = year
    book.author = author
  }
  try context.save()
  print("saved \(author.books.count) books")
}

let early = Book.where { $0.year < 1970 && $0.author.name.contains("Le Guin") }
for book in try context.fetch(early.sorted(by: \.year)) {
  print("\(book.title) (\(book.year)) by \(book.author?.name ?? "unknown")")
}

try container.close()
