import Quire
import Testing

/// Mistakes are told where they are made if the statement can throw; if it cannot, the next fetch
/// or save says what it was about.
@Suite struct OtherContextErrorTests {
  typealias Artist = SmallGallery.Artist

  private func isStranger(
    _ error: any Error, _ object: ManagedObject, _ key: String, _ other: ManagedObject
  ) -> Bool {
    guard let error = error as? PersistenceError else { return false }
    return error.code == .managedObjectExternalRelationship && error.objectID == object.objectID
      && error.key == key && error.entityName == object.entity.name
      && error.message.hasPrefix("\(object.entity.name).\(key) of \(object.objectID)")
      && error.message.contains("\(other.objectID)")
  }

  private func contexts() throws -> (ManagedObjectContext, ManagedObjectContext) {
    let (here, there) = (try SmallGallery.context(), try SmallGallery.context())
    (here.name, there.name) = ("here", "there")
    return (here, there)
  }

  @Test func `a value of another context is refused by the statement that sets it`() throws {
    let (here, there) = try contexts()
    let (artist, show) = (Artist(context: here), SmallGallery.Show(context: here))
    let stranger = Artist(context: there)
    let piece = SmallGallery.Artwork(context: there)
    let statements: [(ManagedObject, String, ManagedObject, () throws -> Void)] = [
      (artist, "spouse", stranger, { try artist.setValue(stranger, forKey: "spouse") }),
      (artist, "artworks", piece, { try artist.setValue([piece], forKey: "artworks") }),
      (artist, "artworks", piece, { try artist.mutableSetValue(forKey: "artworks").add(piece) }),
      (
        show, "artists", stranger,
        { try show.mutableOrderedSetValue(forKey: "artists").add(stranger) }
      ),
      (artist, "spouse", stranger, { try artist.setPrimitiveValue(stranger, forKey: "spouse") }),
    ]
    for (object, key, other, statement) in statements {
      #expect { try statement() } throws: { isStranger($0, object, key, other) }
    }
    try here.save()
    try there.save()
    #expect(artist.spouse == nil && artist.artworks.isEmpty && show.artists.isEmpty)
  }

  @Test func `a property that cannot throw leaves an error that names object, property and places`()
    throws
  {
    let (here, there) = try contexts()
    let artist = Artist(context: here)
    let (stranger, piece) = (Artist(context: there), SmallGallery.Artwork(context: there))
    artist.spouse = stranger
    #expect { try here.save() } throws: {
      isStranger($0, artist, "spouse", stranger) && "\($0)".contains("the context here")
        && "\($0)".contains("the context there") && "\($0)".contains("earlier statement")
    }
    artist.artworks = [piece]
    #expect { try here.fetch(FetchRequest<Artist>()) } throws: {
      isStranger($0, artist, "artworks", piece)
    }
    try here.save()
  }

  /// An object without a context could keep no error, and lost the value in silence.
  @Test func `an object without a context leaves the error with the other's context`() throws {
    let (here, _) = try contexts()
    let entity = try #require(EntityDescription.entity(forEntityName: "Artist", in: here))
    let homeless = Artist(entity: entity, insertInto: nil)
    let artist = Artist(context: here)
    homeless.spouse = artist
    #expect { try here.save() } throws: { isStranger($0, homeless, "spouse", artist) }
    #expect { try homeless.setValue(artist, forKey: "spouse") } throws: {
      isStranger($0, homeless, "spouse", artist)
    }
    try here.save()
  }

  @Test func `a context cannot descend from itself, and the statement says so`() throws {
    let (parent, _) = try contexts()
    let child = parent.newChildContext()
    child.name = "child"
    for (context, wanted) in [(parent, parent), (parent, child), (child, child)] {
      #expect { try context.setParent(wanted) } throws: {
        code(of: $0) == .persistentStoreOperation && "\($0)".contains("parent")
          && "\($0)".contains(context.name ?? "-")
      }
    }
    #expect(parent.parent == nil && child.parent === parent)
    try parent.save()
    try child.save()
    parent.parent = parent
    #expect { try parent.save() } throws: {
      "\($0)".contains("the context here cannot have itself as its parent")
    }
    try parent.save()
    try child.setParent(nil)
    #expect(child.parent == nil)
  }
}
