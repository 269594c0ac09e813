/// What one can know of a ``ConstraintConflict`` anywhere.
public struct ConstraintConflictReport: Hashable, Sendable {
  /// The entity that has the constraint.
  public var entityName: String
  /// The names of the properties that must be unique together.
  public var constraint: [String]
  /// The values that several objects would have, by the names of the properties.
  public var values: [String: MergeConflictReport.Value]
  /// The object in the store that has the values; `nil` when all that would have them are unsaved.
  public var databaseObjectID: ManagedObjectID?
  /// The objects of the context that would have the values.
  public var conflictingObjectIDs: [ManagedObjectID]
  /// The row of the object in the store, by the names of its properties.
  public var databaseValues: [String: MergeConflictReport.Value]?
  /// What was fetched of each of ``conflictingObjectIDs``; empty for a new object.
  public var conflictingValues: [[String: MergeConflictReport.Value]]

  /// A report of no conflict, for tests of what programs do with one.
  package static var empty: ConstraintConflictReport {
    ConstraintConflictReport(
      entityName: "", constraint: [], values: [:], conflictingObjectIDs: [], conflictingValues: [])
  }
}
