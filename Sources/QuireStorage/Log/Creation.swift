extension StoreFile {
  /// Makes a file with an empty store, in one step: it gets its name when it is whole and on disk.
  ///
  /// - Throws: ``StorageError/alreadyExists(path:)`` if the name is taken meanwhile.
  static func create(
    _ path: String, options: PageStoreOptions, in fileSystem: any FileSystem
  ) throws(StorageError) {
    let identity = options.identity ?? .random()
    // Two processes that create the same store at once do not share the temporary file.
    let temporary = path + "-new-" + identity.description
    let content = try initialContent(identity, pageSize: options.pageSize)
    do throws(StorageError) {
      let file = try openNew(temporary, for: path, in: fileSystem)
      try file.write(content, at: 0)
      if options.durability != .none { try file.sync(for: .creation) }
      try fileSystem.publish(temporary, as: path)
    } catch {
      // The first error is the one to tell; what is left is an unfinished file with a telling name.
      do throws(StorageError) { try fileSystem.remove(temporary) } catch {}
      throw error
    }
    if options.durability != .none { try fileSystem.syncFolder(of: path, for: .creationFolder) }
  }

  /// - Throws: ``StorageError/noFolder(path:)`` where a file cannot be because its folder is not
  ///   there.
  static func openNew(
    _ temporary: String, for path: String, in fileSystem: any FileSystem
  ) throws(StorageError) -> any File {
    do throws(StorageError) {
      return try fileSystem.open(temporary, .create)
    } catch .notFound {
      throw .noFolder(path: path)
    }
  }

  private static func initialContent(
    _ identity: StoreIdentity, pageSize: Int
  ) throws(StorageError) -> PageMemory {
    let space = PageSpace.empty(PageGeometry(pageSize: pageSize))
    defer { space.retireEverything() }
    let memory = PageMemory(byteCount: Int(space.pageCount) * pageSize)
    let copy = StoreCopy(space, identity: identity)
    for number in 0..<space.pageCount {
      try copy.encode(
        PageID(number), Checksum(identity), in: memory.base + Int(number) * pageSize)
    }
    return memory
  }
}
