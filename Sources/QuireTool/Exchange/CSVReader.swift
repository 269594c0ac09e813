/// Reads comma-separated values (RFC 4180) record by record.
///
/// Lines end with a line feed, a carriage return, or both. A field is absent (`nil`) when there is
/// nothing between two commas, and an empty text when there is a pair of quotes.
struct CSVReader {
  /// What is wrong, and on which line.
  struct Mistake: Error {
    let line: Int
    let reason: String
  }

  private let bytes: [UInt8]
  /// The offset of the next byte; the number of bytes that were read.
  private(set) var position = 0
  /// The line of the next byte, from 1.
  private(set) var line = 1
  /// The line on which the record that was read last begins.
  private(set) var recordLine = 1

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // The mark that some programs write before UTF-8.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The fields of the next record that is no empty line; `nil` at the end.
  mutating func next() throws(Mistake) -> [String?]? {
    while position < bytes.count, takeLineEnd() {}
    recordLine = line
    guard position < bytes.count else { return nil }
    var fields: [String?] = []
    while true {
      fields.append(try field())
      if position == bytes.count || takeLineEnd() { return fields }
      // After a field there is a comma or the end of the line, or it would go on.
      position += 1
    }
  }

  private mutating func field() throws(Mistake) -> String? {
    guard position < bytes.count, bytes[position] == 0x22 else {
      let start = position
      while position < bytes.count, ![0x2C, 0x0A, 0x0D].contains(bytes[position]) {
        if bytes[position] == 0x22 {
          throw Mistake(
            line: line,
            reason: "a quote stands inside of a value: put the value in quotes, and write it twice")
        }
        position += 1
      }
      return start == position ? nil : try text(bytes[start..<position], line)
    }
    return try quotedField()
  }

  private mutating func quotedField() throws(Mistake) -> String {
    let start = line
    var value: [UInt8] = []
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == 0x22 {
        guard position < bytes.count, bytes[position] == 0x22 else {
          guard position == bytes.count || [0x2C, 0x0A, 0x0D].contains(bytes[position]) else {
            throw Mistake(
              line: line, reason: "after the quote that ends a value there is no comma")
          }
          return try text(value[...], start)
        }
        position += 1
      } else if byte == 0x0A || byte == 0x0D && (position == bytes.count || bytes[position] != 0x0A)
      {
        line += 1
      }
      value.append(byte)
    }
    throw Mistake(line: start, reason: "a value begins with a quote, and no quote ends it")
  }

  private func text(_ bytes: ArraySlice<UInt8>, _ line: Int) throws(Mistake) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Mistake(line: line, reason: "a value is not in UTF-8")
    }
    return text
  }

  private mutating func takeLineEnd() -> Bool {
    switch bytes[position] {
    case 0x0A: position += 1
    case 0x0D: position += position + 1 < bytes.count && bytes[position + 1] == 0x0A ? 2 : 1
    default: return false
    }
    line += 1
    return true
  }
}
