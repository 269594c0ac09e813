/// A folder to which the commits of a store are shipped.
struct ShippingFolder {
  let path: String
  let fileSystem: any FileSystem

  /// - Parameter path: the folder, which there is.
  init(_ path: String, in fileSystem: any FileSystem) {
    self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
    self.fileSystem = fileSystem
  }

  func path(of name: SegmentName) -> String { "\(path)/\(name.text)" }
  func basePath(of generation: UInt32) -> String { "\(path)/\(SegmentName.base(of: generation))" }

  /// What there is of one generation, by the names alone.
  struct Generation {
    let number: UInt32
    var hasBase = false
    /// In order, each number once: those of a segment that is part of a longer one are left out.
    var segments: [SegmentName] = []
    /// The segments that are part of longer ones.
    var replaced: [SegmentName] = []
    /// Whether it was finished. A base alone was being made when its process died.
    var isThere: Bool { !segments.isEmpty }
  }

  /// The paths of all files in it.
  func names() throws(StorageError) -> Set<String> {
    Set(try fileSystem.paths(beginningWith: path + "/"))
  }

  /// The generations, the oldest first.
  func generations() throws(StorageError) -> [Generation] {
    var found: [UInt32: Generation] = [:]
    for path in try fileSystem.paths(beginningWith: path + "/") {
      let name = path[path.index(path.startIndex, offsetBy: self.path.count + 1)...]
      if let segment = SegmentName(name) {
        found[segment.generation, default: Generation(number: segment.generation)]
          .segments.append(segment)
      } else if let number = SegmentName.generation(ofBase: name) {
        found[number, default: Generation(number: number)].hasBase = true
      }
    }
    return found.values.sorted { $0.number < $1.number }.map { generation in
      var generation = generation
      let all = generation.segments.sorted {
        ($0.sequences.lowerBound, $1.sequences.upperBound)
          < ($1.sequences.lowerBound, $0.sequences.upperBound)
      }
      generation.segments = []
      for segment in all {
        if let last = generation.segments.last,
          segment.sequences.upperBound
            <= last.sequences.upperBound
        {
          generation.replaced.append(segment)
        } else {
          generation.segments.append(segment)
        }
      }
      return generation
    }
  }

  /// Reads the segments of a generation in order, until `body` returns `false`.
  ///
  /// - Throws: ``StorageError/shipmentDamaged(path:reason:)`` with the segment that is missing,
  ///   damaged, or not the one that follows.
  func forEachSegment(
    of generation: Generation, _ body: (Segment) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var before: Segment?
    for name in generation.segments {
      let expected = before.map { $0.name.sequences.upperBound &+ 1 } ?? 0
      guard name.sequences.lowerBound == expected else {
        let missing = SegmentName(
          generation: generation.number, sequences: expected...expected)
        throw .shipmentDamaged(
          path: path(of: missing), reason: "it is missing, or a longer one that it is part of")
      }
      let segment = try Segment(name, at: path(of: name), in: fileSystem)
      if let before {
        guard segment.store == before.store, segment.previous == before.last,
          segment.commitBefore == before.lastCommit
        else {
          throw .shipmentDamaged(
            path: segment.path, reason: "it does not follow from \(before.name.text)")
        }
      }
      guard try body(segment) else { return }
      before = segment
    }
  }

  /// What the base of a generation shows.
  func base(of segment: Segment) throws(StorageError) -> ShippedCommit {
    var base: ShippedCommit?
    try segment.forEachFrame(in: fileSystem) { frame, _ throws(StorageError) in
      if frame.isBase { base = frame.commit }
      return false
    }
    guard let base else {
      throw .shipmentDamaged(path: segment.path, reason: "it does not say what the base shows")
    }
    return base
  }

  /// Removes what a process has left that died while it wrote here.
  func removeLeftovers() {
    do throws(StorageError) {
      for path in try fileSystem.paths(beginningWith: path + "/") {
        // Ours alone: the folder may have been named by mistake.
        let name = path.dropFirst(self.path.count + 1)
        let stem = name.dropLast(NewFile.suffixByteCount)
        guard name.dropFirst(stem.count).hasPrefix(NewFile.infix),
          SegmentName(stem) != nil || SegmentName.generation(ofBase: stem) != nil
        else { continue }
        let file = try fileSystem.open(path, .write)
        guard try file.lock(.exclusive) else { continue }
        try fileSystem.remove(path)
        withExtendedLifetime(file) {}
      }
    } catch {}
  }

  /// Removes all of a generation.
  func remove(_ generation: Generation) throws(StorageError) {
    for name in (generation.segments + generation.replaced).reversed() {
      try fileSystem.remove(path(of: name))
    }
    // Without its first segment it is none, so the base goes last.
    try fileSystem.remove(basePath(of: generation.number))
  }

  /// Puts segments that follow each other together to one, and removes them.
  func merge(_ segments: [Segment]) throws(StorageError) -> Segment {
    guard let first = segments.first, let last = segments.last else {
      preconditionFailure("nothing to put together")
    }
    let name = SegmentName(
      generation: first.name.generation,
      sequences: first.name.sequences.lowerBound...last.name.sequences.upperBound)
    let path = path(of: name)
    let new = try NewFile(for: path, in: fileSystem)
    var end = ShippingFormat.Header.byteCount
    do throws(StorageError) {
      try Segment.writeHeader(
        first.store, generation: name.generation, firstSequence: name.sequences.lowerBound,
        previous: first.previous, to: new.file)
      for segment in segments {
        // Verified on the way.
        try segment.forEachFrame(in: fileSystem) { _, _ throws(StorageError) in true }
        let count =
          segment.byteCount - ShippingFormat.Header.byteCount - ShippingFormat.Trailer.byteCount
        try fileSystem.open(segment.path, .read).copy(
          from: ShippingFormat.Header.byteCount, byteCount: count, to: new.file, at: end,
          path: segment.path)
        end += count
      }
      let whole = Segment(
        name: name, path: path, store: first.store, previous: first.previous, last: last.last,
        commitCount: segments.reduce(0) { $0 + $1.commitCount }, commitBefore: first.commitBefore,
        lastCommit: last.lastCommit, firstTime: first.firstTime, lastTime: last.lastTime,
        byteCount: end + ShippingFormat.Trailer.byteCount)
      try whole.writeTrailer(to: new.file)
      try new.file.makeDurable(for: .backup)
      try new.publish()
      new.file.unlock()
      try fileSystem.confirmName(path, for: .backupFolder)
      for segment in segments.reversed() { try fileSystem.remove(segment.path) }
      return whole
    } catch {
      new.discard()
      throw error
    }
  }
}

extension File {
  /// Copies bytes to another file, in order.
  ///
  /// - Parameter progress: is told how many are done; `false` cancels.
  func copy(
    from start: Int, byteCount: Int, to target: any File, at end: Int, path: String,
    progress: (Int) -> Bool = { _ in true }
  ) throws(StorageError) {
    let room = PageMemory(byteCount: max(1, min(byteCount, 1 << 20)))
    var done = 0
    while done < byteCount {
      let count = min(room.byteCount, byteCount - done)
      try room.withBytes { bytes throws(StorageError) in
        let part = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
        try readFully(at: start + done, into: part, path: path)
        try target.write(UnsafeRawBufferPointer(part), at: end + done)
      }
      done += count
      guard progress(done) else { throw .cancelled }
    }
  }
}
