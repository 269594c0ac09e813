import Foundation

extension GeneratedCode {
  /// Writes all files into a folder, which is made if there is none.
  ///
  /// All files are written under other names first and then renamed. Where that fails, those that
  /// were there before are put back, and no new one is left.
  ///
  /// - Parameter replaces: whether files of these names may be there.
  /// - Returns: the paths, in the order of ``files``.
  /// - Throws: what is in the way.
  func write(to folder: URL, replaces: Bool) throws -> [String] {
    let destinations = files.map { folder.appending(path: $0.name) }
    for destination in destinations {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: destination.path, isDirectory: &isFolder) else {
        continue
      }
      if isFolder.boolValue {
        throw InputError("there is a folder of this name: \(destination.path)")
      }
      if !replaces {
        throw InputError(
          "there is a file already: \(destination.path). Nothing was written; --force replaces "
            + "files"
        )
      }
    }
    let isNew = !FileManager.default.fileExists(atPath: folder.path)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let workshop = folder.appending(path: ".quire-generate-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(at: workshop, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(at: workshop) }
      for file in files {
        try Data(file.text.utf8).write(to: workshop.appending(path: file.name))
      }
      try exchange(destinations, with: workshop)
    } catch {
      if isNew { try? FileManager.default.removeItem(at: folder) }
      throw error
    }
    return destinations.map(\.path)
  }

  /// Renames the files in the workshop to their destinations, all or none.
  private func exchange(_ destinations: [URL], with workshop: URL) throws {
    var undo: [() -> Void] = []
    do {
      for destination in destinations {
        let former = workshop.appending(path: "\(destination.lastPathComponent).former")
        if FileManager.default.fileExists(atPath: destination.path) {
          try FileManager.default.moveItem(at: destination, to: former)
          undo.append { try? FileManager.default.moveItem(at: former, to: destination) }
        }
        try FileManager.default.moveItem(
          at: workshop.appending(path: destination.lastPathComponent), to: destination)
        undo.append { try? FileManager.default.removeItem(at: destination) }
      }
    } catch {
      for step in undo.reversed() { step() }
      throw error
    }
  }
}
