/// What a crash may have left of a disk, and which of the waiting operations that means.
package struct CrashImage: Sendable, CustomStringConvertible {
  package var files: [String: FileContent]
  /// Equal for equal files.
  package var digest: Int
  package var description: String
  /// Whether everything the system showed is there, as when the process alone died.
  package var isComplete: Bool
}

/// What becomes of one operation that waits for a sync.
enum Fate: Equatable {
  case kept
  case lost
  /// These of the sectors that a write touches reached the disk.
  case sectors([Bool])
  /// This one of its sectors is nonsense, the others reached the disk.
  ///
  /// The bytes of the sector that the write leaves alone stay as they are, as every disk promises
  /// that finishes a sector it began (SQLite calls it powersafe overwrite).
  case garbage(sector: Int, seed: UInt64)
  /// The file has its new length, with zeros where there was nothing before.
  case lengthOnly
  /// The data is there as far as the file went before.
  case dataOnly
  /// A file whose length changes has got so many thirds of the way.
  case lengthPart(thirds: Int)

  var description: String {
    switch self {
    case .kept: "kept"
    case .lost: "lost"
    case .sectors(let kept):
      "torn, sectors kept: " + String(kept.map { $0 ? "1" : "0" })
    case .garbage(let sector, _): "nonsense in its sector \(sector)"
    case .lengthOnly: "length without data"
    case .dataOnly: "data without length"
    case .lengthPart(let thirds): "\(thirds) thirds of the change of its length"
    }
  }
}

/// Everything that a crash at one moment may leave: a collection that makes each image when it is
/// asked for.
///
/// Images are in groups: nothing and all of what waits, each prefix, all but one, subsets (all of
/// them up to ten operations), all but one file's, all but the names, one operation that happened
/// in part: with those before it, with all others, and with all but the one before it on the same
/// file, which shows through; and two that did, at random. An image may occur more than once; its
/// digest tells.
package struct CrashImages: Sendable {
  package static let sectorByteCount = 512
  private static let completeSubsetLimit = 10
  private static let sampledSubsetCount = 150
  private static let completeSectorLimit = 6
  private static let sampledSectorCount = 24
  private static let sampledPairCount = 60

  private let state: DiskState
  private let seed: UInt64
  /// Each with the number of its images.
  private let groups: [(group: Group, count: Int)]
  private let partial: [Partial]

  private enum Group { case ends, prefixes, singleLosses, subsets, files, names, partial, pairs }

  /// An operation that may happen in part, and the number of ways in which it may.
  private struct Partial {
    var index: Int
    /// The operation before it on the same file.
    var former: Int?
    var sectorCount: Int
    var isGrowing: Bool
    /// Whether it changes the length of a file, and nothing else.
    var isTruncation = false

    var tornCount: Int {
      if sectorCount < 2 { return 0 }
      return sectorCount <= completeSectorLimit ? 1 << sectorCount - 2 : sampledSectorCount
    }
    var garbageCount: Int { min(sectorCount, completeSectorLimit) }
    var count: Int { isTruncation ? 2 : tornCount + garbageCount + (isGrowing ? 2 : 0) }

    /// In how many ways the other operations go with it.
    var companyCount: Int { former == nil ? 2 : 3 }
  }

  package init(_ state: DiskState, seed: UInt64) {
    self.state = state
    self.seed = seed
    let count = state.pending.count
    partial = CrashImages.partial(state)
    let subsets =
      count <= CrashImages.completeSubsetLimit
      ? 1 << count : CrashImages.sampledSubsetCount
    groups = [
      (.ends, count == 0 ? 1 : 2), (.prefixes, max(0, count - 1)),
      (.singleLosses, count < 2 ? 0 : count), (.subsets, count < 2 ? 0 : subsets),
      (.files, count < 2 ? 0 : state.contents.count * count), (.names, count < 2 ? 0 : 2),
      (.partial, partial.reduce(0) { $0 + $1.companyCount * $1.count }),
      (.pairs, partial.filter { $0.count > 0 }.count < 2 ? 0 : CrashImages.sampledPairCount),
    ].filter { $0.1 > 0 }
  }

  private static func partial(_ state: DiskState) -> [Partial] {
    // A write makes a file longer if it goes beyond what the durable file and the operations before
    // it make of it.
    var lengths = state.durableContents.map(\.byteCount)
    var formers = [Int?](repeating: nil, count: lengths.count)
    return state.pending.enumerated().compactMap { index, operation in
      switch operation {
      case .write(let node, let offset, let bytes):
        let end = offset + bytes.count
        defer {
          lengths[node] = max(lengths[node], end)
          formers[node] = index
        }
        return Partial(
          index: index, former: formers[node],
          sectorCount: (end + sectorByteCount - 1) / sectorByteCount - offset / sectorByteCount,
          isGrowing: end > lengths[node])
      case .truncate(let node, let byteCount):
        lengths[node] = byteCount
        defer { formers[node] = index }
        return Partial(
          index: index, former: formers[node], sectorCount: 0, isGrowing: false,
          isTruncation: true)
      case .name, .rename: return nil
      }
    }
  }

  package var count: Int { groups.reduce(0) { $0 + $1.count } }

  package subscript(index: Int) -> CrashImage {
    var rest = index
    for (group, count) in groups {
      if rest < count { return image(group, rest) }
      rest -= count
    }
    preconditionFailure("there are \(count) images, number \(index) was asked for")
  }

  /// Every image, or some: nothing and all of what waits, and then drawn group by group, so that
  /// the groups with many images do not hide the others.
  ///
  /// - Parameter visit: returns whether to go on.
  package func visit(limit: Int?, _ visit: (CrashImage) throws -> Bool) rethrows {
    guard let limit, limit < count else {
      for index in 0..<count where try !visit(self[index]) { return }
      return
    }
    var generator = SeededGenerator(seed: seed)
    for number in 0..<limit {
      let ends = groups[0].count
      let group = number < ends ? 0 : generator.below(groups.count)
      let index = number < ends ? number : generator.below(groups[group].count)
      if try !visit(image(groups[group].group, index)) { return }
    }
  }

  // MARK: Making an image

  private func image(_ group: Group, _ index: Int) -> CrashImage {
    let count = state.pending.count
    var fates = [Fate](repeating: .kept, count: count)
    switch group {
    case .ends:
      if index == 0 { fates = fates.map { _ in .lost } }
    case .prefixes:
      for lost in (index + 1)..<count { fates[lost] = .lost }
    case .singleLosses:
      fates[index] = .lost
    case .subsets:
      var generator = SeededGenerator(seed: seed &+ UInt64(index) &* 0x9E37_79B9)
      let bits = count <= CrashImages.completeSubsetLimit ? nil : generator.bytes(count)
      for number in 0..<count {
        let isKept = bits.map { $0[number] & 1 == 0 } ?? (index >> number & 1 == 1)
        if !isKept { fates[number] = .lost }
      }
    case .files:
      let (file, length) = (index / count, index % count + 1)
      for number in 0..<count where number >= length || state.pending[number].node == file {
        fates[number] = .lost
      }
    case .names:
      for number in 0..<count where (state.pending[number].node == nil) == (index == 0) {
        fates[number] = .lost
      }
    case .partial:
      set(&fates, partialIndex: index)
    case .pairs:
      setTwo(&fates, number: index)
    }
    return image(fates)
  }

  /// Two operations that happened in part, and what came after the second, or nothing of that.
  private func setTwo(_ fates: inout [Fate], number: Int) {
    var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
    let parts = partial.filter { $0.count > 0 }
    let one = generator.below(parts.count)
    let other = (one + 1 + generator.below(parts.count - 1)) % parts.count
    for part in [parts[one], parts[other]] {
      fates[part.index] = fate(of: part, number: generator.below(part.count))
    }
    guard generator.below(2) == 0 else { return }
    for later in fates.indices where later > max(parts[one].index, parts[other].index) {
      fates[later] = .lost
    }
  }

  private func set(_ fates: inout [Fate], partialIndex: Int) {
    var rest = partialIndex
    for part in partial {
      guard rest >= part.companyCount * part.count else {
        switch rest / part.count {
        case 0: for later in part.index..<fates.count { fates[later] = .lost }
        case 2: if let former = part.former { fates[former] = .lost }
        default: break
        }
        fates[part.index] = fate(of: part, number: rest % part.count)
        return
      }
      rest -= part.companyCount * part.count
    }
  }

  private func fate(of part: Partial, number: Int) -> Fate {
    var number = number
    if part.isTruncation { return .lengthPart(thirds: number + 1) }
    if number < part.tornCount {
      if part.sectorCount <= CrashImages.completeSectorLimit {
        return .sectors((0..<part.sectorCount).map { (number + 1) >> $0 & 1 == 1 })
      }
      switch number {
      case 0: return .sectors((0..<part.sectorCount).map { $0 != 0 })
      case 1: return .sectors((0..<part.sectorCount).map { $0 != part.sectorCount - 1 })
      case 2: return .sectors((0..<part.sectorCount).map { $0 < part.sectorCount / 2 })
      case 3: return .sectors((0..<part.sectorCount).map { $0 >= part.sectorCount / 2 })
      default:
        var generator = SeededGenerator(seed: seed &+ UInt64(part.index * 1000 + number))
        return .sectors(generator.bytes(part.sectorCount).map { $0 & 1 == 0 })
      }
    }
    number -= part.tornCount
    if number < part.garbageCount {
      // The first, the last, and some between.
      let sector = number * max(1, part.sectorCount - 1) / max(1, part.garbageCount - 1)
      return .garbage(
        sector: min(sector, part.sectorCount - 1), seed: seed &+ UInt64(part.index))
    }
    return number == part.garbageCount ? .lengthOnly : .dataOnly
  }

  private func image(_ fates: [Fate]) -> CrashImage {
    var (contents, names) = (state.durableContents, state.durableNames)
    for (operation, fate) in zip(state.pending, fates) {
      apply(operation, fate, &contents, &names)
    }
    let files = names.mapValues { contents[$0] }
    var hasher = Hasher()
    for (path, content) in files.sorted(by: { $0.key < $1.key }) {
      hasher.combine(path)
      content.hash(into: &hasher)
    }
    return CrashImage(
      files: files, digest: hasher.finalize(), description: description(of: fates),
      isComplete: fates.allSatisfy { $0 == .kept })
  }

  private func apply(
    _ operation: PendingOperation, _ fate: Fate, _ contents: inout [FileContent],
    _ names: inout [String: Int]
  ) {
    if case .lengthPart(let thirds) = fate, case .truncate(let node, let byteCount) = operation {
      let before = contents[node].byteCount
      contents[node].setByteCount(before + (byteCount - before) * thirds / 3)
      return
    }
    guard fate != .kept, fate != .lost, case .write(let node, let offset, let bytes) = operation
    else {
      if fate != .lost { DiskState.apply(operation, &contents, &names) }
      return
    }
    let end = offset + bytes.count
    /// The part of the write that lies in one of its sectors.
    func part(_ sector: Int) -> Range<Int> {
      let size = CrashImages.sectorByteCount
      let start = (offset / size + sector) * size
      return (max(start, offset) - offset)..<(min(start + size, end) - offset)
    }
    switch fate {
    case .kept, .lost, .lengthPart: break
    case .sectors(let kept):
      for sector in kept.indices where kept[sector] {
        bytes.withUnsafeBytes { bytes in
          contents[node].write(
            UnsafeRawBufferPointer(rebasing: bytes[part(sector)]),
            at: offset + part(sector).lowerBound)
        }
      }
    case .garbage(let sector, let seed):
      let range = (offset + part(sector).lowerBound)..<(offset + part(sector).upperBound)
      DiskState.apply(operation, &contents, &names)
      var generator = SeededGenerator(seed: seed)
      generator.bytes(range.count).withUnsafeBytes {
        contents[node].write($0, at: range.lowerBound)
      }
    case .lengthOnly:
      contents[node].setByteCount(max(contents[node].byteCount, end))
    case .dataOnly:
      let room = max(0, min(bytes.count, contents[node].byteCount - offset))
      bytes.withUnsafeBytes {
        contents[node].write(UnsafeRawBufferPointer(rebasing: $0[..<room]), at: offset)
      }
    }
  }

  // MARK: Telling

  private func description(of fates: [Fate]) -> String {
    guard fates.contains(where: { $0 != .kept }) else {
      return "all \(fates.count) waiting operations kept"
    }
    guard fates.contains(where: { $0 != .lost }) else {
      return "all \(fates.count) waiting operations lost"
    }
    let changed = zip(state.pending, fates).enumerated().filter { $0.element.1 != .kept }
    return "of \(fates.count) waiting operations not kept: "
      + changed.map { "\($0.offset) (\(describe($0.element.0))) \($0.element.1.description)" }
      .joined(separator: "; ")
  }

  private func describe(_ operation: PendingOperation) -> String {
    func file(_ node: Int) -> String {
      (state.names.first { $0.value == node } ?? state.durableNames.first { $0.value == node })?
        .key ?? "removed file \(node)"
    }
    switch operation {
    case .write(let node, let offset, let bytes):
      return "write \(file(node)) \(offset)..<\(offset + bytes.count)"
    case .truncate(let node, let byteCount): return "truncate \(file(node)) to \(byteCount)"
    case .name(let path, let node): return node == nil ? "remove \(path)" : "name \(path)"
    case .rename(let from, let to, _): return "rename \(from) to \(to)"
    }
  }
}

extension SimulatedDisk {
  /// What the disk may hold after a crash now, each once; a sample when it is very much.
  package func crashImages() -> [[String: [UInt8]]] {
    var seen: Set<Int> = []
    var images: [[String: [UInt8]]] = []
    let limit = Amount.of(sampled: 40, exhaustive: 400)
    CrashImages(state, seed: UInt64(operationCount)).visit(limit: limit) { image in
      if seen.insert(image.digest).inserted { images.append(image.files.mapValues(\.bytes)) }
      return true
    }
    return images
  }
}
