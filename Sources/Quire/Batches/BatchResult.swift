import QuireModel

/// The form of a batch request's result. The raw values are those of Core Data.
public enum BatchResultType: Int, Sendable, CaseIterable {
  /// `true`: the request has succeeded, as otherwise an error is thrown.
  case statusOnly = 0
  /// The IDs of the objects that were inserted, found for a change, or deleted.
  case objectIDs = 1
  /// The number of objects that were inserted, found for a change, or deleted.
  case count = 2
}

/// Called by a batch request after about every thousand objects with the number that are done so
/// far; returns whether to continue.
///
/// After `false` the request throws `CancellationError`, and nothing is changed. The same happens
/// when the task that runs it is cancelled.
public typealias BatchProgress = (_ doneCount: Int) -> Bool

/// The result of a batch request in all its stores.
public struct BatchResult: Sendable {
  /// What ``result`` is, as the request asked for it.
  public let resultType: BatchResultType
  /// The number of objects that were inserted or deleted; in an update, of all that its predicate
  /// is true of, also if they had the values already. Objects at the other ends of their
  /// relationships do not count.
  public let count: Int
  /// The IDs of these objects, if ``BatchResultType/objectIDs`` were asked for; otherwise empty.
  /// New objects come first, in the order of the request; the others are sorted by their keys.
  public let objectIDs: [ManagedObjectID]
  private let notice: ObjectIDNotice

  init(
    _ resultType: BatchResultType, count: Int, objectIDs: [ManagedObjectID],
    _ notice: ObjectIDNotice
  ) {
    self.resultType = resultType
    self.count = count
    self.objectIDs = objectIDs
    self.notice = notice
  }

  /// The result in the form of ``resultType``: `true`, `[ManagedObjectID]` or an `Int`.
  public var result: (any Sendable)? {
    switch resultType {
    case .statusOnly: true
    case .objectIDs: objectIDs
    case .count: count
    }
  }

  /// A notice for merging the request into contexts by
  /// `ManagedObjectContext.mergeChanges(fromContextDidSave:)`. It has all objects that have
  /// changed, those at other ends of relationships included, and is empty unless
  /// ``BatchResultType/objectIDs`` were asked for.
  public func objectIDNotification() -> ObjectIDNotice { notice }
}

/// Core Data's name for what an insertion results in.
public typealias BatchInsertResult = BatchResult
/// Core Data's name for what an update results in.
public typealias BatchUpdateResult = BatchResult
/// Core Data's name for what a deletion results in.
public typealias BatchDeleteResult = BatchResult

// Core Data's names of the types and their cases.

/// Core Data's name for the type of an insertion's result.
public typealias BatchInsertRequestResultType = BatchResultType
/// Core Data's name for the type of an update's result.
public typealias BatchUpdateRequestResultType = BatchResultType
/// Core Data's name for the type of a deletion's result.
public typealias BatchDeleteRequestResultType = BatchResultType

extension BatchResultType {
  /// Core Data's name for ``statusOnly`` in an update.
  public static var statusOnlyResultType: BatchResultType { .statusOnly }
  /// Core Data's name for ``objectIDs`` in an update.
  public static var updatedObjectIDsResultType: BatchResultType { .objectIDs }
  /// Core Data's name for ``count`` in an update.
  public static var updatedObjectsCountResultType: BatchResultType { .count }
  /// Core Data's name for ``statusOnly`` in a deletion.
  public static var resultTypeStatusOnly: BatchResultType { .statusOnly }
  /// Core Data's name for ``objectIDs`` in a deletion.
  public static var resultTypeObjectIDs: BatchResultType { .objectIDs }
  /// Core Data's name for ``count`` in a deletion.
  public static var resultTypeCount: BatchResultType { .count }
}

extension BatchResult: CustomStringConvertible {
  public var description: String { count == 1 ? "1 object" : "\(count) objects" }
}
