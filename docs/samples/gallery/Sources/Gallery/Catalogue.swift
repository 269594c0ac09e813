import Foundation
import Quire

/// The works of a gallery in a file, and what the gallery does with them.
///
/// A catalogue is used where it was made: it has one context, and the objects it returns belong to
/// that context. What a method changes is saved when it returns.
public struct Catalogue {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  /// Opens the catalogue in a file, or makes a new one. The store of an earlier release is brought
  /// to the present classes.
  ///
  /// - Parameter url: `nil` for one in memory.
  public init(at url: URL?) throws {
    container = try PersistentContainer(name: "Gallery", for: Artist.self, Artwork.self, Sale.self)
    try container.loadPersistentStore(at: url)
    context = container.newBackgroundContext()
  }

  /// Closes the store, which is one file then. What was saved is safe without this.
  public func close() throws { try container.close() }

  // MARK: Reading

  /// All works, by artist and title.
  public func all() throws -> [Artwork] {
    try context.fetch(Artwork.sorted(by: \.artist?.name).sorted(by: \.title))
  }

  /// The works whose title or artist contains a text, in capitals or not.
  public func find(_ text: String) throws -> [Artwork] {
    try context.fetch(
      Artwork.where {
        $0.title.contains(text, .caseInsensitive) || $0.artist.name.contains(text, .caseInsensitive)
      }.sorted(by: \.title))
  }

  /// What is for sale, the dearest first.
  public func unsold() throws -> [Artwork] {
    try context.fetch(Artwork.where { $0.sale == nil }.sorted(by: \.price, ascending: false))
  }

  /// What all sales have brought in.
  public func revenue() throws -> Decimal { try context.sum(\Sale.amount) }

  /// All artists, by name.
  public func artists() throws -> [Artist] { try context.fetch(Artist.sorted(by: \.name)) }

  /// The work of a title.
  ///
  /// - Throws: ``CatalogueError`` when there is none, or more than one.
  public func artwork(titled title: String) throws -> Artwork {
    let artworks = try context.fetch(Artwork.where { $0.title == title }.limit(2))
    guard let artwork = artworks.first else { throw CatalogueError.noArtwork(title) }
    guard artworks.count == 1 else { throw CatalogueError.severalArtworks(title) }
    return artwork
  }

  // MARK: Changing

  /// Adds a work, and its artist if the gallery has nothing of that name yet.
  @discardableResult
  public func add(
    _ title: String, by name: String, price: Decimal, year: Int16? = nil
  ) throws -> Artwork {
    try changing {
      let artwork = Artwork(context: context)
      (artwork.title, artwork.price, artwork.year) = (title, price, year)
      artwork.artist = try artist(named: name)
      return artwork
    }
  }

  /// Notes that a work was sold.
  ///
  /// - Parameter amount: the work's price unless given.
  /// - Throws: ``CatalogueError/alreadySold(_:to:)``.
  @discardableResult
  public func sell(
    _ artwork: Artwork, to buyer: String, for amount: Decimal? = nil, on date: Date = Date()
  ) throws -> Sale {
    if let sale = artwork.sale {
      throw CatalogueError.alreadySold(artwork.title, to: sale.buyer)
    }
    return try changing {
      let sale = Sale(context: context)
      (sale.artwork, sale.buyer, sale.date) = (artwork, buyer, date)
      sale.amount = amount ?? artwork.price
      return sale
    }
  }

  /// Removes a work, and its artist if that was the last one.
  public func delete(_ artwork: Artwork) throws {
    try changing {
      if let artist = artwork.artist, artist.artworks.count == 1 {
        // The delete rule takes the work along.
        context.delete(artist)
      } else {
        context.delete(artwork)
      }
    }
  }

  private func artist(named name: String) throws -> Artist {
    if let known = try context.fetch(Artist.where { $0.name == name }.limit(1)).first {
      return known
    }
    let artist = Artist(context: context)
    artist.name = name
    return artist
  }

  /// Saves what `change` has done, or drops it when something is wrong.
  private func changing<Result>(_ change: () throws -> Result) throws -> Result {
    do {
      let result = try change()
      try context.save()
      return result
    } catch {
      context.rollback()
      throw error
    }
  }
}
