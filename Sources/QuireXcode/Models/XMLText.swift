import Foundation

/// The text of an XML document, in UTF-8 whatever it was in, and without what parsers stumble over.
///
/// The system's XML parser is given nothing else: libxml2 2.9.14 reads through a null pointer when
/// eight bytes of malformed UTF-16 are all there is, and the toolchain's FoundationXML when a
/// processing instruction has no data. No document of Xcode's has any of that.
struct XMLText {
  /// Why a text is not given to the parser.
  struct Refusal: Error { var words: String }

  let utf8: Data

  init(_ data: Data) throws(Refusal) {
    guard let text = Self.text(data) else {
      throw Refusal(words: "it is neither UTF-8 nor, with a byte order mark, UTF-16")
    }
    try Self.checkEncoding(of: text)
    var bytes = Array(text.utf8)
    // By zeros the parser would guess another encoding.
    guard !bytes.contains(0) else { throw Refusal(words: "it has a zero among its characters") }
    try Self.blankInstructions(in: &bytes)
    utf8 = Data(bytes)
  }

  // MARK: Encodings

  private static func text(_ data: Data) -> String? {
    if data.starts(with: [0xFE, 0xFF]) {
      return utf16(data.dropFirst(2)) { UInt16($0) << 8 | UInt16($1) }
    }
    if data.starts(with: [0xFF, 0xFE]) {
      return utf16(data.dropFirst(2)) { UInt16($1) << 8 | UInt16($0) }
    }
    let mark = data.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    return String(validating: data.dropFirst(mark), as: UTF8.self)
  }

  private static func utf16(_ bytes: Data, _ unit: (UInt8, UInt8) -> UInt16) -> String? {
    guard bytes.count.isMultiple(of: 2) else { return nil }
    let start = bytes.startIndex
    let units = stride(from: 0, to: bytes.count, by: 2).map {
      unit(bytes[start + $0], bytes[start + $0 + 1])
    }
    return String(validating: units, as: UTF16.self)
  }

  private static func checkEncoding(of text: String) throws(Refusal) {
    guard text.hasPrefix("<?xml"), let end = text.firstRange(of: "?>") else { return }
    let declaration = text[..<end.lowerBound]
    guard let name = declaration.firstRange(of: "encoding") else { return }
    let word = declaration[name.upperBound...].split { " =\t\r\n\"'".contains($0) }.first ?? ""
    let known: Set = ["utf-8", "utf8", "utf-16", "us-ascii", "ascii"]
    guard known.contains(word.lowercased()) else {
      throw Refusal(words: "its encoding is “\(word.prefix(40))”: UTF-8 and UTF-16 are read")
    }
  }

  // MARK: Instructions

  /// Makes blanks of processing instructions, the declaration among them, whose encoding is none
  /// any more. Lines and columns stay.
  ///
  /// - Throws: if the document declares entities, which could bring instructions back.
  private static func blankInstructions(in bytes: inout [UInt8]) throws(Refusal) {
    var offset = 0
    func isThere(_ word: String) -> Bool { bytes[offset...].starts(with: word.utf8) }
    func end(of word: String, after skipped: Int) -> Int {
      var end = offset + skipped
      while end < bytes.count {
        if bytes[end...].starts(with: word.utf8) { return end + word.utf8.count }
        end += 1
      }
      return bytes.count
    }
    while let next = bytes[offset...].firstIndex(of: UInt8(ascii: "<")) {
      offset = next
      if isThere("<!--") {
        offset = end(of: "-->", after: 4)
      } else if isThere("<![CDATA[") {
        offset = end(of: "]]>", after: 9)
      } else if isThere("<?") {
        let end = end(of: "?>", after: 2)
        for index in offset..<end where !"\r\n".utf8.contains(bytes[index]) {
          bytes[index] = UInt8(ascii: " ")
        }
        offset = end
      } else if isThere("<!DOCTYPE") {
        let end = end(of: ">", after: 9)
        guard !bytes[offset..<end].contains(UInt8(ascii: "[")) else {
          throw Refusal(words: "it has declarations of its own in its document type")
        }
        offset = end
      } else {
        offset += 1
      }
    }
  }
}
