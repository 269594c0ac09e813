import QuireModel

/// The form of a batch request's result. The raw values are those of Core Data.
public enum BatchResultType: Int, Sendable, CaseIterable {
  /// `true`: the request has succeeded, as otherwise an error is thrown.
  case statusOnly = 0
  /// The IDs of the objects that were inserted, changed or deleted.
  case objectIDs = 1
  /// The number of objects that were inserted, changed or deleted.
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
  public let resultType: BatchResultType
  /// The number of objects that were inserted, changed or deleted. Objects at the other ends of
  /// their relationships do not count.
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
  /// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)``. It has all objects that have
  /// changed, those at other ends of relationships included, and is empty unless
  /// ``BatchResultType/objectIDs`` were asked for.
  public func objectIDNotification() -> ObjectIDNotice { notice }
}

public typealias BatchInsertResult = BatchResult
public typealias BatchUpdateResult = BatchResult
public typealias BatchDeleteResult = BatchResult

// Core Data's names of the types and their cases.

public typealias BatchInsertRequestResultType = BatchResultType
public typealias BatchUpdateRequestResultType = BatchResultType
public typealias BatchDeleteRequestResultType = BatchResultType

extension BatchResultType {
  public static var statusOnlyResultType: BatchResultType { .statusOnly }
  public static var updatedObjectIDsResultType: BatchResultType { .objectIDs }
  public static var updatedObjectsCountResultType: BatchResultType { .count }
  public static var resultTypeStatusOnly: BatchResultType { .statusOnly }
  public static var resultTypeObjectIDs: BatchResultType { .objectIDs }
  public static var resultTypeCount: BatchResultType { .count }
}

extension BatchResult: CustomStringConvertible {
  public var description: String { count == 1 ? "1 object" : "\(count) objects" }
}
