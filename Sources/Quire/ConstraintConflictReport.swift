/// What one can know of a ``ConstraintConflict`` anywhere.
public struct ConstraintConflictReport: Hashable, Sendable {
  public var entityName: String
  public var constraint: [String]
  public var values: [String: MergeConflictReport.Value]
  public var databaseObjectID: ManagedObjectID?
  public var conflictingObjectIDs: [ManagedObjectID]
  public var databaseValues: [String: MergeConflictReport.Value]?
  public var conflictingValues: [[String: MergeConflictReport.Value]]
}
