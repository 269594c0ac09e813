import Foundation

/// A file that is read piece by piece and never written.
///
/// Reads go through the operating system each time instead of through a mapping: when another
/// process truncates a mapped file, reading it ends this process.
final class SQLiteSourceFile {
  /// The properties of the file that change when it is written.
  struct Fingerprint: Hashable {
    var byteCount: UInt64
    var modified: Date?
    /// The first bytes: SQLite's change counter, or the salts of a log.
    var head: [UInt8]
  }

  let path: String
  let byteCount: Int
  private let handle: FileHandle

  /// - Returns: `nil` when there is no file at the path.
  init?(path: String) throws(SQLiteError) {
    func fail(_ words: String) -> SQLiteError {
      SQLiteError(file: path, reason: .unreadable(words))
    }
    guard FileManager.default.fileExists(atPath: path) else {
      if FileProblem.isDenied(path), let words = FileProblem.absence(of: path) { throw fail(words) }
      return nil
    }
    do {
      // The link is followed first: a link to a pipe would otherwise hang the open.
      let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath()
      let attributes = try FileManager.default.attributesOfItem(atPath: resolved.path)
      guard attributes[.type] as? FileAttributeType == .typeRegular else {
        throw fail("it is not a regular file")
      }
      self.path = path
      byteCount = Int(clamping: (attributes[.size] as? NSNumber)?.uint64Value ?? 0)
      handle = try FileHandle(forReadingFrom: resolved)
    } catch let error as SQLiteError {
      throw error
    } catch {
      throw fail(FileProblem.words(for: error))
    }
  }

  deinit { try? handle.close() }

  /// Up to `count` bytes from `offset`; fewer where the file ends.
  func read(_ count: Int, at offset: Int) throws(SQLiteError) -> [UInt8] {
    do {
      try handle.seek(toOffset: UInt64(offset))
      var bytes: [UInt8] = []
      bytes.reserveCapacity(count)
      while bytes.count < count, let data = try handle.read(upToCount: count - bytes.count),
        !data.isEmpty
      {
        bytes.append(contentsOf: data)
      }
      return bytes
    } catch {
      throw SQLiteError(file: path, reason: .unreadable(FileProblem.words(for: error)))
    }
  }

  func fingerprint() throws(SQLiteError) -> Fingerprint {
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
    return Fingerprint(
      byteCount: (attributes?[.size] as? NSNumber)?.uint64Value ?? 0,
      modified: attributes?[.modificationDate] as? Date, head: try read(32, at: 0))
  }
}
