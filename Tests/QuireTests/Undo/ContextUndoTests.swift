import Quire
import QuireTesting
import Testing

@Suite struct ContextUndoTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  private func makeContext() throws -> ManagedObjectContext {
    let context = try SmallGallery.context()
    context.undoManager = UndoManager()
    return context
  }

  @Test func `a context has no undo manager, and without one nothing is undone`() throws {
    let context = try SmallGallery.context()
    #expect(context.undoManager == nil)
    let artist = Artist(context: context)
    context.undo()
    context.redo()
    #expect(artist.isInserted)
    try context.save()
  }

  @Test func `an event ends with pending changes and with a save, but not with a fetch`() throws {
    let context = try makeContext()
    let artist = Artist(context: context)
    artist.name = "one"
    context.processPendingChanges()
    artist.name = "two"
    _ = try context.all(Artist.self)
    artist.born = 1760
    try context.save()
    artist.name = "three"
    context.performAndWait { artist.born = 2 }
    artist.name = "four"
    context.undo()
    #expect(artist.name == "three" && artist.born == 2)
    context.undo()
    #expect(artist.name == "two" && artist.born == 1760 && !context.hasChanges)
    context.undo()
    #expect(artist.name == "one" && artist.born == nil && artist.isUpdated)
    context.undo()
    #expect(artist.isDeleted && context.undoManager?.canUndo == false)
    for _ in 1...4 { context.redo() }
    #expect(artist.name == "four" && artist.born == 2 && !artist.isDeleted)
    try context.save()
    #expect(try SmallGallery.sibling(of: context).all(Artist.self).map(\.name) == ["four"])
  }

  @Test func `a group holds events and saves together`() throws {
    let context = try makeContext()
    let undo = try #require(context.undoManager)
    undo.groupsByEvent = false
    let artist = Artist(context: context)
    try context.save()
    undo.beginUndoGrouping()
    artist.name = "one"
    context.processPendingChanges()
    artist.name = "two"
    try context.save()
    context.delete(artist)
    try undo.endUndoGrouping()
    #expect(artist.isDeleted)
    context.undo()
    #expect(!artist.isDeleted && artist.name == "unknown")
    try context.save()
    context.redo()
    #expect(artist.isDeleted)
    // Without an event or a group of the program, what belongs together stays together.
    context.undo()
    context.undo()
    #expect(artist.isDeleted)
  }

  @Test func `an undo that takes back all that was unsaved leaves nothing to save`() throws {
    let context = try makeContext()
    let (artist, artwork) = (Artist(context: context), Artwork(context: context))
    try context.save()
    artwork.artist = artist
    artist.name = "Hokusai"
    context.delete(artwork)
    context.undo()
    #expect(!context.hasChanges && artist.artworks.isEmpty && artwork.artist == nil)
  }

  @Test func `while registration is off nothing is entered, and deletions by rules neither`()
    throws
  {
    let context = try makeContext()
    let undo = try #require(context.undoManager)
    let (artist, artwork) = (Artist(context: context), Artwork(context: context))
    artwork.artist = artist
    try context.save()
    undo.removeAllActions()
    undo.disableUndoRegistration()
    artist.name = "Hokusai"
    context.delete(artist)
    undo.enableUndoRegistration()
    #expect(artist.isDeleted && artwork.isDeleted && !undo.canUndo)
    try context.save()
    context.undo()
    #expect(try context.count(for: FetchRequest<Artist>()) == 0)
  }

  @Test func `changes made by callbacks are undone with the change that caused them`() throws {
    let model = try ManagedObjectModel {
      Entity("Note") {
        Attribute("text", .string)
        Attribute("made", .integer64, default: 0)
        Attribute("saved", .integer64, default: 0)
      }
    }
    final class Note: ManagedObject {
      @Managed var text: String?
      @Managed var made: Int
      @Managed var saved: Int
      var willDelete: () -> Void = {}
      var events: [SnapshotEventType] = []
      override func awakeFromInsert() { made = 7 }
      /// Once a save, as a change asks objects again.
      var isCounted = false
      override func willSave() {
        if !isDeleted, !isCounted {
          isCounted = true
          saved += 1
        }
      }
      override func didSave() { isCounted = false }
      override func prepareForDeletion() { willDelete() }
      override func awake(fromSnapshotEvents events: SnapshotEventType) {
        self.events.append(events)
      }
    }
    let context = try ManagedObjectContext.stubbed(model, classes: [Note.self])
    context.undoManager = UndoManager()
    let (note, other) = (Note(context: context), Note(context: context))
    try context.save()
    #expect(note.made == 7 && note.saved == 1)
    note.text = "text"
    context.processPendingChanges()
    try context.save()
    #expect(note.saved == 2)
    note.willDelete = { other.text = "alone" }
    context.delete(note)
    try context.save()
    #expect(note.managedObjectContext == nil && other.text == "alone")
    context.undo()
    #expect(note.managedObjectContext === context && other.text == nil && other.saved == 1)
    #expect(note.events == [.undoDeletion] && other.events == [.undoUpdate])
    context.undo()
    #expect(note.text == nil && note.saved == 1 && note.events.last == .undoUpdate)
    context.undo()
    #expect(note.managedObjectContext == nil && other.isDeleted)
    #expect(note.events.last?.contains(.undoInsertion) == true)
    context.redo()
    #expect(note.made == 7 && note.saved == 1 && other.made == 7)
    #expect(context.undoManager?.canUndo == true)
  }

  @Test
  func `a deleted and saved object returns to its place, with a version above its former one`()
    throws
  {
    let context = try makeContext()
    let artist = Artist(context: context)
    artist.name = "one"
    try context.save()
    artist.name = "two"
    try context.save()
    let (id, version) = (artist.objectID, artist.version)
    let other = SmallGallery.sibling(of: context)
    let stale = try #require(try other.existingObject(with: id) as? Artist)
    context.delete(artist)
    try context.save()
    context.undo()
    #expect(artist.isInserted && artist.objectID == id && artist.name == "two")
    #expect(context.object(with: id) === artist)
    #expect(try context.named("two") === artist)
    artist.born = 1760
    try context.save()
    #expect(artist.objectID == id && artist.version > version)
    stale.name = "three"
    let error = #expect(throws: PersistenceError.self) { try other.save() }
    #expect(error?.code == .managedObjectMerge)
    let new = Artist(context: context)
    try context.save()
    #expect(new.objectID.key > id.key)
  }

  @Test func `a place that somebody else has filled meanwhile is a conflict`() throws {
    let one = try makeContext()
    let artist = Artist(context: one)
    try one.save()
    let two = SmallGallery.sibling(of: one)
    two.undoManager = UndoManager()
    let same = try #require(try two.existingObject(with: artist.objectID) as? Artist)
    one.delete(artist)
    try one.save()
    one.undo()
    try one.save()
    two.refresh(same, mergeChanges: true)
    two.delete(same)
    try two.save()
    two.undo()
    one.refresh(artist, mergeChanges: true)
    // Written anew by one while the other is about to.
    artist.name = "again"
    #expect(throws: PersistenceError.self) { try one.save() }
    one.rollback()
    try two.save()
    #expect(try StoreFacts(two).findings == [])
    #expect(try one.all(Artist.self) == [artist])
  }

  @Test func `changes that a refresh drops come back when it is undone`() throws {
    let context = try makeContext()
    let (artist, artwork) = (Artist(context: context), Artwork(context: context))
    try context.save()
    artist.name = "Hokusai"
    artwork.artist = artist
    context.processPendingChanges()
    context.refresh(artist, mergeChanges: false)
    #expect(artist.name == "unknown" && artwork.artist == nil)
    context.undo()
    #expect(artist.name == "Hokusai" && artwork.artist === artist && artist.artworks == [artwork])
    context.undo()
    #expect(artist.name == "unknown" && artwork.artist == nil && !context.hasChanges)
  }

  @Test func `undoing while a save is under way is refused`() throws {
    let model = try ManagedObjectModel { Entity("Note") { Attribute("text", .string) } }
    final class Note: ManagedObject {
      @Managed var text: String?
      var error: (any Error)?
      override func willSave() {
        do { try managedObjectContext?.undoManager?.undo() } catch { self.error = error }
      }
    }
    let context = try ManagedObjectContext.stubbed(model, classes: [Note.self])
    context.undoManager = UndoManager()
    let note = Note(context: context)
    try context.save()
    #expect(code(of: try #require(note.error)) == .managedObjectContextBusy)
    #expect(!note.hasChanges && context.undoManager?.canUndo == true)
  }

  @Test func `removing the undo manager forgets its actions and releases their objects`() throws {
    let context = try makeContext()
    weak var weakly: Artist?
    do {
      let artist = Artist(context: context)
      artist.name = "Hokusai"
      try context.save()
      weakly = artist
    }
    #expect(weakly != nil)
    let undo = context.undoManager
    context.undoManager = nil
    #expect(weakly == nil && undo?.canUndo == false)
  }
}
