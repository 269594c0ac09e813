import QuireModel

/// An object of a context of which the store has another version than the one that the context's
/// changes were made to.
///
/// Belongs to the isolation of the object's context, as the object does. The ``report``, which
/// errors carry, may be sent to any isolation.
public struct MergeConflict: CustomStringConvertible {
  /// The object, with the context's unsaved changes.
  public let sourceObject: ManagedObject

  /// The conflict as values, without objects.
  public let report: Report

  /// Whether the object is the other end of a one-to-one relationship that was changed here, and
  /// not changed otherwise.
  let isOtherEnd: Bool

  /// Whether both have changed the same fact. Otherwise the changes are put on the newest row.
  let isDisputed: Bool

  /// Whether the object has part in a conflict of another one, and so is told of, though its own
  /// changes may not be disputed.
  var hasPart = false

  /// Whether somebody is to be asked.
  var isOpen: Bool { isDisputed || hasPart }

  /// The version that the changes were made to; 1 when nothing is known of an object that is gone.
  public var oldVersionNumber: Int { report.oldVersion }

  /// The version in the store; 0 when the object is gone.
  public var newVersionNumber: Int { report.newVersion }

  /// The fetched values, before the context's changes: plain values of attributes, IDs of to-one
  /// destinations, by the names of the properties. Those without a value are left out.
  public var objectSnapshot: [String: Any] { sourceObject.plainValues(report.objectValues) }

  /// The store's present values, in the form of ``objectSnapshot``; `nil` when the object is gone.
  public var persistedSnapshot: [String: Any]? { report.storeValues.map(sourceObject.plainValues) }

  /// The same as ``persistedSnapshot``. Core Data has a cache of rows between context and store,
  /// whose values these are there.
  public var cachedSnapshot: [String: Any]? { persistedSnapshot }

  public var description: String { report.description }
}

@available(*, unavailable)
extension MergeConflict: Sendable {}

extension MergeConflict {
  /// The type of ``report``: IDs, versions and values.
  public typealias Report = MergeConflictReport

  /// The value of one property in a report.
  public typealias Value = MergeConflictReport.Value

  init(
    _ object: ManagedObject, _ row: Row?, _ newVersion: UInt32, isOtherEnd: Bool = false,
    dispute: Dispute? = nil
  ) throws {
    sourceObject = object
    self.isOtherEnd = isOtherEnd
    isDisputed = dispute.map { !$0.here.isEmpty } ?? true
    func names(_ slots: [Int]) -> [String] { slots.map(object.binding.name(of:)) }
    // Nothing is known of an object that was never read, except that it existed.
    let oldVersion = !object.hasRow && newVersion == 0 ? 1 : object.version
    let changed = names(Array(object.changedSlots))
    report = Report(
      objectID: object.objectID, oldVersion: Int(oldVersion), newVersion: Int(newVersion),
      changedProperties: changed,
      disputedProperties: dispute.map { names($0.here) } ?? (row == nil ? changed : []),
      disputingProperties: dispute.map { names($0.there) } ?? [],
      objectValues: try object.row.map { try $0.conflictValues(object) } ?? [:],
      storeValues: try row.map { try $0.conflictValues(object) })
  }
}

extension MergeConflictReport: CustomStringConvertible {
  public var description: String {
    if newVersion == 0 { return "\(objectID) was deleted" }
    if newVersion == oldVersion { return "others refer to \(objectID), or no longer do" }
    let versions =
      "\(objectID) has version \(newVersion), the changes were made to version \(oldVersion)"
    if disputedProperties.isEmpty { return versions }
    return "\(versions): \(disputedProperties.joined(separator: ", ")) changed here, "
      + "\(disputingProperties.joined(separator: ", ")) there"
  }
}

extension ManagedObject {
  /// Values as key-value coding shows them; the bytes of one that its transformer cannot read.
  func plainValues(_ values: [String: MergeConflict.Value]) -> [String: Any] {
    var plain: [String: Any] = [:]
    for (name, value) in values {
      switch value {
      case .attribute(let value):
        let slot = binding.slot(named: name)
        plain[name] = slot.flatMap { try? plainAttribute(value, $0) } ?? value.plainValue
      case .object(let id): plain[name] = id
      }
    }
    return plain
  }
}

extension Row {
  func conflictValues(
    _ object: ManagedObject
  ) throws -> [String: MergeConflict.Value] {
    guard let storage = object.storage else { return [:] }
    var values: [String: MergeConflict.Value] = [:]
    for (slot, property) in storage.binding.properties.enumerated() {
      let field = storage.fieldBySlot[slot]
      guard field >= 0 else { continue }
      switch property {
      case .attribute:
        if let external = external(field) {
          // The value of an older state may be gone.
          let data = try object.session?.currentView().data(of: external)
          values[property.name] = data.map { data in
            .attribute(withReader { $0.externalValue(field, data) })
          }
        } else {
          values[property.name] = try value(field).map { .attribute($0) }
        }
      case .relationship:
        guard let reference = reference(field),
          let id = object.session?.objectID(of: reference)
        else { continue }
        values[property.name] = .object(id)
      }
    }
    return values
  }
}
