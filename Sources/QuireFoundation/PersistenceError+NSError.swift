// Errors as Foundation's `NSError`, for programs that use Foundation anyway.
//
// Quire itself does not use full Foundation, the only module with `CustomNSError` on most platforms
// (`docs/decisions/0063-errors-without-foundation.md`). A program that imports this module finds
// Core Data's keys in the `userInfo` of an error.

import Foundation
import Quire

/// The single errors that one error combines: `[NSError]`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let DetailedErrorsKey = "NSDetailedErrors"
/// The ID of the object that a validation error is about: a `ManagedObjectID`, since an error may
/// leave the isolation of its object. `try context.existingObject(with:)` is the object.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let ValidationObjectErrorKey = "NSValidationErrorObject"
/// The name of the property that a validation error is about.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let ValidationKeyErrorKey = "NSValidationErrorKey"
/// The value that is not valid, if there is one.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let ValidationValueErrorKey = "NSValidationErrorValue"
/// The IDs of the objects that any other error is about: `[ManagedObjectID]`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let AffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The conflicts of a save: `[MergeConflict.Report]` or `[ConstraintConflict.Report]`. Core Data
/// has them under `conflictList` as well, and so has Quire.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreSaveConflictsErrorKey = "NSPersistentStoreSaveConflictsErrorKey"

extension PersistenceError: CustomNSError {
  /// `NSCocoaErrorDomain`.
  public static var errorDomain: String { domain }

  /// Core Data's number for the kind of error.
  public var errorCode: Int { code.rawValue }

  /// The content of Core Data's errors under its keys, with the message as `localizedDescription`.
  public var errorUserInfo: [String: Any] {
    // If an error has its own `userInfo`, Foundation reads the message from there.
    var info: [String: Any] = [:]
    info[NSLocalizedDescriptionKey] = errorDescription
    info[NSLocalizedFailureReasonErrorKey] = failureReason
    if let entityName { info["entity"] = entityName }
    if let underlying { info[NSUnderlyingErrorKey] = underlying as NSError }
    if !detailedErrors.isEmpty { info[DetailedErrorsKey] = detailedErrors.map { $0 as NSError } }
    if !conflicts.isEmpty { addConflicts(conflicts, to: &info) }
    if !constraintConflicts.isEmpty { addConflicts(constraintConflicts, to: &info) }
    if isOfValidation {
      if let objectID { info[ValidationObjectErrorKey] = objectID }
      if let key { info[ValidationKeyErrorKey] = key }
      if let rejectedValue { info[ValidationValueErrorKey] = rejectedValue.plainValue }
    } else {
      if let objectID { info[AffectedObjectsErrorKey] = [objectID] }
      if let key { info["key"] = key }
    }
    return info
  }

  private var isOfValidation: Bool { (1550..<1700).contains(code.rawValue) }

  private func addConflicts(_ list: [Any], to info: inout [String: Any]) {
    info["conflictList"] = list
    info[PersistentStoreSaveConflictsErrorKey] = list
  }
}
