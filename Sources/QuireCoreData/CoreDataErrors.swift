// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Core Data's names of constants begin with capitals.

import Foundation
import Quire
import QuireFoundation
import QuireModel
import QuireXcode

// Errors as Core Data has them: instances of `NSError` in its domain, with its codes and keys.

/// The errors that an error combines: `[NSError]`.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The object that a validation error is about: an `NSManagedObject`.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The name of the property that a validation error is about.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The value that is not valid.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The objects that any other error is about: `[NSManagedObject]`.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The validation predicate that a value does not fulfil. Kept for its name: the text of an error
/// has the predicate.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The stores that an error is about. Kept for its name: the text of an error has the store's file.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The domain of SQLite's errors. Kept for its name: there is no SQLite.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
/// The conflicts of a save.
public let NSPersistentStoreSaveConflictsErrorKey = "NSPersistentStoreSaveConflictsErrorKey"

// MARK: - Codes

/// Validation failed for another reason.
public let NSManagedObjectValidationError = 1550
/// Values are not unique.
public let NSManagedObjectConstraintValidationError = 1551
/// Several errors, which are under `NSDetailedErrorsKey`.
public let NSValidationMultipleErrorsError = 1560
/// A required property has no value.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A relationship refers to too few objects.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A relationship refers to too many objects.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// A delete rule denies a deletion.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is above its limit.
public let NSValidationNumberTooLargeError = 1610
/// A number is below its limit.
public let NSValidationNumberTooSmallError = 1620
/// A date is after its limit.
public let NSValidationDateTooLateError = 1630
/// A date is before its limit.
public let NSValidationDateTooSoonError = 1640
/// A date is not valid.
public let NSValidationInvalidDateError = 1650
/// A text is too long.
public let NSValidationStringTooLongError = 1660
/// A text is too short.
public let NSValidationStringTooShortError = 1670
/// A text does not match its pattern.
public let NSValidationStringPatternMatchingError = 1680
/// A URL is not valid. Kept for its name: what `URL` takes can be stored.
public let NSValidationInvalidURIError = 1690
/// The model of a stage of a migration is not found, or is another one.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// The hashes in a store are not those of its model, so that its stage is not found.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// The stages of a migration do not lead back.
public let NSStagedMigrationBackwardMigrationError = 134506
/// Objects do not stop changing in a save.
public let NSManagedObjectContextLockingError = 132000
/// The coordinator cannot be locked.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// An object is not in its store.
public let NSManagedObjectReferentialIntegrityError = 133000
/// A relationship refers to another store or context.
public let NSManagedObjectExternalRelationshipError = 133010
/// A save conflicts with another save.
public let NSManagedObjectMergeError = 133020
/// A save would make values appear twice that are unique.
public let NSManagedObjectConstraintMergeError = 133021
/// There are no stores of that type.
public let NSPersistentStoreInvalidTypeError = 134000
/// The store is of another type.
public let NSPersistentStoreTypeMismatchError = 134010
/// The store's entities are not the model's.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// The store cannot be written.
public let NSPersistentStoreSaveError = 134030
/// Some stores are saved and others are not.
public let NSPersistentStoreIncompleteSaveError = 134040
/// A save has conflicts that were not resolved.
public let NSPersistentStoreSaveConflictsError = 134050
/// Another error.
public let NSCoreDataError = 134060
/// An operation on a store failed.
public let NSPersistentStoreOperationError = 134070
/// A store cannot be opened.
public let NSPersistentStoreOpenError = 134080
/// A store could not be opened in time.
public let NSPersistentStoreTimeoutError = 134090
/// A request asks for what the store does not do.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// The store is of another version of the model.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// A migration failed.
public let NSMigrationError = 134110
/// A migration would break a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// A migration was cancelled.
public let NSMigrationCancelledError = 134120
/// The model of the store was not found.
public let NSMigrationMissingSourceModelError = 134130
/// There is no mapping model for a migration.
public let NSMigrationMissingMappingModelError = 134140
/// The source of a migration cannot be read.
public let NSMigrationManagerSourceStoreError = 134150
/// The destination of a migration cannot be written.
public let NSMigrationManagerDestinationStoreError = 134160
/// A migration policy failed.
public let NSEntityMigrationPolicyError = 134170
/// Kept for its name: there is no SQLite.
public let NSSQLiteError = 134180
/// A mapping model cannot be inferred.
public let NSInferredMappingModelError = 134190
/// Kept for its name: there are no external records.
public let NSExternalRecordImportError = 134200
/// The history does not reach back to a token.
public let NSPersistentHistoryTokenExpiredError = 134301

// MARK: - Translation

/// Calls `body`, and throws its error as Core Data would.
///
/// - Parameter context: has the objects that the error is about; `nil` where there is none.
func translatingErrors<Result>(
  of context: NSManagedObjectContext? = nil, _ body: () throws -> Result
) throws -> Result {
  do {
    return try body()
  } catch {
    throw coreDataError(error, context)
  }
}

/// Calls `body`, and stops the program if it throws, where Core Data raises an exception.
///
/// The message names the source file and line of the program, which the public functions pass on.
/// A function that programs override cannot have such arguments, as an override has the same
/// arguments; nor can an initialiser that they override, or a property. These pass their name.
///
/// - Parameter member: what the program has called, where its location is not known.
func raising<Result>(
  _ member: String? = nil, _ file: StaticString = #fileID, _ line: UInt = #line,
  _ body: () throws -> Result
) -> Result {
  do {
    return try body()
  } catch {
    let text = naming("\(error)")
    fatalError(member.map { "\($0): \(text)" } ?? text, file: file, line: line)
  }
}

/// The same for a function that knows where it was called.
func raising<Result>(
  _ file: StaticString, _ line: UInt, _ body: () throws -> Result
) -> Result {
  raising(nil, file, line, body)
}

/// An error's text with the remedies of this module in the place of those of Quire's.
private func naming(_ text: String) -> String {
  var text = text
  for (quires, here) in [
    (
      "pass it to the coordinator's classes",
      "name it once, before the coordinator is made: NSManagedObject.register(…)"
    ),
    (
      "pass it to the coordinator's transformers",
      "register it before the coordinator is made: ValueTransformer.setValueTransformer(_:forName:)"
    ),
  ] {
    text = text.replacing(quires, with: here)
  }
  return text
}

/// An error of Quire as the `NSError` that Core Data throws; any other error as it is.
///
/// A Swift error is not caught as an `NSError` on every platform, so the object is made here. With
/// a context the error has objects where it has IDs without one.
func coreDataError(_ error: any Error, _ context: NSManagedObjectContext? = nil) -> any Error {
  // What a store of the application's has thrown is the application's own.
  if let failure = error as? StoreFailure { return failure.error }
  guard let error = error as? PersistenceError else {
    if error is ModelError || error is XcodeModelError || error is XcodeMappingError {
      return NSError(
        domain: PersistenceError.domain, code: NSCoreDataError,
        userInfo: [NSLocalizedDescriptionKey: "\(error)"])
    }
    return error
  }
  if let failure = error.underlying as? StoreFailure { return failure.error }
  var info = error.errorUserInfo
  if let text = info[NSLocalizedDescriptionKey] as? String {
    info[NSLocalizedDescriptionKey] = naming(text)
  }
  if !error.detailedErrors.isEmpty {
    info[NSDetailedErrorsKey] = error.detailedErrors.map { coreDataError($0, context) }
  }
  if let underlying = error.underlying {
    info[NSUnderlyingErrorKey] = coreDataError(underlying, context)
  }
  if let id = error.objectID, let object = context?.registeredObject(for: id) {
    if info[NSValidationObjectErrorKey] != nil {
      info[NSValidationObjectErrorKey] = object
    } else {
      info[NSAffectedObjectsErrorKey] = [object]
    }
  }
  return NSError(domain: PersistenceError.domain, code: error.errorCode, userInfo: info)
}
