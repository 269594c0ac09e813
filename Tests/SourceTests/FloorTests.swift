import Foundation
import Testing

/// The rules of the house that the compiler does not know, after TigerBeetle's "tidy".
@Suite struct FloorTests {
  private struct SourceFile {
    /// From the package root: `Sources/QuireStorage/Pages/Page.swift`.
    var path: String
    var lines: [Substring]

    var floor: String { String(path.split(separator: "/")[1]) }
    /// The folder inside the floor; empty for a file directly on it.
    var folder: String {
      let parts = path.split(separator: "/")
      return parts.count > 3 ? String(parts[2]) : ""
    }

    /// The types declared outside others that other files can name.
    var types: [String] {
      lines.compactMap { line in
        guard !line.hasPrefix(" ") else { return nil }
        let words = SourceFile.words(of: line)
        guard !words.contains("private"),
          let index = words.firstIndex(where: SourceFile.typeKeywords.contains),
          index + 1 < words.count, !words[..<index].contains("extension")
        else { return nil }
        // `import class Quire.ManagedObject` is of Quire.
        let isOfOne = ["class", "enum", "protocol", "struct"].contains(words[index + 1])
        let name = isOfOne ? words.last ?? "" : words[index + 1]
        return String(name.prefix { $0 != "." })
      }
    }
    /// The floor of its folder, or of the nearest one around it that has one.
    func floor(in floors: [String: Int]) -> Int? {
      var folder = path.split(separator: "/").dropFirst().dropLast()
      while !folder.isEmpty {
        if let floor = floors[folder.joined(separator: "/")] { return floor }
        folder.removeLast()
      }
      return nil
    }

    /// The names of functions that the file declares.
    var functions: Set<Substring> {
      Set(
        lines.compactMap { line in
          let words = SourceFile.words(of: line)
          guard let index = words.firstIndex(of: "func"), index + 1 < words.count else {
            return nil
          }
          return words[index + 1]
        })
    }

    private static let typeKeywords: Set<Substring> = [
      "actor", "class", "enum", "protocol", "struct",
    ]

    /// The words of a line, without comments and texts.
    static func words(of line: Substring) -> [Substring] {
      let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
      var words: [Substring] = []
      for index in stride(from: 0, to: parts.count, by: 2) {
        let comment = parts[index].firstRange(of: "//")
        let code = parts[index][..<(comment?.lowerBound ?? parts[index].endIndex)]
        words += code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        if comment != nil { break }
      }
      return words
    }

    var imports: [String] {
      lines.compactMap { line in
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "import"), index < 4, index + 1 < words.count,
          words[..<index].allSatisfy({ $0.hasPrefix("@") || $0 == "package" || $0 == "public" })
        else { return nil }
        // `import class Quire.ManagedObject` is of Quire.
        let isOfOne = ["class", "enum", "protocol", "struct"].contains(words[index + 1])
        let name = isOfOne ? words.last ?? "" : words[index + 1]
        return String(name.prefix { $0 != "." })
      }
    }
  }

  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  // Each file is read and cut into lines once, for all rules.
  private static let sources = Result { try read(below: "Sources") }
  private static let tests = Result { try read(below: "Tests") }

  private static func read(below folder: String) throws -> [SourceFile] {
    let base = root.appending(path: folder)
    let paths = try #require(FileManager.default.enumerator(atPath: base.path()))
    return try paths.compactMap { entry in
      guard let path = entry as? String, path.hasSuffix(".swift"), !path.contains(".build") else {
        return nil
      }
      let text = try String(contentsOf: base.appending(path: path), encoding: .utf8)
      return SourceFile(
        path: "\(folder)/\(path)",
        lines: text.split(separator: "\n", omittingEmptySubsequences: false))
    }
  }

  /// What each floor may import besides the standard library's own modules.
  private static let allowedImports: [String: Set<String>] = [
    "QuireStorage": ["Synchronization"],
    "QuireModel": ["Foundation", "FoundationEssentials", "Synchronization"],
    "Quire": [
      "Foundation", "FoundationEssentials", "Observation", "QuireModel", "QuireStorage",
      "Synchronization",
    ],
    "QuireFoundation": ["Foundation", "Quire", "QuireModel"],
    "QuireXcode": ["Foundation", "FoundationXML", "Quire", "QuireModel"],
    "QuireCoreData": [
      "Foundation", "Quire", "QuireFoundation", "QuireModel", "QuireXcode", "Synchronization",
    ],
    "QuireTesting": ["Foundation", "FoundationEssentials", "Quire", "QuireModel"],
    "QuireTool": [
      "Foundation", "FoundationEssentials", "Quire", "QuireModel", "QuireStorage", "QuireTesting",
      "QuireXcode", "Synchronization",
    ],
    "GenerateClasses": ["Foundation", "PackagePlugin"],
  ]
  private static let platformImports: Set<String> = [
    "Glibc", "Musl", "Darwin", "Android", "WinSDK",
  ]

  @Test func `each floor imports only what is below it`() throws {
    for file in try Self.sources.get() {
      let allowed = try #require(
        Self.allowedImports[file.floor], "\(file.path) is on no known floor")
      for name in file.imports where name != "Swift" {
        if Self.platformImports.contains(name) {
          #expect(file.path.contains("/Platform/"), "\(file.path) imports \(name)")
        } else {
          #expect(allowed.contains(name), "\(file.path) imports \(name)")
        }
      }
    }
  }

  /// What exists is imported, not what belongs to a system: Linux has two C libraries. A file that
  /// leaves one out does not compile there, or does nothing there on purpose.
  @Test func `each C library is imported where it is there`() throws {
    let libraries: Set = ["Android", "Darwin", "Glibc", "Musl"]
    let forOne = ["HeapRoom.swift": ["Glibc"] as Set]
    for file in try Self.sources.get() {
      var (imported, condition): (Set<String>, Substring) = ([], "")
      for line in file.lines {
        let code = line.drop { $0 == " " }
        if code.hasPrefix("#") { condition = code }
        guard let name = libraries.first(where: { code == "import \($0)" }) else { continue }
        #expect(condition.hasSuffix("if canImport(\(name))"), "\(file.path): import \(name)")
        imported.insert(name)
      }
      let wanted = forOne.first { file.path.hasSuffix("/\($0.key)") }?.value ?? libraries
      #expect(imported.isEmpty || imported == wanted, "\(file.path) imports \(imported.sorted())")
    }
  }

  /// The order of `.house`: from each target or folder to its floor, the ground floor being 0.
  private func floors() throws -> [String: Int] {
    let text = try String(contentsOf: Self.root.appending(path: ".house"), encoding: .utf8)
    var floors: [String: Int] = [:]
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    for (floor, line) in lines.enumerated() {
      for name in line.split(separator: "=") {
        floors[name.trimmingCharacters(in: .whitespaces)] = floor
      }
    }
    return floors
  }

  /// Between targets the compiler sees to it; between folders of one target nobody would. Members
  /// that a higher floor adds to a type of a lower one are not seen here.
  @Test func `no folder names a type of a floor above it`() throws {
    let floors = try floors()
    let files = try Self.sources.get()
    for target in Set(floors.keys.filter { $0.contains("/") }.map { $0.prefix { $0 != "/" } }) {
      let own = files.filter { $0.floor == target }
      for folder in Set(own.map(\.folder)) where !folder.isEmpty {
        #expect(floors["\(target)/\(folder)"] != nil, "\(target)/\(folder) is on no known floor")
      }
      var homes: [Substring: Int] = [:]
      for file in own {
        let floor = try #require(file.floor(in: floors))
        for type in file.types { homes[Substring(type)] = floor }
      }
      for file in own {
        let floor = try #require(file.floor(in: floors))
        for (number, line) in file.lines.enumerated() {
          for word in SourceFile.words(of: line) where homes[word] ?? 0 > floor {
            Issue.record("\(file.path):\(number + 1) names \(word), which is above it")
          }
        }
      }
    }
  }

  /// What is done with objects and contexts are members of theirs, which types do not tell apart: a
  /// function whose name is declared in a folder of `Contexts` alone is not called below it.
  @Test func `no file of objects and contexts calls an operation of a floor above it`() throws {
    let floors = try floors()
    var homes: [Substring: Int] = [:]
    var callers: [(file: SourceFile, functions: Set<Substring>, floor: Int)] = []
    for file in try Self.sources.get() where file.floor == "Quire" {
      let functions = file.functions
      let isOfContexts = file.folder == "Contexts" || file.folder == "Objects"
      // Another floor may have a function of the same name.
      let floor = isOfContexts ? try #require(file.floor(in: floors)) : 0
      for name in functions { homes[name] = min(floor, homes[name] ?? floor) }
      if isOfContexts { callers.append((file, functions, floor)) }
    }
    #expect(homes["prepareSave"] != nil && homes["prepareSave"] == floors["Quire/Contexts/Writing"])
    for (file, own, floor) in callers {
      for (number, line) in file.lines.enumerated() {
        for word in Set(SourceFile.words(of: line)).subtracting(own)
        where homes[word] ?? 0 > floor && line.contains("\(word)(") {
          Issue.record("\(file.path):\(number + 1) calls \(word), which is above it")
        }
      }
    }
  }

  @Test func `only the platform folder asks which system this is`() throws {
    for file in try Self.sources.get() where !file.path.contains("/Platform/") {
      for line in file.lines where line.contains("#if os(") || line.contains("#elseif os(") {
        Issue.record("\(file.path): \(line)")
      }
    }
  }

  @Test func `the package depends on nothing`() throws {
    let manifest = try String(
      contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
    #expect(manifest.contains("dependencies: [],"))
    #expect(!manifest.contains(".package("))
    #expect(!manifest.contains("unsafeFlags"))
  }

  @Test func `an unchecked or unsafe declaration has a comment that explains it`() throws {
    let words = ["@unchecked Sendable", "nonisolated(unsafe)", "unowned(unsafe)"]
    for file in try Self.sources.get() {
      for (number, line) in file.lines.enumerated() {
        // The whole line first: few have one of the words, and those are cut apart.
        guard words.contains(where: { line.contains($0) }),
          !line.trimmingPrefix(while: \.isWhitespace).hasPrefix("//"),
          let code = line.split(separator: "//", maxSplits: 1).first,
          words.contains(where: { code.contains($0) })
        else { continue }
        let above = file.lines[max(0, number - 12)..<number]
        let isExplained = above.contains { $0.contains("//") } || line.contains("//")
        #expect(isExplained, "\(file.path):\(number + 1)")
      }
    }
  }

  @Test func `tests use what users use, or package access`() throws {
    let word = "@test" + "able"
    // Programs that others might have written are as they were written, the port's own cases too.
    for file in try Self.tests.get()
    where !file.path.contains("PortedPrograms/") && !file.path.contains("/Porting/") {
      #expect(!file.lines.contains { $0.contains(word) }, "\(file.path)")
    }
  }

  @Test func `a source file of more than 600 lines says why it is one`() throws {
    for file in try Self.sources.get() where file.lines.count > 600 {
      #expect(file.lines.prefix(10).contains { $0.contains("one file") }, "\(file.path)")
    }
  }

  /// Such a folder goes with the test, also when that fails. A guide shows what its readers have,
  /// the fuzzer of imports is linked without it, and the programs that are ported have none.
  @Test func `tests make their temporary folders in one way`() throws {
    let others = ["TestingGuideTests.swift", "ImportsFuzzer.swift", "FloorTests.swift"]
    for file in try Self.tests.get()
    where !others.contains(where: file.path.hasSuffix) && !file.path.contains("PortedPrograms/") {
      for (number, line) in file.lines.enumerated() {
        let isOther = line.contains("temporaryDirectory") || line.contains("NSTemporaryDirectory")
        #expect(!isOther, "\(file.path):\(number + 1) takes a folder that is no TemporaryFolder")
      }
    }
  }

  /// The formatter judges code; it leaves comments alone.
  @Test func `no comment is wider than a hundred columns`() throws {
    for file in try Self.sources.get() + Self.tests.get() {
      for (number, line) in file.lines.enumerated() where line.utf8.count > 100 {
        let isComment = line.trimmingPrefix(while: \.isWhitespace).hasPrefix("//")
        if isComment, line.count > 100 {
          Issue.record("\(file.path):\(number + 1) has \(line.count) columns")
        }
      }
    }
  }

  // What changes a property past these functions is seen by no undo and no notice.
  @Test func `a slot of an object changes in one file`() throws {
    for file in try Self.sources.get() where file.floor == "Quire" {
      let changes = file.lines.contains { line in
        line.contains("setSlot(") && !line.contains("func ")
      }
      let isTheOne = file.path.hasSuffix("Objects/ManagedObject+Slots.swift")
      #expect(changes == isTheOne, "\(file.path)")
    }
  }

  @Test func `nothing mentions the machine it was written on`() throws {
    let words = ["/work" + "/", "/tmp" + "/w/", "farm" + "-bench"]
    for file in try Self.sources.get() + Self.tests.get() {
      for word in words {
        #expect(!file.lines.contains { $0.contains(word) }, "\(file.path) mentions \(word)")
      }
    }
  }
}
