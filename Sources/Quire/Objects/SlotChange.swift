import QuireModel

/// One change of one property of one object, on one side of a relationship.
///
/// A change of a relationship with an inverse is two of these or more, one for each object that it
/// changes.
package enum SlotChange {
  case value(AttributeValue?)
  /// A to-one relationship refers to this object.
  case one(ManagedObject?)
  case addition(ManagedObject)
  case removal(ManagedObject)
  /// An ordered relationship has its members in this order; which ones they are does not change. A
  /// function, as few who hear of it ask for all members: it is valid within the call.
  case order(() -> [ManagedObject])
}

/// Gets notified of what happens in a context, in the context's isolation.
package protocol ContextObserver: AnyObject {
  /// Called before a property changes. The object still shows the former value; the observer must
  /// not change anything.
  func willChange(_ property: String, of object: ManagedObject, by change: SlotChange)

  /// Called when an object was inserted: a new one, or one that the context had dropped.
  func didInsert(_ object: ManagedObject)

  /// Called when an object was marked as deleted; its delete rules are applied later.
  func didDelete(_ object: ManagedObject)

  /// Called when the deletion of an object was taken back.
  func didRevive(_ object: ManagedObject)

  /// Called when a save is durable, before ``ManagedObject/didSave()`` and before notices. The
  /// objects are clean and have their permanent references.
  func didSave(_ changes: SavedChanges)
}

extension ContextObserver {
  package func didInsert(_ object: ManagedObject) {}
  package func didDelete(_ object: ManagedObject) {}
  package func didRevive(_ object: ManagedObject) {}
}
