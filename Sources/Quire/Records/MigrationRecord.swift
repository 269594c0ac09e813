import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A migration that a store has been through, as the store itself remembers it.
///
/// The record is part of the commit that makes the migration true: a store that has the one has the
/// other.
public struct MigrationRecord: Hashable, Sendable {
  /// The names of the versions, and the hashes of their whole models.
  public let sourceVersion: String
  public let sourceChecksum: VersionHash
  public let destinationVersion: String
  public let destinationChecksum: VersionHash
  /// When it began, by the clock of the machine.
  public let date: Date
  /// From the first look at the models up to the commit, a backup included. The commit itself is
  /// not in it: the record was written before.
  public let duration: Duration
  public let rewrittenObjectCount: Int
  /// What the rows and links that were made anew took of the file, about: whole pages.
  public let writtenByteCount: Int
}

// MARK: - In the store

extension MigrationRecord {
  /// The records that a store keeps; older ones go.
  static let limit = 50

  /// A list of records; `docs/file-format.md` has its form.
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
      // What a later version has put behind the fields we know is passed over.
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
