import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Predicates that the compiler has checked. What they mean to Foundation, which evaluates them
/// itself, they mean to a fetch.
@Suite struct TypedPredicateTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show

  private static func fill(_ context: ManagedObjectContext) throws {
    var artists: [Artist] = []
    for (name, born) in [("Ana", 1900), ("ben", nil), ("Cleo", 1950), ("Di", -5)]
      as [(String, Int16?)]
    {
      let artist = Artist(context: context)
      (artist.name, artist.born) = (name, born)
      artists.append(artist)
    }
    artists[0].spouse = artists[1]
    for number in 0..<12 {
      let work = Artwork(context: context)
      work.title = number % 5 == 0 ? nil : ["tree", "Treehouse", "sea", ""][number % 4]
      work.price = Double(number * 25) / 2
      work.isPublished = number % 3 == 0
      work.artist = number % 4 == 3 ? nil : artists[number % 4]
    }
    for number in 0..<3 {
      let show = Show(context: context)
      show.name = "show \(number)"
      show.artists = Array(artists[..<number])
    }
  }

  /// Compares a fetch with Foundation, object by object.
  private func expectSame<Object: ManagedObject>(
    _ predicate: Predicate<Object>, in context: ManagedObjectContext,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    var request = FetchRequest<Object>()
    let all = try context.fetch(request)
    let expected = try all.filter { try predicate.evaluate($0) }
    #expect(expected.count > 0 && expected.count < all.count, sourceLocation: location)
    request.predicate = try FetchPredicate(predicate, in: context)
    let label = request.predicate?.description ?? ""
    #expect(try context.fetch(request) == expected, "\(label)", sourceLocation: location)
    let inMemory = try all.filter { try request.predicate?.evaluate(with: $0) ?? true }
    #expect(inMemory == expected, "\(label)", sourceLocation: location)
  }

  private func withContext(_ body: (ManagedObjectContext) throws -> Void) throws {
    let context = try ManagedObjectContext.stubbed(
      SmallGallery.model, classes: SmallGallery.classes)
    try Self.fill(context)
    try context.save()
    try body(context)
  }

  @Test func `comparisons and what joins them`() throws {
    let limit = 60.0
    try withContext { context in
      try expectSame(#Predicate<Artwork> { $0.price > limit }, in: context)
      try expectSame(#Predicate<Artwork> { $0.price <= 50 && $0.isPublished }, in: context)
      try expectSame(#Predicate<Artwork> { !$0.isPublished || $0.price == 0 }, in: context)
      try expectSame(#Predicate<Artwork> { $0.title == "sea" }, in: context)
      try expectSame(#Predicate<Artwork> { $0.title != nil }, in: context)
      try expectSame(#Predicate<Artwork> { $0.artist == nil }, in: context)
      try expectSame(#Predicate<Artwork> { $0.artist?.name == "Ana" }, in: context)
      try expectSame(#Predicate<Artwork> { $0.artist?.spouse?.name != "ben" }, in: context)
      try expectSame(#Predicate<Artwork> { ($0.title ?? "none") < "s" }, in: context)
      try expectSame(#Predicate<Artwork> { ($0.artist?.born ?? 0) > 1900 }, in: context)
      try expectSame(
        #Predicate<Artwork> { $0.isPublished ? $0.price > 50 : $0.price < 50 }, in: context)
      try expectSame(
        #Predicate<Artwork> { if let artist = $0.artist { artist.name > "B" } else { true } },
        in: context)
      try expectSame(
        #Predicate<Artwork> {
          if let artist = $0.artist {
            if let born = artist.born {
              born > 1900 && artist.name > "B"
            } else {
              artist.name > "C"
            }
          } else {
            false
          }
        }, in: context)
      try expectSame(#Predicate<Artist> { $0.born == nil || $0.born! > 1900 }, in: context)
    }
  }

  @Test func `nested if let in a #Predicate becomes a plain conjunction`() throws {
    try withContext { context in
      let nested = #Predicate<Artwork> {
        if let artist = $0.artist {
          if let born = artist.born { born > 1900 } else { false }
        } else {
          false
        }
      }
      let predicate = try FetchPredicate(nested, in: context)
      #expect(
        predicate.description == "artist != nil AND artist.born != nil AND artist.born > 1900")
    }
  }

  @Test func `arithmetic and ranges`() throws {
    let years = [1900, 1950] as [Int16?]
    try withContext { context in
      try expectSame(#Predicate<Artwork> { $0.price * 2 - 1 > 99 }, in: context)
      try expectSame(#Predicate<Artwork> { -$0.price / 4 < -10.5 }, in: context)
      try expectSame(#Predicate<Artist> { ($0.born ?? 1) % 100 == 50 }, in: context)
      try expectSame(#Predicate<Artwork> { (25.0...50).contains($0.price) }, in: context)
      try expectSame(#Predicate<Artwork> { (25.0..<50).contains($0.price) }, in: context)
      try expectSame(#Predicate<Artwork> { [12.5, 25, 3].contains($0.price) }, in: context)
      try expectSame(#Predicate<Artist> { years.contains($0.born) }, in: context)
    }
  }

  @Test func `texts`() throws {
    try withContext { context in
      try expectSame(#Predicate<Artist> { $0.name.contains("e") }, in: context)
      try expectSame(#Predicate<Artist> { $0.name.starts(with: "A") }, in: context)
      try expectSame(#Predicate<Artist> { $0.name.utf16.count == 3 }, in: context)
      try expectSame(#Predicate<Artwork> { $0.title?.isEmpty == true }, in: context)
    }
  }

  @Test func `collections`() throws {
    try withContext { context in
      try expectSame(#Predicate<Artist> { $0.artworks.contains { $0.price > 100 } }, in: context)
      try expectSame(#Predicate<Artist> { $0.artworks.allSatisfy { $0.isPublished } }, in: context)
      try expectSame(#Predicate<Artist> { $0.artworks.count > 2 }, in: context)
      try expectSame(#Predicate<Artist> { $0.artworks.isEmpty }, in: context)
      try expectSame(
        #Predicate<Artist> { $0.artworks.filter { $0.price > 20 }.count == 2 }, in: context)
      try expectSame(
        #Predicate<Artist> { artist in
          artist.artworks.contains { ($0.title ?? "Ana") == artist.name } || artist.born == nil
        }, in: context)
      try expectSame(
        #Predicate<Artist> { artist in
          artist.artworks.contains { work in
            work.artist?.artworks.contains { $0.price > work.price + 90 } == true
          }
        }, in: context)
      try expectSame(#Predicate<Show> { $0.artists.first?.name == "Ana" }, in: context)
      try expectSame(#Predicate<Show> { $0.artists.last?.name == "ben" }, in: context)
      try expectSame(#Predicate<Artwork> { [12.5, 25].min()! < $0.price }, in: context)
    }
  }

  @Test func `objects are compared by their IDs`() throws {
    try withContext { context in
      var request = Artist.fetchRequest()
      request.predicate = Key("name") == "Cleo"
      let id = try #require(try context.fetch(request).first).objectID
      try expectSame(#Predicate<Artwork> { $0.artist?.objectID == id }, in: context)
      try expectSame(#Predicate<Artist> { $0.objectID != id }, in: context)
    }
  }

  @Test func `a #Predicate that no store can answer is an error with the reason`() throws {
    try withContext { context in
      func expectError<Object: ManagedObject>(
        _ predicate: Predicate<Object>, _ part: String,
        _ location: SourceLocation = #_sourceLocation
      ) {
        do {
          let made = try FetchPredicate(predicate, in: context)
          Issue.record("\(made)", sourceLocation: location)
        } catch {
          let text = (error as? PersistenceError)?.message ?? ""
          #expect(text.contains(part), "\(text)", sourceLocation: location)
        }
      }
      expectError(#Predicate<Artist> { $0.name.count > 3 }, "utf16.count")
      expectError(#Predicate<Artist> { $0.shouting == "ANA" }, "it reads name")
      expectError(#Predicate<Artist> { $0.sold.isEmpty }, "it reads artworks")
      expectError(
        #Predicate<Artist> { $0.hasChanges }, "hasChanges is known of objects in memory alone")
      expectError(
        #Predicate<SmallGallery.Unregistered> { $0.name == "a" }, "registered for no entity")
    }
  }
}

extension SmallGallery.Artist {
  fileprivate var shouting: String { name.uppercased() }
  fileprivate var sold: Set<SmallGallery.Artwork> { artworks.filter { $0.price > 5 } }
}

extension SmallGallery {
  fileprivate final class Unregistered: ManagedObject {
    @Managed var name: String
  }
}
