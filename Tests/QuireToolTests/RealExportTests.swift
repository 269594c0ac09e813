import Foundation
import Quire
import QuireModel
import QuireSimulation
import QuireXcode
import Testing

/// What the tool exports of an imported store is what SQLite has in the original.
///
/// SQLite is asked by its own command; of the importer only the model is used, for names and types.
@Suite(
  .enabled(if: RealData.isPresent, "\(RealData.absence)"),
  .enabled(if: Original.isPresent, "needs the command sqlite3 to compare with"))
struct RealExportTests {
  /// A store of `RealData`, and the folder with its model.
  struct Source: CustomTestStringConvertible, Sendable {
    var path: String
    var model: String
    var testDescription: String { (path as NSString).lastPathComponent }

    static func all(_ project: String, _ model: String, _ names: String...) -> [Source] {
      names.map {
        Source(path: "\(project)/stores/\($0).sqlite", model: "\(project)/\(model).xcdatamodeld")
      }
    }
  }

  private static let small =
    Source.all(
      "artsy-folio", "ArtsyPartner", "ArtsyPartner_1.3", "ArtsyPartner_1.3.5", "ArtsyPartner_1.4",
      "ArtsyPartner_1.6", "ArtsyPartner_2.0", "oss_stubbed_data")
    + Source.all(
      "duckduckgo-bookmarks", "BookmarksModel", "Bookmarks_V1", "Bookmarks_V2", "Bookmarks_V3",
      "Bookmarks_V4", "Bookmarks_V5")
    + Source.all("duckduckgo-bookmarks", "SyncMetadata", "SyncMetadata_V3")
    + Source.all(
      "wibosco-migration", "CoreDataMigration_Example", "CoreDataMigration_Example_WAL")

  private static let large = Source.all(
    "wibosco-migration", "CoreDataMigration_Example", "CoreDataMigration_Example_1",
    "CoreDataMigration_Example_2", "CoreDataMigration_Example_3")

  @Test(arguments: Amount.of(debug: small, release: small + large))
  func `each value and reference is exported as SQLite has it`(_ source: Source) throws {
    let folder = try TemporaryFolder()
    let path = try RealData.path(source.path)
    let modelPath = try RealData.path(source.model)
    let store = folder.path("store.quire")
    let imported = ToolRun("import", path, "--model", modelPath, "--to", store, "--json")
    #expect(imported.code == .good, "\(imported.errors)")
    let report = try imported.json()
    let dangling = (report["danglingReferences"] as? [[String: Any]] ?? []).compactMap {
      "\($0["entity"] ?? "")/p\($0["key"] ?? "").\($0["relationship"] ?? "")"
    }
    let exported = folder.path("exported")
    #expect(ToolRun("export", store, "--to", exported).code == .good)
    let model = try PersistentStoreCoordinator.managedObjectModel(
      storedAt: URL(filePath: store))
    let original = try Original(path, copiedTo: folder)
    var valueCount = 0
    for entity in model.entities where !entity.isAbstract {
      let rows = try original.rows(of: entity)
      let objects = try objects(of: entity, in: exported)
      #expect(Set(rows.keys) == Set(objects.keys), "\(entity.name)")
      for (key, row) in rows {
        guard let object = objects[key] else { continue }
        for attribute in entity.attributes where !attribute.isTransient {
          let place = "\(entity.name)/p\(key).\(attribute.name)"
          let value = try #require(row["Z\(attribute.name.uppercased())"], "\(place)")
          let found = object[attribute.name]
          #expect(
            value.agrees(with: found, attribute.type), "\(place): \(value), \(found ?? "nothing")")
          valueCount += value.kind == "null" ? 0 : 1
        }
        for relationship in entity.relationships where !relationship.isToMany {
          let place = "\(entity.name)/p\(key).\(relationship.name)"
          let value = row["Z\(relationship.name.uppercased())"]
          let found = (object[relationship.name] as? String)?.split(separator: "/p").last
          let expected = dangling.contains(place) || value?.kind == "null" ? nil : value?.text
          #expect(found.map(String.init) == expected, "\(place)")
        }
      }
    }
    #expect(valueCount > 0 || source.path.contains("1.6"), "nothing was compared")
  }

  /// The lines of an entity's file, by key; those of subentities are in it as well.
  private func objects(
    of entity: EntityDescription, in folder: String
  ) throws -> [String: [String: Any]] {
    var objects: [String: [String: Any]] = [:]
    let url = URL(filePath: folder).appending(path: "\(entity.name).jsonl")
    guard FileManager.default.fileExists(atPath: url.path) else { return [:] }
    for line in try Data(contentsOf: url).split(separator: UInt8(ascii: "\n")) {
      let object = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
      guard object["entity"] as? String == entity.name, let id = object["id"] as? String else {
        continue
      }
      objects[String(try #require(id.split(separator: "/p").last))] = object
    }
    return objects
  }
}

/// The file that Core Data wrote, read by SQLite's command.
private struct Original {
  /// A value: its class, and its text; of texts and blobs the bytes in hexadecimal digits.
  struct Value: CustomStringConvertible {
    var kind: Substring
    var text: String
    var description: String { "\(kind) \(text)" }

    /// Whether a member of a line of an export says the same.
    func agrees(with found: Any?, _ type: AttributeType) -> Bool {
      guard kind != "null", let found else { return kind == "null" && found == nil }
      let number = Double(text)
      switch type {
      case .boolean: return (found as? Bool).map { $0 ? "1" : "0" } == text
      case .integer16, .integer32, .integer64:
        return "\(found)" == text
      case .double: return (found as? Double) == number
      case .float: return (found as? Double).map { Float($0) } == number.map { Float($0) }
      case .decimal:
        let other = (found as? String).flatMap { Double($0) }
        return other == number || kind == "text" && other?.isNaN ?? false
      case .date:
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let text = found as? String, let number,
          let date = (try? style.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
        else { return false }
        // Files have milliseconds or finer, whichever is needed.
        return abs(date.timeIntervalSinceReferenceDate - number) < 0.001
      case .binaryData, .transformable:
        return (found as? String).flatMap { Data(base64Encoded: $0) }.map(Self.hex) == text
      case .uuid:
        return (found as? String)?.filter { $0 != "-" }.uppercased() == text
      default: return (found as? String).map { Self.hex(Data($0.utf8)) } == text
      }
    }

    private static func hex(_ data: Data) -> String {
      data.map { String(format: "%02X", $0) }.joined()
    }
  }

  static let command = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }
  static var isPresent: Bool { command != nil }

  private let path: String

  /// A copy: SQLite may write beside a file with a log.
  init(_ path: String, copiedTo folder: TemporaryFolder) throws {
    self.path = folder.path("original.sqlite")
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: self.path + suffix)
    }
  }

  /// The rows of an entity, by key: the values of all columns of its table.
  func rows(of entity: EntityDescription) throws -> [String: [String: Value]] {
    let root = entity.root
    let table = "Z\(root.name.uppercased())"
    let columns = try lines("SELECT name FROM pragma_table_info('\(table)')")
    guard !columns.isEmpty else { return [:] }
    let forms = columns.map {
      """
      typeof("\($0)") || ':' || CASE typeof("\($0)") WHEN 'integer' THEN "\($0)" \
      WHEN 'real' THEN printf('%!.17g', "\($0)") WHEN 'null' THEN '' ELSE hex("\($0)") END
      """
    }
    // A table of one entity has only its rows, whatever they say.
    let condition =
      root.subentityNames.isEmpty
      ? "" : " WHERE Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity.name)')"
    var rows: [String: [String: Value]] = [:]
    for line in try lines("SELECT \(forms.joined(separator: ", ")) FROM \(table)\(condition)") {
      var row: [String: Value] = [:]
      for (column, field) in zip(columns, line.split(separator: "|")) {
        let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        row[column] = Value(kind: parts[0], text: String(parts[1]))
      }
      rows[try #require(row["Z_PK"]).text] = row
    }
    return rows
  }

  private func lines(_ query: String) throws -> [String] {
    let process = Process()
    process.executableURL = URL(filePath: try #require(Self.command))
    process.arguments = ["-batch", path, query]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(query)")
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
