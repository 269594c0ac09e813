import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A transaction as stored in the tree `history`; `docs/file-format.md` has the format.
///
/// A record needs no model: it has the names that properties had when it was written, whatever
/// migrations rename later.
struct HistoryRecord {
  /// The facts that are common to all changes of the transaction.
  struct Head: Hashable, Sendable {
    var timestamp: Date
    /// Changes are numbered across all transactions of a store.
    var firstChangeID: Int64
    var changeCount: Int
    var author: String?
    var contextName: String?
    var bundleID: String
    var processID: String
  }

  /// The changes of objects of one concrete entity, with the entity's number.
  struct Group {
    struct Update {
      var key: Int64
      /// Indices in ``Group/names``.
      var names: [UInt16]
    }

    struct Deletion {
      var key: Int64
      /// The preserved values of the object, each with the index of its name in ``Group/names``.
      var tombstone: [(name: UInt16, value: AttributeValue)] = []
    }

    var entity: UInt16
    var names: [String] = []
    var inserted: [Int64] = []
    var updated: [Update] = []
    var deleted: [Deletion] = []

    var changeCount: Int { inserted.count + updated.count + deleted.count }

    /// The index of a name, which is appended if it is missing.
    mutating func index(of name: String) -> UInt16 {
      if let index = names.firstIndex(of: name) { return UInt16(index) }
      names.append(name)
      return UInt16(names.count - 1)
    }
  }

  var head: Head
  var groups: [Group]
}

// MARK: - In the store

extension HistoryRecord {
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(head.timestamp.timeIntervalSinceReferenceDate.bitPattern)
    writer.append(head.firstChangeID)
    writer.append(UInt32(head.changeCount))
    writer.append(head.author)
    writer.append(head.contextName)
    writer.append(head.bundleID)
    writer.append(head.processID)
    writer.append(UInt32(groups.count))
    for group in groups { group.write(to: &writer) }
    return writer.bytes
  }

  init(_ bytes: UnsafeRawBufferPointer) throws {
    var reader = ByteReader(bytes)
    head = try Head(from: &reader)
    groups = []
    var changeCount = 0
    for _ in 0..<(try reader.readCount(minimumWidth: 18)) {
      let group = try Group(from: &reader)
      changeCount += group.changeCount
      groups.append(group)
    }
    guard changeCount == head.changeCount, reader.isAtEnd else {
      throw reader.failure("\(head.changeCount) changes, not \(changeCount), and an end")
    }
  }
}

extension HistoryRecord.Head {
  init(from reader: inout ByteReader) throws(ByteReaderError) {
    timestamp = Date(
      timeIntervalSinceReferenceDate: Double(bitPattern: try reader.read(UInt64.self)))
    firstChangeID = try reader.read()
    changeCount = Int(try reader.read(UInt32.self))
    guard firstChangeID > 0, changeCount > 0,
      !firstChangeID.addingReportingOverflow(Int64(changeCount)).overflow
    else { throw reader.failure("IDs of changes") }
    author = try reader.readOptionalString()
    contextName = try reader.readOptionalString()
    bundleID = try reader.readString()
    processID = try reader.readString()
  }

  /// The ID of the first change in the next transaction.
  var nextChangeID: Int64 { firstChangeID + Int64(changeCount) }
}

extension HistoryRecord.Group {
  fileprivate func write(to writer: inout ByteWriter) {
    writer.append(entity)
    writer.append(UInt32(names.count))
    for name in names { writer.append(name) }
    writer.append(UInt32(inserted.count))
    for key in inserted { writer.append(key) }
    writer.append(UInt32(updated.count))
    for update in updated {
      writer.append(update.key)
      writer.append(UInt32(update.names.count))
      for name in update.names { writer.append(name) }
    }
    writer.append(UInt32(deleted.count))
    for deletion in deleted {
      writer.append(deletion.key)
      writer.append(UInt32(deletion.tombstone.count))
      for (name, value) in deletion.tombstone {
        writer.append(name)
        writer.append(contentsOf: value.archived())
      }
    }
  }

  fileprivate init(from reader: inout ByteReader) throws {
    entity = try reader.read()
    for _ in 0..<(try reader.readCount(minimumWidth: 4)) { names.append(try reader.readString()) }
    let nameCount = names.count
    func name() throws(ByteReaderError) -> UInt16 {
      let index = try reader.read(UInt16.self)
      guard index < nameCount else { throw reader.failure("the index of a name") }
      return index
    }
    for _ in 0..<(try reader.readCount(minimumWidth: 8)) { inserted.append(try reader.read()) }
    for _ in 0..<(try reader.readCount(minimumWidth: 12)) {
      var update = Update(key: try reader.read(), names: [])
      for _ in 0..<(try reader.readCount(minimumWidth: 2)) { update.names.append(try name()) }
      updated.append(update)
    }
    for _ in 0..<(try reader.readCount(minimumWidth: 12)) {
      var deletion = Deletion(key: try reader.read())
      for _ in 0..<(try reader.readCount(minimumWidth: 6)) {
        let index = try name()
        guard let value = try AttributeValue(archived: try reader.readSlice()) else {
          throw reader.failure("a value")
        }
        deletion.tombstone.append((index, value))
      }
      deleted.append(deletion)
    }
  }
}
