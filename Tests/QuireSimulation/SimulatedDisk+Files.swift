import QuireStorage

// What a file system is asked for.
extension SimulatedDisk {
  package var forkCount: Int { process.load(ordering: .relaxed) }

  package func open(_ path: String, _ mode: FileMode) throws(StorageError) -> any File {
    let node: Int
    if mode == .create {
      node = try change(path) { (disk, _) throws(StorageError) in
        disk.links[path] = nil
        if disk.names[path] != nil { disk.apply(.name(path: path, node: nil)) }
        return disk.addFile(path)
      }
    } else {
      let (found, isLink) = try query(path) { ($0.names[path], $0.links[path] != nil) }
      if isLink { throw SimulatedDisk.error(path, "there is a symbolic link") }
      guard let found else { throw .notFound(path: path) }
      node = found
    }
    let nameCount = control.withLock { $0.disk.names.values.filter { $0 == node }.count }
    return SimulatedFile(self, node: node, nameCount, path: path, volume: volume)
  }

  /// As systems have it: a second name first, and then the first one goes.
  package func publish(_ temporaryPath: String, as path: String) throws(StorageError) {
    try change(path) { (disk, _) throws(StorageError) in
      guard disk.names[path] == nil, disk.links[path] == nil else {
        throw .alreadyExists(path: path)
      }
      guard let node = disk.names[temporaryPath] else { throw .notFound(path: temporaryPath) }
      disk.apply(.name(path: path, node: node))
    }
    try change(temporaryPath) { (disk, _) throws(StorageError) in
      disk.apply(.name(path: temporaryPath, node: nil))
    }
  }

  package func replace(_ path: String, by temporaryPath: String) throws(StorageError) {
    try change(path) { (disk, _) throws(StorageError) in
      guard let node = disk.names[temporaryPath] else { throw .notFound(path: temporaryPath) }
      disk.links[path] = nil
      disk.apply(.rename(from: temporaryPath, to: path, node: node))
    }
  }

  package func remove(_ path: String) throws(StorageError) {
    guard try queryAtOnce(path, { $0.names[path] != nil || $0.links[path] != nil }) else { return }
    try change(path) { (disk, _) throws(StorageError) in
      disk.links[path] = nil
      if disk.names[path] != nil { disk.apply(.name(path: path, node: nil)) }
    }
  }

  package func identifier(of path: String) throws(StorageError) -> FileIdentifier? {
    queryInterlude.withLock { $0 }.body?(path)
    return try queryAtOnce(path) { $0.names[$0.destination(of: path)] }
      .map { FileIdentifier(volume: volume, number: UInt64($0)) }
  }

  package func destination(of path: String) -> String {
    control.withLock { $0.disk.destination(of: path) }
  }

  package func paths(beginningWith path: String) throws(StorageError) -> [String] {
    try query(path) { disk in
      let all = Array(disk.names.keys) + Array(disk.links.keys)
      return all.filter { $0.hasPrefix(path) }.sorted()
    }
  }

  package func syncFolder(of path: String, for reason: SyncReason) throws(StorageError) {
    try sync(node: nil, path: path, for: reason)
  }

  package func currentOwner() -> LockOwner {
    LockOwner(processID: 1, processName: "simulated", host: "", since: 0)
  }
}
