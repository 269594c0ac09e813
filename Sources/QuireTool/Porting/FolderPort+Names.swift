extension FolderPort {
  /// Adds a file with type aliases to each module that uses names which Foundation has as well.
  ///
  /// The file has all of these names, as a module that uses one today uses another tomorrow, and
  /// they have the access that the module's own interface needs.
  mutating func addNames(_ modules: SourceModules) {
    var members: [String: [Int]] = [:]
    for (index, file) in files.enumerated() where !file.isManifest {
      members[modules.folder(of: file.path), default: []].append(index)
    }
    for (folder, members) in members.sorted(by: { $0.key < $1.key }) {
      addNames(to: folder, members, modules)
    }
  }

  private mutating func addNames(to folder: String, _ members: [Int], _ modules: SourceModules) {
    let known = members.reduce(into: Set<String>()) { $0.formUnion(files[$1].aliases) }
    let users = members.filter { files[$0].usesCoreData }
    guard !users.isEmpty else { return }
    var used: Set<String> = []
    for index in members {
      for token in files[index].ambiguousTokens { used.insert(files[index].source.text(token)) }
    }
    guard !used.subtracting(known).isEmpty else { return }
    let root =
      modules.isKnown(folder) ? folder : Self.commonFolder(users.map { files[$0].path })
    let path = root + "CoreDataNames.swift"
    let names = PortedFile.ambiguousNames.subtracting(known)
    if files.contains(where: { $0.path == path }) {
      findings.append(
        PortFinding(
          file: path, lines: [1], what: used.subtracting(known).sorted().joined(separator: ", "),
          remedy: "add type aliases for these, as Foundation has the names as well"))
      return
    }
    let access = Self.access(members.map { files[$0] })
    let newline = files[users[0]].source.newline
    let isExplicit = users.contains { files[$0].saysAccessOfImports }
    let lines =
      [
        (isExplicit && access == "public " ? "public " : "") + "import QuireCoreData", "",
        "// Foundation has types of these names as well: this module means Core Data's.", "",
      ] + names.sorted().map { "\(access)typealias \($0) = QuireCoreData.\($0)" } + [""]
    changes.append(
      Change(path: path, before: nil, after: Array(lines.joined(separator: newline).utf8)))
    warnOfOthers(members.filter { !files[$0].usesCoreData }, names)
  }

  /// The access of the aliases, with a space after it: that of the widest interface in which a
  /// name is seen.
  private static func access(_ files: [PortedFile]) -> String {
    let levels = files.reduce(into: Set<String>()) { $0.formUnion($1.accessOfAmbiguousNames) }
    return levels.contains("public") ? "public " : levels.contains("package") ? "package " : ""
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

extension PortedFile {
  /// Names that Foundation has as well, so that a module has to say which it means.
  static let ambiguousNames: Set<String> = [
    "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression", "NSPredicate",
    "NSSortDescriptor",
  ]

  /// The tokens of names that a module with both Foundation and `QuireCoreData` has to choose.
  var ambiguousTokens: [Int] {
    source.tokens.indices.filter { index in
      source.tokens[index].kind == .identifier
        && Self.ambiguousNames.contains(source.text(index))
        && !source.isPunctuation(source.significant(before: index), ".")
    }
  }

  /// Whether an import says `public` or `package`, which the imports of a module do alike.
  var saysAccessOfImports: Bool {
    declarations.contains { $0.kind == .import && access(of: $0) != nil }
  }

  /// The access of the declarations that show the names outside of the file's module: in their
  /// heads, in initial values that give them their types, and in bodies that are inlined.
  var accessOfAmbiguousNames: Set<String> {
    var levels: Set<String> = []
    for token in ambiguousTokens {
      for declaration in declarations {
        guard declaration.kind != .extension, declaration.kind != .type,
          let access = interfaceAccess(of: declaration),
          isShown(token, in: declaration)
        else { continue }
        levels.insert(access == "open" ? "public" : access)
      }
    }
    return levels
  }

  private func isShown(_ token: Int, in declaration: SwiftDeclaration) -> Bool {
    let isInlined = declaration.attributes.contains {
      ["inlinable", "usableFromInline", "frozen"].contains($0.name)
    }
    if declaration.tokens.contains(token) {
      guard let braces = declaration.braces, braces.open < token, token < braces.close else {
        return true
      }
      return isInlined
    }
    // `public static let order = [NSSortDescriptor(…)]` has its type from what follows.
    guard declaration.kind == .property, declaration.type == nil else { return false }
    var index = declaration.tokens.upperBound
    while index < source.tokens.count, source.tokens[index].kind != .newline {
      let close = max(index, source.partners[index])
      if (index...close).contains(token) { return true }
      index = close + 1
    }
    return false
  }

  /// `public`, `open` or `package`, said by a declaration, by the extension around it, or by the
  /// protocol whose requirement it is.
  private func interfaceAccess(of declaration: SwiftDeclaration) -> String? {
    let parent = declaration.parent.map { declarations[$0] }
    let access =
      access(of: declaration)
      ?? parent.flatMap { parent in
        let isContainer =
          parent.kind == .extension || source.isWord(parent.keyword, "protocol")
        return isContainer ? self.access(of: parent) : nil
      }
    return access.flatMap { ["open", "package", "public"].contains($0) ? $0 : nil }
  }

  /// The names for which a file has a type alias.
  var aliases: Set<String> {
    Set(
      declarations.compactMap { declaration in
        guard source.isWord(declaration.keyword, "typealias"),
          let name = source.significant(from: declaration.keyword + 1)
        else { return nil }
        return source.name(name)
      })
  }
}
