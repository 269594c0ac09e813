// Where shipping begins, and how it goes on when the log cannot tell.
extension CommitShipper {
  // MARK: Beginning

  /// Goes on from what the folder has, or begins.
  func begin() throws(StorageError) {
    folder.removeLeftovers()
    let generations = try folder.generations()
    // A base without a segment was being made when its process died.
    for generation in generations where !generation.isThere { try folder.remove(generation) }
    guard let newest = generations.last(where: \.isThere) else {
      return try makeBase(.first, after: generations.last?.number ?? 0)
    }
    let found: (state: State, reason: NewBaseReason?)
    do throws(StorageError) {
      found = try readState(of: newest)
    } catch .shipmentDamaged(let path, let reason) {
      let error = StorageError.shipmentDamaged(path: path, reason: reason)
      return try makeBase(.damaged(error), after: newest.number)
    }
    for name in newest.replaced { try fileSystem.remove(folder.path(of: name)) }
    if let reason = found.reason {
      return try makeBase(
        reason, after: newest.number, of: found.state.store,
        since: found.state.newest)
    }
    state = found.state
  }

  /// Reads where shipping was.
  ///
  /// - Returns: it, and why it does not go on from there.
  private func readState(
    of generation: ShippingFolder.Generation
  ) throws(StorageError) -> (State, NewBaseReason?) {
    let path = folder.basePath(of: generation.number)
    let base: any File
    do throws(StorageError) {
      base = try fileSystem.open(path, .read)
    } catch .notFound {
      throw .shipmentDamaged(path: path, reason: "it is missing")
    }
    let page: IdentityPage
    do throws(StorageError) {
      page = try IdentityPage.read(from: base, path: path)
    } catch {
      throw .shipmentDamaged(path: path, reason: error.description)
    }
    var shown: ShippedCommit?
    var maps = ShippedMaps(page.geometry)
    var newest: ShippedCommit?
    var (sequence, last, byteCount) = (UInt32(0), UInt64(0), 0)
    var single: [Segment] = []
    try folder.forEachSegment(of: generation) { segment throws(StorageError) in
      guard segment.store.identity == page.identity else {
        throw .shipmentDamaged(path: segment.path, reason: "it is of another store than \(path)")
      }
      try segment.forEachFrame(in: fileSystem) { frame, entries throws(StorageError) in
        if frame.isBase {
          let length = try base.byteCount()
          guard length >= Int(frame.commit.pageCount) * page.pageSize else {
            throw .shipmentDamaged(path: path, reason: "it was cut short: it has \(length) bytes")
          }
          shown = frame.commit
          newest = frame.commit
          maps = try ShippedMaps(
            of: base, path: path, page.geometry, Checksum(page.identity),
            pageCount: frame.commit.pageCount)
          return true
        }
        try entries.forEachEntry(frame.entryCount, pageSize: page.pageSize) {
          entry throws(StorageError) in
          guard page.geometry.isMap(entry.id) else { return }
          guard maps.apply(entry) else {
            throw .shipmentDamaged(path: segment.path, reason: "map \(entry.id) is another")
          }
        } orThrow: {
          .shipmentDamaged(path: segment.path, reason: "it cannot be read")
        }
        if !frame.goesOn { newest = frame.commit }
        return true
      }
      (sequence, last) = (segment.name.sequences.upperBound + 1, segment.last)
      byteCount += segment.byteCount
      let isSingle = segment.name.sequences.count == 1 && segment.name.sequences.lowerBound > 0
      if isSingle { single.append(segment) } else { single = [] }
      return true
    }
    guard let shown, let newest, maps.checksum(Checksum(page.identity)) == newest.mapChecksum
    else {
      throw .shipmentDamaged(path: path, reason: "the segments after it do not fit to it")
    }
    let (recovery, file, moment) = try reading()
    defer { recovery.space.retireEverything() }
    guard recovery.identity == page.identity else {
      throw .invalidArgument(
        "\(folder.path) has the commits of another store than \(source): take another folder")
    }
    var state = State(
      store: ShippedStore(identity: page.identity, pageSize: page.pageSize),
      geometry: page.geometry, file: file, moment: moment, maps: maps, newest: newest,
      generation: generation.number, sequence: sequence, last: last, base: shown,
      baseByteCount: try base.byteCount(), segmentByteCount: byteCount, single: single)
    guard try isProven(newest, recovery, file) else {
      let isLater = recovery.space.commit >= newest.commit
      return (state, isLater ? .notFollowed : .otherHistory)
    }
    if case .jump = advance(&state, recovery) { return (state, .notFollowed) }
    return (state, nil)
  }

  private func reading() throws(StorageError) -> (Recovery, any File, Recovery.Moment) {
    var options = PageStoreOptions()
    options.cacheByteLimit = self.options.cacheByteLimit
    return try Recovery.reading(
      source, in: fileSystem, options: options, validation: .ofTrees, always: true)
  }

  /// Whether a store has gone on from a commit that another process has shipped, perhaps long ago.
  /// A log is a chain; and a closed store has the checksum of the last record before.
  private func isProven(
    _ commit: ShippedCommit, _ recovery: Recovery, _ file: any File
  ) throws(StorageError) -> Bool {
    func isThere(_ meta: MetaPage) -> Bool {
      meta.lastCommit == commit.commit && meta.epoch == commit.logEpoch
        && meta.logChain == commit.logChain
    }
    guard let log = recovery.log else { return isThere(recovery.meta) }
    if log.meta.epoch == commit.logEpoch {
      return isThere(log.meta)
        || log.records.contains {
          $0.commit == commit.commit && $0.checksum == commit.logChain
            || $0.commit == commit.commit.next && $0.previous == commit.logChain
        }
    }
    // The log goes on from the closed store, of which there still is the meta page.
    let head = PageMemory(byteCount: Int(PageID.firstMap.rawValue) * recovery.page.pageSize)
    guard try file.readAll(into: head) == head.byteCount,
      let (newest, other) = MetaPage.both(
        in: UnsafeRawBufferPointer(head.bytes), Checksum(recovery.identity),
        pageSize: recovery.page.pageSize)
    else { return false }
    withExtendedLifetime(head) {}
    return log.meta.lastCommit == commit.commit
      && [newest, other ?? newest].contains { $0.isClean && isThere($0) }
  }

  // MARK: Going on

  /// How the store goes on from a commit.
  private enum Way {
    case records
    /// Some of the commits are in no log any more.
    case jump
    case anew(NewBaseReason)
  }

  /// Looks at the store as a whole, after something has changed that is no record.
  ///
  /// - Parameter isOverwritten: whether a commit is in the log that cannot be had whole.
  func goOn(isOverwritten: Bool) throws(StorageError) {
    guard var state else { return }
    let (recovery, file, moment) = try reading()
    defer { recovery.space.retireEverything() }
    guard recovery.identity == state.store.identity else {
      throw .replaced(path: source)
    }
    guard file.identifier == state.file.identifier, recovery.page.geometry == state.geometry else {
      return try beginGeneration(.replaced)
    }
    state.moment = moment
    switch advance(&state, recovery) {
    case .records where !isOverwritten: self.state = state
    case .records, .jump: try jump()
    case .anew(let reason): try beginGeneration(reason)
    }
  }

  /// Finds the place where the log goes on after the last commit.
  private func advance(_ state: inout State, _ recovery: Recovery) -> Way {
    let (newest, commit) = (recovery.space.commit, state.newest.commit)
    guard newest >= commit else { return .anew(.otherHistory) }
    guard let log = recovery.log, let end = log.end else {
      guard newest == commit else { return .jump }
      // Nothing was committed since: the next log begins here.
      state.position = nil
      state.foreignLog = try? fileSystem.identifier(of: StoreFile.logPath(of: source))
      state.newest.logEpoch = recovery.meta.epoch
      state.newest.logChain = recovery.meta.logChain
      return .records
    }
    let isSame = log.meta.epoch == state.newest.logEpoch
    if newest == commit {
      guard !isSame || end.chain == state.newest.logChain else { return .anew(.otherHistory) }
      state.position = end
      return .records
    }
    guard let next = log.records.first(where: { $0.commit == commit.next }) else {
      return !isSame && log.meta.lastCommit < commit ? .anew(.otherHistory) : .jump
    }
    if isSame {
      guard next.previous == state.newest.logChain else { return .anew(.otherHistory) }
    } else {
      guard log.meta.lastCommit == commit else { return .anew(.otherHistory) }
    }
    state.position = LogPosition(
      file: end.file, path: end.path, version: end.version, epoch: end.epoch,
      isSealed: end.isSealed, offset: next.offset, chain: next.previous)
    return .records
  }

  // MARK: Jumps

  private func copyOptions() -> PageStoreOptions {
    var options = PageStoreOptions()
    options.durability = .none
    options.cacheByteLimit = self.options.cacheByteLimit
    return options
  }

  /// Calls `body` with a file that is removed afterwards.
  private func withTemporaryFile(
    _ body: (any File, String) throws(StorageError) -> Void
  ) throws(StorageError) {
    let path = "\(options.temporaryPath)-\(StoreIdentity.random())"
    let file = try fileSystem.open(path, .create)
    defer { removeTemporary(path) }
    try body(file, path)
  }

  private func removeTemporary(_ path: String) {
    do throws(StorageError) { try fileSystem.remove(path) } catch {}
  }

  /// Ships what differs from the last commit, found by the stamps.
  private func jump() throws(StorageError) {
    guard var state else { return }
    try withTemporaryFile { file, path throws(StorageError) in
      let known = state.maps.stamps(pageCount: state.newest.pageCount)
      var copy = LiveCopy(source: source, fileSystem: fileSystem, options: copyOptions())
      copy.leaveOut(known, of: state.file.identifier)
      let outcome = try copy.copy(to: file)
      guard outcome.file.identifier == state.file.identifier,
        outcome.identity.identity == state.store.identity, outcome.commit > state.newest.commit
      else {
        // It was replaced meanwhile.
        return try beginGeneration(.replaced)
      }
      let pageSize = state.geometry.pageSize
      var maps = state.maps
      let differing = (PageID.firstMap.rawValue..<outcome.pageCount).filter {
        let stamp = copy.copied[Int($0)]
        return stamp != 0 && (Int($0) >= known.count || known[Int($0)] != stamp)
      }
      let memory = PageMemory(byteCount: pageSize)
      func read(_ number: UInt32) throws(StorageError) {
        try memory.withBytes { bytes throws(StorageError) in
          try file.readFully(at: Int(number) * pageSize, into: bytes, path: path)
        }
      }
      for number in differing where state.geometry.isMap(PageID(number)) {
        try read(number)
        maps.set(PageID(number), to: Page(memory.base))
      }
      var commit = ShippedCommit(
        commit: outcome.commit, commitBefore: state.newest.commit, time: time(after: state.newest),
        pageCount: outcome.pageCount, freePageCount: outcome.freePageCount,
        logEpoch: outcome.logEpoch, logChain: outcome.logChain,
        mapChecksum: maps.checksum(state.store.checksum))
      commit.isJump = outcome.commit > state.newest.commit.next
      var writer = try segment(of: state)
      self.state?.writer = writer
      _ = writer.begin()
      for number in differing {
        try read(number)
        // A page of the copy may have been given back since.
        guard maps.stamp(of: PageID(number)) != 0 else { continue }
        try writer.add(Page(memory.base), at: PageID(number), of: commit)
      }
      withExtendedLifetime(memory) {}
      try writer.finish(commit)
      if commit.isJump { notice(.jumped(from: state.newest.commit, to: commit.commit)) }
      state.writer = writer
      state.maps = maps
      state.newest = commit
      state.moment = outcome.moment
      state.position = outcome.position
      self.state = state
    }
  }

  // MARK: Bases

  /// Begins a generation: from the folder itself, if that has the last commit.
  func beginGeneration(_ reason: NewBaseReason) throws(StorageError) {
    guard let before = state else { return }
    if let writer = before.writer {
      state?.writer = nil
      if writer.isEmpty { writer.discard() } else { try publishLast(writer) }
    }
    guard let state else { return }
    guard reason == .old else {
      self.state = nil
      return try makeBase(reason, after: state.generation, of: state.store, since: state.newest)
    }
    let path = "\(options.temporaryPath)-\(StoreIdentity.random())"
    defer { removeTemporary(path) }
    do throws(StorageError) {
      let shown = try ShippedRestoring(folder: folder).restore(.newest, to: path, durability: .none)
      guard shown.commit == state.newest.commit else {
        throw .shipmentDamaged(path: folder.path, reason: "it ends with commit \(shown.commit)")
      }
    } catch .shipmentDamaged(let path, let text) {
      // Better found out now than when it is needed.
      self.state = nil
      let error = StorageError.shipmentDamaged(path: path, reason: text)
      return try makeBase(
        .damaged(error), after: state.generation, of: state.store, since: state.newest)
    }
    var next = state
    next.generation += 1
    let file = try fileSystem.open(path, .read)
    try shipBase(file, path, reason, continuing: state.last, &next)
    self.state = next
  }

  private func publishLast(_ writer: SegmentWriter) throws(StorageError) {
    do throws(StorageError) {
      let segment = try writer.publish()
      state?.sequence += 1
      state?.last = segment.last
    } catch {
      state = nil
      throw error
    }
  }

  /// Copies the store and ships it as the base of a new generation.
  ///
  /// - Parameters:
  ///   - number: the generation before.
  ///   - store: the store whose commits the folder has.
  ///   - last: the last of them.
  private func makeBase(
    _ reason: NewBaseReason, after number: UInt32, of store: ShippedStore? = nil,
    since last: ShippedCommit? = nil
  ) throws(StorageError) {
    try withTemporaryFile { file, path throws(StorageError) in
      var copy = LiveCopy(source: source, fileSystem: fileSystem, options: copyOptions())
      let outcome = try copy.copy(to: file)
      if let store, store.identity != outcome.identity.identity { throw .replaced(path: source) }
      let geometry = outcome.identity.geometry
      let store = ShippedStore(identity: outcome.identity.identity, pageSize: geometry.pageSize)
      let maps = try ShippedMaps(
        of: file, path: path, geometry, store.checksum, pageCount: outcome.pageCount)
      let commit = ShippedCommit(
        commit: outcome.commit, commitBefore: outcome.commit, time: last.map(time(after:)) ?? now(),
        pageCount: outcome.pageCount, freePageCount: outcome.freePageCount,
        logEpoch: outcome.logEpoch, logChain: outcome.logChain,
        mapChecksum: maps.checksum(store.checksum))
      var next = State(
        store: store, geometry: geometry, file: outcome.file, moment: outcome.moment,
        position: outcome.position, maps: maps, newest: commit, generation: number + 1,
        sequence: 0, last: 0, base: commit, baseByteCount: 0)
      next.foreignLog =
        outcome.position == nil
        ? try? fileSystem.identifier(of: StoreFile.logPath(of: source)) : nil
      try shipBase(file, path, reason, continuing: 0, &next)
      state = next
    }
  }

  /// Puts a closed store, which shows the newest commit, into the folder.
  private func shipBase(
    _ file: any File, _ path: String, _ reason: NewBaseReason, continuing: UInt64,
    _ state: inout State
  ) throws(StorageError) {
    let basePath = folder.basePath(of: state.generation)
    let byteCount = try file.byteCount()
    let new = try NewFile(for: basePath, in: fileSystem)
    do throws(StorageError) {
      try file.copy(from: 0, byteCount: byteCount, to: new.file, at: 0, path: path)
      try new.file.makeDurable(for: .backup)
      try new.publish()
      new.file.unlock()
      try fileSystem.confirmName(basePath, for: .backupFolder)
    } catch {
      new.discard()
      throw error
    }
    var base = state.newest
    base.commitBefore = base.commit
    base.isJump = false
    (state.sequence, state.last, state.base) = (0, continuing, base)
    (state.baseByteCount, state.segmentByteCount, state.single) = (byteCount, 0, [])
    // Only with its first segment it counts.
    state.writer = nil
    var writer = try segment(of: state)
    _ = writer.begin()
    try writer.finish(base, isBase: true)
    let segment = try writer.publish()
    (state.sequence, state.last, state.writer) = (1, segment.last, nil)
    notice(.began(generation: state.generation, commit: base.commit, reason: reason))
  }
}
