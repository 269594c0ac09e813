import Foundation

/// The two forms in which property lists are written; the toolchain's writer cannot write the
/// numbers of objects.
extension KeyedArchiveWriter.Value {
  var xml: String {
    func escaped(_ text: String) -> String {
      text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
    func element(_ value: KeyedArchiveWriter.Value) -> String {
      switch value {
      case .text(let text): "<string>\(escaped(text))</string>"
      case .integer(let number): "<integer>\(number)</integer>"
      case .real(let number): "<real>\(number)</real>"
      case .flag(let flag): flag ? "<true/>" : "<false/>"
      case .data(let bytes): "<data>\n\(Data(bytes).base64EncodedString())\n</data>"
      case .list(let members): "<array>\(members.map(element).joined())</array>"
      case .entries(let entries):
        "<dict>\(entries.map { "<key>\(escaped($0.0))</key>\(element($0.1))\n" }.joined())</dict>"
      case .uid(let number): "<dict><key>CF$UID</key><integer>\(number)</integer></dict>"
      }
    }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
      "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      \(element(self))
      </plist>
      """
  }

  var binary: [UInt8] {
    var objects: [[UInt8]] = []
    // A value's number is known before those of its parts, and references have four bytes.
    func bytes(_ number: Int, _ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
      count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 15, 0x12] + bytes(count, 4)
    }
    func write(_ value: KeyedArchiveWriter.Value) -> Int {
      let index = objects.count
      objects.append([])
      switch value {
      case .text(let text) where text.utf8.allSatisfy { $0 < 128 }:
        objects[index] = head(5, text.utf8.count) + Array(text.utf8)
      case .text(let text):
        objects[index] = head(6, text.utf16.count) + text.utf16.flatMap { bytes(Int($0), 2) }
      case .integer(let number): objects[index] = [0x13] + bytes(number, 8)
      case .real(let number):
        objects[index] = [0x23] + bytes(Int(bitPattern: UInt(number.bitPattern)), 8)
      case .flag(let flag): objects[index] = [flag ? 9 : 8]
      case .data(let data): objects[index] = head(4, data.count) + data
      case .uid(let number): objects[index] = [0x83] + bytes(number, 4)
      case .list(let members):
        let numbers = members.map(write)
        objects[index] = head(10, members.count) + numbers.flatMap { bytes($0, 4) }
      case .entries(let entries):
        let keys = entries.map { write(.text($0.0)) }
        let values = entries.map { write($0.1) }
        objects[index] = head(13, entries.count) + (keys + values).flatMap { bytes($0, 4) }
      }
      return index
    }
    let root = write(self)
    var file = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(file.count)
      file += object
    }
    let table = file.count
    for offset in offsets { file += bytes(offset, 4) }
    return file + [0, 0, 0, 0, 0, 0, 4, 4] + bytes(objects.count, 8) + bytes(root, 8)
      + bytes(table, 8)
  }
}
