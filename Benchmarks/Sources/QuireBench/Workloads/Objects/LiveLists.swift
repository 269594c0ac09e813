import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A list of all artworks in the order of their prices is shown, and one after the other changes its
// price: what it takes until the list is right again. Nothing is saved.

extension Workload {
  static let objLiveList = Workload(
    name: "obj_live_list",
    summary: "200 times one price changes, and the list of all by price is right again",
    count: 100_000, shortCount: 500, modes: [.ordered, .memory], unit: .millisecondsEach,
    goals: [Goal(.milliseconds(atMost: 1), in: .ordered)],
    contenders: [
      Contender(engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.liveList),
      Contender(engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.liveList),
    ])
}

enum LiveLists {
  static let changeCount = 200

  /// Which artwork changes, by its id.
  static func changed(_ index: Int, of count: Int) -> Int { index * 7_919 % count + 1 }

  /// Somewhere else in the list.
  static func price(_ index: Int, of count: Int) -> Double {
    ArtworkData.price(index * 104_729 % count + 1) + 0.001
  }

  /// What is checked of the list after a change: its ends.
  struct Ends: Equatable {
    var first: Double
    var last: Double
  }

  static func expected(count: Int) -> [Ends] {
    var prices = (1...count).map(ArtworkData.price)
    return (0..<changeCount).map { index in
      prices[changed(index, of: count) - 1] = price(index, of: count)
      return Ends(first: prices.min() ?? 0, last: prices.max() ?? 0)
    }
  }
}

/// Is told of the list, and needs nothing of it.
private final class ListDelegate: FetchedResultsControllerDelegate {
  typealias Result = Gallery.Artwork
  private(set) var changeCount = 0

  func controllerDidChangeContent(_ controller: FetchedResultsController<Gallery.Artwork>) {
    changeCount += 1
  }
}

extension QuireObjects {
  static func liveList(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = LiveLists.changeCount
    let context = context(of: coordinator)
    let byID = try fetchArtworks(context)
    let controller = FetchedResultsController(
      fetchRequest: Gallery.Artwork.sorted(by: \.price), managedObjectContext: context)
    let delegate = ListDelegate()
    controller.delegate = delegate
    try controller.performFetch()
    let found = try run.time {
      try (0..<run.operationCount).map { index in
        let artwork = byID[LiveLists.changed(index, of: run.count) - 1]
        artwork.price = LiveLists.price(index, of: run.count)
        context.processPendingChanges()
        let last = IndexPath(indexes: [0, run.count - 1])
        return LiveLists.Ends(
          first: try controller.object(at: IndexPath(indexes: [0, 0])).price,
          last: try controller.object(at: last).price)
      }
    }
    try run.expect(found, LiveLists.expected(count: run.count), "the ends of the list")
    try run.expect(delegate.changeCount, run.operationCount, "how often the list was told of")
    context.rollback()
    try close(coordinator)
  }
}

extension SQLiteObjects {
  /// The list is selected again: SQLite tells that a row has changed, and not what becomes of a
  /// query. Whoever does that has an index for it, which ours does without.
  static func liveList(_ run: Run) throws {
    let database = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = LiveLists.changeCount
    try database.execute("CREATE INDEX byPrice ON artwork (price)")
    let update = try database.prepare("UPDATE artwork SET price = ? WHERE id = ?")
    let select = try database.prepare("SELECT id, price FROM artwork ORDER BY price, id")
    try database.execute("BEGIN")
    let found = try run.time {
      try (0..<run.operationCount).map { index in
        update.bind(1, LiveLists.price(index, of: run.count))
        update.bind(2, LiveLists.changed(index, of: run.count))
        try update.run()
        var ids: [Int] = []
        ids.reserveCapacity(run.count)
        var ends = LiveLists.Ends(first: 0, last: 0)
        while try select.step() {
          ids.append(select.integer(0))
          ends.last = select.double(1)
          if ids.count == 1 { ends.first = ends.last }
        }
        select.reset()
        try run.expect(ids.count, run.count, "the length of the list")
        return ends
      }
    }
    try database.execute("ROLLBACK")
    try run.expect(found, LiveLists.expected(count: run.count), "the ends of the list")
  }
}
