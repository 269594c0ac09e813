import Foundation
import QuireXcode

/// A folder of Swift files as it was read.
package struct SourceFolder {
  let path: String
  /// With their paths from the folder on, in order.
  package private(set) var files: [(path: String, bytes: [UInt8])] = []
  /// Models that were found, by their paths from the folder on.
  private(set) var models: [String] = []
  /// What was left out, and why.
  private(set) var notes: [String] = []

  /// Folders of other people's code.
  private static let foreignFolders: Set<String> = ["Carthage", "DerivedData", "Pods"]

  /// Reads all Swift files below a folder.
  ///
  /// Hidden folders are passed over, and those that package managers and Xcode fill. Symbolic links
  /// are not followed.
  package init(path: String) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      if FileProblem.isDenied(path), let words = FileProblem.absence(of: path) {
        throw InputError("\(path): \(words)")
      }
      throw InputError("there is no folder \(path)")
    }
    guard isFolder.boolValue else { throw InputError("\(path) is not a folder") }
    self.path = URL(filePath: path).resolvingSymlinksInPath().path
    var folders = [""]
    while let folder = folders.popLast() {
      for name in try FileManager.default.contentsOfDirectory(atPath: "\(self.path)/\(folder)") {
        try read(name, in: folder, &folders)
      }
    }
    files.sort { $0.path < $1.path }
    models.sort()
  }

  private mutating func read(_ name: String, in folder: String, _ folders: inout [String]) throws {
    let path = folder + name
    let full = "\(self.path)/\(path)"
    if name.hasPrefix(".") { return }
    let type = try FileManager.default.attributesOfItem(atPath: full)[.type] as? FileAttributeType
    switch type {
    case .typeDirectory where name.hasSuffix(".xcdatamodeld") || name.hasSuffix(".xcdatamodel"):
      models.append(path)
    case .typeDirectory where Self.foreignFolders.contains(name):
      notes.append("\(path) is left out")
    case .typeDirectory: folders.append("\(path)/")
    case .typeSymbolicLink where name.hasSuffix(".swift"):
      notes.append("\(path) is a symbolic link: it is left out")
    case .typeRegular where name.hasSuffix(".swift"):
      files.append((path, Array(try Data(contentsOf: URL(filePath: full)))))
    default: break
    }
  }

  // MARK: Writing

  /// Writes changes, each file in one step.
  ///
  /// Before the first is written, all files must be as they were read, and it must be possible to
  /// write them. Files are written before others go, so that no member that moves is ever in none.
  ///
  /// - Throws: when something is in the way; with the files that were written until then.
  package func write(_ changes: [FolderPort.Change]) throws {
    for change in changes { try check(change) }
    var written: [String] = []
    let order = changes.filter { $0.after != nil } + changes.filter { $0.after == nil }
    for change in Self.receiversFirst(order) {
      do {
        try check(change)
        try write(change)
      } catch {
        let done =
          written.isEmpty ? "Nothing was written" : "Written: \(written.joined(separator: ", "))"
        throw InputError("\(Tool.diagnosis(of: error)). \(done)")
      }
      written.append(change.path)
    }
  }

  /// New files, then those that grow, then those that shrink.
  private static func receiversFirst(_ changes: [FolderPort.Change]) -> [FolderPort.Change] {
    func growth(_ change: FolderPort.Change) -> Int {
      (change.after?.count ?? 0) - (change.before?.count ?? 0)
    }
    return changes.enumerated().sorted {
      let (one, other) = ($0.element, $1.element)
      if (one.after == nil) != (other.after == nil) { return one.after != nil }
      return (growth(other), $0.offset) < (growth(one), $1.offset)
    }.map(\.element)
  }

  private func check(_ change: FolderPort.Change) throws {
    let full = "\(path)/\(change.path)"
    let attributes = try? FileManager.default.attributesOfItem(atPath: full)
    guard let before = change.before else {
      if attributes != nil { throw InputError("there is a file of this name: \(full)") }
      return
    }
    let isFile = attributes?[.type] as? FileAttributeType == .typeRegular
    guard isFile, let now = try? Data(contentsOf: URL(filePath: full)), now.elementsEqual(before)
    else { throw InputError("\(full) has changed since it was read: run the command again") }
    let folder = URL(filePath: full).deletingLastPathComponent().path
    for path in [full, folder] where !FileManager.default.isWritableFile(atPath: path) {
      throw InputError("\(path) cannot be written")
    }
  }

  private func write(_ change: FolderPort.Change) throws {
    let file = URL(filePath: "\(path)/\(change.path)")
    guard let after = change.after else { return try FileManager.default.removeItem(at: file) }
    let copy = file.deletingLastPathComponent()
      .appending(path: ".\(file.lastPathComponent).\(UUID().uuidString)")
    do {
      try Data(after).write(to: copy, options: .withoutOverwriting)
      let former = try? FileManager.default.attributesOfItem(atPath: file.path)
      if let permissions = former?[.posixPermissions] {
        try FileManager.default.setAttributes(
          [.posixPermissions: permissions], ofItemAtPath: copy.path)
      }
      guard rename(copy.path, file.path) == 0 else {
        throw InputError("\(file.path) cannot be written: \(String(cString: strerror(errno)))")
      }
    } catch {
      try? FileManager.default.removeItem(at: copy)
      throw error
    }
  }
}
