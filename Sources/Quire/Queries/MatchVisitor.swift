import QuireModel

/// Receives the matches of a fetch one by one.
protocol MatchVisitor {
  /// Whether the visitor reads the values of sort keys.
  var readsKeys: Bool { get }

  /// - Parameters:
  ///   - object: the object, if the match is an object with changes.
  ///   - row: returns the row under the cursor, in a form that can be kept.
  /// - Returns: whether to continue.
  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) throws -> Bool

  /// Whether ``countRow()`` has an effect.
  static var countsRows: Bool { get }

  /// Called before a row is read.
  ///
  /// - Throws: an error that ends the fetch.
  mutating func countRow() throws

  /// Called when the walk through an index is given up. The copy of the visitor that took part in
  /// the walk is dropped.
  mutating func abandonWalk()

  /// What the first sort key of further matches may be.
  ///
  /// - Returns: `nil` if it may be anything.
  func bound(_ table: FieldTable, sortedBy paths: [FetchPath]) -> SortBound?

  /// Whether to call ``take(_:at:)`` instead, if every row is a match and none of its values is
  /// needed.
  static var takesRows: Bool { get }

  /// Called before rows of an entity are taken.
  ///
  /// - Parameter count: the number of rows in the store; some of them may not be taken.
  mutating func begin(_ storage: EntityStorage, count: Int)

  /// - Returns: whether to continue.
  mutating func take(_ row: RowBytes, at reference: Reference) throws -> Bool

  /// Called before the rows of a leaf are taken.
  ///
  /// - Parameter owner: keeps the leaf in memory.
  mutating func enterLeaf(_ owner: AnyObject)

  /// Like ``take(_:at:)``, for a row in the leaf that was entered last.
  mutating func takeInLeaf(
    _ start: UnsafeRawPointer, _ byteCount: Int, at reference: Reference
  ) throws -> Bool

  /// Whether to call ``takeKey(at:)`` instead, without reading rows.
  static var takesKeys: Bool { get }

  /// Called before keys of an entity are taken.
  ///
  /// - Parameter count: the number of rows in the store; some of them may not be taken.
  mutating func beginKeys(count: Int)

  /// - Returns: whether to continue.
  mutating func takeKey(at reference: Reference) throws -> Bool
}

extension MatchVisitor {
  static var countsRows: Bool { false }

  mutating func countRow() {}

  mutating func abandonWalk() {}

  static var takesRows: Bool { false }

  func bound(_ table: FieldTable, sortedBy paths: [FetchPath]) -> SortBound? { nil }

  mutating func begin(_ storage: EntityStorage, count: Int) {}

  mutating func take(_ row: RowBytes, at reference: Reference) throws -> Bool {
    preconditionFailure("a visitor that wants rows takes them")
  }

  mutating func enterLeaf(_ owner: AnyObject) {}

  mutating func takeInLeaf(
    _ start: UnsafeRawPointer, _ byteCount: Int, at reference: Reference
  ) throws -> Bool {
    preconditionFailure("a visitor that wants rows takes them")
  }

  static var takesKeys: Bool { false }

  mutating func beginKeys(count: Int) {}

  mutating func takeKey(at reference: Reference) throws -> Bool {
    preconditionFailure("a visitor that wants keys takes them")
  }
}
