import Quire

// Objects that come in batches, and that go.

extension QuireObjects {
  static func insertBatched(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithArtists(run) : open(run)
    let data = ArtworkData(count: run.count)
    let context = context(of: coordinator)
    let artists = try fetchArtists(context)
    try run.time {
      for id in 1...run.count {
        insert(id, data, artists, context)
        if id % ArtworkData.batchCount == 0 { try context.save() }
      }
      try context.save()
    }
    if run.mode == .memory { try check(coordinator, run, updatedCount: 0) }
    try close(coordinator)
  }

  static func delete(_ run: Run) throws {
    let coordinator = try run.mode == .memory ? openWithAll(run) : open(run)
    run.operationCount = run.count / 10
    let ids = try objectIDs(coordinator)
    try run.time {
      let context = context(of: coordinator)
      for index in 0..<run.operationCount {
        let id = ids[ArtworkData.updated(index, of: run.count) - 1]
        context.delete(try context.existingObject(with: id))
      }
      try context.save()
    }
    try run.expect(
      try fetchArtworks(context(of: coordinator)).count, run.count - run.operationCount,
      "the artworks left")
    try close(coordinator)
  }
}
