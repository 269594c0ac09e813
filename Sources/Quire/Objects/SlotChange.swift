import QuireModel

/// One change of one property of one object, on one side of a relationship.
///
/// A change of a relationship with an inverse is two of these or more, one for each object that it
/// changes.
package enum SlotChange {
  case value(AttributeValue?)
  /// A to-one relationship leads to this object.
  case one(ManagedObject?)
  case addition(ManagedObject)
  case removal(ManagedObject)
  /// An ordered relationship has its members in this order; which ones they are does not change.
  case order([ManagedObject])
}

/// Who is told what happens in a context, in the context's isolation.
package protocol ContextObserver: AnyObject {
  /// A property is about to change. The object still shows what it had; nothing may be changed.
  func willChange(_ property: String, of object: ManagedObject, by change: SlotChange)

  /// An object has come into the context: it is new, or was dropped before.
  func didInsert(_ object: ManagedObject)

  /// An object is marked as deleted; its delete rules are applied later.
  func didDelete(_ object: ManagedObject)

  /// A deleted object was taken back.
  func didRevive(_ object: ManagedObject)

  /// A save is durable. Its objects are clean and have their final places; nothing else was told
  /// of it yet.
  func didSave(_ changes: SavedChanges)
}

extension ContextObserver {
  package func didInsert(_ object: ManagedObject) {}
  package func didDelete(_ object: ManagedObject) {}
  package func didRevive(_ object: ManagedObject) {}
}
