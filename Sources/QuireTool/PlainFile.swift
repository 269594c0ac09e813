import Foundation
import QuireXcode

/// A file that a command writes as a whole.
enum PlainFile {
  /// Writes a text under another name first, so that a file which is there is replaced or stays as
  /// it is.
  ///
  /// - Parameter replaces: whether a file that is there may be replaced, by its first bytes.
  static func write(
    _ text: String, to path: String, replaces: (Data) -> Bool
  ) throws {
    let url = URL(filePath: path)
    try expectAccess(to: url)
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) {
      if isFolder.boolValue { throw InputError("there is a folder of this name: \(url.path)") }
      // A pipe or a device is not to be replaced by a file.
      let type =
        try FileManager.default.attributesOfItem(
          atPath: url.resolvingSymlinksInPath().path)[.type] as? FileAttributeType
      guard type == .typeRegular else { throw InputError("it is no file: \(url.path)") }
      guard replaces(try start(of: url)) else {
        throw InputError("there is a file already, and it is kept: \(url.path)")
      }
    }
    let folder = url.deletingLastPathComponent()
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw InputError("there is no folder \(folder.path) to write \(url.lastPathComponent) into")
    }
    try Data(text.utf8).write(to: url, options: .atomic)
  }

  /// - Throws: an error where a folder on the way may not be looked into, so that it is not known
  ///   whether there is such a file.
  static func expectAccess(to url: URL) throws {
    if FileProblem.isDenied(url.path), let words = FileProblem.absence(of: url.path) {
      throw InputError("\(url.path): \(words)")
    }
  }

  private static func start(of url: URL) throws -> Data {
    let file = try FileHandle(forReadingFrom: url)
    defer { try? file.close() }
    return try file.read(upToCount: 256) ?? Data()
  }
}
