import QuireModel
import QuireSimulation
import Testing

/// Shows that the standard library still offers the normalisation that `CanonicalText` borrows.
@Suite struct CanonicalTextTests {
  @Test func `equal strings have equal composed bytes`() {
    for (text, bytes) in [
      ("plain", Array("plain".utf8)),
      ("e\u{301}", [0xC3, 0xA9]),
      ("\u{212B}", [0xC3, 0x85]),
      ("\u{1112}\u{1161}\u{11AB}", Array("한".utf8)),
      ("a\u{323}\u{307}", Array("ạ\u{307}".utf8)),
    ] {
      var composed: [UInt8] = []
      CanonicalText.appendComposed(text, to: &composed)
      #expect(composed == bytes, "\(text)")
    }
  }

  @Test(arguments: [
    ("STRASSE", "straße"), ("Σίσυφος", "ΣΊΣΥΦΟΣ"), ("\u{212A}", "k"), ("ﬃ", "FFI"),
    ("e\u{301}", "É"), ("I", "i"), ("\u{130}", "i\u{307}"),
  ])
  func `texts that differ in case only are alike without case`(left: String, right: String) {
    #expect(left != right)
    let options: FetchComparisonOptions = .caseInsensitive
    #expect(CanonicalText.folded(left, options) == CanonicalText.folded(right, options))
  }

  @Test(arguments: [("café", "cafe"), ("Ångström", "Angstrom"), ("tiếng Việt", "tieng Viet")])
  func `texts that differ in marks only are alike without diacritics`(left: String, right: String) {
    #expect(CanonicalText.folded(left, .diacriticInsensitive) == right)
    #expect(CanonicalText.folded(left, .caseInsensitive) != right)
  }

  @Test func `the Turkish i follows no locale`() {
    let both: FetchComparisonOptions = [.caseInsensitive, .diacriticInsensitive]
    #expect(CanonicalText.folded("\u{130}", both) == "i")
    #expect(CanonicalText.folded("\u{131}", both) == "\u{131}")
  }

  /// "K" and the sign for kelvin are one text; strings said that it comes after all texts that
  /// begin with a K, where an index had it before them.
  @Test func `the order of texts is that of their composed bytes`() {
    #expect(CanonicalText.order("\u{212A}", "Ka") == .ascending)
    #expect(CanonicalText.order("K\u{0}", "\u{212A}") == .descending)
    let parts = [
      "a", "b", "A", "e", "é", "\u{301}", "\u{327}", "K", "\u{212A}", ";", "\u{37E}", "\r", "\n",
      "\u{600}", "한", "\u{1112}", "\u{1161}", "ß", "\0", "😀", "\u{200D}", "zzzzzzz",
    ]
    var random = SeededGenerator(seed: 5)
    func text() -> String {
      (0..<Int.random(in: 0...5, using: &random))
        .map { _ in parts.randomElement(using: &random) ?? "" }.joined()
    }
    func composed(_ text: String) -> [UInt8] {
      var bytes: [UInt8] = []
      CanonicalText.appendComposed(text, to: &bytes)
      return bytes
    }
    for _ in 0..<Amount.of(debug: 5000, release: 20_000) {
      let (left, right) = (text(), text())
      let order = CanonicalText.order(left, right)
      let (first, second) = (composed(left), composed(right))
      #expect((order == .ascending) == first.lexicographicallyPrecedes(second), "\(left) \(right)")
      #expect((order == .same) == (left == right), "\(left) \(right)")
    }
  }
}
