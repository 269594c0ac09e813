import Foundation

/// The pages of a SQLite file as of its last commit: those of its log where it has them.
final class SQLitePageSource {
  let path: String
  let header: SQLiteHeader
  /// The number of pages in the database, as of the last commit.
  let pageCount: UInt32
  let logState: SQLiteLog.State

  private let file: SQLiteSourceFile
  private let log: SQLiteLog?
  private let fingerprints: [SQLiteSourceFile.Fingerprint]

  init(path: String) throws(SQLiteError) {
    guard let file = try SQLiteSourceFile(path: path) else {
      throw SQLiteError(file: path, reason: .unreadable("there is no such file"))
    }
    try Self.refuseHotJournal(of: path)
    // Page 1 of the file has the right page size whatever the log says: SQLite cannot change it
    // while there is a log. All else is read again through the log.
    let fileHeader = try SQLiteHeader(try file.read(SQLiteHeader.byteCount, at: 0), file: path)
    var log: SQLiteLog?
    if let logFile = try SQLiteSourceFile(path: path + "-wal") {
      log = try SQLiteLog(logFile, pageSize: fileHeader.pageSize)
    }
    var header = fileHeader
    if let first = try log?.page(1, pageSize: fileHeader.pageSize) {
      header = try SQLiteHeader(first, file: path)
      guard header.pageSize == fileHeader.pageSize else {
        throw SQLiteError(
          file: path, reason: .damaged(page: 1, "its page size in the log is \(header.pageSize)"))
      }
    }
    let filePageCount = UInt32(clamping: file.byteCount / header.pageSize)
    if let count = log?.pageCount {
      pageCount = count
    } else if let count = header.pageCount {
      guard count <= filePageCount else {
        throw SQLiteError(
          file: path, reason: .truncated(expectedPages: count, foundPages: filePageCount))
      }
      pageCount = count
    } else {
      pageCount = filePageCount
    }
    self.path = path
    self.file = file
    self.log = log
    self.header = header
    logState = log?.state ?? .none
    fingerprints = try Self.fingerprints(file, log)
  }

  /// - Throws: ``SQLiteError`` if there is no such page, with its number.
  func page(_ number: UInt32) throws(SQLiteError) -> SQLitePage {
    guard number > 0, number <= pageCount else {
      throw SQLiteError(
        file: path, reason: .damaged(page: number, "there are only \(pageCount) pages"))
    }
    if let bytes = try log?.page(number, pageSize: header.pageSize) {
      return SQLitePage(file: path, number: number, bytes: bytes)
    }
    let bytes = try file.read(header.pageSize, at: Int(number - 1) * header.pageSize)
    guard bytes.count == header.pageSize else {
      throw SQLiteError(
        file: path,
        reason: .truncated(
          expectedPages: pageCount, foundPages: UInt32(clamping: file.byteCount / header.pageSize)))
    }
    return SQLitePage(file: path, number: number, bytes: bytes)
  }

  /// Throws if the file or its log has changed since it was opened.
  ///
  /// No lock is taken, so that other programs are not locked out. So call this after reading, to
  /// check that everything read was of one state of the file.
  func checkUnchanged() throws(SQLiteError) {
    let hasLog = FileManager.default.fileExists(atPath: path + "-wal")
    guard hasLog == (log != nil), try Self.fingerprints(file, log) == fingerprints else {
      throw SQLiteError(file: path, reason: .changedWhileReading)
    }
  }

  private static func fingerprints(
    _ file: SQLiteSourceFile, _ log: SQLiteLog?
  ) throws(SQLiteError) -> [SQLiteSourceFile.Fingerprint] {
    var result = [try file.fingerprint()]
    if let log { result.append(try log.file.fingerprint()) }
    return result
  }

  /// A journal that begins with SQLite's magic number has not been rolled back or committed.
  private static func refuseHotJournal(of path: String) throws(SQLiteError) {
    let journalPath = path + "-journal"
    guard let journal = try SQLiteSourceFile(path: journalPath) else { return }
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    if try journal.read(8, at: 0) == magic {
      throw SQLiteError(file: path, reason: .hotJournal(journal: journalPath))
    }
  }
}
