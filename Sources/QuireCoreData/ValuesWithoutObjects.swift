import Quire

// Values that stores and saves make, made by themselves: tests of programs need one to pass on.

extension ManagedObjectID {
  /// A temporary ID that no object has.
  public init() { self = .ofNoObject() }
}

extension ConstraintConflict {
  /// A conflict of no objects.
  public init() { self.init(report: .empty, databaseObject: nil, conflictingObjects: []) }
}
