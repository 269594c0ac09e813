import QuireStorage

/// What a run of operations is done to, and how.
package struct ModelConfiguration: Hashable, Sendable {
  /// Where the store's files are; the operations always go to a store without files too.
  package enum Files: Hashable, Sendable {
    case none
    case memory
    case simulatedDisk
    /// In memory, and checkpoints take as long as some commits.
    case slowDisk
  }

  package var pageSize: Int
  /// The bytes at the end of pages that are left out.
  package var tailByteCount = 0
  package var shape: KeyShape
  package var files: Files
  package var durability: Durability
  package var cacheByteLimit: Int
  package var checkpointByteLimit: Int
  package var transactionByteLimit: Int
  /// Below the default, snapshots may expire.
  package var retainedByteLimit: Int
  /// Everything is inspected after so many commits.
  package var commitsPerCheck: Int

  package init(
    pageSize: Int, shape: KeyShape, files: Files = .memory, durability: Durability = .full,
    cacheByteLimit: Int = 64 << 20, checkpointByteLimit: Int = 64 << 10,
    transactionByteLimit: Int = 64 << 20, retainedByteLimit: Int = 256 << 20,
    commitsPerCheck: Int = 20
  ) {
    self.pageSize = pageSize
    self.shape = shape
    self.files = files
    self.durability = durability
    self.cacheByteLimit = cacheByteLimit
    self.checkpointByteLimit = checkpointByteLimit
    self.transactionByteLimit = transactionByteLimit
    self.retainedByteLimit = retainedByteLimit
    self.commitsPerCheck = commitsPerCheck
  }

  /// A configuration drawn from a seed, for pages and keys of one kind.
  package init(pageSize: Int, shape: KeyShape, seed: UInt64) {
    var generator = SeededGenerator(seed: seed &+ 99)
    self.init(
      pageSize: pageSize, shape: shape,
      files: [.simulatedDisk, .slowDisk, .slowDisk, .memory][generator.below(4)],
      durability: [.full, .full, .ordered, .none][generator.below(4)],
      cacheByteLimit: [0, 64 << 10, 256 << 10, 64 << 20][generator.below(4)],
      checkpointByteLimit: [0, 16 << 10, 64 << 10, 4 << 20][generator.below(4)],
      transactionByteLimit: [0, 64 << 10, 64 << 20][generator.below(3)],
      retainedByteLimit: [0, 0, 32 << 10, 256 << 20][generator.below(4)],
      commitsPerCheck: 20)
    tailByteCount = [0, 28, 64][generator.below(3)]
  }

  var options: PageStoreOptions {
    var options = PageStoreOptions()
    options.pageSize = pageSize
    options.tailByteCount = tailByteCount
    options.durability = durability
    options.cacheByteLimit = cacheByteLimit
    options.checkpointByteLimit = checkpointByteLimit
    options.transactionByteLimit = transactionByteLimit
    options.retainedByteLimit = retainedByteLimit
    return options
  }
}

extension ModelConfiguration: CustomStringConvertible {
  /// The configuration as Swift source.
  package var description: String {
    """
    ModelConfiguration(
      pageSize: \(pageSize), shape: .\(shape), files: .\(files), durability: .\(durability),
      cacheByteLimit: \(cacheByteLimit), checkpointByteLimit: \(checkpointByteLimit),
      transactionByteLimit: \(transactionByteLimit), retainedByteLimit: \(retainedByteLimit),
      commitsPerCheck: \(commitsPerCheck)) with a tail of \(tailByteCount)
    """
  }
}
