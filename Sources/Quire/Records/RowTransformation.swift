import QuireModel

/// A conversion of rows of one layout to another. It is prepared once, and then applied to the
/// bytes of each row.
///
/// Fields that are adjacent in both layouts are copied together, so that adding an eleventh field
/// to a row of ten takes a few copies, and no value is decoded.
struct RowTransformation: Sendable {
  /// The source of a field of the new row.
  enum Source: Hashable, Sendable {
    /// The field with this index in the old row, which is of the same kind.
    case copy(Int)
    /// The same, or this value if the old row has none.
    case copyOrDefault(Int, AttributeValue)
    /// A composite whose elements changed, or this value if the old row has none.
    case convert(Int, CompositeConversion, orDefault: AttributeValue?)
    /// A number of another kind, or this value if the old row has none.
    case number(Int, NumberConversion, orDefault: AttributeValue?)
    case constant(AttributeValue)
    /// A reference that is provided for each row, under this number.
    case link(Int)
    case absent
  }

  /// Parts that are adjacent in both rows.
  struct Run {
    var from: Int
    var to: Int
    var count: Int
  }

  /// A run of adjacent variable fields of the new row.
  enum VariableRun {
    /// A number of fields of the old row, from the first on.
    case copy(first: Int, count: Int)
    /// A field of the old row, or these bytes if it is absent.
    case copyOrDefault(variable: Int, field: Int, bytes: [UInt8])
    /// The converted bytes with this number.
    case converted(Int)
    case constant([UInt8])
    case absent
  }

  struct Default {
    var from: Int
    var to: Int
    /// The offset and the bytes of a fixed field; `nil` for a variable one.
    var fixed: (offset: Int, bytes: [UInt8])?
  }

  let old: RowLayout
  let new: RowLayout
  /// Whether the bits for absent values of each row fit in 64.
  let hasFewFields: Bool
  /// The fixed part of a new row, without the bytes that differ from row to row.
  private(set) var template: [UInt8] = []
  /// Runs of the bits for absent values.
  private(set) var bitRuns: [Run] = []
  /// Runs of bytes of the fixed part.
  private(set) var fixedRuns: [Run] = []
  private(set) var variableRuns: [VariableRun] = []
  private(set) var defaults: [Default] = []
  private(set) var conversions: [FieldConversion] = []
  private(set) var links: [(field: Int, offset: Int, number: Int)] = []
  /// Copied fields whose values may be outside of the row: from the old row's to the new row's.
  private(set) var externalFields: [Int: Int] = [:]
  /// The number of bytes of all variable constants and defaults.
  private(set) var constantByteCount = 0

  /// - Parameter sources: one for each field of the new layout.
  /// - Throws: ``RowError`` if a constant is not of its field's kind or out of its range, or if a
  ///   field is copied to one of another kind.
  init(from old: RowLayout, to new: RowLayout, _ sources: [Source]) throws {
    self.old = old
    self.new = new
    hasFewFields = max(old.fields.count, new.fields.count) <= 64
    let writer = try RowTransformation.constants(from: old, to: new, sources)
    var template: [UInt8] = []
    try writer.withBytes { bytes in
      template = Array(bytes[..<new.offsetsStart])
      template[2] = 0
      let row = try RowReader(bytes, layout: new)
      for (field, source) in sources.enumerated() {
        if let width = new.fields[field].kind.fixedWidth {
          addFixed(field, source, width, row, &template)
        } else {
          addVariable(field, source, row, &template)
        }
      }
    }
    self.template = template
  }

  /// - Throws: the errors of ``init(from:to:_:)`` for the same arguments.
  static func check(from old: RowLayout, to new: RowLayout, _ sources: [Source]) throws {
    _ = try constants(from: old, to: new, sources)
  }

  /// A row with only the constants, after a check that the sources fit the layouts.
  private static func constants(
    from old: RowLayout, to new: RowLayout, _ sources: [Source]
  ) throws -> RowWriter {
    for (field, source) in sources.enumerated() {
      switch source {
      case .copy(let from), .copyOrDefault(let from, _), .convert(let from, _, _):
        guard old.fields[from].kind == new.fields[field].kind else {
          throw unfit(old.fields[from], for: new.fields[field])
        }
      case .number(let from, let conversion, _):
        guard old.fields[from].kind == FieldKind(conversion.source),
          new.fields[field].kind == FieldKind(conversion.destination)
        else { throw unfit(old.fields[from], for: new.fields[field]) }
      case .constant, .link, .absent: break
      }
    }
    // Its fixed part is the template, and its variable fields have the bytes of the constants.
    let writer = RowWriter(new)
    try writer.write(version: 0) { field in
      switch sources[field] {
      case .constant(let value), .copyOrDefault(_, let value): .value(value)
      case .convert(_, _, let value), .number(_, _, let value): value.map(RowWriter.Field.value)
      case .copy, .link, .absent: nil
      }
    }
    return writer
  }

  private static func unfit(_ old: RowLayout.Field, for new: RowLayout.Field) -> RowError {
    RowError(reason: "the field \(new.name) cannot be copied from one of kind \(old.kind)")
  }

  // MARK: Deciding

  private mutating func addFixed(
    _ field: Int, _ source: Source, _ width: Int, _ constants: RowReader,
    _ template: inout [UInt8]
  ) {
    let offset = new.positions[field]
    switch source {
    case .copy(let from):
      addCopy(from, field, width, &template)
    case .copyOrDefault(let from, _):
      addCopy(from, field, width, &template)
      let bytes = Array(constants.bytes[offset..<offset + width])
      defaults.append(Default(from: from, to: field, fixed: (offset, bytes)))
    case .number(let from, let conversion, let value):
      addBit(from, field, &template)
      conversions.append(
        FieldConversion(
          field: field, from: from, kind: .number(conversion, new.fields[field].name),
          orDefault: value.map { _ in Array(constants.bytes[offset..<offset + width]) },
          offset: offset))
    case .link(let number): links.append((field, offset, number))
    case .constant, .convert, .absent: break
    }
  }

  private mutating func addCopy(
    _ from: Int, _ field: Int, _ width: Int, _ template: inout [UInt8]
  ) {
    addBit(from, field, &template)
    let run = Run(from: old.positions[from], to: new.positions[field], count: width)
    if let last = fixedRuns.last, last.from + last.count == run.from, last.to + last.count == run.to
    {
      fixedRuns[fixedRuns.count - 1].count += width
    } else {
      fixedRuns.append(run)
    }
  }

  /// Copies the bit of an absent value; the template's bit is cleared.
  private mutating func addBit(_ from: Int, _ field: Int, _ template: inout [UInt8]) {
    template[RowLayout.headerByteCount + field >> 3] &= ~(1 << UInt8(field & 7))
    // At most 56 bits, so that a run fits in 64 bits that are read from the byte where it begins.
    if let last = bitRuns.last, last.from + last.count == from, last.to + last.count == field,
      last.count < 56
    {
      bitRuns[bitRuns.count - 1].count += 1
    } else {
      bitRuns.append(Run(from: from, to: field, count: 1))
    }
  }

  private mutating func addVariable(
    _ field: Int, _ source: Source, _ constants: RowReader, _ template: inout [UInt8]
  ) {
    switch source {
    case .copy(let from), .copyOrDefault(let from, _):
      if new.fields[field].kind.canBeExternal { externalFields[from] = field }
    case .convert, .number, .constant, .link, .absent: break
    }
    switch source {
    case .copy(let from):
      addBit(from, field, &template)
      let first = old.positions[from]
      if case .copy(let start, let count)? = variableRuns.last, start + count == first {
        variableRuns[variableRuns.count - 1] = .copy(first: start, count: count + 1)
      } else {
        variableRuns.append(.copy(first: first, count: 1))
      }
    case .copyOrDefault(let from, _):
      addBit(from, field, &template)
      let bytes = Array(constants.variable(field))
      constantByteCount += bytes.count
      variableRuns.append(
        .copyOrDefault(variable: old.positions[from], field: from, bytes: bytes))
      defaults.append(Default(from: from, to: field, fixed: nil))
    case .convert(let from, let conversion, let value):
      addConversion(
        .composite(conversion, new.fields[field].name), from, field, value, constants, &template)
    case .number(let from, let conversion, let value):
      addConversion(
        .number(conversion, new.fields[field].name), from, field, value, constants, &template)
    case .constant:
      let bytes = Array(constants.variable(field))
      constantByteCount += bytes.count
      variableRuns.append(.constant(bytes))
    case .absent, .link:
      variableRuns.append(.absent)
    }
  }

  private mutating func addConversion(
    _ kind: FieldConversion.Kind, _ from: Int, _ field: Int, _ value: AttributeValue?,
    _ constants: RowReader, _ template: inout [UInt8]
  ) {
    addBit(from, field, &template)
    let bytes = value.map { _ in Array(constants.variable(field)) }
    variableRuns.append(.converted(conversions.count))
    conversions.append(
      FieldConversion(field: field, from: from, kind: kind, orDefault: bytes, offset: nil))
  }
}
