import QuireModel

extension PropertyReading {
  /// A new object of the same entity, in the same context, with the same values.
  ///
  /// ```swift
  /// let draft = try letter.copied()
  /// let second = try album.copied(with: \.tracks)
  /// second.slug = "\(album.slug)-2"
  /// ```
  ///
  /// - Attributes are equal, those that have to be unique as well: give the copy others before it
  ///   is saved. Derived attributes are computed when it is saved.
  /// - Relationships refer to the same objects where these may have several on the other side, or
  ///   where there is no other side: the copy of a track is on the same album. What refers back to
  ///   one object alone stays with the original.
  ///
  /// - Parameter owned: relationships whose objects are copied, too, each as by `copied()`: they
  ///   belong to the copy, in the same order.
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` where the object belongs to no
  ///   context; ``PersistenceError/Code/undefinedKey`` for a path that is no relationship of the
  ///   object; and what reading it throws.
  /// - Complexity: that of reading the object, and the members of its relationships.
  public func copied<each Value>(
    with owned: repeat KeyPath<Self, each Value>
  ) throws -> Self {
    guard let context = managedObjectContext, let model = context.modelBinding,
      let classes = context.persistentStoreCoordinator?.classes
    else {
      throw PersistenceError(
        .persistentStoreOperation,
        "\(entity.name) is copied in a context, and this object has none")
    }
    var slots: Set<Int> = []
    for path in repeat each owned {
      let names = try PropertyProbe.names(of: path, from: binding, in: model, classes)
      let slot = try slot(for: names[0])
      guard names.count == 1, case .relationship = binding.properties[slot] else {
        throw PersistenceError(
          .undefinedKey,
          "\(entity.name) is copied with \(names.joined(separator: ".")), which is no relationship of it"
        )
      }
      slots.insert(slot)
    }
    let copy = try makeCopy(in: context, with: slots, without: -1)
    guard let typed = copy as? Self else { throw unacceptable(copy, for: "copied") }
    return typed
  }
}

extension ManagedObject {
  /// - Parameters:
  ///   - owned: the relationships whose destinations are copied, by their slots.
  ///   - left: a relationship that the copy begins without; -1 for none.
  fileprivate final func makeCopy(
    in context: ManagedObjectContext, with owned: Set<Int>, without left: Int
  ) throws -> ManagedObject {
    let copy = try EntityDescription.insertNewObject(forEntityName: entity.name, into: context)
    for (slot, trait) in binding.traits.enumerated() where slot != left {
      if trait.attributeType != nil {
        if !trait.isDerived { try copy.setAttribute(slot, try attribute(slot)) }
      } else if owned.contains(slot) {
        try copyDestinations(slot, to: copy, context)
      } else if try !isExclusive(slot) {
        if trait.isToMany {
          try copy.setMembers(slot, try members(slot))
        } else {
          try copy.setOne(slot, try one(slot))
        }
      }
    }
    return copy
  }

  /// Copies the destinations of a relationship, and gives the copies to `copy`.
  private final func copyDestinations(
    _ slot: Int, to copy: ManagedObject, _ context: ManagedObjectContext
  ) throws {
    let inverse = binding.relationship(slot).inverse
    // A copy that led back to the original would be one of its destinations for a moment.
    func copied(_ object: ManagedObject) throws -> ManagedObject {
      let back = inverse.flatMap { object.binding.slot(named: $0) } ?? -1
      return try object.makeCopy(in: context, with: [], without: back)
    }
    if binding.traits[slot].isToMany {
      try copy.setMembers(slot, try members(slot).map(copied))
    } else {
      try copy.setOne(slot, try one(slot).map(copied))
    }
  }

  /// Whether a destination refers back to one object alone, which would lose it to the copy.
  private final func isExclusive(_ slot: Int) throws -> Bool {
    let relationship = binding.relationship(slot)
    guard let name = relationship.inverse,
      let destination = context?.modelBinding?.entity(named: relationship.destination),
      let inverse = destination.slot(named: name)
    else { return false }
    return !destination.traits[inverse].isToMany
  }
}
