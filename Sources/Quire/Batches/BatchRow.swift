import QuireModel

/// A new object that a ``BatchInsertRequest`` fills in: its attributes and to-one relationships by
/// name.
///
/// ```swift
/// let request = BatchInsertRequest(entityName: "Artwork") { row in
///   guard let line = lines.next() else { return true }
///   row.set("title", to: line.title)
///   row["artist"] = artistIDs[line.artist]
///   return false
/// }
/// ```
///
/// Properties that are not set have their defaults. A name that the entity does not have, or a
/// value of another type, is an error that
/// ``ManagedObjectContext/execute(_:)-(BatchInsertRequest)`` throws when the handler has returned.
/// The row may be used only within the handler.
public final class BatchRow {
  let storage: EntityStorage
  /// The values of attributes, by slot.
  @exclusivity(unchecked) private(set) var values: [AttributeValue?]
  /// The destinations that were set.
  @exclusivity(unchecked) private(set) var destinations: [(slot: Int, id: ManagedObjectID?)] = []
  /// The slots that were set.
  @exclusivity(unchecked) private(set) var givenSlots = SlotSet()
  /// The first error.
  @exclusivity(unchecked) private var failure: (any Error)?
  // Most rows set the same names in the same order: each is first looked for where it was last
  // found.
  @exclusivity(unchecked) private var known: [(name: String, slot: Int)] = []
  @exclusivity(unchecked) private var next = 0
  private let computedDefaults: ComputedDefaults?

  /// - Parameter computedDefaults: those of the entity's class.
  init(_ storage: EntityStorage, _ computedDefaults: ComputedDefaults?) {
    self.storage = storage
    self.computedDefaults = computedDefaults
    values = storage.binding.defaultValues
  }

  /// The value of a property. It can be set to what ``ManagedObject/setValue(_:forKey:)`` takes for
  /// an attribute, and to the ID of a saved object for a to-one relationship. Before it is set, it
  /// is the default.
  public subscript(name: String) -> Any? {
    get {
      guard let slot = slot(named: name) else { return nil }
      if storage.binding.traits[slot].attributeType == nil {
        return destinations.last { $0.slot == slot }?.id
      }
      return values[slot]?.plainValue
    }
    set { put(name, newValue) }
  }

  /// Sets an attribute. Faster than the subscript, as the type is known.
  public func set<Value: ManagedAttribute>(_ name: String, to value: Value) {
    put(name, attribute: value.attributeValue)
  }

  /// Sets an attribute, or leaves it without a value.
  public func set<Value: ManagedAttribute>(_ name: String, to value: Value?) {
    put(name, attribute: value?.attributeValue)
  }

  /// Sets a to-one relationship to a saved object.
  public func set(_ name: String, to destination: ManagedObjectID?) { put(name, destination) }

  // MARK: Filling in

  /// Begins another object.
  func begin() {
    for slot in givenSlots { values[slot] = storage.binding.defaultValues[slot] }
    givenSlots = SlotSet()
    computedDefaults?.forEach { slot, value in values[slot] = value }
    if !destinations.isEmpty { destinations.removeAll(keepingCapacity: true) }
    next = 0
  }

  /// - Throws: the first error in what was set.
  func check() throws {
    if let failure { throw failure }
  }

  /// The slot of a property that can be set; `nil`, with the error kept, if there is none.
  private func slot(named name: String) -> Int? {
    if next < known.count, known[next].name == name {
      next += 1
      return known[next - 1].slot
    }
    return findSlot(name)
  }

  @inline(never)
  private func findSlot(_ name: String) -> Int? {
    do {
      let slot = try storage.binding.batchSlot(named: name)
      if next < known.count { known[next] = (name, slot) } else { known.append((name, slot)) }
      next = min(next + 1, known.count)
      return slot
    } catch {
      failure = failure ?? error
      return nil
    }
  }

  @usableFromInline
  func put(_ name: String, attribute value: AttributeValue?) {
    guard let slot = slot(named: name) else { return }
    guard let type = storage.binding.traits[slot].attributeType,
      value.map({ $0.isOf(type) }) ?? true
    else { return put(slot, value.map(\.plainValue)) }
    givenSlots.insert(slot)
    values[slot] = value
  }

  func put(_ name: String, _ value: Any?) {
    guard let slot = slot(named: name) else { return }
    put(slot, value)
  }

  private func put(_ slot: Int, _ value: Any?) {
    let value = flattened(value)
    do {
      if storage.binding.traits[slot].attributeType != nil {
        values[slot] = try value.map { try storage.binding.attributeValue($0, slot) }
      } else {
        let id = try value.map { try storage.binding.destinationID($0, slot) }
        destinations.removeAll { $0.slot == slot }
        destinations.append((slot, id))
      }
      givenSlots.insert(slot)
    } catch {
      failure = failure ?? error
    }
  }
}

@available(*, unavailable)
extension BatchRow: Sendable {}
