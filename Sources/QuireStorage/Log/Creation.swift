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
    let content = initialContent(identity, pageSize: options.pageSize)
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
  private static func openNew(
    _ temporary: String, for path: String, in fileSystem: any FileSystem
  ) throws(StorageError) -> any File {
    do throws(StorageError) {
      return try fileSystem.open(temporary, .create)
    } catch .notFound {
      throw .noFolder(path: path)
    }
  }

  private static func initialContent(_ identity: StoreIdentity, pageSize: Int) -> PageMemory {
    let checksum = Checksum(identity)
    let space = PageSpace.empty(PageGeometry(pageSize: pageSize))
    let memory = PageMemory(byteCount: Int(space.pageCount) * pageSize)
    memory.base.initializeMemory(as: UInt8.self, repeating: 0, count: memory.byteCount)
    IdentityPage(pageSize: pageSize, identity: identity).encode(in: memory.base)
    for sequence in [0, 1] as [UInt64] {
      let meta = MetaPage(
        sequence: sequence, epoch: 0, lastCommit: .creation, pageCount: space.pageCount,
        freePageCount: 0, logOffset: UInt64(LogFormat.recordsStart), logChain: 0, isClean: true)
      let page = meta.encoded(checksum, pageSize: pageSize)
      (memory.base + Int(meta.id.rawValue) * pageSize)
        .copyMemory(from: page.base, byteCount: pageSize)
      withExtendedLifetime(page) {}
    }
    for id in [PageID.firstBitmap, .catalogRoot] {
      let page = space.overlay[id].page
      let copy = MutablePage(memory.base + Int(id.rawValue) * pageSize)
      copy.base.copyMemory(from: page.base, byteCount: pageSize)
      copy.checksum = checksum.ofPage(id, copy.page, pageSize: pageSize)
    }
    withExtendedLifetime(space) {}
    return memory
  }
}
