import QuireModel

/// What a batch request results in. Raw values are Core Data's.
public enum BatchResultType: Int, Sendable, CaseIterable {
  /// Whether it was done, which it was where nothing was thrown.
  case statusOnly = 0
  /// The IDs of the objects that were inserted, changed or deleted.
  case objectIDs = 1
  /// How many objects were inserted, changed or deleted.
  case count = 2
}

/// Told by a batch request how many objects are done so far, every thousand or so; answers whether
/// to go on.
///
/// After a `false` the request throws `CancellationError`, and nothing is changed. The same happens
/// when the task that runs it is cancelled.
public typealias BatchProgress = (_ doneCount: Int) -> Bool

/// What a batch request has done, in all stores that it was for.
public struct BatchResult: Sendable {
  public let resultType: BatchResultType
  /// How many objects the request was about: those that were inserted, changed or deleted. Objects
  /// at the other ends of their relationships do not count.
  public let count: Int
  /// The same by their IDs, where ``BatchResultType/objectIDs`` were asked for; else none. New
  /// objects are in the order of the request, and before all others, which are in that of their
  /// keys.
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

  /// What ``resultType`` says: `true`, `[ManagedObjectID]` or an `Int`.
  public var result: (any Sendable)? {
    switch resultType {
    case .statusOnly: true
    case .objectIDs: objectIDs
    case .count: count
    }
  }

  /// What a context needs to merge the request, by
  /// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)``: with all objects that have
  /// changed, those at other ends of relationships too. Empty unless
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
