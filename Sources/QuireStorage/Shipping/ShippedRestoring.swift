/// Which of the shipped commits a store is restored to.
package enum ShippedMoment: Hashable, Sendable {
  /// The last one.
  case newest
  case commit(CommitNumber)
  /// The last one that was seen by then, in microseconds since 1970.
  case time(Int64)
}

/// Restores a store from a folder to which its commits were shipped.
package struct ShippedRestoring {
  let folder: ShippingFolder

  init(folder: ShippingFolder) { self.folder = folder }

  /// - Parameter folder: its path.
  package init(from folder: String, in fileSystem: any FileSystem = DiskFileSystem()) {
    self.folder = ShippingFolder(folder, in: fileSystem)
  }

  /// A generation, and the segments up to the moment.
  struct Choice {
    let generation: ShippingFolder.Generation
    let base: ShippedCommit
    var segments: [Segment] = []
    /// The last commit to apply.
    let limit: (ShippedCommit) -> Bool
  }

  /// Makes a store as it was at some moment. It has the identity of the store that was shipped, and
  /// is closed.
  ///
  /// - Returns: the commit that it shows.
  /// - Throws: ``StorageError/shipmentDamaged(path:reason:)``, with the segment;
  ///   ``StorageError/invalidArgument(_:)`` if there is no such commit;
  ///   ``StorageError/alreadyExists(path:)`` if there is something at `path`; an error of the disk.
  @discardableResult
  package func restore(
    _ moment: ShippedMoment, to path: String, durability: Durability = .full,
    progress: (Int, Int) -> Bool = { _, _ in true }
  ) throws(StorageError) -> ShippedCommit {
    while true {
      let names = try folder.names()
      do throws(StorageError) {
        return try restoreOnce(moment, to: path, durability: durability, progress: progress)
      } catch {
        // Whoever ships there may have put segments together, or removed a generation.
        switch error {
        case .notFound, .shipmentDamaged: if try folder.names() == names { throw error }
        default: throw error
        }
      }
    }
  }

  private func restoreOnce(
    _ moment: ShippedMoment, to path: String, durability: Durability,
    progress: (Int, Int) -> Bool
  ) throws(StorageError) -> ShippedCommit {
    let choice = try choose(moment)
    let fileSystem = folder.fileSystem
    guard try fileSystem.identifier(of: path) == nil else { throw .alreadyExists(path: path) }
    let new = try NewFile(for: path, in: fileSystem)
    do throws(StorageError) {
      let commit = try write(choice, to: new, progress)
      if case .commit(let wanted) = moment, commit.commit != wanted {
        throw .invalidArgument(
          "commit \(wanted) is not in \(folder.path): commits \(commit.commit) and the one "
            + "shipped after it are, and those between could not be had")
      }
      try verify(new, commit)
      if durability != .none { try new.file.makeDurable(for: .backup) }
      try new.publish()
      new.file.unlock()
      if durability != .none { try fileSystem.confirmName(path, for: .backupFolder) }
      return commit
    } catch {
      new.discard()
      throw error
    }
  }

  private func write(
    _ choice: Choice, to new: NewFile, _ progress: (Int, Int) -> Bool
  ) throws(StorageError) -> ShippedCommit {
    let path = folder.basePath(of: choice.generation.number)
    let base: any File
    do throws(StorageError) {
      base = try folder.fileSystem.open(path, .read)
    } catch .notFound {
      throw .shipmentDamaged(path: path, reason: "it is missing")
    }
    let baseByteCount = try base.byteCount()
    let total = choice.segments.reduce(baseByteCount) { $0 + $1.byteCount }
    try base.copy(from: 0, byteCount: baseByteCount, to: new.file, at: 0, path: path) {
      progress($0, total)
    }
    let replay: ShippedReplay
    do throws(StorageError) {
      replay = try ShippedReplay(new.file, choice.base, path: path)
    } catch .notAStore(_, let reason) {
      throw .shipmentDamaged(path: path, reason: reason)
    } catch .damaged(let page, let reason) {
      throw .shipmentDamaged(path: path, reason: "page \(page): \(reason)")
    }
    var done = baseByteCount
    for segment in choice.segments {
      var isOver = false
      try segment.forEachFrame(in: folder.fileSystem) { frame, entries throws(StorageError) in
        if frame.isBase { return true }
        guard choice.limit(frame.commit) else {
          isOver = true
          return false
        }
        try replay.apply(frame, entries, of: segment)
        return true
      }
      done += segment.byteCount
      guard progress(done, total) else { throw .cancelled }
      if isOver { break }
    }
    try replay.finish()
    return replay.commit
  }

  /// Reads all pages that the maps speak of.
  private func verify(_ new: NewFile, _ commit: ShippedCommit) throws(StorageError) {
    var options = PageStoreOptions()
    options.isReadOnly = true
    do throws(StorageError) {
      let recovery = try Recovery(
        new.file, path: new.path, in: folder.fileSystem, options: options, validation: .ofTrees)
      let core = StoreCore(recovery, new.file, nil, options: options)
      let version = try core.newestVersion()
      defer { withExtendedLifetime((core, version)) {} }
      let space = version.space
      for number in PageID.firstMap.rawValue..<space.pageCount {
        let ticket = try space.enter()
        defer { space.leave(ticket) }
        if try isInUse(PageID(number), in: space) { _ = try space.page(PageID(number)) }
      }
    } catch .damaged(let page, let reason) {
      throw .shipmentDamaged(
        path: folder.path, reason: "page \(page) of commit \(commit.commit): \(reason)")
    }
  }

  private func isInUse(_ id: PageID, in space: PageSpace) throws(StorageError) -> Bool {
    guard let (map, index) = space.geometry.stampLocation(of: id) else { return true }
    return PageMap.entry(index, in: try space.page(map)) != 0
  }

  // MARK: Which generation

  /// Finds the newest generation that has the moment.
  func choose(_ moment: ShippedMoment) throws(StorageError) -> Choice {
    let generations = try folder.generations().filter(\.isThere)
    guard !generations.isEmpty else {
      throw .invalidArgument("\(folder.path) has no commits of a store")
    }
    var firstError: StorageError?
    var known: ClosedRange<CommitNumber>?
    for generation in generations.reversed() {
      do throws(StorageError) {
        let (choice, range) = try choose(moment, in: generation)
        if let choice { return choice }
        let last = max(range.upperBound, known?.upperBound ?? range.upperBound)
        known = min(range.lowerBound, known?.lowerBound ?? last)...last
      } catch {
        // Of the last state nobody says that there is an older one instead.
        if moment == .newest { throw error }
        firstError = firstError ?? error
      }
    }
    if let firstError { throw firstError }
    switch moment {
    case .commit(let commit):
      let text = known.map { "; it has \($0.lowerBound) to \($0.upperBound)" } ?? ""
      throw .invalidArgument("commit \(commit) is not in \(folder.path)\(text)")
    default:
      throw .invalidArgument("\(folder.path) has nothing of that time: it begins later")
    }
  }

  private func choose(
    _ moment: ShippedMoment, in generation: ShippingFolder.Generation
  ) throws(StorageError) -> (Choice?, ClosedRange<CommitNumber>) {
    var choice: Choice?
    var range: ClosedRange<CommitNumber>?
    var isFound = false
    try folder.forEachSegment(of: generation) { segment throws(StorageError) in
      if range == nil {
        let shown = try folder.base(of: segment)
        range = shown.commit...shown.commit
        switch moment {
        case .newest:
          isFound = true
          choice = Choice(generation: generation, base: shown) { _ in true }
        case .commit(let wanted):
          // Segments tell how far it goes.
          guard shown.commit <= wanted else { return true }
          choice = Choice(generation: generation, base: shown) { $0.commit <= wanted }
        case .time(let time):
          guard shown.time <= time else { return false }
          isFound = true
          choice = Choice(generation: generation, base: shown) { $0.time <= time }
        }
      }
      choice?.segments.append(segment)
      let first = range?.lowerBound ?? segment.lastCommit
      range = first...max(first, segment.lastCommit)
      switch moment {
      case .newest: return true
      case .commit(let wanted):
        isFound = choice != nil && segment.lastCommit >= wanted
        return !isFound
      case .time(let time): return segment.lastTime <= time
      }
    }
    guard let range else { preconditionFailure("a generation has a segment") }
    return (isFound ? choice : nil, range)
  }
}
