import QuireModel

/// Objects that would have the same values of a uniqueness constraint.
///
/// Belongs to the isolation of the objects' context, as they do. The ``report``, which errors
/// carry, may be sent to any isolation. An object without a value for one of the constraint's
/// properties is in no conflict: absent values are not compared.
public struct ConstraintConflict: CustomStringConvertible {
  /// The conflict as values, without objects.
  public let report: Report

  /// The object that the store has with these values; `nil` when all objects are unsaved.
  public let databaseObject: ManagedObject?
  /// New and changed objects that have got the values, in the order of their references.
  public let conflictingObjects: [ManagedObject]

  /// The paths of the constraint, as the entity declares them.
  public var constraint: [String] { report.constraint }
  /// The values, by the paths: plain values of attributes, IDs of to-one destinations.
  public var constraintValues: [String: Any] { report.values.mapValues(\.plainValue) }

  /// The store's values of ``databaseObject``: plain values of attributes, IDs of to-one
  /// destinations, by the names of the properties. Those without a value are left out.
  public var databaseSnapshot: [String: Any]? {
    guard let databaseObject else { return nil }
    return report.databaseValues.map(databaseObject.plainValues)
  }

  /// The fetched values of each of the ``conflictingObjects``, in the form of ``databaseSnapshot``;
  /// empty for new ones.
  public var conflictingSnapshots: [[String: Any]] {
    zip(conflictingObjects, report.conflictingValues).map { $0.plainValues($1) }
  }

  public var description: String { report.description }

  package init(
    report: Report, databaseObject: ManagedObject?, conflictingObjects: [ManagedObject]
  ) {
    self.report = report
    self.databaseObject = databaseObject
    self.conflictingObjects = conflictingObjects
  }
}

@available(*, unavailable)
extension ConstraintConflict: Sendable {}

extension ConstraintConflict {
  /// The type of ``report``: names, IDs and values.
  public typealias Report = ConstraintConflictReport
}

extension ConstraintConflictReport: CustomStringConvertible {
  public var description: String {
    let names = constraint.joined(separator: ", ")
    let objects = conflictingObjectIDs.map(\.description).joined(separator: ", ")
    let other = databaseObjectID.map { ", which \($0) has in the store" } ?? ""
    return
      "\(names) of \(entityName) is to be unique, and is \(valueTexts.joined(separator: ", ")) in "
      + objects + other
  }

  /// The values as texts for a message, in the order of the constraint.
  var valueTexts: [String] {
    constraint.map { path in
      switch values[path] {
      case .attribute(let value)?: valueText(value.plainValue)
      case .object(let id)?: "\(id)"
      case nil: "?"
      }
    }
  }
}

extension MergeConflict.Value {
  /// The plain value. No transformer is needed, as a constraint has no transformable attributes.
  fileprivate var plainValue: Any {
    switch self {
    case .attribute(let value): value.plainValue
    case .object(let id): id
    }
  }
}
