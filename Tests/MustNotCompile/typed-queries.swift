// What a query says of properties is checked where it is written.
import Quire

final class Artist: ManagedObject {
  @Managed var name: String = ""
  @Managed(inverse: \Artwork.artist) var artworks: Set<Artwork>
}

final class Artwork: ManagedObject {
  @Managed var price: Double = 0
  @Managed(.unique) var scans: Set<Artwork>  // error: options are for attributes
  @Managed(inverse: \Artist.name) var owner: Artwork?  // error: cannot convert value
  @Managed(deleteRule: .cascade) var size: Int  // error: no exact matches in call to initializer
  @Managed var artist: Artist?
  @Managed var words: [String]?
  @Managed var title: String = ""
}

func queries() {
  _ = Artwork.where { $0.price == "dear" }  // error: cannot be applied to operands of type
  _ = Artwork.where { $0.cost > 1 }  // error: has no dynamic member 'cost'
  _ = Artwork.where { $0.artist.age > 1 }  // error: has no dynamic member 'age'
  _ = Artwork.where { $0.artist.name.beginsWith(1) }  // error: to expected argument type 'String'
  _ = Artist.where { $0.artworks.price > 1 }  // error: cannot be applied to operands of type
  _ = Artwork.where { $0.title.count > 3 }  // error: write length, the number of UTF-16 units
  _ = Artwork.where { $0.title.hasPrefix("a") }  // error: has been renamed to 'beginsWith(_:)'
  _ = Artwork.where { $0.artist.name.hasSuffix("a") }  // error: has been renamed to 'endsWith(_:)'
  _ = Artist.where { $0.artworks.contains(where: { $0.price > 1 }) }  // error: renamed to 'any(_:)'
  _ = Artwork.where { $0.hasChanges }  // error: filter the objects that were fetched
  _ = Artwork.where { $0.artist.isFault == true }  // error: filter the objects that were fetched
  _ = Artwork.where { 2 * $0.title > 1 }  // error: cannot convert value of type 'QueryPath<String>'
  _ = Artwork.where { $0.price.magnitude > 3 }  // error: requires that
  _ = Artwork.where { $0.owner.price.exponent > 3 }  // error: requires that
  _ = Artist.where { $0.artworks.first == nil }  // error: requires that
  _ = Artwork.where { $0.words == ["new"] }  // error: cannot be applied to operands of type
  _ = Artist.where { $0.artworks == [] }  // error: requires that
  _ = Artist.sorted(by: \Artwork.price)  // error: to expected argument
}
