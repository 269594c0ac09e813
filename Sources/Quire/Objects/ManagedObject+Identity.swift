import QuireModel

// What an object is, and how it stands to its context and store.
extension ManagedObject {
  public final var entity: EntityDescription { binding.entity }

  public final var managedObjectContext: ManagedObjectContext? { context }

  /// Temporary until the first save, then permanent and always the same.
  public final var objectID: ManagedObjectID {
    if reference.isTemporary {
      return promisedID ?? ManagedObjectID(entity: entity, store: nil, key: reference.key)
    }
    if let context, context.family != nil, let formerID { return formerID }
    return ManagedObjectID(entity: entity, store: storage?.identity, key: reference.key)
  }

  public final var isInserted: Bool { state.contains(.inserted) }
  public final var isUpdated: Bool { state.contains(.updated) }
  /// Whether the object is deleted in its context and that is not saved yet.
  public final var isDeleted: Bool { state.contains(.deleted) }

  /// Whether there is anything to save, or the object was touched by a setter since the last save.
  public final var hasChanges: Bool { !state.isDisjoint(with: [.inserted, .updated, .deleted]) }

  /// Whether a save would write another row than the store has.
  public final var hasPersistentChangedValues: Bool {
    isInserted || isDeleted || slots.indices.contains(where: isChanged)
  }

  /// Whether the object's row has not been read yet.
  public final var isFault: Bool { !hasRow && isPersistent && slots.isEmpty }

  /// How often the object was saved, as of the state this object shows; 0 before the first save.
  package final var version: UInt32 {
    if state.contains(.returning) { return session?.formerVersions[reference] ?? 0 }
    return rowVersion
  }

  /// Whether the object has come from where its context's objects come from: a store, where it has
  /// a permanent reference, or the context's parent, where it may be new.
  final var isPersistent: Bool { ofArena { $0.storageReference != nil } }

  /// Whether the store, or the context's parent, has a row for the object, as far as its context
  /// knows.
  final var isStored: Bool { isPersistent && !state.contains(.returning) }
}

extension ManagedObject: EntityMember, EntityClass {}

extension ManagedObject: Hashable {
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// What sets and dictionaries of objects ask for. An address is nothing that a stranger could
  /// choose, so one multiplication spreads it, where a hasher would take the time of ten. The seed
  /// is another for each set: what goes from one into another does not come in the other's order.
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
  /// A method of the class and not a cast to a generic parameter that an existential was opened as:
  /// an optimiser makes such a cast one to `ManagedObject`, which every object is.
  static func isClass(of object: ManagedObject) -> Bool { object is Self }
}
