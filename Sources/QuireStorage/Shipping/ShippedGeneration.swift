/// What a folder has of one stretch of a store's history: a base, and the commits that followed.
package struct ShippedGeneration: Hashable, Sendable {
  package var number: UInt32
  /// What the base shows.
  package var first: ShippedCommit
  /// What can be restored last.
  package var last: ShippedCommit
  /// The commits in it, the base's among them.
  package var commitCount: Int
  package var segmentCount: Int
  /// Of base and segments.
  package var byteCount: Int
  /// Whether it goes on from the generation before.
  package var isContinued: Bool
  /// What is wrong after the last commit.
  package var defect: StorageError?
}

extension ShippedRestoring {
  /// What the folder has, the oldest first: as far as beginnings and ends of segments tell.
  ///
  /// - Complexity: O(segments).
  package func generations() throws(StorageError) -> [ShippedGeneration] {
    while true {
      let names = try folder.names()
      let list = try readGenerations()
      // Whoever ships there may have put segments together, or removed a generation.
      guard list.contains(where: { $0.defect != nil }) else { return list }
      if try folder.names() == names { return list }
    }
  }

  private func readGenerations() throws(StorageError) -> [ShippedGeneration] {
    var list: [ShippedGeneration] = []
    var end: UInt64?
    for generation in try folder.generations() where generation.isThere {
      var shown: ShippedGeneration?
      do throws(StorageError) {
        var last: UInt64?
        try folder.forEachSegment(of: generation) { segment throws(StorageError) in
          if shown == nil {
            let base = try folder.base(of: segment)
            let file = try folder.fileSystem.open(folder.basePath(of: generation.number), .read)
            shown = ShippedGeneration(
              number: generation.number, first: base, last: base, commitCount: 0, segmentCount: 0,
              byteCount: try file.byteCount(),
              isContinued: segment.previous != 0 && segment.previous == end)
          }
          shown?.last.commit = segment.lastCommit
          shown?.last.time = segment.lastTime
          shown?.commitCount += segment.commitCount
          shown?.segmentCount += 1
          shown?.byteCount += segment.byteCount
          last = segment.last
          return true
        }
        end = last
      } catch .shipmentDamaged(let path, let reason) {
        end = nil
        guard shown != nil else { continue }
        shown?.defect = .shipmentDamaged(path: path, reason: reason)
      } catch .notFound(let path) {
        end = nil
        guard shown != nil else { continue }
        shown?.defect = .shipmentDamaged(path: path, reason: "it is missing")
      }
      if let shown { list.append(shown) }
    }
    return list
  }
}
