import Quire
import QuireStorage
import QuireTesting
import Testing

/// Notes what a context tells.
private final class Witness: ContextObserver {
  var lines: [String] = []
  var saves: [SavedChanges] = []

  private func name(_ object: ManagedObject?) -> String {
    guard let object else { return "nobody" }
    return (try? object.value(forKey: "name") as? String) ?? object.entity.name
  }

  func willChange(_ property: String, of object: ManagedObject, by change: SlotChange) {
    let what =
      switch change {
      case .value(let value): value.map { "= \($0)" } ?? "= nothing"
      case .one(let destination): "-> \(name(destination))"
      case .addition(let member): "+ \(name(member))"
      case .removal(let member): "- \(name(member))"
      case .order(let order): "in order \(order().map(name).joined(separator: " "))"
      }
    lines.append("\(name(object)).\(property) \(what)")
  }

  func didSave(_ changes: SavedChanges) { saves.append(changes) }

  func take() -> [String] {
    defer { lines = [] }
    return lines
  }
}

@Suite struct ObserverTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show

  @Test func `every change of a property is told, on both sides, before it happens`() throws {
    let context = try SmallGallery.context()
    let (one, two) = (Artist(context: context), Artist(context: context))
    (one.name, two.name) = ("one", "two")
    let artwork = Artwork(context: context)
    let show = Show(context: context)
    show.name = "show"
    try context.save()
    let witness = Witness()
    context.observers = [witness]
    one.name = "first"
    #expect(witness.take() == ["one.name = \"first\""])
    artwork.artist = one
    #expect(witness.take() == ["Artwork.artist -> first", "first.artworks + Artwork"])
    two.artworks = [artwork]
    #expect(
      witness.take() == [
        "two.artworks + Artwork", "first.artworks - Artwork", "Artwork.artist -> two",
      ])
    one.spouse = two
    #expect(witness.take() == ["first.spouse -> two", "two.spouse -> first"])
    show.artists = [two, one]
    #expect(
      witness.take() == [
        "show.artists + two", "two.shows + show", "show.artists + first", "first.shows + show",
        "show.artists in order two first",
      ])
    context.delete(two)
    #expect(witness.take() == [])
    context.processPendingChanges()
    #expect(
      witness.take() == [
        "show.artists - two", "first.spouse -> nobody", "two.artworks - Artwork",
      ])
    context.refresh(one, mergeChanges: false)
    #expect(witness.take() == ["first.shows - show", "show.artists - first"])
  }

  @Test func `a save yields what it changed, under final names`() throws {
    let context = try SmallGallery.context()
    let (one, two) = (Artist(context: context), Artist(context: context))
    try context.save()
    let witness = Witness()
    context.observers = [witness]
    let new = Artwork(context: context)
    new.artist = one
    one.born = 1760
    let deleted = two.objectID
    context.delete(two)
    try context.save()
    let changes = try #require(witness.saves.first)
    #expect(changes.insertedIDs == [new.objectID] && !new.objectID.isTemporaryID)
    #expect(changes.deletedIDs == [deleted])
    #expect(changes.updatedProperties.map(\.id) == [one.objectID])
    #expect(changes.updatedProperties.map { $0.names.sorted() } == [["artworks", "born"]])
    one.born = 1760
    new.title = "Great Wave"
    try context.save()
    #expect(witness.saves.count == 2 && witness.saves[1].insertedIDs.isEmpty)
    #expect(witness.saves[1].updatedProperties.map(\.id) == [new.objectID])
    #expect(witness.saves[1].commitNumber > changes.commitNumber)
    try? context.save()
    #expect(witness.saves.count == 2)
  }
}
