import Foundation
import QuireXcode

// An input is a byte for the kind of file, and the file: a SQLite database, of which every value of
// every table is read; a file of translations, which is text or a property list in one of three
// forms; or the contents of an Xcode model.

private enum Kind: Int, CaseIterable {
  case database, strings, model
}

private let file = FileManager.default.temporaryDirectory
  .appending(path: "quire-fuzz-imports-\(ProcessInfo.processInfo.processIdentifier)")

func fuzz(_ bytes: [UInt8]) {
  guard let kind = bytes.first.flatMap({ Kind(rawValue: Int($0) % Kind.allCases.count) }) else {
    return
  }
  let content = Data(bytes.dropFirst())
  switch kind {
  case .database:
    guard (try? content.write(to: file)) != nil else { fatalError("no room for \(file)") }
    try? readAll()
  case .strings: _ = try? StringsFile(content)
  case .model:
    guard (try? content.write(to: file)) != nil else { fatalError("no room for \(file)") }
    _ = (try? XcodeModel(contentsOf: file))?.model.versionChecksum
  }
}

private func readAll() throws {
  let database = try SQLiteDatabase(contentsOf: file)
  for table in database.tables.values {
    guard var rows = try? database.rows(of: table) else { continue }
    while let row = try rows.next() {
      for column in table.columnNames.indices {
        _ = row[column]
        _ = row.hasMalformedText(in: column)
      }
    }
  }
}

// MARK: Inputs to begin with

func seeds() throws -> [[UInt8]] {
  let values: [SQLiteValue] = [
    .integer(7), .real(0.5), .text("wave"), .blob(Data([1, 2, 3])), .null,
  ]
  var databases = [SQLiteFileWriter(), SQLiteFileWriter(), SQLiteFileWriter()]
  databases[1].encoding = .utf16BigEndian
  databases[2].reservedByteCount = 8
  let long = SQLiteValue.text(String(repeating: "long ", count: 300))
  for index in databases.indices {
    var rows: [(Int64, [SQLiteValue])] = []
    for number in 0..<60 {
      let first = number % 20 == 3 ? long : values[number % 5]
      rows.append((Int64(number), [first, values[(number + 1) % 5]]))
    }
    databases[index].tables = [
      .init(name: "ZITEM", statement: "CREATE TABLE ZITEM (Z_PK INTEGER, A VARCHAR)", rows: rows)
    ]
  }
  let list: [String: Any] = ["name": "wave", "list": [1, 2.5, true], "data": Data([1, 2])]
  let lists = try [PropertyListSerialization.PropertyListFormat.binary, .xml].map {
    try PropertyListSerialization.data(fromPropertyList: list, format: $0, options: 0)
  }
  let model = """
    <?xml version="1.0"?><model type="com.apple.IDECoreDataModeler.DataModel">
    <entity name="A" parentEntity="B"><attribute name="n" attributeType="Integer 16" \
    optional="YES" defaultValueString="3" minValueString="1"/><relationship name="b" \
    destinationEntity="B" inverseName="a" inverseEntity="B" toMany="YES" ordered="YES"/>
    <fetchIndex name="i"><fetchIndexElement property="n" type="Binary" order="descending"/>\
    </fetchIndex></entity><entity name="B" isAbstract="YES"><relationship name="a" maxCount="1" \
    destinationEntity="A" inverseName="b" inverseEntity="A" deletionRule="Cascade"/>
    <attribute name="d" attributeType="Date" derived="YES" derivationExpression="now()"/></entity>
    <fetchRequest name="f" entity="A" predicateString="n &gt; 3"/></model>
    """
  let texts = ["/* a */ \"name\" = \"Welle\\n\\U00e4\";", "{ a = b; c = \"d\"; }"]
  var inputs: [[UInt8]] = databases.map { [0] + $0.bytes() }
  for list in lists { inputs.append([1] + Array(list)) }
  for text in texts { inputs.append([1] + Array(text.utf8)) }
  inputs.append([2] + Array(model.utf8))
  return inputs
}
