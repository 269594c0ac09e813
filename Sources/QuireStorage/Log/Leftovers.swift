/// Files that a process has left because it ended while it made them: no store's name refers to
/// them, and their content does not count.
///
/// A file that is being made is locked (``NewFile``), so one that can be locked is abandoned. A
/// file that cannot be removed is left for the next attempt.
struct Leftovers {
  let fileSystem: any FileSystem
  /// The store or copy whose name they begin with.
  let path: String

  /// Removes unfinished files that were to become `path`, or a copy of the same store under another
  /// name in that folder.
  ///
  /// - Parameters:
  ///   - identity: the store's; `nil` to keep the files that were to get another name.
  ///   - own: the file that has the name, if this process has locked it.
  func remove(copiesOf identity: StoreIdentity?, beside own: (any File)?) {
    do throws(StorageError) {
      let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
      let folder = String(path[..<(start ?? path.startIndex)])
      let ownPrefix = NewFile.prefix(of: path)
      for found in try fileSystem.paths(beginningWith: identity == nil ? ownPrefix : folder) {
        guard let prefix = Leftovers.prefix(of: found) else { continue }
        let isOwn = prefix.utf8.elementsEqual(ownPrefix.utf8)
        if isOwn || identity != nil { removeIfUnused(found, isOwn ? nil : identity, own) }
      }
    } catch {}
  }

  /// What stands before the UUID in the name of a file in the making; `nil` if it is none.
  private static func prefix(of path: String) -> Substring? {
    let bytes = path.utf8
    let uuidCount = 36
    guard bytes.count > uuidCount + NewFile.infix.utf8.count else { return nil }
    let uuidStart = bytes.index(bytes.endIndex, offsetBy: -uuidCount)
    for (index, byte) in bytes[uuidStart...].enumerated() {
      let isDash = [8, 13, 18, 23].contains(index)
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      let isLetter = (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
      guard isDash ? byte == UInt8(ascii: "-") : isDigit || isLetter else { return nil }
    }
    let prefix = path[..<uuidStart]
    return prefix.hasSuffix(NewFile.infix) ? prefix : nil
  }

  private func removeIfUnused(
    _ found: String, _ identity: StoreIdentity?, _ own: (any File)?
  ) {
    do throws(StorageError) {
      let file = try fileSystem.open(found, .write)
      // A process that died may have given the store its name and not come to take this one away.
      let isOurs = own.map { $0.identifier == file.identifier } ?? false
      if !isOurs { guard try file.lock(.exclusive) else { return } }
      // An empty file has no content to lose.
      if let identity, try file.byteCount() > 0 {
        guard try IdentityPage.read(from: file, path: found).identity == identity else { return }
      }
      guard try fileSystem.identifier(of: found) == file.identifier
      else { return }
      try fileSystem.remove(found)
      withExtendedLifetime(file) {}
    } catch {}
  }
}
