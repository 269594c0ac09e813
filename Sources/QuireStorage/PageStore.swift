/// An ordered key-value store: named trees in one file, or in memory.
///
/// One writer at a time changes it in transactions; any number of readers hold snapshots, which are
/// never disturbed and never wait. The store is resident: opening reads the whole file, so that from
/// then on only commits and checkpoints meet the disk.
public final class PageStore: Sendable {
  private let core: StoreCore

  init(_ core: StoreCore) {
    self.core = core
  }

  /// A store in memory alone: the same engine without file, log or sync.
  ///
  /// - Parameters:
  ///   - pageSize: a power of two from 512 to 32,768; another value is replaced by the default.
  ///   - identity: the store's identity; `nil` makes a random one.
  public static func inMemory(
    pageSize: Int = 4096, identity: StoreIdentity? = nil
  ) -> PageStore {
    let pageSize = PageGeometry.isLegal(pageSize: pageSize) ? pageSize : 4096
    let space = PageSpace.empty(PageGeometry(pageSize: pageSize))
    return PageStore(StoreCore(identity: identity ?? .random(), current: space))
  }

  public var identity: StoreIdentity { core.identity }
  /// The size of a page in bytes.
  public var pageSize: Int { core.geometry.pageSize }
  /// The longest key an index tree of this store takes, in bytes.
  public var keyByteLimit: Int { core.geometry.keyLimit }

  // MARK: Reading

  /// The newest commit, for as long as the snapshot is held.
  public func snapshot() throws(StorageError) -> Snapshot {
    Snapshot(core.current)
  }

  /// Calls `body` with a snapshot of the newest commit.
  public func read<R>(_ body: (Snapshot) throws -> R) throws -> R {
    try body(try snapshot())
  }

  /// Figures as of the newest commit. O(1).
  public var statistics: StoreStatistics { core.statistics }

  /// Inspects every page of the newest commit: that trees are in order, that every page is used once or
  /// free, that counts and overflow runs are right. Visits the whole store; blocks nobody.
  ///
  /// Damage is a finding, not an error.
  public func check() throws(StorageError) -> CheckReport {
    Inspection.inspect(core.current, checksum: nil)
  }

  // MARK: Writing

  /// Begins the write transaction; waits while another thread has it.
  ///
  /// - Throws: ``StorageError/writerBusy`` if this thread has it already,
  ///   ``StorageError/readOnly``, ``StorageError/closed`` or ``StorageError/poisoned(cause:)``.
  public func beginWrite() throws(StorageError) -> WriteTransaction {
    WriteTransaction(core, try core.beginWrite())
  }

  /// Calls `body` with a write transaction, and commits it, or aborts it when `body` throws.
  public func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    let transaction = try beginWrite()
    do {
      let result = try body(transaction)
      try transaction.commit()
      return result
    } catch {
      transaction.abort()
      throw error
    }
  }
}

extension PageSpace {
  /// The first version of every store: no trees, five pages, all of them in use.
  static func empty(_ geometry: PageGeometry) -> PageSpace {
    var table = PageTable()
    func add(_ id: PageID, _ type: PageType) -> MutablePage {
      let memory = PageMemory(byteCount: geometry.pageSize)
      let page = MutablePage(memory.base)
      page.initialize(type, level: 0, commit: .creation, pageSize: geometry.pageSize)
      table.set(id, to: page.page, owner: memory)
      return page
    }
    let bitmap = add(.firstBitmap, .bitmap)
    for bit in 0..<Int(PageID.firstFree.rawValue) { Bitmap.set(bit, to: true, in: bitmap) }
    _ = add(.catalogRoot, .indexLeaf)
    return PageSpace(
      geometry: geometry, commit: .creation, table: table, pageCount: PageID.firstFree.rawValue,
      freePageCount: 0, lowestFree: .firstFree, isPublished: true)
  }
}
