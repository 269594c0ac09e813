import QuireModel

/// A new object that a ``BatchInsertRequest`` is filling in: its attributes and to-one
/// relationships by name.
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
/// What is not set has its default. Names that the entity does not have, and values of other types,
/// are errors that ``ManagedObjectContext/execute(_:)-(BatchInsertRequest)`` throws when the
/// handler returns. Of use within the handler alone.
public final class BatchRow {
  let storage: EntityStorage
  /// By slot: what attributes have.
  @exclusivity(unchecked) private(set) var values: [AttributeValue?]
  /// What to-one relationships were set to.
  @exclusivity(unchecked) private(set) var destinations: [(slot: Int, id: ManagedObjectID?)] = []
  /// What was set.
  @exclusivity(unchecked) private(set) var givenSlots = SlotSet()
  /// The first thing that was wrong.
  @exclusivity(unchecked) private var failure: (any Error)?
  // Rows mostly have the same names in the same order: each is looked for where it was found last.
  @exclusivity(unchecked) private var known: [(name: String, slot: Int)] = []
  @exclusivity(unchecked) private var place = 0

  init(_ storage: EntityStorage) {
    self.storage = storage
    values = storage.binding.defaultValues
  }

  /// What the property is to be: of an attribute what ``ManagedObject/setValue(_:forKey:)`` takes,
  /// of a to-one relationship the ID of an object that was saved. Reads what was set, or the
  /// default.
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

  /// Sets an attribute: the quicker way, as the type is known.
  @inline(__always)
  public func set<Value: ManagedAttribute>(_ name: String, to value: Value) {
    put(name, attribute: value.attributeValue)
  }

  /// Sets an attribute, or leaves it without a value.
  public func set<Value: ManagedAttribute>(_ name: String, to value: Value?) {
    put(name, attribute: value?.attributeValue)
  }

  /// Sets a to-one relationship to an object that was saved.
  public func set(_ name: String, to destination: ManagedObjectID?) { put(name, destination) }

  // MARK: Filling in

  /// Begins another object.
  func begin() {
    for slot in givenSlots { values[slot] = storage.binding.defaultValues[slot] }
    givenSlots = SlotSet()
    if !destinations.isEmpty { destinations.removeAll(keepingCapacity: true) }
    place = 0
  }

  /// - Throws: what was wrong with what was set.
  @inline(__always)
  func check() throws {
    if let failure { throw failure }
  }

  /// Finds the slot of a property that can be set; keeps the error where there is none.
  @inline(__always)
  private func slot(named name: String) -> Int? {
    if place < known.count, known[place].name == name {
      place += 1
      return known[place - 1].slot
    }
    return findSlot(name)
  }

  @inline(never)
  private func findSlot(_ name: String) -> Int? {
    do {
      let slot = try storage.binding.batchSlot(named: name)
      if place < known.count { known[place] = (name, slot) } else { known.append((name, slot)) }
      place = min(place + 1, known.count)
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
