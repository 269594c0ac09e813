// What the compiler cannot see, since both contexts belong to one isolation: this compiles, and is
// error 133010 when it runs.
import Quire

func mix(_ container: PersistentContainer, _ context: ManagedObjectContext) throws {
  let other = container.newBackgroundContext()
  let artist = try EntityDescription.insertNewObject(forEntityName: "Artist", into: other)
  let artwork = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
  try artwork.setValue(artist, forKey: "artist")
}
