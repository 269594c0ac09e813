extension Identifiable where Self: ManagedObject {
  /// The object's ID, for a class that conforms to `Identifiable` and has no `id` of its own:
  ///
  /// ```swift
  /// final class Artwork: ManagedObject, Identifiable {
  ///   @Managed var title: String = ""
  /// }
  /// ```
  ///
  /// ``ManagedObject`` itself does not conform: a class with an attribute `id` is identified by
  /// that. As any ID, that of a new object changes when it is saved.
  public var id: ManagedObjectID { objectID }
}
