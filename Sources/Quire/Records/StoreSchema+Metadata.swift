import QuireStorage

// The user's metadata in the tree of the schema, one key for each entry.

extension StoreSchema {
  /// The prefix of the keys; no other key of the schema begins with it.
  private static let metadataPrefix = "metadata/"

  static func metadata(in tree: IndexTree) throws -> [String: MetadataValue] {
    var metadata: [String: MetadataValue] = [:]
    var cursor = tree.cursor()
    var isInside = try cursor.seek(to: Array(metadataPrefix.utf8))
    while isInside {
      let key = String(decoding: try cursor.key, as: UTF8.self)
      guard key.hasPrefix(metadataPrefix) else { break }
      let name = String(key.dropFirst(metadataPrefix.count))
      let bytes = try cursor.valueBytes
      do throws(ByteReaderError) {
        metadata[name] = try MetadataValue(encoded: bytes)
      } catch {
        throw damaged(
          "has metadata \(name) that cannot be read at byte \(error.offset): no \(error.expected)")
      }
      isInside = try cursor.next()
    }
    return metadata
  }

  static func write(_ metadata: [String: MetadataValue], to tree: MutableIndexTree) throws {
    for (key, value) in metadata {
      try tree.put(value.encoded, for: Array((metadataPrefix + key).utf8))
    }
  }

  /// Replaces the store's metadata.
  static func replaceMetadata(
    by metadata: [String: MetadataValue], in transaction: WriteTransaction
  ) throws {
    guard let reading = try transaction.indexTree(tree),
      let tree = try transaction.mutableIndexTree(tree)
    else { throw damaged("is missing") }
    for name in try self.metadata(in: reading).keys where metadata[name] == nil {
      _ = try tree.remove(Array((metadataPrefix + name).utf8))
    }
    try write(metadata, to: tree)
  }

  /// The largest number of bytes of a metadata key.
  static func metadataKeyLimit(of pages: PageStore) -> Int {
    pages.keyByteLimit - metadataPrefix.utf8.count
  }
}
