// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Core Data's names of constants begin with capitals.

import Foundation
import Quire
import QuireModel

@_exported import class Quire.ManagedObject
@_exported import struct Quire.ManagedObjectID

// Core Data's own names above Quire, for programs that were written for Core Data.
//
// A source file says `import QuireCoreData` where it said `import CoreData`. A type of Quire that
// has Core Data's form has its name here as an alias. Where the forms differ, a class of this
// module wraps the type of Quire: a request, a predicate and a description of a model are classes
// that can be changed, and what raises an exception in Core Data stops the program here with the
// error's text, as the signature has no room for an error. `docs/core-data-names.md` lists all
// names.
//
// The two types of Quire that programs see in their own interfaces, as a superclass and under an
// alias, are exported: else a public `Set<NSManagedObject>`, or an inlinable function that asks an
// object for its ID, would be refused in the language mode of Swift 6, as Quire is not imported.
//
// Nothing here stores or computes anything of its own: each call is one of Quire's, with the
// arguments of this module translated to it and its result translated back.

/// A property of a managed object: `@Managed var name: String?` in place of `@NSManaged`.
public typealias Managed<Value> = Quire.Managed<Value>
/// The identity of an object, in Quire's form.
public typealias NSManagedObjectID = ManagedObjectID
/// The reasons for which an object's values were replaced.
public typealias NSSnapshotEventType = SnapshotEventType
/// Main queue, private queue, or the queue of the code that makes the context.
public typealias NSManagedObjectContextConcurrencyType = ManagedObjectContext.ConcurrencyType
/// A fixed state of the stores that a context reads.
public typealias NSQueryGenerationToken = QueryGenerationToken
/// What deleting an object does to the objects that a relationship refers to.
public typealias NSDeleteRule = Quire.DeleteRule
/// The type of an attribute's values.
public typealias NSAttributeType = AttributeType
/// What a mapping does with the objects of its source entity.
public typealias NSEntityMappingType = EntityMappingType
/// The kind of a change of an object or a section.
public typealias NSFetchedResultsChangeType = FetchedResultsChangeType

// MARK: - History

/// Whether a change is an insertion, an update or a deletion.
public typealias NSPersistentHistoryChangeType = PersistentHistoryChangeType
/// A position in the histories of stores. It is `Codable`, where Core Data's is archived.
public typealias NSPersistentHistoryToken = PersistentHistoryToken
/// The form of the result of a request for history.
public typealias NSPersistentHistoryResultType = PersistentHistoryResultType

// MARK: - Conflicts

/// What a save does about conflicts. Subclasses override the functions that resolve them.
public typealias NSMergePolicy = MergePolicy
/// The kind of a merge policy.
public typealias NSMergePolicyType = MergePolicyType
/// Two saves that have changed the same object.
public typealias NSMergeConflict = MergeConflict
/// Two objects with values that are to be unique.
public typealias NSConstraintConflict = ConstraintConflict

/// The policy by which a save with conflicts fails.
public var NSErrorMergePolicy: NSMergePolicy { .error }
/// The policy by which the store's values win, property by property.
public var NSMergeByPropertyStoreTrumpMergePolicy: NSMergePolicy { .mergeByPropertyStoreTrump }
/// The policy by which the context's changes win, property by property.
public var NSMergeByPropertyObjectTrumpMergePolicy: NSMergePolicy { .mergeByPropertyObjectTrump }
/// The policy by which the context's objects replace the store's.
public var NSOverwriteMergePolicy: NSMergePolicy { .overwrite }
/// The policy by which the context's changes of objects in conflict are dropped.
public var NSRollbackMergePolicy: NSMergePolicy { .rollback }

// MARK: - Core Data's names of cases

extension AttributeType {
  /// A transient attribute of any type.
  public static var undefinedAttributeType: AttributeType { .undefined }
  /// Integers of 16 bits.
  public static var integer16AttributeType: AttributeType { .integer16 }
  /// Integers of 32 bits.
  public static var integer32AttributeType: AttributeType { .integer32 }
  /// Integers of 64 bits.
  public static var integer64AttributeType: AttributeType { .integer64 }
  /// Decimal numbers.
  public static var decimalAttributeType: AttributeType { .decimal }
  /// Numbers of 64 bits.
  public static var doubleAttributeType: AttributeType { .double }
  /// Numbers of 32 bits.
  public static var floatAttributeType: AttributeType { .float }
  /// Texts.
  public static var stringAttributeType: AttributeType { .string }
  /// True or false.
  public static var booleanAttributeType: AttributeType { .boolean }
  /// Dates.
  public static var dateAttributeType: AttributeType { .date }
  /// Bytes.
  public static var binaryDataAttributeType: AttributeType { .binaryData }
  /// UUIDs.
  public static var UUIDAttributeType: AttributeType { .uuid }
  /// URLs.
  public static var URIAttributeType: AttributeType { .uri }
  /// Values that a transformer turns into bytes.
  public static var transformableAttributeType: AttributeType { .transformable }
  /// Object IDs, in expressions.
  public static var objectIDAttributeType: AttributeType { .objectID }
  /// Values with elements.
  public static var compositeAttributeType: AttributeType { .composite }
}

extension DeleteRule {
  /// Objects of the relationship are left alone.
  public static var noActionDeleteRule: DeleteRule { .noAction }
  /// The relationship's other side is cleared.
  public static var nullifyDeleteRule: DeleteRule { .nullify }
  /// Objects of the relationship are deleted too.
  public static var cascadeDeleteRule: DeleteRule { .cascade }
  /// The deletion is refused while the relationship refers to an object.
  public static var denyDeleteRule: DeleteRule { .deny }
}
