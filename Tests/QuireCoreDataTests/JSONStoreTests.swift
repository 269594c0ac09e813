import Foundation
import QuireCoreData
import QuireSimulation
import Testing

/// A store that a program has written for Core Data, in a file.
@Suite final class JSONStoreTests {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appendingPathComponent("gallery.json") }

  init() throws { folder = try TemporaryFolder() }

  private func coordinator() throws -> NSPersistentStoreCoordinator {
    try Gallery.coordinator(JSONStore.self, JSONStore.storeType, at: url)
  }

  private func fill(_ context: NSManagedObjectContext) throws {
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    artist.born = Date(timeIntervalSinceReferenceDate: -7_500_000_000)
    Gallery.artwork("The Great Wave", 1831, by: artist, in: context).price = 12.50
    Gallery.artwork("Red Fuji", 1832, by: artist, in: context)
    let painting = Painting(context: context)
    painting.title = "Self-portrait"
    painting.technique = "ink"
    painting.year = 1839
    let subject = Subject(context: context)
    subject.word = "sea"
    subject.works = [painting]
    artist.favorites = [painting] + artist.works.sorted { $0.year < $1.year }
    try context.save()
  }

  @Test func `objects are found again after the file was opened again`() throws {
    try fill(Gallery.context(of: try coordinator()))
    let context = Gallery.context(of: try coordinator())
    let request = NSFetchRequest<Artwork>(entityName: "Artwork")
    request.predicate = NSPredicate(format: "year > %d AND artist.name BEGINSWITH 'H'", 1830)
    request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: false)]
    #expect(try context.fetch(request).map(\.title) == ["Red Fuji", "The Great Wave"])
    request.predicate = nil
    #expect(try context.fetch(request).map(\.title).first == "Self-portrait")
    request.fetchLimit = 1
    request.fetchOffset = 1
    #expect(try context.fetch(request).map(\.title) == ["Red Fuji"])
    request.includesSubentities = false
    #expect(try context.count(for: request) == 1)
    request.fetchLimit = 0
    request.fetchOffset = 0
    #expect(try context.count(for: request) == 2)
    let artist = try #require(context.fetch(NSFetchRequest<Artist>(entityName: "Artist")).first)
    #expect(artist.isFault)
    #expect(artist.born == Date(timeIntervalSinceReferenceDate: -7_500_000_000))
    #expect(Set(artist.works.map(\.title)) == ["The Great Wave", "Red Fuji"])
    #expect(artist.favorites.map(\.year) == [1839, 1831, 1832])
    let wave = try #require(artist.works.first { $0.year == 1831 })
    #expect(wave.artist === artist && wave.price == 12.5 && !wave.isSold && wave.subjects.isEmpty)
    let painting = try #require(artist.favorites.first as? Painting)
    #expect(painting.subjects.map(\.word) == ["sea"] && painting.artist == nil)
    #expect(painting.subjects.first?.works == [painting])
  }

  @Test func `changes and deletions reach the file, and both sides of relationships`() throws {
    let first = Gallery.context(of: try coordinator())
    try fill(first)
    let request = NSFetchRequest<Artwork>(entityName: "Artwork")
    request.predicate = NSPredicate(format: "title == %@", "Red Fuji")
    let fuji = try #require(first.fetch(request).first)
    fuji.isSold = true
    fuji.artist = nil
    try first.save()
    first.delete(try #require(first.fetch(NSFetchRequest<Subject>(entityName: "Subject")).first))
    try first.save()
    let context = Gallery.context(of: try coordinator())
    let same = try #require(context.fetch(request).first)
    #expect(same.isSold && same.artist == nil)
    let artist = try #require(context.fetch(NSFetchRequest<Artist>(entityName: "Artist")).first)
    #expect(artist.works.map(\.title) == ["The Great Wave"])
    #expect(artist.favorites.count == 3)
    #expect(try context.count(for: NSFetchRequest<Subject>(entityName: "Subject")) == 0)
    let painting = try #require(
      context.fetch(NSFetchRequest<Painting>(entityName: "Painting")).first)
    #expect(painting.subjects.isEmpty)
    context.delete(artist)
    try context.save()
    let last = Gallery.context(of: try coordinator())
    #expect(try last.count(for: NSFetchRequest<Artwork>(entityName: "Artwork")) == 2)
  }

  @Test func `a URI that was kept finds its object in another run`() throws {
    let first = Gallery.context(of: try coordinator())
    try fill(first)
    let request = NSFetchRequest<Artwork>(entityName: "Artwork")
    request.predicate = NSPredicate(format: "title == %@", "Red Fuji")
    let kept = try #require(first.fetch(request).first).objectID.uriRepresentation()
    let coordinator = try coordinator()
    let context = Gallery.context(of: coordinator)
    let id = try #require(coordinator.managedObjectID(forURIRepresentation: kept))
    let fuji = try context.existingObject(with: id)
    #expect(fuji.value(forKey: "title") as? String == "Red Fuji")
    let unknown = URL(string: kept.absoluteString.replacingOccurrences(of: "/p", with: "/p1"))!
    if let id = coordinator.managedObjectID(forURIRepresentation: unknown) {
      #expect(throws: NSError.self) { try context.existingObject(with: id) }
    }
  }

  @Test func `a save that two contexts make of one object is a conflict`() throws {
    let coordinator = try coordinator()
    let (first, second) = (Gallery.context(of: coordinator), Gallery.context(of: coordinator))
    try fill(first)
    let request = NSFetchRequest<Artist>(entityName: "Artist")
    let (mine, its) = (try #require(first.fetch(request).first), try second.fetch(request)[0])
    #expect(its.name == "Hokusai")
    mine.name = "Katsushika Hokusai"
    try first.save()
    // The second save of one object finds the version that the store has given it.
    mine.born = nil
    try first.save()
    its.name = "Iitsu"
    let error = #expect(throws: NSError.self) { try second.save() }
    #expect(error?.code == NSManagedObjectMergeError)
    second.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    try second.save()
    #expect(its.name == "Iitsu" && its.born == nil)
    first.refresh(mine, mergeChanges: false)
    #expect(mine.name == "Iitsu")
  }

  @Test func `a change of one side of a relationship is no conflict for the other`() throws {
    let context = Gallery.context(of: try coordinator())
    try fill(context)
    let artist = try #require(context.fetch(NSFetchRequest<Artist>(entityName: "Artist")).first)
    for year in 1840..<1843 {
      Gallery.artwork("View \(year)", Int32(year), by: artist, in: context)
      try context.save()
    }
    artist.name = "Gakyo Rojin"
    try context.save()
    #expect(artist.works.count == 5)
  }

  @Test func `a child context saves to its parent, and that to the store`() throws {
    let coordinator = try coordinator()
    let parent = Gallery.context(of: coordinator)
    try fill(parent)
    let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    child.parent = parent
    let request = NSFetchRequest<Artist>(entityName: "Artist")
    let artist = try #require(child.fetch(request).first)
    #expect(artist.works.count == 2)
    Gallery.artwork("Mishima Pass", 1830, by: artist, in: child)
    try child.save()
    #expect(parent.hasChanges)
    let other = Gallery.context(of: coordinator)
    #expect(try other.fetch(request).first?.works.count == 2)
    try parent.save()
    other.refreshAllObjects()
    #expect(try other.fetch(request).first?.works.count == 3)
  }

  @Test func `a file that cannot be read is the error of adding the store`() throws {
    try Data("[1, 2]".utf8).write(to: url)
    #expect(throws: CocoaError(.fileReadCorruptFile)) { _ = try coordinator() }
    try Data("{".utf8).write(to: url)
    #expect(throws: (any Error).self) { _ = try coordinator() }
  }
}
