import Foundation
import QuireModel
import QuireSimulation
import Testing

/// `MATCHES`, `LIKE` and `CONTAINS`: what they find, and that no text makes them run for long.
@Suite struct PatternTests {
  private func holds(_ format: String, _ text: String) throws -> Bool {
    try evaluate(try FetchPredicate(format: format), ["text": text])
  }

  private func seconds(_ work: () throws -> Void) throws -> Double {
    try processorTime(work) / .seconds(1)
  }

  @Test(arguments: [
    "(a+)+(a+)+b", "(a*)*b", "(a|a)*b", "(a|aa)+b", "a*a*a*a*a*a*b", "(.*,)*x", "(a?){60}b",
    "(?i)(A+)+b", "([a-z]+)*b", "((a{0,9}){0,9}){0,9}b", "^(a+)+$", "(\\w+\\s?)*b",
  ])
  func `no pattern runs for long`(pattern: String) throws {
    let compiled = try RegularPattern(pattern, [])
    let time = try seconds {
      #expect(try !compiled.matches(String(repeating: "a", count: 40) + "!"))
      #expect(try !compiled.matches(String(repeating: "a", count: 5_000) + "!"))
      let isMatch = try Regex(pattern).wholeMatch(in: "b") != nil
      #expect(try compiled.matches("b") == isMatch)
    }
    #expect(time < 10, "\(time) s")
  }

  @Test(arguments: ["(\\ba+)+b", "(a+)+\\1b", "(?=(a+)+b)a*", "(?>(a+)+)b"])
  func `a pattern that might run for long and cannot be followed is refused`(
    pattern: String
  ) throws {
    #expect(throws: FetchPredicateError.self) { try RegularPattern(pattern, []) }
    #expect(throws: ModelError.self) {
      try ManagedObjectModel {
        Entity("E") { Attribute("a", .string, pattern: pattern) }
      }
    }
  }

  @Test func `a pattern that looks around is refused for a text that is too long for it only`()
    throws
  {
    let password = try RegularPattern("(?=.*[A-Z])(?=.*[0-9]).{8,}", [])
    #expect(try password.matches("abcDefgh1"))
    #expect(try !password.matches("abcdefgh1"))
    #expect(try password.matches(String(repeating: "x", count: 100_000) + "A1"))
    let pairs = try RegularPattern("(?=a).*a.*a.*b", [])
    #expect(try pairs.matches("aaab"))
    #expect(throws: FetchPredicateError.self) {
      try pairs.matches(String(repeating: "a", count: 100_000))
    }
  }

  @Test(arguments: [
    ("[A-Z0-9a-z._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,64}", "john.appleseed@mail.example.org"),
    ("([a-z0-9-]+\\.)+[a-z]{2,}", "www.example-site.org"), ("\\p{L}+(\\s\\p{L}+)*", "Zoë Müller é"),
    ("(?<year>\\d{4})-(\\d\\d)(-\\d\\d)?", "2026-11-25"), ("(\\+?\\d+[ -]?)+", "+49 30-1234 5"),
  ])
  func `patterns of forms match what they are for`(pattern: String, text: String) throws {
    let compiled = try RegularPattern(pattern, [])
    #expect(try compiled.matches(text))
    #expect(compiled.automaton?.matches(text) == true)
    #expect(compiled.automaton?.matches(text + "\u{0}") == false)
  }

  /// Patterns at random over a small alphabet, against all short texts, as `Regex` answers.
  @Test func `the automaton answers as the regular expressions of Swift do`() throws {
    let count = Amount.of(debug: 200, release: 400, exhaustive: 20_000)
    let alphabet = ["a", "b", "B", "\n", "é", "."]
    var texts = [""]
    for _ in 0..<3 { texts += texts.suffix(216).flatMap { text in alphabet.map { text + $0 } } }
    var compared = 0
    for seed in 0..<UInt64(count) {
      var random = SeededGenerator(seed: seed)
      let pattern = Self.pattern(depth: 3, &random)
      guard let regex = try? Regex(pattern) else { continue }
      let ignoresCase = seed % 3 == 0
      guard
        let automaton = try? RegularPattern(pattern, ignoresCase ? .caseInsensitive : []).automaton
      else { continue }
      compared += 1
      for _ in 0..<60 {
        let text = texts.randomElement(using: &random) ?? ""
        let expected = try regex.ignoresCase(ignoresCase).wholeMatch(in: text) != nil
        let found = automaton.matches(text)
        #expect(
          found == expected, "seed \(seed): \(pattern.debugDescription) on \(text.debugDescription)"
        )
        if found != expected { return }
      }
    }
    #expect(compared > count / 3)
  }

  private static func pattern(depth: Int, _ random: inout SeededGenerator) -> String {
    let atoms = [
      "a", "b", "B", "é", ".", "\\.", "\\n", "[ab]", "[^a]", "[^\\]b]", "[a-y&&[^b]]", "\\w", "\\W",
      "\\s", "\\d", "\\p{Lu}", "^", "$", "\\A", "{", "a{,1}", "[]a]", "(?i)", "\\b", "[[:alpha:]]",
    ]
    if depth == 0 { return atoms.randomElement(using: &random) ?? "a" }
    let inner = { (random: inout SeededGenerator) in pattern(depth: depth - 1, &random) }
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: return atoms.randomElement(using: &random) ?? "a"
    case 2: return inner(&random) + inner(&random)
    case 3: return inner(&random) + inner(&random) + inner(&random)
    case 4: return "(?:\(inner(&random))|\(inner(&random)))"
    case 5: return inner(&random) + "|" + inner(&random)
    default:
      let group = ["(", "(?:", "(?<n\(Int.random(in: 0..<1_000, using: &random))>"]
      let quantifier = [
        "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "{,2}", "{1,2}?", "*+", "{2,1}",
      ]
      return (group.randomElement(using: &random) ?? "(") + inner(&random) + ")"
        + (quantifier.randomElement(using: &random) ?? "*")
    }
  }

  @Test func `LIKE and CONTAINS find what the shortest way to say it finds`() throws {
    /// Whether a pattern matches, by its definition.
    func isLike(_ text: Substring, _ pattern: Substring) -> Bool {
      guard let first = pattern.first else { return text.isEmpty }
      let rest = pattern.dropFirst()
      if first == "*" {
        return isLike(text, rest) || (!text.isEmpty && isLike(text.dropFirst(), pattern))
      }
      guard let character = text.first, first == "?" || first == character else { return false }
      return isLike(text.dropFirst(), rest)
    }
    var random = SeededGenerator(seed: 7)
    func word(_ letters: String, _ most: Int) -> String {
      String(
        (0..<Int.random(in: 0...most, using: &random)).map { _ in
          letters.randomElement(using: &random) ?? "a"
        })
    }
    for _ in 0..<Amount.of(debug: 1000, release: 3_000) {
      let (text, pattern) = (word("aabé", 14), word("aabé**?", 8))
      #expect(
        try evaluate(Key("x").like(pattern), ["x": text]) == isLike(text[...], pattern[...]),
        "\(text) LIKE \(pattern)")
      let (whole, part) = (word("aaab", 90), word("aaab", 30))
      let isPart = part.isEmpty || !whole.ranges(of: part).isEmpty
      #expect(
        try evaluate(Key("x").contains(part), ["x": whole]) == isPart,
        "\(whole) CONTAINS \(part)")
    }
  }

  @Test func `searches take time proportional to the text`() throws {
    let many = String(repeating: "a", count: 200_000)
    let half = String(repeating: "a", count: 100_000) + "b"
    func expect(_ format: String, _ text: String, _ expected: Bool) throws {
      let found = try holds(format, text)
      #expect(found == expected, "\(format.prefix(40))")
    }
    let time = try seconds {
      try expect("text LIKE '*a*a*a*a*b'", many, false)
      try expect("text LIKE '*\(half)*'", many, false)
      try expect("text CONTAINS '\(half)'", many, false)
      try expect("text CONTAINS '\(half)'", many + "b", true)
      try expect("text CONTAINS[cd] '\(half)é'", many, false)
      try expect("text LIKE '*\(half)'", many + "b", true)
      try expect("text ENDSWITH '\(half)'", many, false)
    }
    #expect(time < 10, "\(time) s")
  }
}
