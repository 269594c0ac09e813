import QuireModel
import QuireStorage

/// The storage of older row layouts, left by a deferred migration, in the schema.
///
/// A store with such rows has an object format of its own, so that a version of Quire without
/// support for older layouts refuses the store, instead of some of its rows. After the last of them
/// is rewritten, the store has the same bytes as if the migration had not been deferred.
extension StoreSchema {
  /// The format of a store whose rows may have older layouts. On disk, for ever.
  static let formatWithOlderLayouts: UInt32 = 2
  /// The format of a store with values outside of its rows, which may have older layouts as well.
  /// On disk, for ever.
  static let formatWithExternalData: UInt32 = 4
  private static let layoutsKey = "layouts"

  var hasOlderLayouts: Bool { entities.contains { $0.unfinished != nil } }

  /// The format that the store must have: the highest one that any of its contents requires. A
  /// version that supports a format supports all lower ones.
  var currentFormat: UInt32 {
    if history != nil { return StoreSchema.formatWithHistory }
    if hasExternalData { return StoreSchema.formatWithExternalData }
    if !indexes.isEmpty { return StoreSchema.formatWithIndexes }
    return hasOlderLayouts ? StoreSchema.formatWithOlderLayouts : StoreSchema.format
  }

  /// The highest format that this version supports.
  static let latestFormat = formatWithHistory

  func writeFormat(to tree: MutableIndexTree) throws {
    var format = ByteWriter()
    format.append(currentFormat)
    try tree.put(format.bytes, for: Array("format".utf8))
  }

  /// Writes the format and the older layouts, and nothing else of the schema.
  func writeLayouts(to tree: MutableIndexTree) throws {
    try writeFormat(to: tree)
    let key = Array(StoreSchema.layoutsKey.utf8)
    if hasOlderLayouts {
      try tree.put(encodedLayouts(), for: key)
    } else {
      try tree.remove(key)
    }
  }

  private func encodedLayouts() -> [UInt8] {
    let unfinished = entities.filter { $0.unfinished != nil }
    var writer = ByteWriter()
    writer.append(UInt32(unfinished.count))
    for entity in unfinished {
      guard let rows = entity.unfinished else { continue }
      writer.append(entity.number)
      writer.append(rows.firstKey)
      writer.append(Int64(rows.count))
      writer.append(UInt32(entity.layout.older.count))
      for older in entity.layout.older {
        older.layout.write(to: &writer)
        for source in older.sources { source.write(to: &writer) }
      }
    }
    return writer.bytes
  }

  /// Adds the stored older layouts to the entities, which must have been read before.
  mutating func readLayouts(in tree: IndexTree) throws {
    guard let value = try tree.value(for: Array(StoreSchema.layoutsKey.utf8)) else { return }
    do {
      try value.withBytes { try readLayouts($0) }
    } catch let error as ByteReaderError {
      throw StoreSchema.damaged(
        "has unreadable older layouts at byte \(error.offset): no \(error.expected)")
    } catch let error as RowError {
      throw StoreSchema.damaged("has older layouts that rows cannot be read with: \(error)")
    } catch let error as ModelArchiveError {
      throw StoreSchema.damaged("has older layouts with a value that cannot be read: \(error)")
    }
  }

  private mutating func readLayouts(_ bytes: UnsafeRawBufferPointer) throws {
    var reader = ByteReader(bytes)
    let count = try reader.readCount(minimumWidth: 22)
    guard count > 0 else { throw reader.failure("an entity with older layouts") }
    for _ in 0..<count {
      let number = try reader.read(UInt16.self)
      guard let index = entities.firstIndex(where: { $0.number == number }),
        entities[index].unfinished == nil
      else { throw reader.failure("an entity that has not come before") }
      let firstKey = try reader.read(Int64.self)
      let rowCount = try reader.read(Int64.self)
      guard firstKey >= 0, rowCount >= 0 else { throw reader.failure("a key and a count") }
      let layout = entities[index].layout
      var older: [OlderLayout] = []
      let olderCount = try reader.readCount(minimumWidth: 6)
      guard olderCount > 0 else { throw reader.failure("an older layout") }
      for _ in 0..<olderCount {
        let next = try OlderLayout(from: &reader, to: layout)
        let number = next.layout.number
        guard number != layout.number, !older.contains(where: { $0.layout.number == number })
        else { throw reader.failure("layouts of different numbers") }
        older.append(next)
      }
      entities[index] = entities[index].with(
        RowLayout(number: layout.number, fields: layout.fields, older: older),
        unfinished: UnfinishedRows(
          firstKey: firstKey, count: Int(truncatingIfNeeded: rowCount)))
    }
    guard reader.isAtEnd else { throw reader.failure("end") }
  }
}

extension StoredEntity {
  /// The entity without older layouts, for when no row has one any more.
  var finished: StoredEntity {
    with(RowLayout(number: layout.number, fields: layout.fields), unfinished: nil)
  }
}

extension OlderLayout {
  fileprivate convenience init(from reader: inout ByteReader, to current: RowLayout) throws {
    let layout = try RowLayout(from: &reader)
    var sources: [RowTransformation.Source] = []
    for _ in current.fields {
      sources.append(try RowTransformation.Source(from: &reader, fieldCount: layout.fields.count))
    }
    try self.init(layout, to: current, sources)
  }
}

extension RowTransformation.Source {
  /// On disk: add cases, never renumber.
  private enum Tag: UInt8 { case absent = 0, copy = 1, copyOrDefault = 2, constant = 3 }

  fileprivate func write(to writer: inout ByteWriter) {
    switch self {
    // A migration with links or conversions is never deferred.
    case .absent, .link, .convert, .number: writer.append(Tag.absent.rawValue)
    case .copy(let field):
      writer.append(Tag.copy.rawValue)
      writer.append(UInt16(truncatingIfNeeded: field))
    case .copyOrDefault(let field, let value):
      writer.append(Tag.copyOrDefault.rawValue)
      writer.append(UInt16(truncatingIfNeeded: field))
      writer.append(contentsOf: value.archived())
    case .constant(let value):
      writer.append(Tag.constant.rawValue)
      writer.append(contentsOf: value.archived())
    }
  }

  fileprivate init(from reader: inout ByteReader, fieldCount: Int) throws {
    func field() throws -> Int {
      let index = Int(try reader.read(UInt16.self))
      guard index < fieldCount else { throw reader.failure("a field of the older layout") }
      return index
    }
    func value() throws -> AttributeValue {
      guard let value = try AttributeValue(archived: try reader.readSlice()) else {
        throw reader.failure("a value")
      }
      return value
    }
    switch Tag(rawValue: try reader.read()) {
    case .absent: self = .absent
    case .copy: self = .copy(try field())
    case .copyOrDefault: self = .copyOrDefault(try field(), try value())
    case .constant: self = .constant(try value())
    case nil: throw reader.failure("where a field comes from")
    }
  }
}
