import Foundation

/// The text of an XML document, in UTF-8 whatever it was in.
///
/// The system's XML parser is given nothing else: some releases of libxml2 read through a null
/// pointer when eight bytes of malformed UTF-16 are all there is. Xcode writes UTF-8.
struct XMLText {
  let utf8: Data

  /// - Returns: `nil` if the text is not well-formed, or says that it has another encoding.
  init?(_ data: Data) {
    let text: String?
    if data.starts(with: [0xFE, 0xFF]) {
      text = Self.utf16(data.dropFirst(2)) { UInt16($0) << 8 | UInt16($1) }
    } else if data.starts(with: [0xFF, 0xFE]) {
      text = Self.utf16(data.dropFirst(2)) { UInt16($1) << 8 | UInt16($0) }
    } else {
      let mark = data.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      text = String(validating: data.dropFirst(mark), as: UTF8.self)
    }
    guard let text, let plain = Self.withoutEncoding(text) else { return nil }
    utf8 = Data(plain.utf8)
  }

  private static func utf16(_ bytes: Data, _ unit: (UInt8, UInt8) -> UInt16) -> String? {
    guard bytes.count.isMultiple(of: 2) else { return nil }
    let start = bytes.startIndex
    let units = stride(from: 0, to: bytes.count, by: 2).map {
      unit(bytes[start + $0], bytes[start + $0 + 1])
    }
    return String(validating: units, as: UTF16.self)
  }

  /// The declaration at the start becomes blanks, as the encoding that it names is none any more;
  /// lines and columns stay.
  private static func withoutEncoding(_ text: String) -> String? {
    guard text.hasPrefix("<?xml"), let end = text.firstRange(of: "?>") else { return text }
    let declaration = text[..<end.upperBound]
    if let name = declaration.firstRange(of: "encoding") {
      let words = declaration[name.upperBound...].split { " =\t\r\n\"'?".contains($0) }
      let known: Set = ["utf-8", "utf8", "utf-16", "us-ascii", "ascii"]
      guard let word = words.first, known.contains(word.lowercased()) else { return nil }
    }
    return String(declaration.map { $0.isNewline ? $0 : " " }) + text[end.upperBound...]
  }
}
