import QuireModel

/// An object of an entity, belonging to one context.
///
/// ## What an object holds
///
/// An object that was fetched and not changed holds its reference in the store and a view of its
/// row's bytes; attributes are decoded when they are read. One whose row was never needed, a
/// *fault*, holds its reference alone. The first change gives the object a slot for each property,
/// and its context holds it strongly from then until the change is saved or dropped. Relationships
/// between clean objects are not references between Swift objects: they are read from the store, so
/// that no cycle keeps a graph alive.
///
/// An object that outlives its context shows the attributes it has read, and no relationships.
///
/// A context has an object registered until its `deinit` is over. The `deinit` of a subclass must
/// not use the context: a fetch, a merge or a notice would find the object there, and Swift ends a
/// program that retains an object beyond its `deinit`. ``didTurnIntoFault()`` is the place for what
/// is to be done when values are dropped.
///
/// ## Isolation
///
/// An object belongs to the isolation of its context. Neither is `Sendable`; the object's
/// ``objectID`` is, and finds the object in another context.
nonisolated open class ManagedObject {
  /// The argument of the initialiser by which the library makes objects. Only the library makes
  /// origins; a subclass that overrides the initialiser passes it to `super`.
  public struct Origin {
    // Sound: `keeper` keeps it, or the session or context that has made it.
    fileprivate let arena: Unmanaged<ObjectArena>
    private let keeper: ObjectArena?
    let reference: Reference

    /// - Parameter reference: `nil` for an object that no store has.
    init(_ arena: ObjectArena, at reference: Reference? = nil) {
      self.arena = .passUnretained(arena)
      keeper = arena
      self.reference =
        reference
        ?? Reference(entity: Reference.temporaryEntity, key: ManagedObjectID.takeTemporaryKey())
    }

    /// The origin of a new object.
    ///
    /// - Parameter arena: of a context, which outlives the origin.
    init(new arena: Unmanaged<ObjectArena>) {
      self.init(
        arena,
        known: Reference(
          entity: Reference.temporaryEntity, key: ManagedObjectID.takeTemporaryKey()))
    }

    /// - Parameter arena: of a session, which outlives the origin.
    init(_ arena: Unmanaged<ObjectArena>, known reference: Reference) {
      self.arena = arena
      keeper = nil
      self.reference = reference
    }
  }

  // Accesses to the following never overlap: an object belongs to one isolation, and each access is
  // over before anything else is called. Changing a slot may release its former content and run a
  // `deinit`; by then the slot has its new content. So the dynamic check of exclusivity, which
  // takes a tenth of the time of a migration, would find nothing.

  // There may be many objects: each part is as narrow as possible, and the narrowest come last,
  // where the slots of typed properties follow.

  // Sound: the object is one of the arena's users, from `init` to `deinit` or to another arena.
  @exclusivity(unchecked) private final var arenaReference: Unmanaged<ObjectArena>
  @exclusivity(unchecked) final var reference: Reference
  // Sound: the owner keeps what the start points to. Both change together, in
  // `ManagedObject+Row.swift`.
  /// The bytes of the row; `nil` in a fault, and in an object that has none.
  @exclusivity(unchecked) final var rowStart: UnsafeRawPointer?
  @exclusivity(unchecked) final var rowHold = RowHold.none
  // A single slot changes by the functions in `ManagedObject+Slots.swift` alone, the memory by
  // those in `ManagedObject+SlotMemory.swift`.
  /// `nil` as long as nothing was changed.
  @exclusivity(unchecked) final var slotStart: UnsafeMutablePointer<Slot>?
  @exclusivity(unchecked) final var rowByteCount: UInt32 = 0
  /// The object's position in the list of changes that it is in, if it is in one.
  @exclusivity(unchecked) final var listPosition = Int32.max
  @exclusivity(unchecked) final var state: State

  /// The size on the heap, in bytes, of an object with up to seven typed properties.
  static var usualByteCount: Int { 80 }

  /// The address behind the last stored property, where those of a subclass begin.
  final var endOfState: UInt {
    withUnsafeMutablePointer(to: &state) { UInt(bitPattern: $0 + 1) }
  }

  /// Makes an object of a row, or a new one. Only the library calls this, directly or by another
  /// initialiser.
  ///
  /// A subclass overrides it only to set up what it stores itself, and calls `super`.
  public required init(_ origin: Origin) {
    let arena = origin.arena
    arenaReference = arena
    reference = origin.reference
    arena._withUnsafeGuaranteedRef { $0.addUser() }
    // What a subclass sets here of an object that has a row is no change, as in `awakeFromFetch()`.
    state = arena._withUnsafeGuaranteedRef { $0.hasContext } ? .awaking : []
    // Subclasses have initialised their properties already, and there is no other reference yet.
    let memory = Unmanaged.passUnretained(self).toOpaque()
    arena._withUnsafeGuaranteedRef {
      $0.fillProperties(of: memory, type(of: self))
      // Here, and not after `init`: a subclass's `init` may set properties, which reads the row and
      // calls a hook, and that may look up the one object of the row.
      $0.enter(self)
    }
  }

  /// A new object of `entity`, inserted into `context` unless that is `nil`.
  ///
  /// An object without a context keeps values, and can be inserted later. An entity that is
  /// abstract, or that the context's model does not have, makes an object that no context takes:
  /// the context reports the error at its next fetch or save.
  public convenience init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    let binding = context?.modelBinding?.entity(named: entity.name)
    self.init(Origin(ObjectArena(binding ?? EntityBinding(entity, index: 0))))
    applyDefaults()
    if let binding {
      apply(context?.persistentStoreCoordinator?.classes.computedDefaults(of: binding))
    }
    guard let context else { return }
    do {
      try context.adopt(self)
    } catch {
      context.report(error)
    }
  }

  /// A new object of the entity this class is registered for.
  ///
  /// When the context's model has no such entity the object belongs to no context, and the
  /// context's next fetch or save throws why. Every subclass has this initialiser, so that it can
  /// be called on a type that is a parameter: `T(context: context)`.
  public required convenience init(context: ManagedObjectContext) {
    if let making = context.making(of: Self.self) {
      self.init(Origin(new: making.outside))
      applyDefaults()
      apply(making.computedDefaults)
      if making.isAbstract {
        let arena = making.arena.takeUnretainedValue()
        context.report(PersistenceError.isAbstract(arena.binding.entity))
      } else {
        making.arena._withUnsafeGuaranteedRef { context.take(self, to: $0) }
      }
    } else {
      self.init(Origin(ObjectArena(.unknown(named: Self.modelEntityName))))
      context.report(
        PersistenceError(
          .undefinedKey,
          "the class \(Self.self) is not registered for an entity of the context's model: pass it to "
            + "the coordinator's classes"))
    }
  }

  deinit {
    arenaReference._withUnsafeGuaranteedRef {
      $0.forget(self)
      if let slotStart { ManagedObject.free(slotStart, $0.slotCount) }
      rowHold.end()
      $0.removeUser()
    }
  }

  /// The name of the entity this class is registered for; the name of the class unless overridden.
  open class var modelEntityName: String { ClassNames.name(of: self) }

  /// What the entity of this class has besides the properties of the class, in the words of models:
  /// whether it is abstract, former names, constraints and indexes of several properties, fetched
  /// properties, attributes without a property of the class.
  ///
  /// ```swift
  /// override class var entityDeclaration: Entity? {
  ///   Entity("Artwork", renamedFrom: "Work") {
  ///     UniquenessConstraint("title", "artist")
  ///     FetchIndex("byYearAndTitle", on: "year", "title")
  ///   }
  /// }
  /// ```
  ///
  /// An attribute or a relationship with the name of a property of the class is that property, of
  /// which then everything is said here: its user info, for example, for which ``Managed`` has no
  /// argument. The property itself says its type alone.
  ///
  /// It names the entity of the class: a subclass inherits what is said here of its parent, and
  /// that holds for the parent alone. Counts where a model is made of classes
  /// (`ManagedObjectModel.init(for:)`), and nowhere else.
  open class var entityDeclaration: Entity? { nil }

  /// What is so of the objects that a query by the class shows, such as that they were not put into
  /// the bin; `nil` if it shows all.
  ///
  /// ```swift
  /// override class var defaultCondition: FetchPredicate? {
  ///   FetchPredicate(Note.self) { $0.binned == nil }
  /// }
  /// ```
  ///
  /// It counts where a query begins with the class: in `Note.all`, `Note.where`, `Note.sorted`, and
  /// in the context's calls that take `Note.self` or a key path of the class, such as
  /// ``ManagedObjectContext/count(_:where:)``. It does not count in relationships, batch requests,
  /// and requests that are made otherwise, by which the others are found:
  /// `Note.fetchRequest().where { $0.binned != nil }`. A subclass inherits it; what is fetched as
  /// objects of the superclass is shown by the condition of the superclass.
  open class var defaultCondition: FetchPredicate? { nil }

  /// The object for people who look for a mistake: see ``fullDescription``, which it is unless a
  /// class overrides it.
  open var description: String { fullDescription }

  // MARK: Hooks
  // In the order of Core Data; each of them does nothing unless overridden, but for validation. The
  // context is busy while one runs: see ``ManagedObjectContext``. Swift lets a class override them
  // in its own body alone, and not in an extension.

  /// Called when the object is inserted into a context, after defaults are set: once in its life.
  open func awakeFromInsert() {}

  /// Called when the object's row has been read: the place to compute transient values.
  ///
  /// What is set in here, by whatever accessor, is no change: the object stays clean. Transient
  /// relationships are set on this side alone; stored ones are changed as anywhere.
  open func awakeFromFetch() {}

  /// Called when the object's values were replaced by others than a fetch's: after a rollback, a
  /// refresh that kept changes, or when changes were undone or redone. What is set in here is
  /// no change, as in ``awakeFromFetch()``.
  open func awake(fromSnapshotEvents events: SnapshotEventType) {}

  /// Called before the object is saved: inserted, changed or, when ``isDeleted``, deleted.
  ///
  /// It may change this and other objects; the hook of those that it changes is called again, and a
  /// save fails when they are still changing after ``ManagedObjectContext/willSaveLimit`` rounds.
  /// Setting a property to the value it has, or by ``setPrimitiveValue(_:forKey:)``, causes no
  /// other round.
  open func willSave() {}

  /// Called when a save of the object is durable. The object is clean, its ID permanent; one that
  /// was deleted still shows its values and that it ``isDeleted``, and leaves its context after
  /// this. What is changed here belongs to the next save, which cannot begin before this one is
  /// over.
  open func didSave() {}

  /// Called before the object forgets its values, which can still be read.
  ///
  /// Not called when the object is released: `deinit` is.
  open func willTurnIntoFault() {}

  /// Called when the object has forgotten its values: the place to drop what was computed of them.
  /// Reading a value would fetch it anew.
  open func didTurnIntoFault() {}

  /// Called before the delete rules of the object are applied; relationships are still whole.
  open func prepareForDeletion() {}

  /// Called when the object is about to be saved for the first time. An override calls `super`,
  /// which checks the model's rules.
  ///
  /// - Throws: what is wrong with the object: one error, or
  ///   ``PersistenceError/Code/validationMultipleErrors`` with them all. A save collects what all
  ///   its objects throw.
  open func validateForInsert() throws { try validateForSave() }

  /// Called when changes of the object are about to be saved; see ``validateForInsert()``.
  open func validateForUpdate() throws { try validateForSave() }

  /// Called when the object is about to be deleted from the store; see ``validateForInsert()``. The
  /// delete rule that denies holds also where an override does not call `super`.
  open func validateForDelete() throws { try validateDeletion() }

  /// Answers ``PropertyReading/value(forKey:)`` for a name that the entity does not have.
  ///
  /// A class overrides it to let what its getters work out be read by name: there is no Objective-C
  /// runtime that would find them. Section names of a ``FetchedResultsController`` are read in this
  /// way; the predicates and sort keys of a fetch are not.
  ///
  /// ```swift
  /// override func value(forUndefinedKey key: String) throws -> Any? {
  ///   key == "initial" ? initial : try super.value(forUndefinedKey: key)
  /// }
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey``, unless a class overrides it.
  open func value(forUndefinedKey key: String) throws -> Any? {
    _ = try slot(for: key)
    return nil
  }

  /// Answers ``PropertyReading/setValue(_:forKey:)`` for a name that the entity does not have.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey``, unless a class overrides it.
  open func setValue(_ value: Any?, forUndefinedKey key: String) throws { _ = try slot(for: key) }

  /// Checks a value for a property, and may replace it by another.
  ///
  /// The validation of an object calls this for each property that was set, and for all properties
  /// of a new object; what comes back in `value` becomes the property's value. A form may call it
  /// for a text that was typed. A class with rules of its own overrides it:
  ///
  /// ```swift
  /// override func validateValue(_ value: inout Any?, forKey key: String) throws {
  ///   if key == "email", let text = value as? String { value = text.lowercased() }
  ///   try super.validateValue(&value, forKey: key)
  ///   if key == "name", value as? String == "admin" { throw NameIsReserved() }
  /// }
  /// ```
  ///
  /// The model's rules are checked by this function: where `super` is not called they are out of
  /// force, but for the range of integers. An override that replaces values must return its own
  /// results unchanged. A to-many relationship arrives as ``MutableMembers`` or
  /// ``MutableOrderedMembers``, which read nothing before they are used.
  ///
  /// - Throws: what is wrong with the value; a save collects what all its objects throw.
  ///   ``PersistenceError/Code/undefinedKey`` when the entity has no such property;
  ///   ``PersistenceError/Code/unacceptableValue`` when the value is of another type.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    if try checkAsked(&value, key) { return }
    try checkRules(of: value, forKey: key)
  }
}

@available(*, unavailable)
extension ManagedObject: Sendable {}

// MARK: - Arena

extension ManagedObject {
  /// The arena, which has the object's entity, context and storage.
  final var arena: ObjectArena {
    get { arenaReference.takeUnretainedValue() }
    set {
      let former = arenaReference
      newValue.addUser()
      if hasSlots { bringSlots(to: newValue) }
      arenaReference = .passUnretained(newValue)
      former._withUnsafeGuaranteedRef { former in
        // What leaves a context is hidden there.
        if !former.sharesContext(with: newValue) { former.withContext { $0.hidingCount &+= 1 } }
        former.removeUser()
      }
    }
  }

  /// Calls `body` with the arena, without retaining it.
  final func ofArena<Result>(_ body: (ObjectArena) throws -> Result) rethrows
    -> Result
  {
    try arenaReference._withUnsafeGuaranteedRef(body)
  }

  /// The context's binding of the entity, from when the object has a context.
  final var binding: EntityBinding { ofArena { $0.binding } }
  final var context: ManagedObjectContext? { ofArena { $0.context } }
  /// The session of the object's store; `nil` before the first save, and without a context.
  final var session: StoreSession? { ofArena { $0.session } }
  /// The storage of the object's entity; `nil` before the first save, to a store or to a parent.
  final var storage: EntityStorage? { ofArena { $0.storage } }
}
