/// The process that something belongs to. A child made by `fork` has its parent's memory, but
/// neither its threads nor its files.
struct ProcessMark: Sendable {
  private let forkCount: Int
  /// What knows which process asks; `nil` where nothing is in files.
  private let fileSystem: (any FileSystem)?

  init(_ fileSystem: (any FileSystem)?) {
    self.fileSystem = fileSystem
    forkCount = fileSystem?.forkCount ?? ForkCount.current
  }

  /// Whether it is the process that asks.
  var isCurrent: Bool { (fileSystem?.forkCount ?? ForkCount.current) == forkCount }

  /// - Throws: ``StorageError/forked`` in a child.
  func check() throws(StorageError) {
    guard isCurrent else { throw .forked }
  }
}
