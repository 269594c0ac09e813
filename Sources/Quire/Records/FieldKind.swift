import QuireModel

/// The kind of a field in a row. On disk: add cases, never renumber.
enum FieldKind: UInt8, Sendable {
  case boolean = 1
  case integer16 = 2
  case integer32 = 3
  case integer64 = 4
  case double = 5
  case float = 6
  case date = 7
  case uuid = 8
  case reference = 9
  case string = 16
  case binary = 17
  case decimal = 18
  case uri = 19
  case transformed = 20
  case objectID = 21
  case composite = 22

  /// The kind of an attribute's field; `nil` for the undefined type, which only transient
  /// attributes may have.
  init?(_ type: AttributeType) {
    switch type {
    case .undefined: return nil
    case .integer16: self = .integer16
    case .integer32: self = .integer32
    case .integer64: self = .integer64
    case .decimal: self = .decimal
    case .double: self = .double
    case .float: self = .float
    case .string: self = .string
    case .boolean: self = .boolean
    case .date: self = .date
    case .binaryData: self = .binary
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .transformable: self = .transformed
    case .objectID: self = .objectID
    case .composite: self = .composite
    }
  }

  /// Whether values are in the variable part of a row.
  var isVariable: Bool { rawValue >= FieldKind.string.rawValue }

  /// The number of bytes in the fixed part of a row; `nil` for values in the variable part.
  var fixedWidth: Int? {
    switch self {
    case .boolean: 1
    case .integer16: 2
    case .integer32, .float: 4
    case .integer64, .double, .date, .reference: 8
    case .uuid: 16
    case .string, .binary, .decimal, .uri, .transformed, .objectID, .composite: nil
    }
  }
}
