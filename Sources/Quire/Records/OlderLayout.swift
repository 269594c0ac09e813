import QuireModel
import Synchronization

/// A layout that rows of an entity had before a deferred migration, and what becomes of such a row
/// when it is read.
///
/// However many migrations were deferred one after the other, each older layout leads to the
/// current one in one step.
final class OlderLayout: Hashable, Sendable {
  /// More than these are not kept: the migration that would add one more rewrites the entity.
  static let limit = 32

  let layout: RowLayout
  /// Where each field of the current layout comes from.
  let sources: [RowTransformation.Source]
  /// What rows become; without its own older layouts, since it would be held by one.
  private let current: RowLayout
  private let made = AtomicLazyReference<MadeTransformation>()

  /// - Parameters:
  ///   - layout: taken without the layouts that are older still.
  ///   - current: what rows become; its own list of older layouts plays no part.
  /// - Throws: ``RowError`` when the sources do not fit the layouts.
  init(_ layout: RowLayout, to current: RowLayout, _ sources: [RowTransformation.Source]) throws {
    self.layout = RowLayout(number: layout.number, fields: layout.fields)
    self.sources = sources
    self.current = RowLayout(number: current.number, fields: current.fields)
    try RowTransformation.check(from: self.layout, to: self.current, sources)
  }

  /// What makes a current row of an older one: decided when the first row is read, as opening a
  /// store reads none, and most rows of some stores are never read before they are written anew.
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

/// A transformation where several can hold it.
final class MadeTransformation: Sendable {
  let transformation: RowTransformation

  init(_ transformation: RowTransformation) { self.transformation = transformation }
}

/// Rows of an entity that a deferred migration has left in older layouts.
struct UnfinishedRows: Hashable, Sendable {
  /// No row with a lower key has an older layout.
  var firstKey: Int64 = 0
  /// There are no more than these. There may be fewer: of those that were left, some were saved
  /// since, and so written in the current layout, or deleted.
  var count: Int

  /// What these rows take of a tree, about.
  func share(of byteCount: Int, objectCount: Int) -> Int {
    guard objectCount > count else { return byteCount }
    return Int(Double(byteCount) * Double(count) / Double(objectCount))
  }
}

extension RowTransformation.Source {
  /// What the field comes from when the row it would come from was made of another one itself.
  ///
  /// - Parameter earlier: where the fields of the row in between come from.
  func composed(with earlier: [RowTransformation.Source]) -> RowTransformation.Source {
    switch self {
    case .copy(let field): return earlier[field]
    case .copyOrDefault(let field, let value):
      switch earlier[field] {
      case .copy(let first): return .copyOrDefault(first, value)
      case .absent: return .constant(value)
      // These are never without a value.
      case .copyOrDefault, .constant: return earlier[field]
      // None of these is deferred.
      case .link, .convert, .number: return earlier[field]
      }
    case .constant, .absent, .link, .convert, .number: return self
    }
  }
}

/// Memory for a row that was read in an older layout, as it is in the current one.
///
/// What is read through it lives until the next row, or as long as the scratch.
final class RowScratch {
  private var memory: UnsafeMutableRawBufferPointer?

  deinit { memory?.deallocate() }

  /// The row in the current layout.
  ///
  /// - Parameter bytes: a row that is not of the current layout, or too short to be.
  @inline(never)
  func row(
    of bytes: UnsafeRawBufferPointer, _ layout: RowLayout
  ) throws(RowError) -> UnsafeRawBufferPointer {
    guard let number = RowReader.layoutNumber(of: bytes) else {
      throw RowError(reason: "a row of \(bytes.count) bytes is shorter than its fixed part")
    }
    guard let older = layout.older.first(where: { $0.layout.number == number }) else {
      // Says what is wrong with the row, which has no layout that there is.
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
