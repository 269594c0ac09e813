import Foundation
import QuireModel
import QuireTool
import Testing

@Suite struct JSONValueTests {
  @Test func `every character survives, on one line`() throws {
    var text = "“é” \u{1F3A8} \\ \" / \u{7F} \u{2028}"
    for code in UInt8(0)..<32 { text.unicodeScalars.append(Unicode.Scalar(code)) }
    let line = JSONValue.array([.string(text)]).lineText
    #expect(!line.contains("\n"))
    let read = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String]
    #expect(read == [text])
  }

  @Test func `numbers read back as the same bits`() throws {
    let doubles: [Double] = [
      0.1, -0.0, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 283_996_800.5, 1 / 3,
    ]
    for number in doubles {
      let text = JSONValue(number).lineText
      #expect(Double(text)?.bitPattern == number.bitPattern, "\(text)")
      _ = try JSONSerialization.jsonObject(with: Data("[\(text)]".utf8))
    }
    #expect(JSONValue(Float(0.1)).lineText == "0.1")
    #expect(JSONValue(Int64.min).lineText == "-9223372036854775808")
    #expect(JSONValue(Double.nan).lineText == "\"NaN\"")
    #expect(JSONValue(-Double.infinity).lineText == "\"-Infinity\"")
  }

  @Test func `keys keep their order, and both forms mean the same`() throws {
    let value: JSONValue = [
      "b": "1", "a": .array([]), "c": .array([nil, JSONValue(true)]), "": [:],
    ]
    #expect(value.lineText == #"{"b":"1","a":[],"c":[null,true],"":{}}"#)
    #expect(
      value.indentedText == """
        {
          "b": "1",
          "a": [],
          "c": [
            null,
            true
          ],
          "": {}
        }
        """)
  }

  @Test func `attribute values lose nothing`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)
    let cases: [(AttributeValue, String)] = [
      (.boolean(true), "true"), (.integer(.max), "9223372036854775807"),
      (.double(.infinity), "\"Infinity\""), (.float(0.1), "0.1"),
      (
        .decimal(Decimal(string: "12345678901234567890.123456789") ?? 0),
        "\"12345678901234567890.123456789\""
      ),
      (.date(date), "0.30000000000000004"), (.binary(Data([0, 255])), "\"AP8=\""),
      (.transformed(Data([1])), "\"AQ==\""), (.string("a\"b"), "\"a\\\"b\""),
      (.composite(["b": .integer(1), "a": .boolean(false)]), "{\"a\":false,\"b\":1}"),
    ]
    for (value, text) in cases { #expect(JSONValue(value).lineText == text) }
  }
}
