import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// `docs/file-format.md` said that of the files beside a store only the log counts. Somebody who
/// removed `-pages` after a crash in the middle of a checkpoint lost the pages that were half
/// overwritten: the store opened, and the next close made it final.
@Suite struct MissingImagesTests {
  private static let images = "store-pages"

  /// Every moment of a checkpoint that has to write images first.
  private func momentsOfCheckpoint() throws -> [DiskState] {
    let disk = SimulatedDisk()
    var options = Proof.options
    options.imageByteLimit = 0
    var store = try PageStore.open("store", options: options, in: disk)
    try Proof.put(store, 0..<60, 1)
    try store.close()
    store = try PageStore.open("store", options: options, in: disk)
    for key in [5, 25, 45] as [Int64] { try Proof.put(store, key..<(key + 2), 2) }
    let states = Mutex<[DiskState]>([])
    disk.observe { state, _ in states.withLock { $0.append(state) } }
    try store.checkpoint()
    disk.observe(nil)
    return states.withLock { $0 }
  }

  private var expected: [UInt8] {
    (0..<60).map { [5, 6, 25, 26, 45, 46].contains($0) ? 2 : 1 }
  }

  private func open(
    _ image: CrashImage, isReadOnly: Bool = false, readsUnvouchedPages: Bool = false
  ) throws -> PageStore {
    var options = Proof.options
    options.isReadOnly = isReadOnly
    options.readsUnvouchedPages = readsUnvouchedPages
    return try PageStore.open("store", options: options, in: SimulatedDisk(image))
  }

  @Test func `a store whose images are missing and needed is not opened for writing`() throws {
    var (needed, spared) = (0, 0)
    for state in try momentsOfCheckpoint() {
      try CrashImages(state, seed: 1).visit(
        limit: Amount.of(debug: 15, release: 60, exhaustive: 300)
      ) {
        whole in
        var image = whole
        guard image.files.removeValue(forKey: Self.images) != nil else { return true }
        do {
          let store = try open(image)
          #expect(try Proof.values(try store.snapshot()) == expected, "\(image)")
          spared += 1
        } catch StorageError.imagesMissing(let path, let pages) {
          needed += 1
          #expect(path == Self.images && !pages.isEmpty, "\(image)")
          try expectReadable(image, but: pages)
          // With the file put back nothing is lost.
          let store = try open(whole)
          #expect(try Proof.values(try store.snapshot()) == expected, "\(image)")
        }
        return true
      }
    }
    #expect(needed > 5 && spared > 5, "\(needed) needed their images, \(spared) did not")
  }

  /// The page of a tree that was changed after the last checkpoint, and then dropped, is missed by
  /// nothing. Recovery does not write it either, so that after another crash it may look like
  /// anything still: who took it for lost then took the meta page for one that is on disk, and
  /// removed the log.
  @Test func `a damaged page that a later commit gave back needs no image`() throws {
    var options = Proof.options
    options.imageByteLimit = 0
    /// The pages without which the store is not opened for writing.
    func needed(isDropped: Bool) throws -> Set<Int> {
      let disk = SimulatedDisk()
      do {
        let store = try PageStore.open("store", options: options, in: disk)
        try Proof.put(store, 0..<60, 1)
        // With one behind it, so that the file does not become shorter.
        for name in ["other", "last"] {
          try store.write { try $0.createRecordTree(name).put([1], for: 1) }
        }
        try store.checkpoint()
        try store.write { _ = try $0.mutableRecordTree("other")?.put([2], for: 1) }
        if isDropped { try store.write { try $0.dropTree("other") } }
        disk.crash(after: 0)
      }
      var needed: Set<Int> = []
      // Of the checkpoint before, they count no more.
      let files = disk.files.filter { $0.key != Self.images }
      let bytes = try #require(files["store"])
      // Behind the identity and the two meta pages.
      for page in 3..<(bytes.count / options.pageSize) {
        var files = files
        for index in 0..<options.pageSize {
          files["store"]?[page * options.pageSize + index] = 0x55
        }
        do throws(StorageError) {
          _ = try PageStore.open("store", options: options, in: SimulatedDisk(files))
        } catch {
          if case .imagesMissing = error { needed.insert(page) }
        }
      }
      return needed
    }
    let before = try needed(isDropped: false)
    let after = try needed(isDropped: true)
    // The drop changes the catalog, too.
    #expect(before.subtracting(after).count == 1, "\(before), \(after)")
  }

  /// Read-only the store opens; what is not on those pages is read, and they are damaged. If they
  /// have a page map among them, what it vouches for is read on demand alone.
  private func expectReadable(_ image: CrashImage, but pages: [PageID]) throws {
    for readsUnvouchedPages in [false, true] {
      // With pages of 512 bytes the maps are pages 3, 121, 239 …
      func isLost(_ page: PageID) -> Bool {
        let map = PageID(rawValue: page.rawValue / 118 * 118 + 3)
        return pages.contains(page) || !readsUnvouchedPages && pages.contains(map)
      }
      let store: PageStore
      do {
        store = try open(
          image, isReadOnly: true, readsUnvouchedPages: readsUnvouchedPages)
      } catch StorageError.damaged(let page, _) {
        #expect([3, 4].contains(page.rawValue) && isLost(page), "\(image)")
        continue
      }
      do {
        _ = try Proof.values(try store.snapshot())
        // A page map, or one that no value is on.
        #expect(try !store.check().isSound, "\(image)")
      } catch StorageError.damaged(let page, _) {
        #expect(isLost(page), "\(image)")
      }
    }
  }
}
