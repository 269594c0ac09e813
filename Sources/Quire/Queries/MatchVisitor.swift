import QuireModel

/// Takes what a fetch finds, one after the other.
protocol MatchVisitor {
  /// Whether the values of sort keys are looked at.
  var readsKeys: Bool { get }

  /// - Parameters:
  ///   - object: where it is one with changes that was found.
  ///   - row: the row under the cursor, for keeping.
  /// - Returns: whether to go on.
  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) throws -> Bool

  /// Whether ``countRow()`` does something.
  static var countsRows: Bool { get }

  /// Called before a row is read.
  ///
  /// - Throws: what ends the fetch.
  mutating func countRow() throws

  /// Called when the order of an index is given up, and with it a copy of the visitor.
  mutating func abandonWalk()

  /// Whether a match is not looked at any further, as its first sort key is after all that are
  /// wanted.
  ///
  /// - Parameter row: of the entity's layout, of which no more is known than that it has its fixed
  ///   part.
  func passes(
    fixedPart row: UnsafeRawPointer, _ table: FieldTable, sortedBy paths: [FetchPath]
  ) -> Bool

  /// Whether to call ``take(_:at:)`` where every row is a match, and nothing is asked of it.
  static var takesRows: Bool { get }

  /// Called before rows of an entity are taken.
  ///
  /// - Parameter count: how many there are, of which some may not come.
  mutating func begin(_ storage: EntityStorage, count: Int)

  /// - Returns: whether to go on.
  mutating func take(_ row: RowBytes, at reference: Reference) throws -> Bool

  /// Called before rows of a leaf are taken.
  ///
  /// - Parameter owner: what keeps the leaf.
  mutating func enterLeaf(_ owner: AnyObject)

  /// The same of a row in the leaf that was entered last.
  mutating func takeInLeaf(
    _ start: UnsafeRawPointer, _ byteCount: Int, at reference: Reference
  ) throws -> Bool

  /// Whether to call ``takeKey(at:)`` there instead: no row is read then.
  static var takesKeys: Bool { get }

  /// - Returns: whether to go on.
  mutating func takeKey(at reference: Reference) throws -> Bool
}

extension MatchVisitor {
  static var countsRows: Bool { false }

  @inline(__always)
  mutating func countRow() {}

  mutating func abandonWalk() {}

  static var takesRows: Bool { false }

  @inline(__always)
  func passes(
    fixedPart row: UnsafeRawPointer, _ table: FieldTable, sortedBy paths: [FetchPath]
  ) -> Bool { false }

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

  mutating func takeKey(at reference: Reference) throws -> Bool {
    preconditionFailure("a visitor that wants keys takes them")
  }
}
