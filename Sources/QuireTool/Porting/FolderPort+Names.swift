extension FolderPort {
  /// Adds a file with type aliases to each module that uses names which Foundation has as well.
  mutating func addNames() {
    var modules: [String: [Int]] = [:]
    for (index, file) in files.enumerated() {
      modules[Self.module(of: file.path), default: []].append(index)
    }
    for (_, members) in modules.sorted(by: { $0.key < $1.key }) {
      let known = members.reduce(into: Set<String>()) { $0.formUnion(files[$1].aliases) }
      let users = members.filter { files[$0].usesCoreData }
      var names: Set<String> = []
      for index in users {
        for token in files[index].ambiguousTokens { names.insert(files[index].source.text(token)) }
      }
      names.subtract(known)
      if names.isEmpty { continue }
      let path = Self.commonFolder(users.map { files[$0].path }) + "CoreDataNames.swift"
      if files.contains(where: { $0.path == path }) {
        findings.append(
          PortFinding(
            file: path, lines: [1], what: names.sorted().joined(separator: ", "),
            remedy: "add type aliases for these, as Foundation has the names as well"))
        continue
      }
      let newline = files[users[0]].source.newline
      let shown = users.reduce(into: Set<String>()) { $0.formUnion(files[$1].ambiguousPublicNames) }
      let aliases = names.sorted().map {
        (shown.contains($0) ? "public " : "") + "typealias \($0) = QuireCoreData.\($0)"
      }
      changes.append(
        Change(
          path: path, before: nil,
          after: Array(
            ([
              "import QuireCoreData", "",
              "// Foundation has types of these names as well: this module means Core Data's.", "",
            ] + aliases + [""]).joined(separator: newline).utf8)))
      warnOfOthers(members.filter { !files[$0].usesCoreData }, names)
    }
  }

  /// Lists uses of the names in files without Core Data: the aliases change what they mean.
  private mutating func warnOfOthers(_ others: [Int], _ names: Set<String>) {
    for index in others {
      for token in files[index].ambiguousTokens {
        let name = files[index].source.text(token)
        guard names.contains(name) else { continue }
        files[index].record(
          name, atToken: token,
          "it is Core Data's now, by CoreDataNames.swift; write Foundation.\(name) if that is meant"
        )
      }
    }
  }

  /// The folder of a module: the one below `Sources` or `Tests`, as packages have it, else all.
  private static func module(of path: String) -> String {
    let parts = path.split(separator: "/")
    guard let root = parts.firstIndex(where: { $0 == "Sources" || $0 == "Tests" }),
      root + 2 < parts.count
    else { return "" }
    return parts[...(root + 1)].joined(separator: "/")
  }

  /// The innermost folder that has all files, with a slash at its end; empty for the outermost.
  private static func commonFolder(_ paths: [String]) -> String {
    var common = paths[0].split(separator: "/").dropLast()
    for path in paths.dropFirst() {
      let folders = path.split(separator: "/").dropLast()
      let count = zip(common, folders).prefix { $0 == $1 }.count
      common = common.prefix(count)
    }
    return common.map { "\($0)/" }.joined()
  }
}
