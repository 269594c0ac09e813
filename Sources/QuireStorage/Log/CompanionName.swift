/// The names of files that lie beside a store: its name with a suffix.
///
/// Where that is longer than file systems allow, the store's name is cut short and a hash of all of
/// it follows, so that two stores with long names that begin alike have companions of their own. It
/// is a rule for ever: a store that was not closed is found together with its log by it.
package enum CompanionName {
  /// The bytes that a name may have on the file systems in use.
  package static let byteLimit = 255

  /// The path of the file with that suffix beside `path`.
  package static func path(of path: String, _ suffix: String) -> String {
    stem(of: path, suffixByteCount: suffix.utf8.count) + suffix
  }

  /// What the names of files begin with that are being made to become `path`; a UUID follows.
  package static func prefixOfNewFiles(of path: String) -> String { NewFile.prefix(of: path) }

  /// What stands before a suffix of that length in the path of a companion.
  static func stem(of path: String, suffixByteCount: Int) -> String {
    let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
    let name = path[(start ?? path.startIndex)...]
    guard name.utf8.count + suffixByteCount > byteLimit else { return path }
    var bytes = Array(name.utf8)
    let hash = bytes.withUnsafeBytes { XXH3.hash($0, seed: 0) }
    let digits = String(hash, radix: 16)
    let mark = "~" + String(repeating: "0", count: 16 - digits.count) + digits
    // Not in the middle of a character.
    bytes.removeLast(bytes.count - max(0, byteLimit - suffixByteCount - mark.utf8.count))
    while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
    if let last = bytes.last, last & 0xC0 == 0xC0 { bytes.removeLast() }
    return path[..<name.startIndex] + String(decoding: bytes, as: UTF8.self) + mark
  }
}
