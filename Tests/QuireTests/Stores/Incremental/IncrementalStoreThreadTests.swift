import Quire
import QuireSimulation
import Testing

@Suite struct IncrementalStoreThreadTests {
  @Test func `contexts of several threads lose nothing of each other`() throws {
    let server = RowServer()
    let coordinator = try server.coordinator()
    let context = GotchaHome.context(of: coordinator)
    let artist = SmallGallery.Artist(context: context)
    artist.born = 0
    try context.save()
    let id = artist.objectID
    let (threadCount, stepCount) = (4, 25)
    Threads.run(
      (0..<threadCount).map { number in
        { @Sendable in
          do {
            let context = GotchaHome.context(of: coordinator)
            for _ in 0..<stepCount {
              // Until no other thread is faster.
              while true {
                let found = try context.existingObject(with: id)
                guard let artist = found as? SmallGallery.Artist else { return }
                artist.born = (artist.born ?? 0) + 1
                let artwork = SmallGallery.Artwork(context: context)
                artwork.title = "by thread \(number)"
                artwork.artist = artist
                do {
                  try context.save()
                  break
                } catch let error as PersistenceError where error.code == .managedObjectMerge {
                  context.rollback()
                }
              }
            }
          } catch {
            Issue.record(error)
          }
        }
      })
    context.refreshAllObjects()
    #expect(artist.born == Int16(threadCount * stepCount))
    #expect(artist.artworks.count == threadCount * stepCount)
    #expect(server.now.findings(SmallGallery.model).isEmpty)
  }
}
