import Foundation
import QuireModel
import QuireXcode

/// Writes stores as Core Data lays them out, for shapes of which there is no real example.
struct CoreDataStoreWriter {
  var uuid = "7F1B5F6C-4D2E-4C35-9B0F-0D9B7E5A1C11"
  var identifiers: [String] = []
  /// The names that hashes are kept under, by the names of `entities`, where they differ: Core Data
  /// has renamed these entities in place.
  var renamedEntities: [String: String] = [:]
  /// Number, name, number of the parent (0 for none), and highest key.
  private(set) var entities: [(Int64, String, Int64, Int64)] = []
  private(set) var file = SQLiteFileWriter()

  mutating func addEntity(_ number: Int64, _ name: String, parent: Int64 = 0, maximum: Int64 = 0) {
    entities.append((number, name, parent, maximum))
  }

  mutating func addIndex(_ name: String, on table: String) { file.indexes.append((name, table)) }

  /// A table of objects: rows are key, entity number and then the values of `columns`.
  mutating func addTable(
    _ name: String, _ columns: [String], _ rows: [(Int64, Int64?, [SQLiteValue])]
  ) {
    let list = (["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"] + columns)
      .joined(separator: ", ")
    file.tables.append(
      .init(
        name: name, statement: "CREATE TABLE \(name) ( \(list) )",
        rows: rows.map { key, number, values in
          (key, [.null, number.map { .integer($0) } ?? .null, .integer(1)] + values)
        }))
  }

  mutating func addJoinTable(_ name: String, _ columns: [String], _ rows: [[Int64]]) {
    let list = columns.map { "\($0) INTEGER" }.joined(separator: ", ")
    file.tables.append(
      .init(
        name: name,
        statement: """
          CREATE TABLE \(name) ( \(list), PRIMARY KEY (\(columns[0]), \(columns[1])) )
          """,
        rows: rows.enumerated().map { (Int64($0 + 1), $1.map { .integer($0) }) }))
  }

  func bytes() throws -> [UInt8] {
    let metadata: [String: Any] = [
      "NSStoreType": "SQLite", "NSStoreModelVersionHashesVersion": 3,
      "NSStoreModelVersionIdentifiers": identifiers, "NSPersistenceFrameworkVersion": 1251,
      "NSStoreModelVersionHashes": Dictionary(
        entities.map { (renamedEntities[$0.1] ?? $0.1, Data(repeating: 7, count: 32)) },
        uniquingKeysWith: { $1 }),
    ]
    let list = try PropertyListSerialization.data(
      fromPropertyList: metadata, format: .binary, options: 0)
    var file = file
    file.tables.append(
      .init(
        name: "Z_PRIMARYKEY",
        statement: """
          CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, \
          Z_MAX INTEGER)
          """,
        rows: entities.sorted { $0.0 < $1.0 }.map {
          ($0.0, [.null, .text($0.1), .integer($0.2), .integer($0.3)])
        }))
    file.tables.append(
      .init(
        name: "Z_METADATA",
        statement:
          "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        rows: [(1, [.null, .text(uuid), .blob(list)])]))
    return file.bytes()
  }

  func store(in folder: TemporaryFolder, _ name: String = "Test.sqlite") throws -> CoreDataStore {
    try CoreDataStore(contentsOf: folder.write(bytes(), to: name))
  }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
  ExpressibleByFloatLiteral, ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(stringLiteral value: String) { self = .text(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(nilLiteral: ()) { self = .null }
}

extension [CoreDataObject] {
  /// The object of a key, among objects of one hierarchy.
  subscript(key key: Int64) -> CoreDataObject? { first { $0.primaryKey == key } }

  func keys(_ entity: String, _ key: Int64, toMany name: String) -> [Int64] {
    first { $0.entity.name == entity && $0.primaryKey == key }?.toMany[name]?.map(\.key) ?? []
  }

  func key(_ entity: String, _ key: Int64, toOne name: String) -> Int64? {
    first { $0.entity.name == entity && $0.primaryKey == key }?.toOne[name]?.key
  }
}
