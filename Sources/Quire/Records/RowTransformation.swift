import QuireModel

/// Makes rows of one layout from rows of another: what goes where is decided once, and carried out
/// on bytes for each row.
///
/// Fields that lie together in both layouts are copied together, so that a row of ten fields that
/// gains an eleventh takes a few copies and no look at any value.
struct RowTransformation: Sendable {
  /// Where a field of a new row comes from.
  enum Source: Hashable, Sendable {
    /// The field with this index in the old row, which is of the same kind.
    case copy(Int)
    /// The same, or this value where the old row has none.
    case copyOrDefault(Int, AttributeValue)
    /// A composite whose elements changed, or this value where the old row has none.
    case convert(Int, CompositeConversion, orDefault: AttributeValue?)
    /// A number of another kind, or this value where the old row has none.
    case number(Int, NumberConversion, orDefault: AttributeValue?)
    case constant(AttributeValue)
    /// A reference that is asked for row by row, under this number.
    case link(Int)
    case absent
  }

  /// What is next to each other in both rows.
  struct Run {
    var from: Int
    var to: Int
    var count: Int
  }

  /// Some of the new row's variable fields, which follow each other.
  enum VariableRun {
    /// This many fields of the old row from this one on.
    case copy(first: Int, count: Int)
    /// A field of the old row, or these bytes where it is nil.
    case copyOrDefault(variable: Int, field: Int, bytes: [UInt8])
    /// The bytes that were converted for this row, by their number.
    case converted(Int)
    case constant([UInt8])
    case absent
  }

  struct Default {
    var from: Int
    var to: Int
    /// Where a fixed field lies, and what it holds; `nil` for a variable one.
    var fixed: (place: Int, bytes: [UInt8])?
  }

  let old: RowLayout
  let new: RowLayout
  /// Whether the bits of either row fit into 64.
  let hasFewFields: Bool
  /// The fixed part of a new row, without what differs from row to row.
  private(set) var template: [UInt8] = []
  /// Of the bits that say whether a value is nil.
  private(set) var bitRuns: [Run] = []
  /// Of the bytes of the fixed part.
  private(set) var fixedRuns: [Run] = []
  private(set) var variableRuns: [VariableRun] = []
  private(set) var defaults: [Default] = []
  private(set) var conversions: [FieldConversion] = []
  private(set) var links: [(field: Int, place: Int, number: Int)] = []
  /// The fields of the new row that are copied and may be outside of it, by those of the old one.
  private(set) var externalFields: [Int: Int] = [:]
  /// The bytes of all variable constants and defaults.
  private(set) var constantByteCount = 0

  /// - Parameter sources: one for each field of the new layout.
  /// - Throws: ``RowError`` when a constant is not of its field's kind or out of its range, or a
  ///   field is to be copied to one of another kind.
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

  /// - Throws: what making a transformation of these would throw.
  static func check(from old: RowLayout, to new: RowLayout, _ sources: [Source]) throws {
    _ = try constants(from: old, to: new, sources)
  }

  /// A row with nothing but the constants, after a look whether everything fits.
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
    // A row with nothing but the constants: its fixed part is the template, its variable fields are
    // the constants' bytes.
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
    let place = new.places[field]
    switch source {
    case .copy(let from):
      addCopy(from, field, width, &template)
    case .copyOrDefault(let from, _):
      addCopy(from, field, width, &template)
      let bytes = Array(constants.bytes[place..<place + width])
      defaults.append(Default(from: from, to: field, fixed: (place, bytes)))
    case .number(let from, let conversion, let value):
      addBit(from, field, &template)
      conversions.append(
        FieldConversion(
          field: field, from: from, kind: .number(conversion, new.fields[field].name),
          orDefault: value.map { _ in Array(constants.bytes[place..<place + width]) },
          place: place))
    case .link(let number): links.append((field, place, number))
    case .constant, .convert, .absent: break
    }
  }

  private mutating func addCopy(
    _ from: Int, _ field: Int, _ width: Int, _ template: inout [UInt8]
  ) {
    addBit(from, field, &template)
    let run = Run(from: old.places[from], to: new.places[field], count: width)
    if let last = fixedRuns.last, last.from + last.count == run.from, last.to + last.count == run.to
    {
      fixedRuns[fixedRuns.count - 1].count += width
    } else {
      fixedRuns.append(run)
    }
  }

  /// The bit of a nil value is copied: in the template there is none.
  private mutating func addBit(_ from: Int, _ field: Int, _ template: inout [UInt8]) {
    template[RowLayout.headerByteCount + field >> 3] &= ~(1 << UInt8(field & 7))
    // At most 56, so that a run fits into the 64 bits read from the byte where it begins.
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
      let first = old.places[from]
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
        .copyOrDefault(variable: old.places[from], field: from, bytes: bytes))
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
      FieldConversion(field: field, from: from, kind: kind, orDefault: bytes, place: nil))
  }
}
