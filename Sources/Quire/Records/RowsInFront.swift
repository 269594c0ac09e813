#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Rows that a ``StoreView`` shows instead of those in its trees: the unsaved objects of a
/// parent, or what a store of another make has answered.
///
/// A subclass says what it has; this has nothing.
class RowsInFront {
  /// - Returns: `nil` when there is no such row.
  func row(_ reference: Reference) throws -> Row? { nil }

  func contains(_ reference: Reference) throws -> Bool { try row(reference) != nil }

  /// The destinations of a to-many slot of an object.
  func members(of reference: Reference, _ link: StoredEntity.Link) throws -> [Reference] { [] }

  /// A value that lies outside of its row.
  func data(of value: ExternalValue) throws -> Data? { nil }
}
