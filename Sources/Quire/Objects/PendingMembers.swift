/// What was changed in a to-many relationship since the object was last fetched or saved.
///
/// Only differences are kept, so that an object can be added to a relationship with a million
/// members without reading them. An ordered relationship keeps its whole new order besides.
final class PendingMembers {
  // Unchecked as in ``ManagedObject``: each access is over before anything else is called.
  @exclusivity(unchecked) var added: [ManagedObject] = []
  @exclusivity(unchecked) var removed: Set<Reference> = []
  /// All members in their order; in ordered relationships only.
  @exclusivity(unchecked) var order: [ManagedObject]?
}
