import Foundation
import QuireSimulation
import QuireTool
import Testing

@Suite struct SwiftLexerTests {
  private func tokens(_ text: String) -> [String] {
    let lexer = SwiftLexer(Array(text.utf8))
    #expect(lexer.failure == nil)
    return lexer.tokens.map { String(decoding: Array(text.utf8)[$0.range], as: UTF8.self) }
  }

  /// The pieces of literals.
  private func texts(_ text: String) -> [String] {
    let lexer = SwiftLexer(Array(text.utf8))
    #expect(lexer.failure == nil, "\(text)")
    return lexer.tokens.filter { $0.kind == .text }
      .map { String(decoding: Array(text.utf8)[$0.range], as: UTF8.self) }
  }

  private func kinds(_ text: String) -> [SwiftToken.Kind] {
    SwiftLexer(Array(text.utf8)).tokens.map(\.kind)
  }

  @Test func `names, directives, numbers and operators are cut`() {
    #expect(tokens("let x=1.5e3+y.0") == ["let", " ", "x", "=", "1.5e3", "+", "y", ".", "0"])
    #expect(tokens("a?.b!->`in`") == ["a", "?", ".", "b", "!", "-", ">", "`in`"])
    #expect(tokens("#if os(x)") == ["#if", " ", "os", "(", "x", ")"])
    #expect(tokens("größe·$0 😀") == ["größe·$0", " ", "😀"])
    #expect(tokens("\u{FEFF}import A\r\nb\rc\n").count == 9)
    #expect(kinds("#!/usr/bin/swift \"\nlet") == [.lineComment, .newline, .identifier])
  }

  @Test func `comments end where the compiler ends them`() {
    #expect(kinds("/* /* */ \" */a") == [.blockComment, .identifier])
    #expect(kinds("a// \"*/\nb") == [.identifier, .lineComment, .newline, .identifier])
    #expect(kinds("a+/*b*/c") == [.identifier, .punctuation, .blockComment, .identifier])
    #expect(kinds("/**/a") == [.blockComment, .identifier])
  }

  @Test func `literals of text end where the compiler ends them`() {
    #expect(texts(#"f("a\"b", "")"#) == [#""a\"b""#, #""""#])
    #expect(texts(##"#"a"b\n"#c"##) == [##"#"a"b\n"#"##])
    #expect(texts(###"##"a"#b"##"###) == [###"##"a"#b"##"###])
    #expect(texts(##"#"""#"##) == [##"#"""#"##])
    #expect(
      texts("\"\"\"\n a \" \"\" b \\\"\"\" \\\n\"\"\"") == [
        "\"\"\"\n a \" \"\" b \\\"\"\" \\\n\"\"\""
      ])
    #expect(texts("#\"\"\"\n \"\"\" \\\n\"\"\"#") == ["#\"\"\"\n \"\"\" \\\n\"\"\"#"])
  }

  @Test func `interpolations are code, at any depth`() {
    #expect(texts(#""a\(b("c\(d)", (e)))f""#) == [#""a\"#, #""c\"#, #"""#, #"f""#])
    #expect(texts(##"#"a\(b)\#(c)d"#"##) == [##"#"a\(b)\#"##, ##"d"#"##])
    #expect(texts("\"\"\"\n\\(a(\")\"))\n\"\"\"") == ["\"\"\"\n\\", "\")\"", "\n\"\"\""])
  }

  @Test func `regular expressions are not code, and divisions are none`() {
    #expect(texts(#"let a = /"[^"]*\/{/"#) == [#"/"[^"]*\/{/"#])
    #expect(texts("f(/a/, /[/)]b/)") == ["/a/", "/[/"])
    #expect(texts("a / b / c; (a)/2/3; x[0]/y/z; 1/2/3") == [])
    #expect(texts("reduce(1, /) + reduce(/, 2)") == [])
    #expect(texts("return / 2 /") == [])
    #expect(texts("let a = #/ \" / /#; let b = #/\n \" \n/#") == ["#/ \" / /#", "#/\n \" \n/#"])
  }

  @Test(arguments: [
    ("\"abc", 0), ("a\n\"abc\nd\"", 2), ("\"\"\"\nabc\n\"\"", 0), ("/* /* */", 0), ("`a\n`", 0),
    ("\"a\\(b", 0), ("#/ab\n", 0), (##"#"abc""##, 0), ("\"a\\", 0), ("\"a\\\nb\"", 0),
  ])
  func `an unterminated literal, comment or identifier is a failure at its start`(
    _ text: String, _ offset: Int
  ) {
    let lexer = SwiftLexer(Array(text.utf8))
    #expect(lexer.failure?.offset == offset)
    #expect(throws: SourceFailure.self) { try SwiftSource(Array(text.utf8)) }
  }

  private func expectWhole(_ bytes: [UInt8], _ comment: Comment) {
    var (end, isWhole) = (0, true)
    for token in SwiftLexer(bytes).tokens {
      if token.range.lowerBound != end || token.range.isEmpty { isWhole = false }
      end = token.range.upperBound
    }
    #expect(isWhole && end == bytes.count, comment)
  }

  @Test(arguments: 0..<40)
  func `tokens are all bytes of a source, whatever these are`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let pieces = [
      "\"", "\"\"\"", "#", "/", "\\", "\\(", "(", ")", "\n", "\r", "`", "/*", "*/", "//", "a",
      "#if",
      " ", "0", ".", "{", "}", "é", "#/", "/#", "\"#", "@", "\t", "[", "]", ",", "\u{0}",
    ].map { Array($0.utf8) }
    for _ in 0..<200 {
      var bytes: [UInt8] = []
      for _ in 0..<Int(random.next() % 24) {
        if random.next() % 12 == 0 { bytes.append(UInt8(truncatingIfNeeded: random.next())) }
        bytes += pieces[Int(random.next() % UInt64(pieces.count))]
      }
      expectWhole(bytes, "seed \(seed): \(bytes)")
      _ = FolderPort([("A.swift", bytes), ("B.swift", bytes + Array("class A: B {}".utf8))])
    }
  }

  @Test func `the sources of this package are taken apart, and none is changed`() throws {
    let root = Fixtures.folder.deletingLastPathComponent()
    var files: PortCase.Files = []
    for folder in ["Sources", "Tests"] {
      let base = root.appending(path: folder)
      let paths = try FileManager.default.subpathsOfDirectory(atPath: base.path).filter {
        $0.hasSuffix(".swift") && !$0.contains("/Before/")
          && !$0.contains(".build") && !$0.contains("/Ledger/")
      }
      #expect(paths.count > 200)
      // In debug one in eight, of all folders; always the names that a module says once, as the
      // port adds them where they are missing.
      let names = paths.filter { $0.hasSuffix("CoreDataNames.swift") }
      for path in Set(Amount.some(of: paths.sorted(), oneIn: 8, at: 0)).union(names).sorted() {
        let bytes = Array(try Data(contentsOf: base.appending(path: path)))
        expectWhole(bytes, "\(path)")
        files.append(("\(folder)/\(path)", bytes))
      }
    }
    let port = FolderPort(files)
    // These have on purpose what a port rewrites: casts of requests, and the name of a compiled
    // model.
    let written = ["CoreDataNamesPageExampleTests", "DictionaryStore", "JSONStore", "ModelTests"]
      .map { "Tests/QuireCoreDataTests/\($0).swift" }
    let changed = Set(port.changes.map(\.path)).subtracting(written)
    #expect(port.failures.isEmpty && changed.isEmpty, "\(changed)")
  }

  @Test(arguments: [
    "{", "(", "[", "class A {", "\"\\(", "/*", "f(\"\\(", "extension A { var a: B<",
  ])
  func `tens of thousands of levels of brackets are no danger`(_ opening: String) {
    let closing = [
      "{": "}", "(": ")", "[": "]", "class A {": "}", "\"\\(": ")\"", "/*": "*/", "f(\"\\(": ")\")",
      "extension A { var a: B<": ">}",
    ]
    // A call for each level would need more than a thread's stack even of the fewest.
    let count =
      opening.count == 1
      ? Amount.of(debug: 20_000, release: 100_000) : Amount.of(debug: 10_000, release: 30_000)
    let closer = closing[opening] ?? ""
    let open = String(repeating: opening, count: count)
    let whole = Array("import CoreData\n\(open)\(String(repeating: closer, count: count))".utf8)
    expectWhole(whole, "\(opening)")
    let port = FolderPort([("A.swift", whole), ("B.swift", Array(open.utf8))])
    #expect(port.failures.map(\.path) == ["B.swift"])
  }
}
