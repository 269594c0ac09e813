import Foundation
import Quire

// Core Data's codes as members of Foundation's error, by which Swift code catches them:
// `catch CocoaError.managedObjectMerge`. Foundation has the type on every platform, and the codes
// of Core Data on none without it.

extension CocoaError.Code {
  private init(_ code: Int) { self.init(rawValue: code) }

  /// Validation failed for another reason.
  public static var managedObjectValidation: Self { Self(NSManagedObjectValidationError) }
  /// Values are not unique.
  public static var managedObjectConstraintValidation: Self {
    Self(NSManagedObjectConstraintValidationError)
  }
  /// Several errors, which are under `NSDetailedErrorsKey`.
  public static var validationMultipleErrors: Self { Self(NSValidationMultipleErrorsError) }
  /// A required property has no value.
  public static var validationMissingMandatoryProperty: Self {
    Self(NSValidationMissingMandatoryPropertyError)
  }
  /// A relationship refers to too few objects.
  public static var validationRelationshipLacksMinimumCount: Self {
    Self(NSValidationRelationshipLacksMinimumCountError)
  }
  /// A relationship refers to too many objects.
  public static var validationRelationshipExceedsMaximumCount: Self {
    Self(NSValidationRelationshipExceedsMaximumCountError)
  }
  /// A delete rule denies a deletion.
  public static var validationRelationshipDeniedDelete: Self {
    Self(NSValidationRelationshipDeniedDeleteError)
  }
  /// A number is above its limit.
  public static var validationNumberTooLarge: Self { Self(NSValidationNumberTooLargeError) }
  /// A number is below its limit.
  public static var validationNumberTooSmall: Self { Self(NSValidationNumberTooSmallError) }
  /// A date is after its limit.
  public static var validationDateTooLate: Self { Self(NSValidationDateTooLateError) }
  /// A date is before its limit.
  public static var validationDateTooSoon: Self { Self(NSValidationDateTooSoonError) }
  /// A date is not valid.
  public static var validationInvalidDate: Self { Self(NSValidationInvalidDateError) }
  /// A text is too long.
  public static var validationStringTooLong: Self { Self(NSValidationStringTooLongError) }
  /// A text is too short.
  public static var validationStringTooShort: Self { Self(NSValidationStringTooShortError) }
  /// A text does not match its pattern.
  public static var validationStringPatternMatching: Self {
    Self(NSValidationStringPatternMatchingError)
  }
  /// Objects do not stop changing in a save.
  public static var managedObjectContextLocking: Self { Self(NSManagedObjectContextLockingError) }
  /// The coordinator cannot be locked.
  public static var persistentStoreCoordinatorLocking: Self {
    Self(NSPersistentStoreCoordinatorLockingError)
  }
  /// An object is not in its store.
  public static var managedObjectReferentialIntegrity: Self {
    Self(NSManagedObjectReferentialIntegrityError)
  }
  /// A relationship refers to another store or context.
  public static var managedObjectExternalRelationship: Self {
    Self(NSManagedObjectExternalRelationshipError)
  }
  /// A save conflicts with another save.
  public static var managedObjectMerge: Self { Self(NSManagedObjectMergeError) }
  /// A save would make values appear twice that are unique.
  public static var managedObjectConstraintMerge: Self { Self(NSManagedObjectConstraintMergeError) }
  /// There are no stores of that type.
  public static var persistentStoreInvalidType: Self { Self(NSPersistentStoreInvalidTypeError) }
  /// The store is of another type.
  public static var persistentStoreTypeMismatch: Self { Self(NSPersistentStoreTypeMismatchError) }
  /// The store's entities are not the model's.
  public static var persistentStoreIncompatibleSchema: Self {
    Self(NSPersistentStoreIncompatibleSchemaError)
  }
  /// The store cannot be written.
  public static var persistentStoreSave: Self { Self(NSPersistentStoreSaveError) }
  /// Some stores are saved and others are not.
  public static var persistentStoreIncompleteSave: Self {
    Self(NSPersistentStoreIncompleteSaveError)
  }
  /// A save has conflicts that were not resolved.
  public static var persistentStoreSaveConflicts: Self { Self(NSPersistentStoreSaveConflictsError) }
  /// Another error.
  public static var coreData: Self { Self(NSCoreDataError) }
  /// An operation on a store failed.
  public static var persistentStoreOperation: Self { Self(NSPersistentStoreOperationError) }
  /// A store cannot be opened.
  public static var persistentStoreOpen: Self { Self(NSPersistentStoreOpenError) }
  /// A store could not be opened in time.
  public static var persistentStoreTimeout: Self { Self(NSPersistentStoreTimeoutError) }
  /// A request asks for what the store does not do.
  public static var persistentStoreUnsupportedRequestType: Self {
    Self(NSPersistentStoreUnsupportedRequestTypeError)
  }
  /// The store is of another version of the model.
  public static var persistentStoreIncompatibleVersionHash: Self {
    Self(NSPersistentStoreIncompatibleVersionHashError)
  }
  /// A migration failed.
  public static var migration: Self { Self(NSMigrationError) }
  /// A migration would break a uniqueness constraint.
  public static var migrationConstraintViolation: Self { Self(NSMigrationConstraintViolationError) }
  /// A migration was cancelled.
  public static var migrationCancelled: Self { Self(NSMigrationCancelledError) }
  /// The model of the store was not found.
  public static var migrationMissingSourceModel: Self { Self(NSMigrationMissingSourceModelError) }
  /// There is no mapping model for a migration.
  public static var migrationMissingMappingModel: Self { Self(NSMigrationMissingMappingModelError) }
  /// The source of a migration cannot be read.
  public static var migrationManagerSourceStore: Self { Self(NSMigrationManagerSourceStoreError) }
  /// The destination of a migration cannot be written.
  public static var migrationManagerDestinationStore: Self {
    Self(NSMigrationManagerDestinationStoreError)
  }
  /// A migration policy failed.
  public static var entityMigrationPolicy: Self { Self(NSEntityMigrationPolicyError) }
  /// A mapping model cannot be inferred.
  public static var inferredMappingModel: Self { Self(NSInferredMappingModelError) }
  /// The history does not reach back to a token.
  public static var persistentHistoryTokenExpired: Self {
    Self(NSPersistentHistoryTokenExpiredError)
  }
}

extension CocoaError {
  /// Validation failed for another reason.
  public static var managedObjectValidation: Code { .managedObjectValidation }
  /// Values are not unique.
  public static var managedObjectConstraintValidation: Code { .managedObjectConstraintValidation }
  /// Several errors, which are under `NSDetailedErrorsKey`.
  public static var validationMultipleErrors: Code { .validationMultipleErrors }
  /// A required property has no value.
  public static var validationMissingMandatoryProperty: Code { .validationMissingMandatoryProperty }
  /// A relationship refers to too few objects.
  public static var validationRelationshipLacksMinimumCount: Code {
    .validationRelationshipLacksMinimumCount
  }
  /// A relationship refers to too many objects.
  public static var validationRelationshipExceedsMaximumCount: Code {
    .validationRelationshipExceedsMaximumCount
  }
  /// A delete rule denies a deletion.
  public static var validationRelationshipDeniedDelete: Code { .validationRelationshipDeniedDelete }
  /// A number is above its limit.
  public static var validationNumberTooLarge: Code { .validationNumberTooLarge }
  /// A number is below its limit.
  public static var validationNumberTooSmall: Code { .validationNumberTooSmall }
  /// A date is after its limit.
  public static var validationDateTooLate: Code { .validationDateTooLate }
  /// A date is before its limit.
  public static var validationDateTooSoon: Code { .validationDateTooSoon }
  /// A date is not valid.
  public static var validationInvalidDate: Code { .validationInvalidDate }
  /// A text is too long.
  public static var validationStringTooLong: Code { .validationStringTooLong }
  /// A text is too short.
  public static var validationStringTooShort: Code { .validationStringTooShort }
  /// A text does not match its pattern.
  public static var validationStringPatternMatching: Code { .validationStringPatternMatching }
  /// Objects do not stop changing in a save.
  public static var managedObjectContextLocking: Code { .managedObjectContextLocking }
  /// The coordinator cannot be locked.
  public static var persistentStoreCoordinatorLocking: Code { .persistentStoreCoordinatorLocking }
  /// An object is not in its store.
  public static var managedObjectReferentialIntegrity: Code { .managedObjectReferentialIntegrity }
  /// A relationship refers to another store or context.
  public static var managedObjectExternalRelationship: Code { .managedObjectExternalRelationship }
  /// A save conflicts with another save.
  public static var managedObjectMerge: Code { .managedObjectMerge }
  /// A save would make values appear twice that are unique.
  public static var managedObjectConstraintMerge: Code { .managedObjectConstraintMerge }
  /// There are no stores of that type.
  public static var persistentStoreInvalidType: Code { .persistentStoreInvalidType }
  /// The store is of another type.
  public static var persistentStoreTypeMismatch: Code { .persistentStoreTypeMismatch }
  /// The store's entities are not the model's.
  public static var persistentStoreIncompatibleSchema: Code { .persistentStoreIncompatibleSchema }
  /// The store cannot be written.
  public static var persistentStoreSave: Code { .persistentStoreSave }
  /// Some stores are saved and others are not.
  public static var persistentStoreIncompleteSave: Code { .persistentStoreIncompleteSave }
  /// A save has conflicts that were not resolved.
  public static var persistentStoreSaveConflicts: Code { .persistentStoreSaveConflicts }
  /// Another error.
  public static var coreData: Code { .coreData }
  /// An operation on a store failed.
  public static var persistentStoreOperation: Code { .persistentStoreOperation }
  /// A store cannot be opened.
  public static var persistentStoreOpen: Code { .persistentStoreOpen }
  /// A store could not be opened in time.
  public static var persistentStoreTimeout: Code { .persistentStoreTimeout }
  /// A request asks for what the store does not do.
  public static var persistentStoreUnsupportedRequestType: Code {
    .persistentStoreUnsupportedRequestType
  }
  /// The store is of another version of the model.
  public static var persistentStoreIncompatibleVersionHash: Code {
    .persistentStoreIncompatibleVersionHash
  }
  /// A migration failed.
  public static var migration: Code { .migration }
  /// A migration would break a uniqueness constraint.
  public static var migrationConstraintViolation: Code { .migrationConstraintViolation }
  /// A migration was cancelled.
  public static var migrationCancelled: Code { .migrationCancelled }
  /// The model of the store was not found.
  public static var migrationMissingSourceModel: Code { .migrationMissingSourceModel }
  /// There is no mapping model for a migration.
  public static var migrationMissingMappingModel: Code { .migrationMissingMappingModel }
  /// The source of a migration cannot be read.
  public static var migrationManagerSourceStore: Code { .migrationManagerSourceStore }
  /// The destination of a migration cannot be written.
  public static var migrationManagerDestinationStore: Code { .migrationManagerDestinationStore }
  /// A migration policy failed.
  public static var entityMigrationPolicy: Code { .entityMigrationPolicy }
  /// A mapping model cannot be inferred.
  public static var inferredMappingModel: Code { .inferredMappingModel }
  /// The history does not reach back to a token.
  public static var persistentHistoryTokenExpired: Code { .persistentHistoryTokenExpired }
}

extension CocoaError {
  /// The object that a validation error is about: an `NSManagedObject`.
  public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
  /// The name of the property that a validation error is about.
  public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
  /// The value that is not valid.
  public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
  /// The objects that any other error is about.
  public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
  /// The conflicts of a save.
  public var persistentStoreSaveConflicts: [NSMergeConflict]? {
    userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
  }
}
