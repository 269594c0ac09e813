import Foundation
import QuireSimulation
import QuireXcode
import Testing

/// Xcode writes UTF-8; what else a document may be in.
@Suite struct XMLEncodingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func names(in bytes: [UInt8]) throws -> [String] {
    let file = try folder.write(bytes, to: "contents")
    return try XcodeModel(contentsOf: file).model.entities.map(\.name)
  }

  private func document(_ encoding: String) -> String {
    "<?xml version=\"1.0\" encoding=\"\(encoding)\"?>\n<model><entity name=\"Größe\"/></model>"
  }

  /// A fuzzer found the first two: libxml2 2.9.14 read through a null pointer, which ended the
  /// process.
  @Test(
    arguments: [
      [0xFE, 0xFF, 0xDA, 0x00, 0x00, 0x7F, 0xFF, 0xAF],
      [0x00, 0x00, 0x00, 0x3C, 0x75, 0x00, 0x00, 0x00, 0x00, 0x00], [0xFE, 0xFF, 0xDA, 0x00],
      [0xFF, 0xFE, 0x3C], [0xFE, 0xFF], [0xFF, 0xFE, 0x00, 0xD8],
      [0xEF, 0xBB, 0xBF], [0xEF, 0xBB], [0x3C, 0xFF, 0x3E], [0x00, 0x3C, 0x00, 0x3F], [],
    ] as [[UInt8]])
  func `malformed text is an error, and ends nothing`(bytes: [UInt8]) {
    #expect(throws: XcodeModelError.self) { try names(in: bytes) }
  }

  @Test func `a model may be in UTF-8 or UTF-16, with a byte order mark`() throws {
    let (utf8, utf16) = (document("UTF-8"), document("UTF-16"))
    #expect(try names(in: Array(utf8.utf8)) == ["Größe"])
    #expect(try names(in: [0xEF, 0xBB, 0xBF] + Array(utf8.utf8)) == ["Größe"])
    let big = utf16.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    let little = utf16.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    #expect(try names(in: [0xFE, 0xFF] + big) == ["Größe"])
    #expect(try names(in: [0xFF, 0xFE] + little) == ["Größe"])
  }

  @Test func `another encoding is refused, with what may be`() throws {
    let error = #expect(throws: XcodeModelError.self) {
      try names(in: Array(document("ISO-8859-1").utf8))
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains("UTF-8"))
  }

  /// A fuzzer found the first: FoundationXML of Swift 6.3 read through a null pointer.
  @Test(arguments: [
    "<?empty?><model>%</model>", "<?full of = \"data\"?>\n<model><?a?>%<?b?></model><?c?>",
    "<!-- <?a?> --><!DOCTYPE model>\n<model><![CDATA[<?a?>]]>%<!-- > --></model>",
  ])
  func `processing instructions and comments are passed over`(document: String) throws {
    let text = document.replacing("%", with: "<entity name=\"A\"/>")
    #expect(try names(in: Array(text.utf8)) == ["A"])
  }

  /// Entities that a document declares could grow, and could be instructions.
  @Test(arguments: [
    "<!DOCTYPE model [<!ENTITY e \"&#60;?a?>\">]><model>&e;</model>",
    "<!DOCTYPE model [<!ENTITY e SYSTEM \"file:///etc/hosts\">]><model>&e;</model>",
    "<model><?a</model>", "<!DOCTYPE model", "<model><!-- <?a?></model>", "<?",
  ])
  func `declared entities, and what does not end, are errors`(document: String) {
    #expect(throws: XcodeModelError.self) { try names(in: Array(document.utf8)) }
  }
}
