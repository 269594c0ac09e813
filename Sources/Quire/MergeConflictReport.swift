import QuireModel

/// What one can know of a ``MergeConflict`` anywhere.
public struct MergeConflictReport: Hashable, Sendable {
  /// The object that the context would write.
  public var objectID: ManagedObjectID
  /// The version the changes were made to.
  public var oldVersion: Int
  /// The version in the store; 0 when the object is gone. The same as ``oldVersion`` when it is
  /// not the object itself that others have changed, but what refers to it: when it is to be
  /// deleted, and got members there that would be left without an owner.
  public var newVersion: Int
  /// The names of the properties that were changed here.
  public var changedProperties: [String] = []
  /// Those of the properties changed here that are in dispute: with what another save has done with
  /// the ``disputingProperties``. All of them when the object was deleted there.
  public var disputedProperties: [String] = []
  /// The names of the properties that another save has changed, and by which it disputes changes
  /// made here; empty when it is a deletion that is disputed.
  public var disputingProperties: [String] = []
  /// What was fetched, by the names of the properties. Those without a value are left out.
  public var objectValues: [String: Value] = [:]
  /// What the store has now; `nil` when the object is gone.
  public var storeValues: [String: Value]?

  /// What one property of a row holds.
  public enum Value: Hashable, Sendable {
    /// The value of an attribute.
    case attribute(AttributeValue)
    /// The destination of a to-one relationship.
    case object(ManagedObjectID)
  }
}
