/// The process that something belongs to. A child made by `fork` has its parent's memory, but
/// neither its threads nor its files.
struct ProcessMark: Sendable {
  /// As ``ForkCount`` had it; a number that it never has where a file system is to be asked.
  private let forkCount: Int
  /// The simulated process, in tests.
  private let simulation: Simulation?

  private final class Simulation: Sendable {
    private let fileSystem: any FileSystem
    private let forkCount: Int

    init(_ fileSystem: any FileSystem) {
      self.fileSystem = fileSystem
      forkCount = fileSystem.forkCount
    }

    var isCurrent: Bool { fileSystem.forkCount == forkCount }
  }

  init(_ fileSystem: (any FileSystem)?) {
    // From here on forks are watched for.
    let current = ForkCount.current
    if let fileSystem, !(fileSystem is DiskFileSystem) {
      simulation = Simulation(fileSystem)
      forkCount = .min
    } else {
      simulation = nil
      forkCount = current
    }
  }

  /// Whether this is the calling process. Tested with each change, so it only compares a number.
  var isCurrent: Bool { forkCount == ForkCount.known || isCurrentInSimulation }

  @inline(never)
  private var isCurrentInSimulation: Bool { simulation?.isCurrent ?? false }

  /// - Throws: ``StorageError/forked`` in a child.
  func check() throws(StorageError) {
    if !isCurrent { throw .forked }
  }
}
