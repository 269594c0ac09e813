import Foundation
import Quire
import QuireModel

/// The columns of an entity's objects in a file of comma-separated values: their id, then what an
/// export has of them, in the order of the entity.
struct CSVColumns {
  /// A property, as far as its values are written differently.
  enum Kind {
    case text
    case boolean
    case integer
    /// A double, a float, or a date, which may be a number of seconds.
    case number
    case composite
    case destination
    case destinations

    init(_ type: AttributeType) {
      self =
        switch type {
        case .boolean: .boolean
        case .integer16, .integer32, .integer64: .integer
        case .double, .float, .date: .number
        case .composite: .composite
        default: .text
        }
    }
  }

  private static let idName = "id"

  let entity: EntityDescription
  private let properties: [(name: String, kind: Kind)]

  init(of entity: EntityDescription) {
    self.entity = entity
    properties =
      entity.attributes.filter { !$0.isTransient && $0.derivationExpression == nil }
      .map { ($0.name, Kind($0.type)) }
      + entity.relationships.filter { !$0.isTransient }
      .map { ($0.name, $0.isToMany ? .destinations : .destination) }
  }

  /// The heading of a property: its name, with an underscore before it where it is `id` or begins
  /// with one, as in JSON.
  private static func heading(_ name: String) -> String {
    name == idName || name.hasPrefix("_") ? "_" + name : name
  }

  private var headings: [String] { [Self.idName] + properties.map { Self.heading($0.name) } }

  // MARK: Writing

  var header: String { CSVText.record(headings.map(CSVText.field)) }

  func record(of object: ExportedObject) throws -> String {
    let fields = try properties.map { property in
      try object.values[property.name].map { CSVText.field(try text(of: $0)) } ?? ""
    }
    return CSVText.record([CSVText.field(object.id)] + fields)
  }

  private func text(of value: ExportedValue) throws -> String {
    switch value {
    case .absent: return ""
    case .boolean(let flag): return "\(flag)"
    case .integer(let number): return "\(number)"
    case .number(let number): return "\(number)"
    case .text(let text): return text
    case .list(let ids): return ids.joined(separator: " ")
    case .composite:
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
  }

  // MARK: Reading

  /// A mistake in a record: what is wrong, for the file and line to be put before it.
  struct Mistake: Error { let reason: String }

  /// The properties that the columns of a file have, by their headings; `nil` for the id.
  func properties(of headings: [String?]) throws(Mistake) -> [(name: String, kind: Kind)?] {
    var result: [(name: String, kind: Kind)?] = []
    var known: Set<String> = []
    for heading in headings {
      let heading = heading ?? ""
      guard known.insert(heading).inserted else {
        throw Mistake(reason: "there are two columns \(heading)")
      }
      if heading == Self.idName {
        result.append(nil)
      } else if let property = properties.first(where: { Self.heading($0.name) == heading }) {
        result.append(property)
      } else {
        throw Mistake(
          reason: "\(entity.name) has no property “\(heading)”; \(hint(for: heading))")
      }
    }
    return result
  }

  private func hint(for heading: String) -> String {
    // Spreadsheets write these where the comma is that of numbers.
    if properties.count > 1, heading.contains(where: { $0 == ";" || $0 == "\t" }) {
      return "commas stand between the values of a line"
    }
    return Suggestion.question(for: heading, among: headings)
      ?? "its columns are \(headings.joined(separator: ", "))"
  }

  /// The default values of attributes for which a file has no column.
  func defaults(besides columns: [(name: String, kind: Kind)?]) -> [String: ExportedValue] {
    let names = Set(columns.compactMap { $0?.name })
    let missing = properties.map(\.name).filter { !names.contains($0) }
    return Dictionary(
      uniqueKeysWithValues: missing.compactMap { name in
        entity.attribute(named: name)?.defaultValue.map { (name, ExportedValue($0)) }
      })
  }

  /// - Parameters:
  ///   - id: the id of a record that has none.
  ///   - values: what a record has besides its fields.
  func object(
    of fields: [String?], _ columns: [(name: String, kind: Kind)?], id: String,
    values: [String: ExportedValue] = [:]
  ) throws(Mistake) -> ExportedObject {
    guard fields.count == columns.count else {
      throw Mistake(
        reason: "it has \(fields.count.counting("field")), and the first line \(columns.count)")
    }
    var object = ExportedObject(entityName: entity.name, id: id, values: values)
    for (column, field) in zip(columns, fields) {
      guard let field else {
        // The column is there: the value is absent, and not the default.
        if let column { object.values[column.name] = .absent }
        continue
      }
      if let column {
        object.values[column.name] = try value(of: field, column.kind, column.name)
      } else if !field.isEmpty {
        object.id = field
      }
    }
    return object
  }

  private func value(
    of text: String, _ kind: Kind, _ name: String
  ) throws(Mistake) -> ExportedValue {
    func mistake(_ wanted: String) -> Mistake {
      Mistake(reason: "\(name) is \(wanted), not “\(text.prefix(40))”")
    }
    switch kind {
    case .text, .destination: return .text(text)
    case .destinations: return .list(text.split(separator: " ").map(String.init))
    case .boolean:
      switch text.lowercased() {
      case "true", "1": return .boolean(true)
      case "false", "0": return .boolean(false)
      default: throw mistake("true or false")
      }
    case .integer:
      guard let number = Int64(text) else { throw mistake("a whole number") }
      return .integer(number)
    case .number:
      // "-0" and what is not finite are texts of an export.
      if text == "-0" { return .text(text) }
      if let number = Int64(text) { return .integer(number) }
      if let number = Double(text), number.isFinite { return .number(number) }
      return .text(text)
    case .composite:
      do {
        return try JSONDecoder().decode(ExportedValue.self, from: Data(text.utf8))
      } catch {
        throw mistake("a JSON object with its elements")
      }
    }
  }
}
