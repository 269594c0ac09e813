import QuireModel
import QuireStorage

// Writing of new objects. There may be many, and they have no former rows.
extension SaveOperation {
  func writeInsertedRows(_ writer: StoreWriter) throws {
    var start = 0
    while start < inserted.count {
      let storage = inserted[start].storage
      let target = try NewRows(storage, rowWriter(for: storage), writer)
      var end = start
      while end < inserted.count, inserted[end].hasStorage(of: inserted[start]) { end += 1 }
      for item in inserted[start..<end] {
        try item.ofObject { object in
          if object.isPersistent {
            try writeRow(object, storage, item.reference, writer)
          } else {
            try write(object, to: target, at: item.reference, writer)
          }
        }
      }
      start = end
    }
  }

  private func write(
    _ object: ManagedObject, to target: NewRows, at reference: Reference, _ writer: StoreWriter
  ) throws {
    let row = target.row
    let slots = object.slots
    let derived = try derivedValues(of: object, target.storage, writer)
    try row.write(
      version: 1,
      putting: { field in
        let slot = slots.isEmpty ? -1 : target.storage.plainSlotByField[field]
        if slot < 0 {
          // Content that is not simply the slot's.
          let content = try content(of: field, object, target.storage, nil, derived)
          guard let content = try writer.placing(content, field, target.storage) else {
            return false
          }
          try row.put(content, field)
          return true
        }
        return try slots.lend(slot) { content in
          switch content {
          case .value(let value?): try row.put(value, in: field)
          case .one(let destination?) where destination.isLive:
            try row.put(finalReference(destination), in: field)
          default: return false
          }
          return true
        }
      })
    try target.put(at: reference)
  }

  /// Writes the links of all relationships of a new object: it has no former row to compare with.
  func writeLinks(of object: ManagedObject, _ item: Insertion, _ writer: StoreWriter) throws {
    let slots = object.slots
    for slot in object.ofArena({ $0.binding.storedRelationshipSlots }) {
      let isToOne = try slots.lend(slot) { content in
        guard case .one(let destination) = content else { return false }
        if let destination { try writeLink(of: slot, of: object, item, to: destination, writer) }
        return true
      }
      if !isToOne { try writeLinks(object, [slot], item.storage, item.reference, writer) }
    }
  }

  private func writeLink(
    of slot: Int, of object: ManagedObject, _ item: Insertion, to destination: ManagedObject,
    _ writer: StoreWriter
  ) throws {
    guard destination.isLive else { return }
    let owner = finalReference(destination)
    assert(hasRow(owner, writer), "a destination is gone, and was not found to be")
    if let inverse = object.inverseSlot(of: slot, on: destination),
      let link = entities.storage(of: owner)?.link(inverse)
    {
      try writer.addLink(link, from: owner.key, to: item.reference)
    }
  }

  /// Whether the store has a row after this save, for assertions.
  func hasRow(_ reference: Reference, _ writer: StoreWriter) -> Bool {
    (try? writer.contains(reference)) ?? true
  }
}
