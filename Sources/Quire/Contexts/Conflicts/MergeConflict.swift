import QuireModel

/// An object of a context that was changed underneath: the store has another version of it than the
/// one that the context's changes were made to.
///
/// Belongs to the isolation of the object's context, as the object does. What may travel is the
/// ``report``, which errors carry.
public struct MergeConflict: CustomStringConvertible {
  /// As the context has it, with its unsaved changes.
  public let sourceObject: ManagedObject
  public let report: Report
  /// Whether the object is the other end of a one-to-one relationship that was changed here. Of
  /// what it is besides, this context says nothing.
  let isOtherEnd: Bool

  /// The version that the changes were made to.
  public var oldVersionNumber: Int { report.oldVersion }
  /// The version in the store; 0 when the object is gone.
  public var newVersionNumber: Int { report.newVersion }

  /// What was fetched: plain values of attributes, IDs of to-one destinations, by the names of the
  /// properties. Those without a value are left out.
  public var objectSnapshot: [String: Any] { sourceObject.plainValues(report.objectValues) }

  /// What the store has now, in the same form; `nil` when the object is gone.
  public var persistedSnapshot: [String: Any]? { report.storeValues.map(sourceObject.plainValues) }

  /// The same as ``persistedSnapshot``: nothing lies between a context and the store.
  public var cachedSnapshot: [String: Any]? { persistedSnapshot }

  public var description: String { report.description }
}

@available(*, unavailable)
extension MergeConflict: Sendable {}

extension MergeConflict {
  /// What one can know of a conflict anywhere.
  public typealias Report = MergeConflictReport
  /// What one property of a row holds.
  public typealias Value = MergeConflictReport.Value

  init(
    _ object: ManagedObject, _ row: Row?, _ newVersion: UInt32, isOtherEnd: Bool = false
  ) throws {
    sourceObject = object
    self.isOtherEnd = isOtherEnd
    // Of an object that was never read, nothing is known but that it was there.
    let oldVersion = !object.hasRow && newVersion == 0 ? 1 : object.version
    report = Report(
      objectID: object.objectID, oldVersion: Int(oldVersion), newVersion: Int(newVersion),
      changedProperties: object.changedSlots.map { object.binding.properties[$0].name },
      objectValues: try object.row.map { try $0.conflictValues(object) } ?? [:],
      storeValues: try row.map { try $0.conflictValues(object) })
  }
}

extension MergeConflictReport: CustomStringConvertible {
  public var description: String {
    if newVersion == 0 { return "\(objectID) was deleted" }
    if newVersion == oldVersion { return "others lead to \(objectID), or no longer do" }
    return
      "\(objectID) has version \(newVersion), the changes were made to version \(oldVersion)"
  }
}

extension ManagedObject {
  /// Values as key-value coding shows them. Of one that its transformer cannot read, the bytes.
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
          // The value of an older state may be nowhere any more.
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
