import Foundation

/// The kind of a file by its first bytes, whatever its name.
enum FileKind {
  case quireStore
  case sqlite
  case other

  init(ofFileAt path: String) {
    // Opening a named pipe would wait for another process to write into it.
    let type =
      try? FileManager.default.attributesOfItem(
        atPath: URL(filePath: path).resolvingSymlinksInPath().path)[.type] as? FileAttributeType
    guard type == .typeRegular, let file = FileHandle(forReadingAtPath: path) else {
      self = .other
      return
    }
    defer { try? file.close() }
    let start = (try? file.read(upToCount: 15)) ?? Data()
    if start == Data("SQLite format 3".utf8) {
      self = .sqlite
    } else if start.starts(with: [0x89] + Array("Quire".utf8)) {
      self = .quireStore
    } else {
      self = .other
    }
  }
}
