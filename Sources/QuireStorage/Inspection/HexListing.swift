/// Bytes in hexadecimal digits, sixteen to a line, with what they mean beside them.
///
/// Each part begins a line, and so does what lies between two. Many zeros are one line, `00 * 464`.
package enum HexListing {
  /// The column in which meanings begin.
  private static let meaningColumn = 55
  private static let shortestZeros = 17

  /// - Parameters:
  ///   - bytes: what is printed.
  ///   - start: the offset of its first byte.
  ///   - parts: in ascending order.
  package static func lines(
    of bytes: [UInt8], from start: Int = 0, parts: [BytePart] = []
  ) -> [String] {
    var lines: [String] = []
    var offset = start
    let end = start + bytes.count
    for part in parts where part.offset >= offset && part.offset + part.byteCount <= end {
      append(bytes[(offset - start)..<(part.offset - start)], at: offset, "", to: &lines)
      let partEnd = part.offset + part.byteCount
      append(
        bytes[(part.offset - start)..<(partEnd - start)], at: part.offset, part.meaning, to: &lines)
      offset = partEnd
    }
    append(bytes[(offset - start)...], at: offset, "", to: &lines)
    return lines
  }

  private static func append(
    _ bytes: ArraySlice<UInt8>, at offset: Int, _ meaning: String, to lines: inout [String]
  ) {
    var meaning = meaning
    var rest = bytes
    func line(_ offset: Int, _ text: String) -> String {
      let line = "\(ByteText.hex(UInt64(offset), digits: 4))  \(text)"
      guard !meaning.isEmpty else { return line }
      return line + String(repeating: " ", count: max(2, meaningColumn - line.count)) + meaning
    }
    while !rest.isEmpty {
      let lineOffset = offset + (rest.startIndex - bytes.startIndex)
      let zeros = rest.prefix { $0 == 0 }.count
      if zeros >= shortestZeros {
        lines.append(line(lineOffset, "00 * \(zeros)"))
        rest = rest.dropFirst(zeros)
      } else {
        // Not further than to where many zeros begin.
        var count = min(16, rest.count)
        if let start = longZeros(in: rest.prefix(count + shortestZeros)) {
          count = min(count, start)
        }
        let text = rest.prefix(count).map { ByteText.hex(UInt64($0), digits: 2) }
        lines.append(line(lineOffset, text.joined(separator: " ")))
        rest = rest.dropFirst(count)
      }
      meaning = ""
    }
  }

  /// The number of bytes before the first long row of zeros.
  private static func longZeros(in bytes: ArraySlice<UInt8>) -> Int? {
    var zeros = 0
    for (index, byte) in bytes.enumerated() {
      zeros = byte == 0 ? zeros + 1 : 0
      if zeros == shortestZeros { return index + 1 - zeros }
    }
    return nil
  }

  /// The bytes that lines of a listing show; what comes before the digits and after them is passed
  /// over.
  package static func bytes(in lines: some Sequence<Substring>) -> [UInt8] {
    lines.flatMap { line -> [UInt8] in
      let digits = line.drop { $0 != " " }.prefix(meaningColumn - 6).drop { $0 == " " }
      let words = digits.split(separator: " ")
      if words.count == 3, words[1] == "*", let count = Int(words[2]) {
        return Array(repeating: 0, count: count)
      }
      return words.compactMap { UInt8($0, radix: 16) }
    }
  }
}
