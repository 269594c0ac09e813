// Compiled into the module Quire.
import QuireModel
import QuireStorage

// An input is a byte for what decodes it, and the bytes to decode.

func fuzz(_ bytes: [UInt8]) {
  var input = FuzzInput(bytes)
  let code = input.byte()
  let rest = input.rest()
  switch code % 8 {
  case 0: decodeLinkKey(rest, isOrdered: code & 8 != 0)
  case 1: readLinks(rest, isOrdered: code & 8 != 0)
  case 2: readSchema(["entities": rest])
  case 3: readSchema(["hashes": rest, "version": rest])
  case 4: readSchema(["metadata/a": rest, "format": Array(rest.prefix(4))])
  case 5: readSchema(["model": rest])
  case 6: decodeEntity(rest)
  default: readCatalog(rest)
  }
}

private func decodeLinkKey(_ bytes: [UInt8], isOrdered: Bool) {
  guard let key = bytes.withUnsafeBytes({ LinkKey($0, isOrdered: isOrdered) }) else { return }
  _ = (key.member.entity, key.member.key, key.member.isTemporary)
  guard key.bytes(isOrdered: isOrdered) == bytes else { fatalError("a link key changed") }
  guard bytes.starts(with: LinkKey.prefix(of: key.owner)) else { fatalError("a wrong prefix") }
}

/// A link tree with keys of any length.
private func readLinks(_ bytes: [UInt8], isOrdered: Bool) {
  do {
    let store = PageStore.inMemory(pageSize: 512)
    var input = FuzzInput(bytes)
    var owners: [Int64] = [0, -1, .min, .max]
    try store.write { transaction in
      let tree = try transaction.createIndexTree("links/1")
      while !input.isAtEnd {
        // Mostly of the right length, or no other would ever be met.
        let length = LinkKey.byteCount(isOrdered: isOrdered) + max(0, input.byte() - 240)
        let key = input.bytes(min(length, store.keyByteLimit))
        try tree.put([], for: key)
        let first = key.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        owners.append(Int64(bitPattern: first))
      }
    }
    let tree = try store.snapshot().indexTree("links/1")
    guard let tree else { return }
    let reader = LinkReader(tree: tree, isOrdered: isOrdered)
    for owner in owners { _ = try? reader.members(of: owner) }
    try? reader.forEach { _ in }
  } catch {
    fatalError("\(error)")
  }
}

/// A schema in which these entries are made of an input.
private func readSchema(_ entries: [String: [UInt8]]) {
  do {
    let store = PageStore.inMemory(pageSize: 512)
    try store.write { transaction in
      let tree = try transaction.createIndexTree(StoreSchema.tree)
      try tree.put([1, 0, 0, 0], for: Array("format".utf8))
      try tree.put([0, 0, 0, 0, 0, 0, 0, 0], for: Array("entities".utf8))
      for (key, value) in entries { try tree.put(value, for: Array(key.utf8)) }
    }
    let snapshot = try store.snapshot()
    if let schema = try? StoreSchema(from: snapshot) {
      for entity in schema.entities { _ = (entity.rowTree, entity.layout.offsetsStart) }
    }
    _ = try? StoreSchema.hashes(in: snapshot)
    _ = try? StoreSchema.model(in: snapshot)
    _ = try? StoreSchema.matches([1], in: snapshot)
  } catch {
    fatalError("\(error)")
  }
}

private func decodeEntity(_ bytes: [UInt8]) {
  bytes.withUnsafeBytes { bytes in
    var reader = ByteReader(bytes)
    while !reader.isAtEnd, let entity = try? StoredEntity(from: &reader) {
      var writer = ByteWriter()
      entity.write(to: &writer)
      let again = writer.bytes.withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        return try? StoredEntity(from: &reader)
      }
      guard again == entity else { fatalError("an entity changed") }
    }
  }
}

/// A catalog page made of an input, in a store that is sound otherwise.
private func readCatalog(_ bytes: [UInt8]) {
  var file = emptyStore
  let cells = file.count - 512 + 16..<file.count
  let content = bytes.prefix(cells.count)
  file.replaceSubrange(cells.prefix(content.count), with: content)
  guard let sealing = FileSealing(repairing: &file) else { return }
  sealing.sealPages(of: &file)
  let fileSystem = MemoryFileSystem()
  fileSystem.setBytes(file, of: "store")
  guard let store = try? PageStore.open("store", in: fileSystem) else { return }
  _ = try? store.check()
  _ = try? store.read { snapshot in
    for (name, kind, _) in try snapshot.treeNames() {
      switch kind {
      case .record: _ = try? snapshot.recordTree(name)?.lastKey
      case .index: _ = try? snapshot.indexTree(name)?.value(for: [1])
      }
    }
  }
  _ = try? store.write { try $0.createRecordTree("t").put([1], for: 1) }
  _ = try? store.write { try $0.dropTree("t") }
  try? store.close()
}

/// Five pages: the last is the catalog's root.
private let emptyStore: [UInt8] = {
  let fileSystem = MemoryFileSystem()
  var options = PageStoreOptions()
  options.pageSize = 512
  try? PageStore.open("store", options: options, in: fileSystem).close()
  return fileSystem.bytes(of: "store") ?? []
}()

func seeds() throws -> [[UInt8]] {
  let key = LinkKey(owner: 7, position: 3, member: Reference(entity: 2, key: 9))
  var writer = ByteWriter()
  let entity = StoredEntity(
    number: 1, name: "Picture", keySpace: 1,
    layout: RowLayout(
      number: 1,
      fields: [.init(name: "id", kind: .uuid), .init(name: "name", kind: .string)]),
    links: [.init(relationship: "tags", number: 1, isOrdered: true)])
  entity.write(to: &writer)
  let value = AttributeValue.composite(["a": .integer(1), "b": .string("c")]).archived()
  let model = ModelArchive.encode(try ManagedObjectModel(entities: []))
  let catalogEntry: [UInt8] =
    [1, 0, 0xE6, 1, 0xCE, 1] + [UInt8](repeating: 0, count: 100)
    + [1, 0, 0x61, 16, 0, 1, 0, 0, 0, 5, 0, 0, 0]
  return [
    [0] + key.bytes(isOrdered: false), [8] + key.bytes(isOrdered: true),
    [1] + [0] + key.bytes(isOrdered: false) + [0] + key.bytes(isOrdered: false),
    [9] + [0] + key.bytes(isOrdered: true) + [255, 1, 2],
    [2, 1, 0, 1, 0, 1, 0, 0, 0] + writer.bytes, [6] + writer.bytes,
    [3, 1, 0, 0, 0, 1, 0, 0, 0, 65, 32, 0, 0, 0] + [UInt8](repeating: 7, count: 32), [4] + value,
    [5] + model, [7] + catalogEntry, [7] + [UInt8](emptyStore.suffix(496)),
  ]
}
