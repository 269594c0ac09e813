import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct BatchFaultingTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  private func request(batchSize: Int = 20, sortedBy key: String? = nil) -> FetchRequest<Artwork> {
    var request = FetchRequest<Artwork>()
    request.fetchBatchSize = batchSize
    if let key { request.sortDescriptors = [FetchSortDescriptor(key: key)] }
    return request
  }

  private func fill(_ context: ManagedObjectContext, _ count: Int) throws {
    for number in 0..<count {
      try context.insert("Artwork", ["title": "\(number)", "price": Double(number % 97)])
    }
    try context.save()
    context.reset()
  }

  @Test(arguments: GotchaHome.allCases, [nil, "price"])
  func `a look at one object of many makes a batch of objects`(
    _ home: GotchaHome, _ key: String?
  ) throws {
    try home.withContext { context in
      let count = Amount.of(debug: 1_500, release: 10_000)
      let middle = count / 2
      try fill(context, count)
      let artworks = try context.fetchBatched(request(sortedBy: key))
      #expect(artworks.count == count && context.registeredObjects.isEmpty)
      let artwork = artworks[middle + 5]
      #expect(context.registeredObjects.count == 20)
      #expect(context.registeredObjects.allSatisfy { !$0.isFault })
      _ = artworks[middle + 19]
      _ = artworks[middle]
      #expect(context.registeredObjects.count == 20)
      // The next batch takes the place of the last one, but for what somebody holds.
      _ = artworks[middle + 20]
      #expect(context.registeredObjects.count == 21)
      #expect(artworks[middle + 5] === artwork)
      for (index, artwork) in artworks.enumerated() where index % (count / 10) == 0 {
        #expect(artwork === artworks[index] && context.registeredObjects.count <= 21)
      }
      #expect(artworks.last?.managedObjectContext === context)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `it has what a fetch has, unsaved changes, limits and order included`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      let count = Amount.of(debug: 150, release: 300)
      try fill(context, count)
      let all = try context.fetch(request(sortedBy: "title"))
      for index in stride(from: 0, to: count, by: 7) { context.delete(all[index]) }
      for index in stride(from: 0, to: count, by: 5) { all[index].price = 1_000 - Double(index) }
      for number in 0..<20 { try context.insert("Artwork", ["price": Double(number)]) }
      for format in [nil, "price > 50", "title CONTAINS '1' OR price == 3", "FALSEPREDICATE"] {
        for keys in [[], ["price"], ["price", "title"]] {
          for (limit, offset) in Amount.of(
            debug: [(10, 95)],
            release: [(0, 0), (10, 0), (10, 95), (0, 200), (7, 10_000)])
          {
            for isPending in [true, false] {
              var request = FetchRequest<Artwork>()
              request.predicate = try format.map { try FetchPredicate(format: $0) }
              request.sortDescriptors = keys.map {
                FetchSortDescriptor(key: $0, ascending: $0 == "title")
              }
              request.fetchLimit = limit
              request.fetchOffset = offset
              request.includesPendingChanges = isPending
              request.fetchBatchSize = 16
              let expected = try context.fetch(request)
              let found = try context.fetchBatched(request)
              #expect(
                Array(found) == expected, "\(format ?? "") \(keys) \(limit) \(offset) \(isPending)")
              #expect(found.indices.map(found.objectID) == expected.map(\.objectID))
            }
          }
        }
      }
    }
  }

  @Test func `a collection goes both ways, and a copy is the same objects`() throws {
    let context = try SmallGallery.context()
    try fill(context, 50)
    let artworks = try context.fetchBatched(request(batchSize: 8, sortedBy: "price"))
    #expect(artworks.reversed().map(\.price) == (0..<50).reversed().map(Double.init))
    #expect(artworks[10..<13].map(\.price) == [10, 11, 12])
    #expect(artworks.batchSize == 8 && "\(artworks)" == "50 objects of Artwork in batches of 8")
    let first = artworks[0]
    let copy = artworks
    #expect(copy[0] === first)
    let empty = try context.fetchBatched(FetchRequest<Artist>())
    #expect(empty.isEmpty && empty.first == nil && empty.batchSize > 0)
  }

  @Test(arguments: RowServer.Front.allCases)
  func `a store of another make tells rows of a batch in one call, and none before`(
    _ front: RowServer.Front
  ) throws {
    let server = RowServer()
    let context = try server.context(front)
    try fill(context, 100)
    server.restartCounting()
    let artworks = try context.fetchBatched(request(batchSize: 30))
    #expect(artworks.count == 100)
    #expect(server.now.calls(.values) == 0)
    guard front == .plain else { return }
    #expect(server.now.rowCount == 0)
    _ = artworks[40]
    #expect(server.now.calls(.values) == 1 && server.now.rowCount == 30)
    #expect(artworks[59].title == "59" && artworks[30].title == "30")
    #expect(server.now.calls(.values) == 1)
    // A row that cannot be told leaves a fault, and the next fetch says why.
    server.refuse(call: 1)
    let fault = artworks[70]
    #expect(fault.isFault)
    #expect(throws: (any Error).self) { try context.fetchBatched(request()) }
    #expect(fault.title == "70")
  }

  @Test func `it is refused where an object would be of another class`() throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    var request = FetchRequest<Artwork>(entityName: "Artwork")
    request.fetchBatchSize = 2
    #expect(try context.fetchBatched(request).isEmpty)
    try context.insert("Artwork")
    for _ in 0..<2 {
      let error = #expect(throws: PersistenceError.self) { try context.fetchBatched(request) }
      #expect(error?.code == .unacceptableValue)
      try context.save()
      context.reset()
    }
    request.fetchBatchSize = -1
    let error = #expect(throws: PersistenceError.self) { try context.fetchBatched(request) }
    #expect(error?.code == .persistentStoreUnsupportedRequestType)
  }

  @Test func `a template says how large batches are`() throws {
    var template = FetchRequestTemplate("all", of: "Artwork")
    template.fetchBatchSize = 12
    let context = try SmallGallery.context()
    try fill(context, 40)
    let artworks = try context.fetchBatched(try FetchRequest<Artwork>(template))
    _ = artworks[30]
    #expect(artworks.batchSize == 12 && context.registeredObjects.count == 12)
  }

  @Test func `objects that are here are refreshed if the request says so, once`() throws {
    let context = try SmallGallery.context()
    try fill(context, 5)
    let other = SmallGallery.sibling(of: context)
    var request = request(batchSize: 2, sortedBy: "price")
    let mine = try context.fetch(request)
    let theirs = try other.fetch(request)
    theirs[0].title = "theirs"
    theirs[1].title = "theirs too"
    try other.save()
    mine[1].title = "mine"
    _ = try context.fetchBatched(request)
    #expect(mine[0].title == "0")
    request.shouldRefreshRefetchedObjects = true
    let artworks = try context.fetchBatched(request)
    #expect(mine.prefix(2).map(\.title) == ["theirs", "mine"])
    #expect(artworks[0] === mine[0])
  }

  @Test func `awakeFromFetch may look at the array`() throws {
    let context = try ManagedObjectContext.stubbed(
      SmallGallery.model, classes: [CuriousArtwork.self])
    for number in 0..<9 { try context.insert("Artwork", ["price": Double(number)]) }
    try context.save()
    context.reset()
    var request = FetchRequest<CuriousArtwork>(entityName: "Artwork")
    request.fetchBatchSize = 3
    let artworks = try context.fetchBatched(request)
    context.userInfo["artworks"] = artworks
    #expect(artworks[0].price == 0)
    #expect(context.userInfo["lastPrice"] as? Double == 8)
    #expect(artworks.map(\.price) == (0..<9).map(Double.init))
    context.userInfo = [:]
  }
}

private final class CuriousArtwork: ManagedObject {
  override class var modelEntityName: String { "Artwork" }
  @Managed var price: Double

  override func awakeFromFetch() {
    let artworks =
      managedObjectContext?.userInfo["artworks"] as? BatchFaultingArray<CuriousArtwork>
    managedObjectContext?.userInfo["lastPrice"] = artworks?[8].price
  }
}
