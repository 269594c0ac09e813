// Anatomy: what a store's files are made of, whether or not it can be opened.
//
//   StoreImage      the bytes: the file, its log, and of each page the content that counts
//   LogAnatomy      the log's header and every record in it, those that count and the others
//   TreeSurvey      walks all trees, and finds out which page belongs to which
//   StoreAnatomy    all of that as values
//   PageContent     one page in full, with the meaning of each of its bytes
//
// The engine stops at the first error that it cannot work around; this continues. Errors become
// findings with the number of the page, and the rest is shown. Nothing is trusted without a check:
// offsets in a page are followed only if `PageValidation` accepts the page, each page is visited
// once, and no length exceeds those of the files.
//
// Files are only ever read. Memory: the log, a few bytes for each page, and a page for each level
// of a tree.
//
// An open store is checked by an `Inspection` of one of its versions, as its users see it; its
// result is a `CheckReport`.

/// A complete description of a store's files.
package struct StoreAnatomy {
  package typealias Finding = CheckReport.Finding

  /// A meta page.
  package struct Meta: Sendable {
    package let id: PageID
    /// Whether its checksum and its numbers are right.
    package let isWhole: Bool
    /// Whether it is the one of the two that counts.
    package internal(set) var counts = false
    package let sequence: UInt64
    package private(set) var epoch: UInt64
    package let lastCommit: CommitNumber
    package let pageCount: UInt32
    package let freePageCount: UInt32
    package let mapCommit: CommitNumber
    package private(set) var logOffset: UInt64
    package private(set) var logChain: UInt64
    package private(set) var isClean: Bool
  }

  /// A page map and what it says of its group.
  package struct Map: Sendable {
    package let id: PageID
    package let group: Int
    package let commit: CommitNumber
    /// The stamp that the map above, or the meta page, has for it.
    package let stamp: UInt32?
    /// The pages of the group that the store has, and those of them in use.
    package let pageCount: Int
    package let usedPageCount: Int
    /// The stamps of other maps in it.
    package let childCount: Int
    package let defect: String?
  }

  package let path: String
  package let logPath: String
  package let version: FormatVersion
  package let pageSize: Int
  package let identity: StoreIdentity
  package let fileByteCount: Int
  package let metas: [Meta]
  /// `nil` when there is no log.
  package let log: LogAnatomy?
  /// The last commit, the pages and the free pages after it; as far as a meta page or the log says.
  package let lastCommit: CommitNumber?
  package let pageCount: Int
  package let freePageCount: Int?
  package let maps: [Map]
  /// The catalog, then the trees in it by name.
  package let trees: [TreeAnatomy]
  /// The errors found.
  package let findings: [Finding]
  /// Valid but remarkable states.
  package let notes: [String]

  let image: StoreImage
  /// The tree of each page, as an index of ``trees``; -1 for none.
  let owners: PageTable<Int32>
  /// The stamps of all pages except maps; `nil` where they cannot be read.
  let stamps: PageTable<UInt32?>

  /// Reads the files of a store.
  ///
  /// - Parameter progress: is called from time to time with the number of pages read, and of those
  ///   in use.
  /// - Throws: ``StorageError/locked(_:)`` when a process has it open for writing;
  ///   ``StorageError/notAStore(path:reason:)``,
  ///   ``StorageError/unsupportedFormat(found:supported:)``; an error of the files. Damage is a
  ///   finding.
  package init(
    of path: String, in fileSystem: any FileSystem = DiskFileSystem(),
    progress: @escaping (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws(StorageError) {
    let image = try StoreImage(path, in: fileSystem)
    var survey = TreeSurvey(image, progress: progress)
    survey.run()
    self.path = image.path
    logPath = StoreFile.logPath(of: image.path)
    version = image.version
    pageSize = image.geometry.pageSize
    identity = image.identity
    fileByteCount = image.fileByteCount
    metas = image.metas
    log = image.log
    lastCommit = image.lastCommit
    pageCount = Int(image.pageCount)
    freePageCount = image.freePageCount.map { Int($0) }
    maps = survey.maps
    trees = survey.trees
    findings = image.findings + survey.findings
    notes = image.notes
    owners = survey.owners
    stamps = survey.stamps
    self.image = image
  }

  package var isSound: Bool { findings.isEmpty }

  /// The bytes of a page that content can have.
  package var pageCapacity: Int { image.geometry.capacity }
}

extension StoreAnatomy.Meta {
  init(_ page: Page, at id: PageID, _ checksum: Checksum, pageSize: Int) {
    self.id = id
    isWhole = MetaPage(page, at: id, checksum, pageSize: pageSize) != nil
    let base = page.base
    sequence = base.u64(at: MetaPage.sequenceOffset)
    epoch = base.u64(at: MetaPage.epochOffset)
    lastCommit = CommitNumber(rawValue: base.u64(at: MetaPage.commitOffset))
    pageCount = base.u32(at: MetaPage.pageCountOffset)
    freePageCount = base.u32(at: MetaPage.freePageCountOffset)
    mapCommit = CommitNumber(rawValue: base.u64(at: MetaPage.mapCommitOffset))
    logOffset = base.u64(at: MetaPage.logOffsetOffset)
    logChain = base.u64(at: MetaPage.logChainOffset)
    isClean = base.u32(at: MetaPage.flagsOffset) & 1 != 0
  }

  /// The meta page of a closed store after a log was begun that continues it.
  func begun(_ checksum: Checksum) -> Self {
    var begun = self
    begun.epoch &+= 1
    begun.logOffset = UInt64(LogFormat.recordsStart)
    begun.logChain = checksum.logChainStart(epoch: begun.epoch)
    begun.isClean = false
    return begun
  }
}
