// Compiled into the module Quire.
import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// An input is a byte for the number of fields, a byte for the kind of each, and a row.

private let kinds = (1...UInt8.max).compactMap(FieldKind.init(rawValue:))

func fuzz(_ bytes: [UInt8]) {
  var input = FuzzInput(bytes)
  let fieldCount = input.byte() % 40
  let fields = (0..<fieldCount).map { number in
    RowLayout.Field(name: "\(number)", kind: kinds[input.byte() % kinds.count])
  }
  let layout = RowLayout(
    number: 7, fields: fields.sorted { ($0.kind.fixedWidth ?? 0) > ($1.kind.fixedWidth ?? 0) })
  var row = input.rest()
  if row.count >= 2 { row.replaceSubrange(0..<2, with: [7, 0]) }
  row.withUnsafeBytes { read($0, layout) }
  row.withUnsafeBytes { _ = try? AttributeValue(archived: $0) }
  row.withUnsafeBytes { _ = try? ModelArchive.decode($0) }
}

private func read(_ bytes: UnsafeRawBufferPointer, _ layout: RowLayout) {
  guard let reader = try? RowReader(bytes, layout: layout) else { return }
  _ = reader.version
  var values: [RowWriter.Field?] = []
  var copies: [RowWriter.Field?] = []
  for (index, field) in layout.fields.enumerated() {
    if field.kind == .reference {
      values.append(reader.reference(index).map { .reference($0) })
    } else {
      // A value that cannot be read is left out; reading it must only not trap.
      values.append((try? reader.value(index)).flatMap { $0 }.map { .value($0) })
    }
    copies.append(reader.isNil(index) ? nil : .copy(of: index, in: reader))
  }
  expectSame(reader, layout, copies, exactly: true)
  expectSame(reader, layout, values, exactly: false)
}

/// What is written from a row's fields is a row again; a copy has the same bytes in every field.
private func expectSame(
  _ reader: RowReader, _ layout: RowLayout, _ fields: [RowWriter.Field?], exactly: Bool
) {
  let writer = RowWriter(layout)
  do {
    try writer.write(version: reader.version) { fields[$0] }
    try writer.withBytes { bytes in
      let copy = try RowReader(bytes, layout: layout)
      for (index, field) in layout.fields.enumerated() {
        guard (fields[index] == nil) == copy.isNil(index) else { fatalError("a field was lost") }
        if fields[index] == nil { continue }
        if field.kind.fixedWidth == nil, exactly {
          guard copy.variable(index).elementsEqual(reader.variable(index)) else {
            fatalError("field \(index) of kind \(field.kind) was copied wrongly")
          }
        }
        if field.kind != .reference, !exactly { _ = try copy.value(index) }
        if field.kind == .reference, copy.reference(index) != reader.reference(index) {
          fatalError("a reference was copied wrongly")
        }
      }
    }
  } catch {
    fatalError("what was read cannot be written and read again: \(error)")
  }
}

func seeds() throws -> [[UInt8]] {
  let samples: [(FieldKind, AttributeValue)] = [
    (.uuid, .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))),
    (.integer64, .integer(-5)), (.double, .double(1.5)),
    (.date, .date(Date(timeIntervalSinceReferenceDate: 1e8))), (.integer32, .integer(70_000)),
    (.float, .float(-0.25)), (.integer16, .integer(-7)), (.boolean, .boolean(true)),
    (.string, .string("caf\u{E9}")), (.binary, .binary(Data([1, 2, 3]))),
    (.decimal, .decimal(Decimal(string: "-12.5e3") ?? 0)),
    (.composite, .composite(["a": .integer(1), "b": .composite(["c": .string("d")])])),
    (.uri, .uri(URL(string: "https://example.com/a?b#c") ?? URL(filePath: "/"))),
    (.transformed, .transformed(Data([9]))),
  ]
  var seeds: [[UInt8]] = []
  for used in [samples, Array(samples[..<4]), Array(samples[8...]), [samples[8], samples[11]]] {
    let layout = RowLayout(
      number: 7, fields: used.map { RowLayout.Field(name: "\($0.0)", kind: $0.0) })
    let writer = RowWriter(layout)
    for nilField in [-1, 0, used.count - 1] {
      try writer.write(version: 3) { $0 == nilField ? nil : .value(used[$0].1) }
      let codes = used.map { UInt8(kinds.firstIndex(of: $0.0) ?? 0) }
      seeds.append([UInt8(used.count)] + codes + writer.withBytes { Array($0) })
    }
  }
  return seeds
}
