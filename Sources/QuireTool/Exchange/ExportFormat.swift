import Foundation
import Quire
import QuireModel

/// The format of the files that objects are exported to.
enum ExportFormat: String, CaseIterable {
  /// A JSON object on each line.
  case json
  /// Comma-separated values, after a line of names.
  case csv

  var fileExtension: String {
    switch self {
    case .json: "jsonl"
    case .csv: "csv"
    }
  }

  /// The format of a file by its name.
  init(ofFile url: URL) { self = url.pathExtension.lowercased() == "csv" ? .csv : .json }
}

/// Makes the lines of a file with an entity's objects.
struct ObjectEncoder {
  private let json = JSONEncoder()
  /// `nil` for JSON.
  private let columns: CSVColumns?

  init(_ format: ExportFormat, for entity: EntityDescription) {
    columns = format == .csv ? CSVColumns(of: entity) : nil
    json.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  /// The line before those of objects, if there is one.
  var header: Data? { columns.map { Data($0.header.utf8) } }

  func line(of object: ExportedObject) throws -> Data {
    guard let columns else { return try json.encode(object) }
    return Data(try columns.record(of: object).utf8)
  }
}
