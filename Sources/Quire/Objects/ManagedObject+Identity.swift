import QuireModel

// The identity of an object, and its state in its context and store.
extension PropertyReading {
  /// The description of the object's entity; where the object has a context, that of the model of
  /// its coordinator.
  public var entity: EntityDescription { binding.entity }

  /// The context that the object belongs to.
  ///
  /// `nil` for an object that was never inserted, whose deletion was saved, or whose context was
  /// reset or is gone. Such an object shows the attributes it has read, and no relationships.
  ///
  /// A new object that a uniqueness constraint and a merge policy have made the same as another
  /// refers to that one when it is saved: it has its context, its ID and its values, and what is
  /// set is set there.
  public var managedObjectContext: ManagedObjectContext? { context ?? successor?.context }
}

extension ManagedObject {
  /// The object's ID: temporary until the first save, then permanent and always the same.
  public final var objectID: ManagedObjectID {
    if reference.isTemporary {
      if let successor { return successor.objectID }
      return promisedID ?? ManagedObjectID(entity: entity, temporaryKey: reference.key)
    }
    if let context, context.family != nil, let formerID { return formerID }
    return ManagedObjectID(entity: entity, store: storage?.identity, key: reference.key)
  }

  /// Whether the next save of the context inserts the object: it is new there, or its deletion was
  /// saved and then undone.
  ///
  /// In a migration, an object that it has made counts as inserted until the migration ends, though
  /// its row may be written already.
  public final var isInserted: Bool { isNew || isMadeByMigration }

  /// Whether the next save writes the first row of the object.
  final var isNew: Bool { state.contains(.inserted) }

  /// Whether a stored object was changed since it was last fetched or saved.
  ///
  /// As in Core Data, that is also so when a setter has given a property the value that it had; see
  /// ``hasPersistentChangedValues``. An inserted or a deleted object is not updated as well.
  public final var isUpdated: Bool { state.contains(.updated) }

  /// Whether the object is deleted in its context and that is not saved yet.
  public final var isDeleted: Bool { state.contains(.deleted) }

  /// Whether the object is inserted, updated or deleted in its context, and not saved since.
  public final var hasChanges: Bool { !state.isDisjoint(with: [.inserted, .updated, .deleted]) }

  /// Whether a save would change the store: the object is inserted or deleted, or a value differs
  /// from what was fetched or saved. Transient and derived properties do not count.
  ///
  /// - Complexity: O(properties); an ordered relationship that was changed is compared with the
  ///   store's.
  public final var hasPersistentChangedValues: Bool {
    isNew || isDeleted || slots.indices.contains(where: isChanged)
  }

  /// Whether the object's values have not been read yet.
  ///
  /// An object that a migration has made is none until the migration ends: its row is read when
  /// it is used.
  public final var isFault: Bool { isUnread && !isMadeByMigration }

  /// Whether the row has not been read, nor anything changed.
  final var isUnread: Bool { !hasRow && isPersistent && slots.isEmpty }

  /// Whether the migration that is at work has made the object and written its row.
  private var isMadeByMigration: Bool {
    guard let migration = context?.migration else { return false }
    return migration.writtenObjects.contains(self) && !isDeleted
  }

  /// How often the object was saved, as of the state this object shows; 0 before the first save.
  package final var version: UInt32 {
    if state.contains(.returning) { return session?.formerVersions[reference] ?? 0 }
    return rowVersion
  }

  /// Whether the object has an arena with storage: it came from a store, where it has a permanent
  /// reference, or from the context's parent, where it may be new.
  final var isPersistent: Bool { ofArena { $0.storageReference != nil } }

  /// Whether the store, or the context's parent, has a row for the object, as far as its context
  /// knows.
  final var isStored: Bool { isPersistent && !state.contains(.returning) }
}

extension ManagedObject: EntityMember, EntityClass {}

extension ManagedObject: Hashable {
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// The hash value that sets and dictionaries use: the object's address, multiplied.
  ///
  /// Input from outside the program cannot choose addresses, so collisions cannot be provoked and
  /// one multiplication is enough; a hasher takes ten times as long. Each set has its own seed, so
  /// that copying one set into another does not insert in the order of the other's buckets.
  @inlinable
  public final func _rawHashValue(seed: Int) -> Int {
    let bits = UInt(bitPattern: ObjectIdentifier(self)) ^ UInt(bitPattern: seed)
    let product = bits.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return Int(bitPattern: product.high ^ product.low)
  }
}

extension ManagedObject {
  /// Whether an object is of this class, or of one that descends from it.
  ///
  /// A method of the class instead of a cast to a generic parameter that was bound by opening an
  /// existential: the optimiser turns such a cast into one to `ManagedObject`, which never fails.
  static func isClass(of object: ManagedObject) -> Bool { object is Self }
}
