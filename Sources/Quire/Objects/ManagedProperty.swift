import QuireModel

/// A property of one object, for questions that need no value.
///
/// A ``Managed`` property has one under its name with a dollar sign:
///
/// ```swift
/// for artwork in artworks { count[artwork.$artist.objectID, default: 0] += 1 }
/// ```
///
/// It keeps a strong reference to its object.
@frozen
public struct ManagedProperty<Value> {
  @usableFromInline let object: ManagedObject
  /// -1 when the model has no such property: the context has kept an error about it.
  @usableFromInline let slot: Int

  @inlinable
  init(of object: ManagedObject, _ slot: Int) {
    self.object = object
    self.slot = slot
  }
}

@available(*, unavailable)
extension ManagedProperty: Sendable {}

extension ManagedProperty where Value: ToOneManagedValue {
  /// The ID of the object that a to-one relationship refers to, and `nil` where it refers to none.
  /// No object is made for that. The destination is looked up only where it may be gone: where
  /// there is no inverse, or one whose delete rule is to take no action, and in a context with a
  /// parent.
  ///
  /// As with the property itself, a fault is read for its reference, and what reading throws the
  /// context throws from its next fetch or save. The class of the destination is not checked.
  ///
  /// - Complexity: O(1), or that of reading one object.
  @inlinable
  public var objectID: ManagedObjectID? {
    slot < 0 ? nil : object.destinationID(ofProperty: slot)
  }
}

/// A type of a property that stands for a to-one relationship: an object, or its optional.
public protocol ToOneManagedValue {}

extension ManagedObject: ToOneManagedValue {}

extension Optional: ToOneManagedValue where Wrapped: ManagedObject {}

/// A type of a property that refers to an object, or to none: the optional of a class of objects.
public protocol OptionalObject<Wrapped> {
  /// The class of the object.
  associatedtype Wrapped: PropertyReading
}

extension Optional: OptionalObject where Wrapped: PropertyReading {}

extension ManagedObject {
  /// The ID of what a to-one property refers to. Errors are kept, as by the property.
  @usableFromInline final func destinationID(ofProperty slot: Int) -> ManagedObjectID? {
    // The row of a clean object has it, unless the object it refers to shows another ID.
    if let reference = sureReference(slot),
      let identifier = ofArena({ $0.destinationID(at: reference) })
    {
      return identifier
    }
    do {
      return try destinationID(checkedRelationship(slot, isToMany: false))
    } catch {
      keep(error)
      return nil
    }
  }
}
