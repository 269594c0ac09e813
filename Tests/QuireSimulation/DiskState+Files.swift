// What is there as others see it, and what others do with it.
extension DiskState {
  /// The files as the system shows them.
  package var files: [String: FileContent] { names.mapValues { contents[$0] } }

  /// Gives a file another name, with what lies beside it.
  package mutating func move(_ path: String, to other: String) {
    for (name, node) in names where name.hasPrefix(path) {
      names[name] = nil
      names[other + name.dropFirst(path.count)] = node
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

  /// Puts a symbolic link there.
  package mutating func link(_ path: String, to other: String) { links[path] = other }
}
