/// Something that waits for a sync of its file or folder; before that, a crash may lose it.
package enum PendingOperation: Sendable {
  case write(node: Int, offset: Int, bytes: [UInt8])
  case truncate(node: Int, byteCount: Int)
  /// A name that is given, or taken away.
  case name(path: String, node: Int?)
  case rename(from: String, to: String, node: Int)

  /// The file whose sync it waits for; `nil` for names.
  var node: Int? {
    switch self {
    case .write(let node, _, _), .truncate(let node, _): node
    case .name, .rename: nil
    }
  }

  /// The folder whose sync it waits for; `nil` for content.
  var folder: Substring? {
    switch self {
    case .write, .truncate: nil
    case .name(let path, _), .rename(_, let path, _): folderName(of: path)
    }
  }
}

func folderName(of path: String) -> Substring {
  path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
}

/// What a disk holds at one moment: what is durable, what the system shows, and what of the one is
/// still missing in the other. A value; copies share their content.
package struct DiskState: Sendable {
  /// What the system shows, by number of the file (inode).
  var contents: [FileContent] = []
  var durableContents: [FileContent] = []
  var names: [String: Int] = [:]
  var durableNames: [String: Int] = [:]
  package internal(set) var pending: [PendingOperation] = []
  /// Files whose sync failed: the cache shows writes that nothing waits to write.
  private var forsaken: Set<Int> = []
  /// The room that is reserved for files, by their numbers, from their start. A crash forgets it,
  /// as if another program were quicker after it.
  private var reserved: [Int: Int] = [:]
  /// Symbolic links, by their names: what they lead to. They come and go durably at once.
  var links: [String: String] = [:]

  init() {}

  /// - Parameter files: what is on the disk, durably.
  init(_ files: [String: FileContent]) {
    // In the order of the names, so that numbers do not depend on a dictionary's.
    for (path, content) in files.sorted(by: { $0.key < $1.key }) {
      names[path] = contents.count
      contents.append(content)
    }
    (durableNames, durableContents) = (names, contents)
  }

  /// The bytes of all files that have a name, with those that are reserved for them.
  package var byteCount: Int { names.values.reduce(0) { $0 + room(of: $1) } }

  /// The bytes that a file takes on the disk.
  func room(of node: Int) -> Int { max(contents[node].byteCount, reserved[node] ?? 0) }

  mutating func reserve(_ byteCount: Int, for node: Int) { reserved[node] = byteCount }

  /// The name of a file, as the system shows it.
  package func path(of node: Int) -> String? { names.first { $0.value == node }?.key }

  /// What a path leads to, through links.
  func destination(of path: String) -> String {
    var path = path
    for _ in 0..<40 {
      guard let next = links[path] else { break }
      path = next
    }
    return path
  }

  mutating func addFile(_ path: String) -> Int {
    contents.append(FileContent())
    durableContents.append(FileContent())
    apply(.name(path: path, node: contents.count - 1))
    return contents.count - 1
  }

  mutating func apply(_ operation: PendingOperation) {
    if case .truncate(let node, _) = operation { reserved[node] = nil }
    DiskState.apply(operation, &contents, &names)
    guard case .write(let node, let offset, let bytes) = operation, forsaken.contains(node) else {
      pending.append(operation)
      return
    }
    // A write makes its whole pages dirty again, so what was forsaken in them goes with it. What
    // the disk has already is left as it is: see ``Fate/garbage(sector:seed:)``.
    let pages =
      (offset & ~4095)..<min((offset + bytes.count + 4095) & ~4095, contents[node].byteCount)
    let (shown, durable) = (contents[node].bytes(pages), durableContents[node])
    let known = durable.bytes(pages.clamped(to: 0..<durable.byteCount))
    var range = offset..<(offset + bytes.count)
    for index in shown.indices where index >= known.count || shown[index] != known[index] {
      let place = pages.lowerBound + index
      range = min(range.lowerBound, place)..<max(range.upperBound, place + 1)
    }
    pending.append(.write(node: node, offset: range.lowerBound, bytes: contents[node].bytes(range)))
  }

  static func apply(
    _ operation: PendingOperation, _ contents: inout [FileContent], _ names: inout [String: Int]
  ) {
    switch operation {
    case .write(let node, let offset, let bytes):
      bytes.withUnsafeBytes { contents[node].write($0, at: offset) }
    case .truncate(let node, let byteCount): contents[node].setByteCount(byteCount)
    case .name(let path, let node): names[path] = node
    case .rename(let from, let to, let node):
      names[from] = nil
      names[to] = node
    }
  }

  // MARK: Syncs

  mutating func sync(node: Int) { settle { $0.node == node } }

  mutating func syncFolder(_ folder: Substring) { settle { $0.folder == folder } }

  private mutating func settle(_ isSettled: (PendingOperation) -> Bool) {
    // Not what the cache shows: after a failed sync that may be more than waits.
    for operation in pending where isSettled(operation) {
      DiskState.apply(operation, &durableContents, &durableNames)
    }
    pending.removeAll(where: isSettled)
  }

  mutating func failSync(node: Int, _ model: SimulatedDisk.SyncFailureModel) {
    switch model {
    case .retained: break
    case .ext4, .xfs:
      pending.removeAll { $0.node == node }
      forsaken.insert(node)
    case .btrfs:
      pending.removeAll { $0.node == node }
      contents[node] = durableContents[node]
    }
  }

  /// Forgets what the cache shows and nothing waits to write, as happens when memory is short.
  mutating func evict() {
    (contents, names) = (durableContents, durableNames)
    for operation in pending { DiskState.apply(operation, &contents, &names) }
    forsaken = []
  }

  /// The file system is mounted again after it was shut down.
  mutating func remount() {
    pending = []
    evict()
  }
}
