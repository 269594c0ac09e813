import QuireModel

// Stacks for classes that declare their model.

extension PersistentContainer {
  /// A container without a store, for the model that classes declare.
  ///
  /// ```swift
  /// let container = try PersistentContainer(name: "Gallery", for: Artist.self, Artwork.self)
  /// ```
  ///
  /// - Parameters:
  ///   - name: also that of the file in ``defaultDirectoryURL()``.
  ///   - classes: as for `ManagedObjectModel.init(for:)`.
  ///   - transformers: what turns values of transformable attributes into bytes and back, for those
  ///     that name a transformer.
  /// - Throws: what `ManagedObjectModel.init(for:)` throws.
  public convenience init(
    name: String, for classes: ManagedObject.Type..., transformers: ValueTransformers = [:]
  ) throws {
    try self.init(name: name, for: classes, transformers: transformers)
  }

  /// The same, for classes in a list.
  public convenience init(
    name: String, for classes: [ManagedObject.Type], transformers: ValueTransformers = [:]
  ) throws {
    self.init(
      name: name, managedObjectModel: try ManagedObjectModel(for: classes),
      classes: DeclaredModel.classes(of: classes), transformers: transformers)
  }
}

extension PersistentStoreCoordinator {
  /// A coordinator for the model that classes declare.
  ///
  /// - Parameters:
  ///   - classes: as for `ManagedObjectModel.init(for:)`.
  ///   - transformers: what makes bytes of the values of transformable attributes.
  /// - Throws: what `ManagedObjectModel.init(for:)` throws.
  public convenience init(
    for classes: ManagedObject.Type..., transformers: ValueTransformers = [:]
  ) throws {
    try self.init(for: classes, transformers: transformers)
  }

  /// The same, for classes in a list.
  public convenience init(
    for classes: [ManagedObject.Type], transformers: ValueTransformers = [:]
  ) throws {
    self.init(
      managedObjectModel: try ManagedObjectModel(for: classes),
      classes: DeclaredModel.classes(of: classes), transformers: transformers)
  }
}
