import QuireModel
import Synchronization

/// A former layout of an entity's rows, from before a deferred migration, and the conversion of
/// such rows to the current one.
///
/// After several deferred migrations, rows of each older layout are still converted in one step.
final class OlderLayout: Hashable, Sendable {
  /// The largest number of older layouts of an entity. A migration that would add another rewrites
  /// the rows.
  static let limit = 32

  let layout: RowLayout
  /// The origin of each field of the current layout.
  let sources: [RowTransformation.Source]
  /// The layout to which rows are converted, without its older layouts: one of them would be this
  /// object.
  private let current: RowLayout
  private let made = AtomicLazyReference<MadeTransformation>()

  /// - Parameters:
  ///   - layout: the older layout; its own older layouts are ignored.
  ///   - current: the layout to which rows are converted; its older layouts are ignored.
  /// - Throws: ``RowError`` if the sources do not fit the layouts.
  init(_ layout: RowLayout, to current: RowLayout, _ sources: [RowTransformation.Source]) throws {
    self.layout = RowLayout(number: layout.number, fields: layout.fields)
    self.sources = sources
    self.current = RowLayout(number: current.number, fields: current.fields)
    try RowTransformation.check(from: self.layout, to: self.current, sources)
  }

  /// The conversion of rows to the current layout. It is prepared when the first row is read:
  /// opening a store reads none, and many rows are rewritten without ever having been read.
  func transformation() throws(RowError) -> MadeTransformation {
    if let made = made.load() { return made }
    do {
      let transformation = try RowTransformation(from: layout, to: current, sources)
      return made.storeIfNil(MadeTransformation(transformation))
    } catch {
      throw error as? RowError ?? RowError(reason: "\(error)")
    }
  }

  static func == (left: OlderLayout, right: OlderLayout) -> Bool {
    left.layout == right.layout && left.sources == right.sources
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(layout)
    hasher.combine(sources)
  }
}

/// A transformation that can be shared by reference.
final class MadeTransformation: Sendable {
  let transformation: RowTransformation

  init(_ transformation: RowTransformation) { self.transformation = transformation }
}

/// The rows of an entity that a deferred migration has left in older layouts.
struct UnfinishedRows: Hashable, Sendable {
  /// All rows with lower keys have the current layout.
  var firstKey: Int64 = 0
  /// The largest number of such rows. There may be fewer: some may have been saved since, and so
  /// written in the current layout, or deleted.
  var count: Int

  /// The approximate share of these rows in the size of a tree.
  func share(of byteCount: Int, objectCount: Int) -> Int {
    guard objectCount > count else { return byteCount }
    return Int(Double(byteCount) * Double(count) / Double(objectCount))
  }
}

extension RowTransformation.Source {
  /// The source of the field when the row that it names was itself converted from an older one.
  ///
  /// - Parameter earlier: the sources of the fields of the intermediate row.
  func composed(with earlier: [RowTransformation.Source]) -> RowTransformation.Source {
    switch self {
    case .copy(let field): return earlier[field]
    case .copyOrDefault(let field, let value):
      switch earlier[field] {
      case .copy(let first): return .copyOrDefault(first, value)
      case .absent: return .constant(value)
      // These always have a value.
      case .copyOrDefault, .constant: return earlier[field]
      // A migration with these is never deferred.
      case .link, .convert, .number: return earlier[field]
      }
    case .constant, .absent, .link, .convert, .number: return self
    }
  }
}

/// Memory for the converted form of a row that is stored in an older layout.
///
/// The bytes are valid until the next row is converted, or the scratch is released.
final class RowScratch {
  private var memory: UnsafeMutableRawBufferPointer?

  deinit { memory?.deallocate() }

  /// The row in the current layout.
  ///
  /// - Parameter bytes: a row that is not of the current layout, or is too short for it.
  @inline(never)
  func row(
    of bytes: UnsafeRawBufferPointer, _ layout: RowLayout
  ) throws(RowError) -> UnsafeRawBufferPointer {
    guard let number = RowReader.layoutNumber(of: bytes) else {
      throw RowError(reason: "a row of \(bytes.count) bytes is shorter than its fixed part")
    }
    guard let older = layout.older.first(where: { $0.layout.number == number }) else {
      // The layout is unknown: the reader throws the error for it.
      return try RowReader(bytes, layout: layout).bytes
    }
    let row = try RowReader(bytes, layout: older.layout)
    let made = try older.transformation()
    let target = reserve(made.transformation.byteLimit(for: row, []))
    guard let start = target.baseAddress else { return UnsafeRawBufferPointer(target) }
    let count = made.transformation.write(row, [], to: start) { _ in nil }
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  private func reserve(_ count: Int) -> UnsafeMutableRawBufferPointer {
    if let memory, memory.count >= count { return memory }
    memory?.deallocate()
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(count, 256), alignment: 16)
    memory = larger
    return larger
  }
}
