#if canImport(Observation)
  import Observation
  import QuireModel

  /// What the framework Observation follows of a context: which properties of its objects are read
  /// and which change.
  ///
  /// Observation names what it follows by key paths of one subject. That is the context's tracking,
  /// and not each object, so that an object costs nothing: a key path has the object and the
  /// property as arguments.
  final class AccessTracking: AccessRecorder, ContextObserver, Observable {
    /// What can be read, and change.
    private enum Subject: Hashable {
      case property(ObjectIdentifier, Int)
      /// Which objects relationships to an entity refer to, as far as the objects at this end do
      /// not change by it: by the deletion of a destination, or by another context's save.
      case destinations(ofEntity: Int)
      case everything
    }

    private typealias Path = KeyPath<AccessTracking, Void>

    private let registrar = ObservationRegistrar()
    /// Key paths by what they stand for, as making one takes much longer than to find it here.
    private var paths: [Subject: Path] = [:]
    /// Whether something may have been read of which no key path is kept.
    private var hasDroppedPaths = false
    private let everything: Path = \AccessTracking.[.everything]
    private var observation: ContextObservation?

    /// At most so many key paths are kept.
    private static let keptPathCount = 4_096
    /// When more objects than these were refreshed together, all that was read counts as changed:
    /// that is one call, where each object is one for each of its properties.
    private static let refreshedObjectCount = 200

    /// - Parameter context: which this begins to observe.
    init(_ context: ManagedObjectContext) {
      observation = context.observe(
        [.didChangeObjects, .didSaveObjects, .didMergeChangesObjectIDs]
      ) { [unowned self] in receive($0) }
    }

    private subscript(subject: Subject) -> Void { () }

    private func path(to subject: Subject) -> Path {
      if let path = paths[subject] { return path }
      if paths.count >= Self.keptPathCount { (paths, hasDroppedPaths) = ([:], true) }
      let path: Path = \AccessTracking.[subject]
      paths[subject] = path
      return path
    }

    // MARK: Reading

    func recordAccess(to slot: Int, of object: ManagedObject) {
      registrar.access(self, keyPath: everything)
      registrar.access(self, keyPath: path(to: .property(ObjectIdentifier(object), slot)))
      let destination = object.binding.traits[slot].destination
      if destination >= 0 {
        registrar.access(self, keyPath: path(to: .destinations(ofEntity: Int(destination))))
      }
    }

    // MARK: Changing

    func willChange(_ property: String, of object: ManagedObject, by change: SlotChange) {
      guard let slot = object.binding.slot(named: property) else { return }
      // Who observes is called within the change.
      object.ofArena { $0.hookWillRun() }
      defer { object.ofArena { $0.hookDidRun() } }
      report(.property(ObjectIdentifier(object), slot))
    }

    func didRevive(_ object: ManagedObject) {
      reportProperties(of: object)
      if let model = object.context?.modelBinding {
        reportDestinations([object.entity.name], model)
      }
    }

    func didSave(_ changes: SavedChanges) {}

    /// Tells Observation of a change, unless nobody can have read what changes.
    private func report(_ subject: Subject) {
      if subject == .everything {
        registrar.willSet(self, keyPath: everything)
      } else if let path = paths[subject] {
        registrar.willSet(self, keyPath: path)
      } else if hasDroppedPaths {
        // Not kept, as it was not read lately.
        registrar.willSet(self, keyPath: \AccessTracking.[subject])
      }
    }

    private func reportProperties(of object: ManagedObject) {
      for slot in 0..<object.binding.slotCount {
        report(.property(ObjectIdentifier(object), slot))
      }
    }

    /// Reports what a save has computed of the objects that it has written. Other objects show
    /// their former values until they are refreshed.
    private func reportDerivedValues(of objects: Set<ManagedObject>, _ model: ModelBinding) {
      guard model.hasDerivations else { return }
      let derived = objects.filter { !$0.binding.derivations.isEmpty }
      if derived.count > Self.refreshedObjectCount { return report(.everything) }
      for object in derived {
        for derivation in object.binding.derivations {
          report(.property(ObjectIdentifier(object), derivation.slot))
        }
      }
    }

    private func receive(_ notice: ContextNotice) {
      guard let model = notice.context.modelBinding, !notice.invalidatedAllObjects else {
        return report(.everything)
      }
      switch notice.kind {
      case .didMergeChangesObjectIDs:
        let ids = notice.objectIDs
        if ids.isOfAll { return report(.everything) }
        let changed = [ids.insertedObjectIDs, ids.updatedObjectIDs, ids.deletedObjectIDs].joined()
        reportDestinations(Set(changed.lazy.map(\.entity.name)), model)
      case .didSaveObjects:
        reportDerivedValues(of: notice.insertedObjects.union(notice.updatedObjects), model)
      case .didChangeObjects, .willSaveObjects, .didSaveObjectIDs:
        // Single changes were reported before they were made.
        let reread = notice.refreshedObjects.union(notice.rereadObjects)
          .union(notice.deletedObjects)
        if reread.count > Self.refreshedObjectCount { return report(.everything) }
        for object in reread { reportProperties(of: object) }
        let gone = notice.deletedObjects.lazy.map(\.entity.name)
        reportDestinations(Set(gone), model)
      }
    }

    /// Reports the relationships that refer to objects of these entities: those to a parent of the
    /// entity as well.
    private func reportDestinations(_ names: Set<String>, _ model: ModelBinding) {
      var indices: Set<Int> = []
      for name in names {
        var entity = model.entity(named: name)?.entity
        while let level = entity {
          if let binding = model.entity(named: level.name) { indices.insert(binding.index) }
          entity = level.parent
        }
      }
      for index in indices { report(.destinations(ofEntity: index)) }
    }
  }

  extension ManagedObjectContext {
    /// Whether the framework Observation follows which properties of this context's objects are
    /// read; at first `false`, and `true` as soon as the context has a ``LiveQuery``.
    ///
    /// ```swift
    /// context.tracksPropertyAccess = true
    /// withObservationTracking {
    ///   label.text = artwork.title
    /// } onChange: {
    ///   print("the title is about to change")
    /// }
    /// ```
    ///
    /// What was read counts as changed when the property is about to be set, by the program or by
    /// the inverse relationship; and, when the context processes changes or merges those of others,
    /// if the object was refreshed, rolled back, undone, or deleted, or if a relationship refers to
    /// an object that others have saved. Changes of other properties are not reported, except when
    /// more than 200 objects are refreshed together, after a reset, and when a save has computed
    /// derived attributes of more than 200: then all that was read counts as changed. What an
    /// object knows of itself, such as its ID and ``ManagedObject/hasChanges``, is not followed.
    ///
    /// A closure that is called when a property is about to change runs while the context is busy.
    ///
    /// Reading a property takes longer then, whether it is observed or not: some 0.1 µs, and 1 µs
    /// the first time or where more than 4,000 properties are read in turn. Where this is `false`
    /// nothing is recorded, and nothing takes longer.
    public final var tracksPropertyAccess: Bool {
      get { accessRecorder != nil }
      set {
        guard newValue != tracksPropertyAccess else { return }
        guard newValue else {
          observers.removeAll { $0 is AccessTracking }
          accessRecorder = nil
          return
        }
        let tracking = AccessTracking(self)
        accessRecorder = tracking
        observers.append(tracking)
      }
    }
  }

  /// The properties that the model has: see ``ManagedObjectContext/tracksPropertyAccess``.
  extension ManagedObject: Observable {}
#endif
