/// The modules that the files of a folder belong to.
///
/// Targets of a `Package.swift` say where their sources are: by `path:`, or by their names. Without
/// one, the folders below `Sources` and `Tests` are modules, as packages have them; of the rest, a
/// folder at the top that imports another one with `@testable`, as Xcode's projects have it for
/// their tests, is a module of its own.
struct SourceModules {
  /// Folders with a slash at their ends; empty for the outermost.
  private var folders: Set<String> = []

  /// The folders of a package's targets, by the paths of their manifests' folders.
  private(set) var manifests: [String: [Target]] = [:]

  struct Target: Equatable {
    var name: String
    var folder: String
    /// The tokens of the call that declares it.
    var call: Range<Int>
  }

  init(_ files: [PortedFile]) {
    let paths = files.map(\.path)
    for file in files where file.isManifest {
      let base = String(file.path.dropLast("Package.swift".count))
      let targets = Self.targets(of: file, base, paths)
      manifests[base] = targets
      folders.formUnion(targets.map(\.folder))
    }
    let packages = manifests.filter { !$0.value.isEmpty }.keys
    for path in paths where !packages.contains(where: { path.hasPrefix($0) }) {
      if let folder = Self.conventional(path) { folders.insert(folder) }
    }
    folders.formUnion(testFolders(files))
  }

  /// The folder of the module of a file: the innermost one.
  func folder(of path: String) -> String {
    var parts = path.split(separator: "/").dropLast()
    while !parts.isEmpty {
      let folder = parts.joined(separator: "/") + "/"
      if folders.contains(folder) { return folder }
      parts.removeLast()
    }
    return ""
  }

  /// Whether a package or a convention says that a folder is a module.
  func isKnown(_ folder: String) -> Bool { folders.contains(folder) }

  /// `Sources/App` and `Tests/AppTests`, where they have files below them, and nothing is said.
  private static func conventional(_ path: String) -> String? {
    let parts = path.split(separator: "/")
    guard let root = parts.firstIndex(where: { $0 == "Sources" || $0 == "Tests" }),
      root + 2 < parts.count
    else { return nil }
    return parts[...(root + 1)].joined(separator: "/") + "/"
  }

  /// Folders at the top whose files import another of these folders with `@testable`.
  private func testFolders(_ files: [PortedFile]) -> Set<String> {
    func top(_ path: String) -> String? {
      let parts = path.split(separator: "/", maxSplits: 1)
      return parts.count > 1 ? String(parts[0]) : nil
    }
    func module(_ folder: String) -> String {
      String(folder.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }
    let modules = Set(files.compactMap { top($0.path).map(module) })
    var found: Set<String> = []
    for file in files where folder(of: file.path).isEmpty {
      guard let folder = top(file.path) else { continue }
      let isTest = file.declarations.contains { declaration in
        declaration.kind == .import && declaration.attribute("testable") != nil
          && modules.contains(declaration.name) && module(folder) != declaration.name
      }
      if isTest { found.insert(folder + "/") }
    }
    return found
  }

  // MARK: Manifests

  private static let calls: Set<String> = [
    "executableTarget", "macro", "plugin", "target", "testTarget",
  ]

  private static func targets(
    of file: PortedFile, _ base: String, _ paths: [String]
  ) -> [Target] {
    let source = file.source
    var targets: [Target] = []
    for index in source.tokens.indices
    where source.tokens[index].kind == .identifier && calls.contains(source.text(index)) {
      guard source.isPunctuation(source.significant(before: index), "."),
        source.isPunctuation(index + 1, "("),
        let name = file.text(labelled: "name", in: index + 1)
      else { continue }
      let folder =
        file.text(labelled: "path", in: index + 1).map { path in
          let parts = path.split(separator: "/").filter { $0 != "." }
          return base + parts.map { "\($0)/" }.joined()
        } ?? usualFolder(of: name, isTest: source.text(index) == "testTarget", base, paths)
      targets.append(
        Target(name: name, folder: folder, call: index..<source.partners[index + 1] + 1))
    }
    return targets
  }

  /// Where a target is that does not say it; the only target of a package may have its files
  /// directly in `Sources`.
  private static func usualFolder(
    of name: String, isTest: Bool, _ base: String, _ paths: [String]
  ) -> String {
    let roots = (isTest ? ["Tests"] : []) + ["Sources", "Source", "src", "srcs"]
    for root in roots where paths.contains(where: { $0.hasPrefix("\(base)\(root)/\(name)/") }) {
      return "\(base)\(root)/\(name)/"
    }
    return "\(base)\(isTest ? "Tests" : "Sources")/"
  }
}

extension PortedFile {
  /// Whether the file describes a package.
  var isManifest: Bool { path == "Package.swift" || path.hasSuffix("/Package.swift") }

  /// The literal text after a label of a call, without its quotation marks.
  func text(labelled label: String, in open: Int) -> String? {
    guard let token = token(labelled: label, in: open) else { return nil }
    return plainText(token)
  }

  /// The first token after a label of a call.
  func token(labelled label: String, in open: Int) -> Int? {
    var index = open + 1
    while index < source.partners[open] {
      if source.isWord(index, label),
        source.isPunctuation(source.significant(from: index + 1), ":")
      {
        return source.significant(from: index + 1).flatMap { source.significant(from: $0 + 1) }
      }
      index = max(index, source.partners[index]) + 1
    }
    return nil
  }

  /// The text of a literal on one line that has no interpolation; `nil` for other tokens.
  func plainText(_ index: Int) -> String? {
    guard source.tokens[index].kind == .text else { return nil }
    let text = source.text(index)
    guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\""), !text.hasPrefix("\"\"\""),
      !text.contains("\\")
    else { return nil }
    return String(text.dropFirst().dropLast())
  }
}
