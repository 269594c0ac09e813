import QuireModel

extension ManagedObjectModel {
  /// The model that classes declare: each class is an entity, its superclass the parent entity, its
  /// ``Managed`` properties are the properties.
  ///
  /// ```swift
  /// final class Artist: ManagedObject {
  ///   @Managed var name: String = "Nobody"
  ///   @Managed(inverse: \Artwork.artist, deleteRule: .cascade) var artworks: Set<Artwork>
  /// }
  /// final class Artwork: ManagedObject {
  ///   @Managed(.unique) var slug: String
  ///   @Managed(renamedFrom: "cost") var price: Double = 0
  ///   @Managed var artist: Artist?
  /// }
  /// let model = try ManagedObjectModel(for: Artist.self, Artwork.self)
  /// ```
  ///
  /// A property of a type that is not optional is required. `Int` is an integer of 64 bits, a set
  /// of objects a relationship to many, an array of objects an ordered one; a ``ManagedAttribute``
  /// is of the attribute's type that it names, a ``TransformableValue`` of bytes. What else is so
  /// of a property is said in its declaration, of an entity in ``ManagedObject/entityDeclaration``.
  /// The entity is named by ``ManagedObject/modelEntityName``.
  ///
  /// A store keeps the model that it was written with. So a program has the current classes only:
  /// its stores of earlier versions are migrated from what they say themselves.
  ///
  /// - Parameter classes: with them come their superclasses, and all classes that relationships
  ///   refer to. Subclasses have to be named.
  /// - Throws: ``PersistenceError/Code/coreData`` (134060) with one error for each mistake in
  ///   ``PersistenceError/detailedErrors``; ``ModelError`` when the entities contradict each other.
  /// - Complexity: each class is looked at once in a process, by an object that is made for it.
  public convenience init(for classes: ManagedObject.Type...) throws {
    try self.init(for: classes)
  }

  /// The same, of classes in a list.
  public convenience init(for classes: [ManagedObject.Type]) throws {
    try self.init(DeclaredModel.declaration(of: classes))
  }

  /// The classes of the model that some classes declare: with them come their superclasses, and all
  /// that relationships refer to.
  package static func classes(for classes: [ManagedObject.Type]) -> [ManagedObject.Type] {
    DeclaredModel.classes(of: classes)
  }
}
