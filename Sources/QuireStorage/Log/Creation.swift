extension StoreFile {
  /// Creates a file with an empty store, in one step: it gets its name when it is complete and on
  /// disk.
  ///
  /// - Parameter publishing: calls what it gets while no other thread of this process opens a
  ///   store: between its name and the end of its lock the file is to nobody.
  /// - Throws: ``StorageError/alreadyExists(path:)`` if the name was taken in the meantime.
  static func create(
    _ path: String, options: PageStoreOptions, in fileSystem: any FileSystem,
    publishing: (FileIdentifier, () throws(StorageError) -> Void) throws(StorageError) -> Void
  ) throws(StorageError) {
    let identity = options.identity ?? .random()
    let content = try initialContent(identity, options.geometry, isShared: options.isShared)
    let new = try NewFile(for: path, in: fileSystem)
    do throws(StorageError) {
      try new.file.write(content, at: 0)
      if options.durability != .none { try new.file.makeDurable(for: .creation) }
      try publishing(new.file.identifier) { () throws(StorageError) in
        try new.publish()
        // Another process may open the new store from now on.
        new.file.unlock()
      }
    } catch {
      new.discard()
      throw error
    }
    if options.durability != .none { try fileSystem.confirmName(path, for: .creationFolder) }
    Leftovers(fileSystem: fileSystem, path: path).remove(copiesOf: nil, beside: nil)
  }

  private static func initialContent(
    _ identity: StoreIdentity, _ geometry: PageGeometry, isShared: Bool
  ) throws(StorageError) -> PageMemory {
    let pageSize = geometry.pageSize
    let version = PageSpace.empty(geometry)
    let space = version.space
    defer { space.retireEverything() }
    let memory = PageMemory(byteCount: Int(space.pageCount) * pageSize)
    let copy = StoreCopy(version, identity: identity, isShared: isShared)
    for number in 0..<space.pageCount {
      try copy.encode(
        PageID(number), Checksum(identity), in: memory.base + Int(number) * pageSize)
    }
    return memory
  }
}
