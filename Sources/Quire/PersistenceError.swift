import QuireModel

/// What went wrong above the engine, with Core Data's number for it.
///
/// The number says which kind of error it is, the message says what, where, and what to do. Errors
/// of the engine (your disk, your file, someone else) arrive as ``underlying``.
///
/// ## Example
///
/// A save that fails since a required attribute has no value, and goes well when it has one.
/// Nothing was lost in between:
///
/// ```swift
/// let artist = Artist(context: context)
/// do {
///   try context.save()
/// } catch let error as PersistenceError {
///   print(error.code == .validationMissingMandatoryProperty, error.key ?? "")
/// }
/// artist.name = "Katsushika Hokusai"
/// try context.save()
/// print(context.hasChanges)
/// ```
///
/// prints
///
/// ```
/// true name
/// false
/// ```
public struct PersistenceError: Error, Sendable, CustomStringConvertible {
  /// Core Data's error codes, as numbers so that code which compares numbers ports unchanged.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public var description: String { "\(rawValue)" }
  }

  /// The kind of error.
  public var code: Code
  /// What went wrong, where, and what to do, as one sentence for people, without a full stop.
  public var message: String
  /// The entity, object and property the error is about, where it is about one.
  public var entityName: String?
  /// The object the error is about, where it is about one.
  public var objectID: ManagedObjectID?
  /// The name of the property the error is about, where it is about one.
  public var key: String?
  /// The single errors behind ``Code/validationMultipleErrors``, as in Core Data: empty where only
  /// one thing is wrong. ``singleErrors`` has that one, too.
  public var detailedErrors: [PersistenceError] = []

  /// What is wrong, one by one: ``detailedErrors``, or this error itself where it stands alone, as
  /// that of a save does in which one thing is wrong.
  ///
  /// A form shows each at the field that it is about, which ``key`` names.
  public var singleErrors: [PersistenceError] { detailedErrors.isEmpty ? [self] : detailedErrors }

  /// The objects behind ``Code/managedObjectMerge`` and ``Code/persistentStoreSaveConflicts``.
  public var conflicts: [MergeConflictReport] = []
  /// The values behind ``Code/managedObjectConstraintMerge``.
  public var constraintConflicts: [ConstraintConflictReport] = []
  /// The error behind this one, of the engine, of the file system or of the program, if there is
  /// one.
  public var underlying: (any Error & Sendable)?
  /// The value that a validation error is about.
  public var rejectedValue: AttributeValue?
  /// Whether this stands for ``underlying``, which somebody's own validation threw.
  var isForeign = false

  /// An error with Core Data's number and a message, as validation of a class throws it.
  public init(_ code: Code, _ message: String, underlying: (any Error & Sendable)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  /// The domain of Core Data's errors, in which ``Code`` has the numbers.
  public static let domain = "NSCocoaErrorDomain"

  public var description: String {
    var text = "error \(code): \(messageWithObject)"
    text += underlyingWords
    for detail in detailedErrors where !message.contains(detail.message) {
      text += "\n  \(detail)"
    }
    return text
  }

  /// What ``underlying`` says, unless the message has its words already.
  var underlyingWords: String {
    guard let underlying else { return "" }
    let words = "\(underlying)"
    return message.contains(words) ? "" : " (\(words))"
  }

  /// A number of objects in words: `1 object`.
  static func objects(_ count: Int) -> String { count == 1 ? "1 object" : "\(count) objects" }

  /// The message, and which object it is about where it does not say so itself.
  var messageWithObject: String {
    guard let objectID, !message.contains(objectID.description) else { return message }
    return "\(message) [object \(objectID)]"
  }
}

extension PersistenceError.Code {
  /// A value that an object's own validation, or the transformer of its attribute, does not accept.
  public static let managedObjectValidation = Self(rawValue: 1550)
  /// Core Data has it, and throws ``managedObjectConstraintMerge``; so does Quire.
  public static let managedObjectConstraintValidation = Self(rawValue: 1551)
  /// Several things are wrong with the objects to save; ``PersistenceError/detailedErrors`` has
  /// each.
  public static let validationMultipleErrors = Self(rawValue: 1560)
  /// A required property has no value.
  public static let validationMissingMandatoryProperty = Self(rawValue: 1570)
  /// A to-many relationship has fewer destinations than the model wants.
  public static let validationRelationshipLacksMinimumCount = Self(rawValue: 1580)
  /// A to-many relationship has more destinations than the model allows.
  public static let validationRelationshipExceedsMaximumCount = Self(rawValue: 1590)
  /// A deleted object has destinations in a relationship whose rule is `DeleteRule.deny`.
  public static let validationRelationshipDeniedDelete = Self(rawValue: 1600)
  /// A number is above the model's largest, or beyond its type.
  public static let validationNumberTooLarge = Self(rawValue: 1610)
  /// A number is below the model's smallest, or beyond its type.
  public static let validationNumberTooSmall = Self(rawValue: 1620)
  /// A date is behind the model's latest.
  public static let validationDateTooLate = Self(rawValue: 1630)
  /// A date is before the model's earliest.
  public static let validationDateTooSoon = Self(rawValue: 1640)
  /// A date whose seconds are not a number.
  public static let validationInvalidDate = Self(rawValue: 1650)
  /// A text has more characters than the model allows.
  public static let validationStringTooLong = Self(rawValue: 1660)
  /// A text has fewer characters than the model wants.
  public static let validationStringTooShort = Self(rawValue: 1670)
  /// A text does not match the model's regular expression, or this cannot be used.
  public static let validationStringPatternMatching = Self(rawValue: 1680)
  /// Core Data's code for a URI that is none. Nothing here throws it.
  public static let validationInvalidURI = Self(rawValue: 1690)
  /// A context or an object is changed from within a step that has to end first.
  public static let managedObjectContextLocking = Self(rawValue: 132000)
  /// Something that a busy context calls (a hook of an object, a merge policy, a handler, an
  /// observer) asks it for what has to wait: to save, roll back, reset, undo, redo, refresh all
  /// objects, merge, run a batch request, or move to other stores or another parent.
  ///
  /// A context is busy while it saves, merges, undoes, refreshes, drops changes, applies delete
  /// rules, runs a batch request or calls a hook, and so are its parent and its children. Observers
  /// that are notified when a save or a merge is over find it idle.
  public static let managedObjectContextBusy = Self(rawValue: 132001)
  /// The former name of ``managedObjectContextBusy``.
  public static let managedObjectContextRecursiveSave = managedObjectContextBusy
  /// Core Data's code for a coordinator whose lock cannot be had. Nothing here throws it.
  public static let persistentStoreCoordinatorLocking = Self(rawValue: 132010)
  /// An object is not in the store, or not any more.
  public static let managedObjectReferentialIntegrity = Self(rawValue: 133000)
  /// A relationship would refer to an object of another store, or of another context.
  public static let managedObjectExternalRelationship = Self(rawValue: 133010)
  /// An object was changed in the store since it was read; ``PersistenceError/conflicts`` has what.
  public static let managedObjectMerge = Self(rawValue: 133020)
  /// Two objects have values that a uniqueness constraint forbids: of one save, or one of them is
  /// in the store.
  public static let managedObjectConstraintMerge = Self(rawValue: 133021)
  /// A type of store that there is not, or that cannot do what is asked of it.
  public static let persistentStoreInvalidType = Self(rawValue: 134000)
  /// Core Data's code for a store of another type than expected. Nothing here throws it.
  public static let persistentStoreTypeMismatch = Self(rawValue: 134010)
  /// What a store says of its own entities, layouts and indexes contradicts itself or the model.
  public static let persistentStoreIncompatibleSchema = Self(rawValue: 134020)
  /// A store cannot be written: it is read-only, its disk fails or is full, or its values go beyond
  /// a limit.
  public static let persistentStoreSave = Self(rawValue: 134030)
  /// A save that is durable in some of its stores, and not in others.
  public static let persistentStoreIncompleteSave = Self(rawValue: 134040)
  /// A save whose merge policy was asked, and has left conflicts.
  public static let persistentStoreSaveConflicts = Self(rawValue: 134050)
  /// An error of a kind that has no code of its own: what a program declares contradicts the model,
  /// or bytes of a store are not what they should be.
  public static let coreData = Self(rawValue: 134060)
  /// An operation that the store or the coordinator cannot carry out as it is asked to.
  public static let persistentStoreOperation = Self(rawValue: 134070)
  /// A store cannot be opened.
  public static let persistentStoreOpen = Self(rawValue: 134080)
  /// Another process had the store for as long as ``PersistentStoreOptions/timeout`` says.
  public static let persistentStoreTimeout = Self(rawValue: 134090)
  /// A request whose parts do not go together, or that the store cannot execute.
  public static let persistentStoreUnsupportedRequestType = Self(rawValue: 134091)
  /// A store has another version of the model, and is not to be migrated.
  public static let persistentStoreIncompatibleVersionHash = Self(rawValue: 134100)
  /// A migration that cannot be carried out, or has failed; the store is as it was.
  public static let migration = Self(rawValue: 134110)
  /// A constraint of the model that objects in the store do not keep.
  public static let migrationConstraintViolation = Self(rawValue: 134111)
  /// A migration that was cancelled; the message says which version the store has.
  public static let migrationCancelled = Self(rawValue: 134120)
  /// The model of a store, or one of a name, is not there.
  public static let migrationMissingSourceModel = Self(rawValue: 134130)
  /// No mapping model leads from the version of a store to the model's.
  public static let migrationMissingMappingModel = Self(rawValue: 134140)
  /// A migration manager cannot open its source store.
  public static let migrationManagerSourceStore = Self(rawValue: 134150)
  /// A migration manager cannot make or write its destination store.
  public static let migrationManagerDestinationStore = Self(rawValue: 134160)
  /// An entity mapping names a policy that is not registered, or a policy associates an object of
  /// another context.
  public static let entityMigrationPolicy = Self(rawValue: 134170)
  /// A file of SQLite that cannot be read: the code of QuireXcode's `SQLiteError`.
  public static let sqlite = Self(rawValue: 134180)
  /// No mapping can be inferred between two models; the message says what stands in the way.
  public static let inferredMappingModel = Self(rawValue: 134190)
  /// A store of Core Data that cannot be imported: the code of QuireXcode's `CoreDataStoreError`.
  public static let externalRecordImport = Self(rawValue: 134200)
  /// A history does not reach to the place of a token.
  public static let persistentHistoryTokenExpired = Self(rawValue: 134301)
  /// A staged migration that meets a version of the model that it does not know.
  public static let managedObjectModelReferenceNotFound = Self(rawValue: 134504)
  /// A staged migration of a store whose version hashes are not those that this release makes of
  /// the model in it.
  public static let stagedMigrationFrameworkVersionMismatch = Self(rawValue: 134505)
  /// A staged migration whose stages lead from the current version to the store's.
  public static let stagedMigrationBackwardMigration = Self(rawValue: 134506)
  /// A key that no property of the entity has (Core Data raises an exception here).
  public static let undefinedKey = Self(rawValue: 1_340_001)
  /// A value of another type than the property's (Core Data raises an exception here).
  public static let unacceptableValue = Self(rawValue: 1_340_002)
  /// A function that its receiver does not answer (Core Data raises an exception here).
  public static let unrecognizedSelector = Self(rawValue: 1_340_003)
  /// An expression or a predicate that has no value: a variable stands for nothing, an operation
  /// has no answer (Core Data raises an exception here, or stops).
  public static let invalidExpression = Self(rawValue: 1_340_004)
}
