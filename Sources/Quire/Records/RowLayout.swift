import QuireModel

/// Where the fields are in an entity's rows.
///
/// `docs/file-format.md` has the picture of a row. The layout is stored in the schema with the
/// entity, so that a row can be read without a model, and renaming a property does not rewrite
/// rows.
final class RowLayout: Sendable {
  struct Field: Hashable, Sendable {
    var name: String
    var kind: FieldKind
  }

  /// The number of bytes before the bits of absent values.
  static let headerByteCount = 8
  /// The flag of rows whose end offsets are 32 bits wide.
  static let wideOffsetsFlag: UInt8 = 1

  let number: UInt16
  /// Fixed fields by decreasing width, then variable fields.
  let fields: [Field]
  /// The byte offset in the row of a fixed field, or the index of a variable field among the
  /// variable ones.
  let positions: [Int]
  let variableCount: Int
  /// The offset of the end offsets of the variable fields.
  let offsetsStart: Int
  /// Other layouts that rows of the entity may have after a deferred migration.
  let older: [OlderLayout]

  init(number: UInt16, fields: [Field], older: [OlderLayout] = []) {
    self.number = number
    self.fields = fields
    self.older = older
    var offset = RowLayout.headerByteCount + (fields.count + 7) / 8
    var variables = 0
    positions = fields.map { field in
      if let width = field.kind.fixedWidth {
        defer { offset += width }
        return offset
      }
      defer { variables += 1 }
      return variables
    }
    variableCount = variables
    offsetsStart = offset
  }

  /// The layout for new rows of an entity.
  convenience init(for entity: EntityDescription, number: UInt16) {
    self.init(number: number, fields: RowLayout.fields(of: entity))
  }

  /// The fields of the entity's rows, in the order in which rows have them.
  static func fields(of entity: EntityDescription) -> [Field] {
    var fields: [Field] = []
    let (attributes, relationships) = (entity.attributes, entity.relationships)
    fields.reserveCapacity(attributes.count + relationships.count)
    // By index, as descriptions are large: a loop over them would copy each.
    for index in attributes.indices where !attributes[index].isTransient {
      if let kind = FieldKind(attributes[index].type) {
        fields.append(Field(name: attributes[index].name, kind: kind))
      }
    }
    for index in relationships.indices
    where !relationships[index].isToMany && !relationships[index].isTransient {
      fields.append(Field(name: relationships[index].name, kind: .reference))
    }
    // Names break ties, so that the order of declaration in a model has no effect on its stores.
    fields.sort {
      let (left, right) = ($0.kind.fixedWidth ?? 0, $1.kind.fixedWidth ?? 0)
      return left != right ? left > right : $0.name < $1.name
    }
    return fields
  }

  /// A number for the next layout that no layout of the entity has.
  var nextNumber: UInt16 {
    var next = number &+ 1
    while next == number || older.contains(where: { $0.layout.number == next }) { next &+= 1 }
    return next
  }

  func index(of name: String) -> Int? { fields.firstIndex { $0.name == name } }
}

extension RowLayout: Hashable {
  static func == (left: RowLayout, right: RowLayout) -> Bool {
    left === right
      || (left.number == right.number && left.fields == right.fields && left.older == right.older)
  }
  func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}
