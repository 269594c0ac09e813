import QuireModel
import QuireSimulation
import Testing

@Suite struct NaturalOrderTests {
  // Each is before all that follow it.
  @Test func `texts are in the order that people expect`() {
    let texts = [
      "", " a", "_", "-1", "(1)", "€5", "0", "00", "1", "01", "1a", "2", "10", "10.1", "10.02",
      "10.10",
      "a", "A", "á", "ä", "Ä", "a b", "a1", "a2b", "a10", "A10", "a10b", "ab", "äb", "aé", "æ",
      "b", "co-op", "coop", "cote", "coté", "côte", "côté", "cotf", "file", "file 1", "file1",
      "filé1",
      "file2", "file02", "file10", "file10.txt", "file٢٠", "o", "ø", "oe", "oœ", "strasse",
      "straße", "strasz", "z", "α", "β", "я", "あ", "日",
    ]
    for (place, left) in texts.enumerated() {
      for (other, right) in texts.enumerated() {
        let expected = place < other ? -1 : place > other ? 1 : 0
        #expect(
          NaturalOrder.order(left, right).rawValue == expected, "\(left) against \(right)")
      }
    }
  }

  @Test func `texts are the same where Swift calls them equal`() {
    #expect(NaturalOrder.order("caf\u{E9}", "cafe\u{301}") == .same)
    #expect(NaturalOrder.order("\u{1E69}", "s\u{307}\u{323}") == .same)
    // What is ignored elsewhere still tells them apart.
    #expect(NaturalOrder.order("a\u{AD}b", "ab") != .same)
  }

  @Test func `numbers of any length are compared as numbers`() {
    let nines = String(repeating: "9", count: 100_000)
    #expect(NaturalOrder.order("n" + nines, "n1" + nines) == .ascending)
    #expect(NaturalOrder.order("n" + nines, "n8" + nines.dropFirst()) == .descending)
    #expect(NaturalOrder.order("é" + nines, "é1" + nines) == .ascending)
  }

  @Test func `the order is total, and the short way for ASCII is the long one`() {
    var random = SeededGenerator(seed: 12)
    let letters = ["a", "B", "b", "A", "0", "1", "9", "10", " ", "-", "_", "~", "\0"]
    let others = ["é", "e\u{301}", "\u{301}", "ß", "Æ", "²", "٣", "日", "ǅ", "\u{AD}", "😀", "Ⅷ"]
    func text(_ parts: [String]) -> String {
      (0..<Int.random(in: 0...5, using: &random))
        .map { _ in parts.randomElement(using: &random) ?? "" }.joined()
    }
    for _ in 0..<Amount.of(debug: 5_000, release: 20_000) {
      let (a, b) = (text(letters), text(letters))
      // A letter before both takes them the other way, and makes no difference itself.
      #expect(NaturalOrder.order(a, b) == NaturalOrder.order("ä" + a, "ä" + b), "\(a) \(b)")
      let three = (0..<3).map { _ in text(letters + others) }
      let order = NaturalOrder.order(three[0], three[1])
      #expect(order.rawValue == -NaturalOrder.order(three[1], three[0]).rawValue, "\(three)")
      #expect((order == .same) == (three[0] == three[1]), "\(three)")
      if order != .descending, NaturalOrder.order(three[1], three[2]) != .descending {
        #expect(NaturalOrder.order(three[0], three[2]) != .descending, "\(three)")
      }
    }
  }
}
