public import Foundation
import QuireCoreData

/// The cellar as a document.
public struct CellarDocument: Codable, Sendable, Equatable {
  public struct Wine: Codable, Sendable, Equatable {
    public var kind: String
    public var name: String
    public var producer: String?
    public var bottles: [Bottle]
  }

  public struct Bottle: Codable, Sendable, Equatable {
    public var vintage: Int
    public var quantity: Int
    public var barcode: String?
    public var price: Decimal?
    public var shelf: String?
    public var notes: [String]
  }

  public var wines: [Wine] = []
}

extension Cellar {
  public func document() async throws -> CellarDocument {
    try await read { context in
      var document = CellarDocument()
      let query = Wine.query().prefetching("bottles", "bottles.notes")
      for wine in try query.fetch(in: context) {
        let bottles = wine.bottles.sorted { ($0.vintage, $0.quantity) < ($1.vintage, $1.quantity) }
        document.wines.append(
          CellarDocument.Wine(
            kind: wine.entity.name ?? "", name: wine.name, producer: wine.producer,
            bottles: bottles.map(Cellar.document)))
      }
      return document
    }
  }

  private static func document(_ bottle: Bottle) -> CellarDocument.Bottle {
    let notes = (bottle.notes ?? []).sorted(by: Note.defaultOrder)
    return CellarDocument.Bottle(
      vintage: Int(bottle.vintage), quantity: Int(bottle.quantity), barcode: bottle.barcode,
      price: bottle.price as Decimal?, shelf: bottle.shelf?.label, notes: notes.map(\.text))
  }

  public func load(_ document: CellarDocument) async throws {
    try await write { context in
      for entry in document.wines {
        guard let entity = NSEntityDescription.entity(forEntityName: entry.kind, in: context),
          !entity.isAbstract
        else { throw CellarError.wrongType(expected: entry.kind) }
        let object = NSEntityDescription.insertNewObject(forEntityName: entry.kind, into: context)
        guard let wine = object as? Wine else {
          throw CellarError.wrongType(expected: "\(Wine.self)")
        }
        wine.name = entry.name
        wine.producer = entry.producer
        for entry in entry.bottles { try Cellar.load(entry, of: wine, in: context) }
      }
    }
  }

  private static func load(
    _ entry: CellarDocument.Bottle, of wine: Wine, in context: NSManagedObjectContext
  ) throws {
    let bottle = context.insert(Bottle.self) { bottle in
      bottle.wine = wine
      bottle.vintage = Int16(entry.vintage)
    }
    bottle.quantity = Int64(entry.quantity)
    bottle.barcode = entry.barcode
    bottle.price = entry.price as NSDecimalNumber?
    for text in entry.notes {
      bottle.addToNotes(context.insert(Note.self) { $0.text = text })
    }
    guard let label = entry.shelf else { return }
    let shelf =
      try context.first(Shelf.self, "label", label)
      ?? context.insert(Shelf.self) { $0.label = label }
    shelf.place(bottle, at: Int.max)
  }
}
