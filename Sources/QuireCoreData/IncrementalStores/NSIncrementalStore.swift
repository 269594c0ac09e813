import Foundation
import Quire

/// A store whose rows a subclass keeps, in a web service, in another database or in a file of
/// another format.
///
/// A subclass is registered by
/// ``NSPersistentStoreCoordinator/registerStoreClass(_:forStoreType:)`` and added as any store. It
/// overrides ``loadMetadata()``, ``execute(_:with:)``, ``newValuesForObject(with:with:)`` and
/// ``obtainPermanentIDs(for:)``, and ``newValue(forRelationship:forObjectWith:with:)`` for what
/// values do not say. An initialiser that it overrides is `required`.
///
/// A store is called by one thread at a time, on the queue of the context that asks. An error that
/// it throws is thrown by the fetch or the save that asked, as it is.
open class NSIncrementalStore: NSPersistentStore {
  private let location: URL
  private let givenConfiguration: String?
  private var ownMetadata: [String: Any]
  /// Lets one thread at a time into the store; again, where a call leads to another.
  let lock = NSRecursiveLock()
  /// The part that Quire calls; there from before the first call to the end of the last.
  weak var adapter: StoreAdapter?
  var addedType = ""
  /// Whether the class wants to know which objects contexts have.
  private(set) var watchesObjects = true

  /// A store for a location, which is about to be added to a coordinator.
  ///
  /// - Parameter url: `file:///dev/null` for a store that is added without one.
  public required init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?,
    configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    location = url
    givenConfiguration = name
    ownMetadata = [NSStoreUUIDKey: "\(Self.identifierForNewStore(at: url))"]
    super.init(root, options: options)
  }

  // MARK: What the store says about itself

  /// The location that the store was added with.
  open override var url: URL? { location }
  /// The identifier in the metadata: a UUID, or a text that Quire derives a UUID from.
  open override var identifier: String! { metadata[NSStoreUUIDKey].map { "\($0)" } ?? "" }
  /// The type that the store was added as.
  open override var type: String { addedType }
  /// The configuration whose entities the store has.
  open override var configurationName: String { givenConfiguration ?? DefaultConfigurationName }
  /// Whether the store is only read, as its options say.
  open override var isReadOnly: Bool {
    options?[NSReadOnlyPersistentStoreOption].flatMap { optionValue($0) as? Bool } ?? false
  }
  /// What the store says about itself, and what the application has added. A store sets them in
  /// ``loadMetadata()``, and keeps them where it keeps its rows.
  open override var metadata: [String: Any]! {
    get { lock.withLock { ownMetadata } }
    set { lock.withLock { ownMetadata = newValue ?? [:] } }
  }

  /// Puts metadata of the application in the place of the present ones.
  ///
  /// - Returns: its part, without what the store says about itself.
  func replaceMetadata(by new: [String: Any]) -> [String: Any] {
    lock.withLock {
      let own = ownMetadata.filter { StoreMetadataKeys.areOfStore($0.key) }
      ownMetadata = new.merging(own) { $1 }
    }
    return StoreMetadataKeys.ofUser(new)
  }

  /// The identifier of a store that has none yet: a new UUID.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  /// What the store at a location says about itself, without opening it.
  ///
  /// - Throws: unless a class overrides it.
  open override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    throw notOverridden("metadataForPersistentStore(with:)")
  }

  /// Sets what the application says about the store at a location, which is not open.
  ///
  /// - Throws: unless a class overrides it.
  open override class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreWith url: URL
  ) throws {
    throw notOverridden("setMetadata(_:forPersistentStoreWith:)")
  }

  /// Reads what the store says about itself into ``metadata``, or makes it for a new store. Called
  /// once, when the store is added.
  ///
  /// `NSStoreUUIDKey` must be the same whenever the store is opened, as it is a part of all IDs. A
  /// store that keeps `NSStoreModelVersionHashesKey` is refused for another version of the model.
  open func loadMetadata() throws { throw Self.notOverridden("loadMetadata()") }

  // MARK: Rows

  /// The answer to a request of a context.
  ///
  /// - Parameters:
  ///   - request: an `NSFetchRequest<NSFetchRequestResult>` or an ``NSSaveChangesRequest``.
  ///   - context: the context that asks; `nil` for a save of metadata alone.
  /// - Returns: for a fetch an array of the objects, or of their IDs; for one with
  ///   `countResultType` an array of one number; for a save anything.
  open func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    throw Self.notOverridden("execute(_:with:)")
  }

  /// The values of a row.
  ///
  /// - Throws: for a row that does not exist, `NSManagedObjectReferentialIntegrityError` in
  ///   `NSCocoaErrorDomain`; any other error is a failure.
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    throw Self.notOverridden("newValuesForObject(with:with:)")
  }

  /// The IDs that a relationship of a row refers to.
  ///
  /// Without an override a relationship to one object refers to none where the row has no value for
  /// it, and the members of an unordered one-to-many relationship are looked for by a fetch.
  ///
  /// - Returns: an array or a set of IDs; for a relationship to one object an ID or `NSNull`.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
  ) throws -> Any {
    NotAnswered()
  }

  /// What ``newValue(forRelationship:forObjectWith:with:)`` returns unless a class overrides it.
  struct NotAnswered {}

  /// IDs for new objects, one for each in the same order, made by
  /// ``newObjectID(for:referenceObject:)``.
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    throw Self.notOverridden("obtainPermanentIDs(for:)")
  }

  private static func notOverridden(_ name: String) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: NSPersistentStoreOperationError,
      userInfo: [
        NSLocalizedDescriptionKey: "\(self) has to override \(name)"
      ])
  }

  // MARK: Objects in use

  /// Called with the IDs of rows that a context has begun to use.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    watchesObjects = false
  }

  /// Called with the IDs of rows that a context no longer has objects of: at its next fetch or
  /// save, or when it ends.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  // MARK: IDs

  /// The ID of the row that the store knows by a reference. An entity that the model does not have
  /// stops the program, as an exception does in Core Data.
  ///
  /// - Parameter data: a text, a number or a UUID that no other row of the entity has.
  public func newObjectID(
    for entity: NSEntityDescription, referenceObject data: Any,
    file: StaticString = #fileID, line: UInt = #line
  ) -> NSManagedObjectID {
    lock.withLock {
      raising(file, line) { try callable.objectID(of: entity.name ?? "", data) }
    }
  }

  /// The reference by which the store knows the row of an ID. An ID of another store, or of an
  /// object that was never saved, stops the program, as an exception does in Core Data.
  public func referenceObject(
    for objectID: NSManagedObjectID, file: StaticString = #fileID, line: UInt = #line
  ) -> Any {
    lock.withLock { raising(file, line) { try callable.reference(of: objectID) } }
  }

  private var callable: StoreAdapter {
    get throws {
      guard let adapter else {
        throw PersistenceError(
          .persistentStoreOperation, "the store \(Swift.type(of: self)) is in no coordinator")
      }
      return adapter
    }
  }

  /// Whether the other object is this store.
  open override func isEqual(_ object: Any?) -> Bool { self === object as AnyObject? }
  /// The hash of the object's identity.
  open override var hash: Int { ObjectIdentifier(self).hashValue }
}
