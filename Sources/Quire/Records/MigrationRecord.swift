import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A migration of a store, as recorded in the store itself.
///
/// The record is written by the commit that makes the migration durable, so that a store has both
/// or neither.
public struct MigrationRecord: Hashable, Sendable {
  /// The names of the versions, and the hashes of their complete models.
  public let sourceVersion: String
  /// The hash of the whole model that the store had.
  public let sourceChecksum: VersionHash
  /// The name of the version that the store got.
  public let destinationVersion: String
  /// The hash of the whole model that the store got.
  public let destinationChecksum: VersionHash
  /// The start of the migration, by the machine's clock.
  public let date: Date
  /// The time from the comparison of the models up to the commit, a backup included. The commit
  /// itself does not count, as it contains the record.
  public let duration: Duration
  /// How many objects have a new row.
  public let rewrittenObjectCount: Int
  /// The approximate size of the rewritten rows and links in the file, in whole pages.
  public let writtenByteCount: Int
}

// MARK: - In the store

extension MigrationRecord {
  /// The number of records that a store keeps; the oldest are dropped.
  static let limit = 50

  /// The encoding of a list of records; `docs/file-format.md` describes it.
  static func encode(_ records: [MigrationRecord]) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt32(records.count))
    for record in records { writer.append(contentsOf: record.encoded()) }
    return writer.bytes
  }

  static func decode(_ bytes: UnsafeRawBufferPointer) throws(ByteReaderError) -> [MigrationRecord] {
    var reader = ByteReader(bytes)
    var records: [MigrationRecord] = []
    for _ in 0..<(try reader.readCount(minimumWidth: 4)) {
      var record = ByteReader(try reader.readSlice())
      // Fields that a later version has appended are skipped.
      records.append(try MigrationRecord(from: &record))
    }
    return records
  }

  private func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(sourceVersion)
    writer.append(contentsOf: sourceChecksum.bytes)
    writer.append(destinationVersion)
    writer.append(contentsOf: destinationChecksum.bytes)
    writer.append(date.timeIntervalSinceReferenceDate.bitPattern)
    let (seconds, attoseconds) = duration.components
    writer.append(seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    writer.append(Int64(rewrittenObjectCount))
    writer.append(Int64(writtenByteCount))
    return writer.bytes
  }

  private init(from reader: inout ByteReader) throws(ByteReaderError) {
    sourceVersion = try reader.readString()
    sourceChecksum = try MigrationRecord.readHash(from: &reader)
    destinationVersion = try reader.readString()
    destinationChecksum = try MigrationRecord.readHash(from: &reader)
    date = Date(
      timeIntervalSinceReferenceDate: Double(bitPattern: try reader.read(UInt64.self)))
    duration = .nanoseconds(try reader.read(Int64.self))
    rewrittenObjectCount = Int(truncatingIfNeeded: try reader.read(Int64.self))
    writtenByteCount = Int(truncatingIfNeeded: try reader.read(Int64.self))
  }

  private static func readHash(
    from reader: inout ByteReader
  ) throws(ByteReaderError) -> VersionHash {
    guard let hash = VersionHash(bytes: Array(try reader.readSlice())) else {
      throw reader.failure("a version hash of 32 bytes")
    }
    return hash
  }
}
