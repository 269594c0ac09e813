import Foundation
import Testing

/// Every public declaration of the libraries has a documentation comment.
///
/// Sources are read line by line. The formatter's indentation tells what a line is a member of.
@Suite struct DocumentationTests {
  private static let libraries = [
    "Quire", "QuireCoreData", "QuireFoundation", "QuireModel", "QuireStorage", "QuireTesting",
    "QuireXcode",
  ]

  /// Members that the standard library and Foundation explain. Members that a protocol of a library
  /// requires are exempt as well: the requirement has the comment.
  private static let knownMembers: Set<String> = [
    // Equatable, Hashable, Comparable
    "==", "!=", "hash(into", "<",
    // Texts for people
    "description", "debugDescription", "customMirror", "errorDescription",
    // Codable, RawRepresentable, Identifiable
    "encode(to", "init(from", "init(rawValue", "rawValue", "id",
    // Literals
    "init(arrayLiteral", "init(booleanLiteral", "init(dictionaryLiteral", "init(floatLiteral",
    "init(integerLiteral", "init(nilLiteral", "init(stringLiteral",
    // Sequences and collections
    "startIndex", "endIndex", "index(after", "index(before", "makeIterator(",
    // Result builders
    "buildArray(_", "buildBlock(_", "buildEither(first", "buildEither(second", "buildExpression(_",
    "buildOptional(_",
  ]

  @Test func `every public declaration has a documentation comment`() throws {
    let declarations = try Self.declarations()
    #expect(declarations.count > 2_000, "too few are found")
    let requirements = Self.requirements(among: declarations)
    for declaration in declarations where !declaration.isDocumented {
      guard !declaration.isOverride, !declaration.isUnavailable,
        !Self.knownMembers.contains(declaration.name), !declaration.isWitness(of: requirements)
      else { continue }
      Issue.record("\(declaration.place): \(declaration.name) has no documentation comment")
    }
  }

  @Test func `declarations are told from other lines`() throws {
    let source = Source(
      """
      /// Documented.
      public struct Shelf: Place {
        public let width = 1
        let height = 2
        @discardableResult
        public mutating func put<B>(_ book: B) -> Bool { true }
        /// Documented.
        @inlinable
        public init?(from width: Int) {}
        public static func == (left: Shelf, right: Shelf) -> Bool {
          switch left {
          case .empty: false
          }
        }
        public internal(set) var books = 0
        public override class func label() {}
      }
      public enum Kind {
        case oak
        #if os(Linux)
          /// Documented.
          case pine
        #endif
      }
      public protocol Place {
        func find(at index: Int)
      }
      public protocol Room: Place {
        @available(
          *, unavailable, message: "knock first")
        func enter()
      }
      public protocol Tool: Place,
        Sendable
      where Handle == Int {
        func lift()
      }
      // public var none = 0
      """, path: "Shelf.swift")
    #expect(
      source.declarations.map { "\($0.name) \($0.isDocumented)" } == [
        "Shelf true", "width false", "put(_ false", "init(from true", "== false", "books false",
        "label( false", "Kind false", "oak false", "pine true", "Place false", "find(at false",
        "Room false", "enter( false", "Tool false", "lift( false",
      ])
    #expect(source.declarations.filter(\.isOverride).map(\.name) == ["label("])
    #expect(source.declarations.filter(\.isUnavailable).map(\.name) == ["enter("])
    #expect(
      Self.requirements(among: source.declarations) == [
        "Place": ["find"], "Room": ["enter", "find"], "Tool": ["find", "lift"],
      ])
  }

  // MARK: Reading

  /// A declaration that other modules can name.
  private struct Declaration {
    var place: String
    /// `width`, `put(_`, `init(from`, `==`: of a function, the first label too.
    var name: String
    /// Of a protocol, all up to its brace.
    var head: String
    /// The head of the type, the protocol or the extension around it.
    var owner: String
    var isOverride: Bool
    /// Whether every use of it is an error, whose message says what to do.
    var isUnavailable: Bool
    var isDocumented: Bool

    var baseName: String { String(name.prefix { $0 != "(" }) }

    /// Whether the owner names a protocol that requires the declaration.
    func isWitness(of requirements: [String: Set<String>]) -> Bool {
      owner.split { !$0.isLetter && !$0.isNumber }.contains {
        requirements[String($0)]?.contains(baseName) == true
      } && !owner.contains("protocol ")
    }
  }

  /// The names that each public protocol requires, those of protocols that it refines included.
  private static func requirements(
    among declarations: [Declaration]
  ) -> [String: Set<String>] {
    func words(_ head: String) -> [String] {
      head.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
    var requirements: [String: Set<String>] = [:]
    for declaration in declarations where declaration.owner.contains("protocol ") {
      let name = words(declaration.owner).drop { $0 != "protocol" }.dropFirst().first ?? ""
      requirements[name, default: []].insert(declaration.baseName)
    }
    // Twice: no protocol refines one that refines one that refines another.
    let refinements = declarations.map { words($0.head) }.filter { $0.contains("protocol") }
    for refinement in refinements + refinements {
      let names = refinement.drop { $0 != "protocol" }.dropFirst()
      guard let name = names.first else { continue }
      for refined in names.dropFirst() {
        requirements[name, default: []].formUnion(requirements[refined] ?? [])
      }
    }
    return requirements
  }

  private static func declarations() throws -> [Declaration] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try libraries.flatMap { library in
      let folder = "Sources/\(library)"
      let files = try #require(
        FileManager.default.enumerator(atPath: root.appending(path: folder).path()))
      return try files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
        .flatMap { file in
          let path = "\(folder)/\(file)"
          let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
          return Source(text, path: path).declarations
        }
    }
  }

  private struct Source {
    private static let keywords: Set<Substring> = [
      "actor", "associatedtype", "case", "class", "enum", "func", "init", "let", "protocol",
      "struct", "subscript", "typealias", "var",
    ]
    private static let modifiers: Set<Substring> = [
      "borrowing", "class", "consuming", "convenience", "dynamic", "final", "indirect", "infix",
      "internal", "lazy", "mutating", "nonisolated", "nonmutating", "open", "override", "package",
      "postfix", "prefix", "private", "public", "required", "static", "unowned", "weak",
    ]

    private let path: String
    private let lines: [Substring]

    init(_ text: String, path: String) {
      self.path = path
      lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    var declarations: [Declaration] {
      var isText = false
      return lines.indices.compactMap { index in
        let line = lines[index]
        // What lies in a literal over several lines is no declaration.
        let isQuoted = isText
        if line.contains("\"\"\""), line.ranges(of: "\"\"\"").count % 2 == 1 { isText.toggle() }
        return isQuoted ? nil : declaration(at: index)
      }
    }

    private func declaration(at index: Int) -> Declaration? {
      // No declaration has more words before its name.
      var words = lines[index].split(separator: " ", maxSplits: 8)[...]
      var modifiers: Set<Substring> = []
      while let word = words.first {
        let base = word.prefix(while: \.isLetter)
        let next = words.dropFirst().first?.prefix(while: \.isLetter) ?? ""
        let isModifier =
          Self.modifiers.contains(base)
          && (base != "class" || Self.keywords.contains(next) || Self.modifiers.contains(next))
        guard isModifier || word.hasPrefix("@") else { break }
        modifiers.insert(base)
        words.removeFirst()
      }
      guard let keyword = words.first?.prefix(while: \.isLetter), Self.keywords.contains(keyword)
      else { return nil }
      let owner = owner(of: index)
      let isPublic =
        modifiers.contains("public") || modifiers.contains("open")
        || owner.contains("public protocol ")
        || keyword == "case" && owner.contains("public ") && owner.contains("enum ")
      guard isPublic else { return nil }
      return Declaration(
        place: "\(path):\(index + 1)", name: Self.name(words.joined(separator: " "), keyword),
        head: keyword == "protocol" ? head(at: index) : "", owner: owner,
        isOverride: modifiers.contains("override"),
        isUnavailable: isUnavailable(index), isDocumented: isDocumented(index))
    }

    /// - Parameter code: the declaration from its keyword on.
    private static func name(_ code: String, _ keyword: Substring) -> String {
      let isNameless = keyword == "init" || keyword == "subscript"
      let rest = isNameless ? code[...] : code.dropFirst(keyword.count + 1)
      let name = rest.prefix { !" (<:,?=".contains($0) }
      // Operators have the signs that end other names.
      guard let first = name.first, first.isLetter || first == "_" || first == "`" else {
        return String(rest.prefix { $0 != " " })
      }
      guard isNameless || keyword == "func",
        let parenthesis = rest.firstIndex(of: "(")
      else { return String(name) }
      let label = rest[parenthesis...].dropFirst().prefix { $0.isLetter || $0 == "_" }
      return "\(name)(\(label)"
    }

    private func indentation(_ index: Int) -> Int { lines[index].prefix { $0 == " " }.count }

    /// The head of what is around a line, up to its brace.
    private func owner(of index: Int) -> String {
      var width = indentation(index)
      for above in stride(from: index - 1, through: 0, by: -1) where indentation(above) < width {
        let code = lines[above].dropFirst(indentation(above))
        // A constraint may have a line of its own, below the head that it belongs to.
        if code.isEmpty || "{})/".contains(code.first ?? "/") || code.hasPrefix("where ") {
          continue
        }
        guard code.hasPrefix("#") else { return head(at: above) }
        width = indentation(above)
      }
      return ""
    }

    private func head(at index: Int) -> String {
      let end = lines[index...].prefix(10).firstIndex { $0.contains("{") } ?? index
      return lines[index...end].joined(separator: " ")
    }

    private func isUnavailable(_ index: Int) -> Bool {
      // The attribute may take several lines.
      let above = lines[..<index].reversed().prefix(6).prefix {
        !$0.isEmpty && !$0.hasSuffix("{") && !$0.hasSuffix("}")
      }
      return above.contains { $0.contains("@available(") }
        && above.contains { $0.contains("unavailable") }
    }

    private func isDocumented(_ index: Int) -> Bool {
      let above = lines[..<index].reversed().first { line in
        let code = line.drop { $0 == " " }
        return !code.hasPrefix("@") && (!code.hasPrefix("//") || code.hasPrefix("///"))
      }
      return above?.drop { $0 == " " }.hasPrefix("///") == true
    }
  }
}
