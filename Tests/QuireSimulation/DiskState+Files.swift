// What is there as others see it, and what others do with it.
extension DiskState {
  /// The files as the system shows them.
  package var files: [String: FileContent] { names.mapValues { contents[$0] } }

  /// Gives a store another name, with what belongs to it; what is being made stays.
  package mutating func move(_ path: String, to other: String) {
    for suffix in ["", "-log", "-pages", "-owner"] {
      guard let node = names.removeValue(forKey: path + suffix) else { continue }
      names[other + suffix] = node
    }
    (durableNames, pending) = (names, pending.filter { $0.node != nil })
  }

  /// Puts a file there.
  package mutating func put(_ bytes: [UInt8], at path: String) {
    names[path] = contents.count
    durableNames[path] = contents.count
    contents.append(FileContent(bytes))
    durableContents.append(FileContent(bytes))
  }

  /// Changes a byte of a file in its place.
  package mutating func spoil(_ path: String, at offset: Int) {
    guard let node = names[path] else { return }
    let byte = ~contents[node].bytes[offset]
    withUnsafeBytes(of: byte) { contents[node].write($0, at: offset) }
  }

  /// Puts a symbolic link there.
  package mutating func link(_ path: String, to other: String) { links[path] = other }
}
