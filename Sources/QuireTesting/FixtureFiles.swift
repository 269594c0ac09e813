import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The files of a fixture: the store, and its log and images when it was not closed.
struct FixtureFiles {
  static let logSuffix = "-log"
  static let imagesSuffix = "-pages"
  static let suffixes = [logSuffix, imagesSuffix, "-log-new", "-pages-new", "-owner"]

  let store: URL

  /// Copies the store, with log and images if there are any, and makes the copy writable.
  func copy(to destination: URL) throws {
    for suffix in ["", Self.logSuffix, Self.imagesSuffix] {
      let (source, target) = (url(suffix), FixtureFiles(store: destination).url(suffix))
      guard suffix.isEmpty || Self.isThere(source) else { continue }
      try FileManager.default.copyItem(at: source, to: target)
      // A copy of a read-only file is read-only as well, so it is made writable.
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: target.path(percentEncoded: false))
    }
  }

  /// The bytes of the store and of everything that lies beside it under its name.
  func content() throws -> [String: Data] {
    var content: [String: Data] = [:]
    for suffix in [""] + Self.suffixes where suffix.isEmpty || Self.isThere(url(suffix)) {
      content[url(suffix).lastPathComponent] = try Data(contentsOf: url(suffix))
    }
    return content
  }

  /// The changes of the files since `before`, each as a sentence.
  func changes(since before: [String: Data]) throws -> [String] {
    let after = try content()
    return Set(before.keys).union(after.keys).sorted().compactMap { name in
      if before[name] == after[name] { return nil }
      let what = before[name] == nil ? "made" : after[name] == nil ? "removed" : "changed"
      return "the check \(what) \(name) beside the other fixtures: something writes to them"
    }
  }

  func url(_ suffix: String) -> URL {
    store.deletingLastPathComponent().appending(path: store.lastPathComponent + suffix)
  }

  static func isThere(_ url: URL) -> Bool {
    FileManager.default.fileExists(atPath: url.path(percentEncoded: false))
  }

  static func withTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "quire-fixtures-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}
