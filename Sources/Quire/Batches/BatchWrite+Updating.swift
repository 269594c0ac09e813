import QuireModel
import QuireStorage

// Changes of existing objects.
extension BatchWrite {
  /// Changes all objects of some entities in the bytes of their rows, in one pass.
  ///
  /// - Returns: `false`, with nothing changed, if rows of one entity must be written anew.
  func patchAll(
    of family: [EntityBinding], _ update: BatchUpdate, _ execution: BatchExecution
  ) throws -> Bool {
    var passes: [(updating: BatchUpdating, patching: BatchPatching)] = []
    let storages = family.compactMap { entities.byIndex[$0.index] }
    for storage in storages.sorted(by: { $0.stored.number < $1.stored.number }) {
      if try storage.binding.entity.isAbstract || writer.isEmpty(storage) { continue }
      let updating = try BatchUpdating(self, update, storage)
      guard let patching = try updating.patching(execution) else { return false }
      passes.append((updating, patching))
    }
    for (updating, patching) in passes {
      try patching.patch(nil) { try updating.updateAttributes(at: $0) }
    }
    return true
  }

  /// Changes objects, in the order of their references.
  func update(
    _ references: [Reference], _ update: BatchUpdate, _ execution: BatchExecution
  ) throws {
    var start = 0
    while start < references.count {
      // References are sorted, so that those of an entity are adjacent.
      let storage = try storage(of: references[start])
      let updating = try BatchUpdating(self, update, storage)
      var end = start
      while end < references.count, references[end].entity == references[start].entity { end += 1 }
      if updating.moves.isEmpty {
        try updating.updateAttributes(of: references[start..<end], execution)
      } else {
        // In a one-to-one relationship an object may take a destination that another was just
        // given.
        let portion = updating.hasOneToOnes ? 1 : 4096
        while start < end {
          let next = min(start + portion, end)
          try updating.update(references[start..<next], isLast: next == references.count)
          for _ in start..<next { try execution.advance() }
          start = next
        }
      }
      start = end
    }
  }
}

/// The changes to the objects of one entity.
final class BatchUpdating {
  /// An attribute with the source of its new value.
  private struct Assignment {
    let slot: Int
    let field: Int
    let source: BatchUpdate.Source
  }

  /// A to-one relationship with its new destination.
  struct Move {
    let slot: Int
    let field: Int
    /// The destination for all objects; `nil` if an expression gives that of each.
    let destination: Reference?
    let expression: FetchExpression?
  }

  private typealias NewValue = (assignment: Assignment, value: AttributeValue?)

  /// An object whose relationships change, with all its changes.
  private struct Moving {
    let reference: Reference
    let slots: SlotSet
    let values: [NewValue]
    let links: [BatchLink]
  }

  private let write: BatchWrite
  private let storage: EntityStorage
  private var assignments: [Assignment] = []
  private(set) var moves: [Move] = []
  private let row: RowWriter
  /// Whether the request may have written the objects already.
  private let isRepeated: Bool
  /// The new values of the current object, and the slots that they change.
  private var values: [NewValue] = []
  private var changedSlots = SlotSet()

  init(
    _ write: BatchWrite, _ update: BatchUpdate, _ storage: EntityStorage, isRepeated: Bool = false
  ) throws {
    self.write = write
    self.isRepeated = isRepeated
    self.storage = storage
    row = write.rowWriter(for: storage)
    let binding = storage.binding
    for (name, source) in update.sources {
      // A subentity has the property in a slot of its own.
      let slot = try binding.batchSlot(named: name)
      let field = storage.fieldBySlot[slot]
      guard field >= 0 else { continue }
      if binding.traits[slot].attributeType != nil {
        assignments.append(Assignment(slot: slot, field: field, source: source))
        continue
      }
      var destination: Reference?
      var expression: FetchExpression?
      switch source {
      case .object(let id): destination = try id.map { try write.destination($0, binding, slot) }
      case .reference(let given): destination = given
      case .expression(let given): expression = given
      case .value: break
      }
      moves.append(
        Move(slot: slot, field: field, destination: destination, expression: expression))
    }
    assignments.sort { $0.slot < $1.slot }
    moves.sort { $0.slot < $1.slot }
  }

  var hasOneToOnes: Bool {
    moves.contains { storage.binding.oneToOneSlots.contains($0.slot) }
  }

  // MARK: Attributes

  /// The changes to the bytes of rows; `nil` if the rows must be written anew.
  func patching(_ execution: BatchExecution) throws -> BatchPatching? {
    guard moves.isEmpty else { return nil }
    return try BatchPatching(
      write, storage, assignments.map { ($0.slot, $0.source) }, execution)
  }

  /// Changes objects in the bytes of their rows if that is possible, otherwise one by one.
  func updateAttributes(of references: ArraySlice<Reference>, _ execution: BatchExecution) throws {
    if let patching = try patching(execution) {
      return try patching.patch(references) { try updateAttributes(at: $0) }
    }
    for reference in references {
      try updateAttributes(at: reference)
      try execution.advance()
    }
  }

  func updateAttributes(at reference: Reference) throws {
    let isPatched: Bool? = try write.writer.withRow(reference) { reader in
      try readValues(of: reference, reader, reader)
      if changedSlots.isEmpty { return false }
      let version =
        isRepeated
        ? try write.newVersion(at: reference) : BatchWrite.version(after: reader.version)
      return try patch(reader, version)
    }
    guard let isPatched else { return }
    if changedSlots.isEmpty { return recordUnchanged(reference) }
    try recordOwners(of: reference)
    try writeRow(at: reference, isPatched: isPatched)
    try finish(reference)
  }

  /// Computes the new values of attributes, and keeps those that differ from the present ones.
  ///
  /// - Parameters:
  ///   - former: the row as it was before the request.
  ///   - current: the row as it is.
  private func readValues(
    of reference: Reference, _ former: RowReader, _ current: RowReader
  ) throws {
    values.removeAll(keepingCapacity: true)
    changedSlots = SlotSet()
    for assignment in assignments {
      let value: AttributeValue?
      switch assignment.source {
      case .value(let constant): value = constant
      case .expression(let expression):
        value = try evaluate(expression, at: reference, former).plain.map {
          try storage.binding.attributeValue($0, assignment.slot)
        }
      case .object, .reference: value = nil
      }
      let present = try current.value(assignment.field, in: write.writer)
      if value.map({ present?.isIdentical(to: $0) ?? false }) ?? (present == nil) { continue }
      guard isAllowed(value, assignment.slot, reference) else { continue }
      values.append((assignment, value))
      changedSlots.append(assignment.slot)
    }
    try write.stopAtManyErrors()
  }

  private func evaluate(
    _ expression: FetchExpression, at reference: Reference, _ former: RowReader
  ) throws -> KeyValue {
    let subject = RowSubject(
      reference: reference, source: .borrowed(former), storage: storage, view: write.state)
    return try Evaluation(.one(StandIn(subject, write.session)), [:]).value(of: expression)
  }

  /// Whether a value is valid by the model's rules.
  private func isAllowed(
    _ value: AttributeValue?, _ slot: Int, _ reference: Reference
  ) -> Bool {
    var isAllowed = true
    storage.binding.rules[slot]?.check(value) { failure in
      isAllowed = false
      write.validation.fail(
        failure.code, write.subject(reference, storage), failure.key, failure.words, failure.value)
    }
    return isAllowed
  }

  /// Builds the new row over a copy of the present one, if that is possible.
  private func patch(_ reader: RowReader, _ version: UInt32) throws -> Bool {
    guard storage.canPatchRows,
      row.begin(copyOf: reader.bytes, version: version)
    else { return false }
    for (assignment, value) in values {
      guard try row.patch(assignment.field, value) else { return false }
    }
    return true
  }

  /// Writes the row with its new values.
  ///
  /// - Parameter isPatched: whether the row is built already.
  private func writeRow(
    at reference: Reference, isPatched: Bool, leading: [(field: Int, to: Reference?)] = []
  ) throws {
    if isPatched {
      try write.writer.putPatchedRow(row, at: reference, in: storage, changing: changedSlots)
      return
    }
    let version = try write.newVersion(at: reference)
    var contents: [(field: Int, content: RowWriter.Field?)] = []
    for (assignment, value) in values {
      let content = try write.writer.placing(
        value.map { .value($0) }, assignment.field, storage)
      contents.append((assignment.field, content))
    }
    for (field, destination) in leading {
      contents.append((field, destination.map { .reference($0) }))
    }
    try write.writer.withRow(reference) { reader in
      try row.write(version: version) { field in
        if let new = contents.first(where: { $0.field == field }) { return new.content }
        return reader.isNil(field) ? nil : .copy(of: field, in: reader)
      }
    }
    try write.writer.putRow(row, at: reference, in: storage)
  }

  private func recordOwners(of reference: Reference) throws {
    guard let derived = write.derived else { return }
    try derived.recordOwners(of: reference, changing: changedSlots)
  }

  /// Counts an object that has the new values already. An object that is given the values of a new
  /// one is counted by its insertion.
  private func recordUnchanged(_ reference: Reference) {
    if !isRepeated { write.changes.recordUnchanged(from: reference, count: 1) }
  }

  private func finish(_ reference: Reference) throws {
    if isRepeated {
      for slot in changedSlots { write.changes.recordOther(slot, at: reference) }
    } else {
      write.changes.recordChange(of: changedSlots, at: reference)
    }
    guard let derived = write.derived else { return }
    derived.recordAll(reference)
    try derived.recordOwners(of: reference, changing: changedSlots)
  }

  // MARK: Relationships

  /// Changes objects of which relationships change: first links to former destinations are removed,
  /// then rows are written, then links to new destinations are added.
  ///
  /// - Parameter isLast: whether no objects follow. If all objects get one destination in a
  ///   one-to-one relationship, only the last one keeps it.
  func update(_ references: ArraySlice<Reference>, isLast: Bool) throws {
    var moving: [Moving] = []
    for reference in references {
      let links = try withFormerRow(reference) {
        try self.links(of: reference, $0, isLast: isLast)
      }
      try readValues(at: reference)
      var slots = changedSlots
      for link in links { slots.insert(link.slot) }
      if slots.isEmpty {
        recordUnchanged(reference)
        continue
      }
      moving.append(Moving(reference: reference, slots: slots, values: values, links: links))
    }
    for object in moving {
      try write.recordOwners(of: object.reference, object.slots, object.links)
    }
    try write.writer.gatheringRemovals {
      for object in moving { try write.leave(object.links, from: object.reference) }
    }
    for object in moving {
      (values, changedSlots) = (object.values, object.slots)
      try writeRow(
        at: object.reference, isPatched: false,
        leading: object.links.map { (storage.fieldBySlot[$0.slot], $0.new) })
    }
    try write.writer.gatheringLinks {
      for object in moving { try write.arrive(object.links, from: object.reference) }
    }
    for object in moving {
      changedSlots = object.slots
      try finish(object.reference)
    }
  }

  /// Calls `body` with the row as it was before the request; for an object that the request has
  /// inserted, with its present row.
  private func withFormerRow<Result>(
    _ reference: Reference, _ body: (RowReader) throws -> Result
  ) throws -> Result {
    if let former = try write.state.row(reference) { return try former.withReader(body) }
    guard let result = try write.writer.withRow(reference, body) else {
      throw StoreSchema.damaged("has no row \(storage.stored.name)/p\(reference.key)")
    }
    return result
  }

  private func readValues(at reference: Reference) throws {
    try withFormerRow(reference) { former in
      _ = try write.writer.withRow(reference) { try readValues(of: reference, former, $0) }
    }
  }

  /// The relationships of an object that get another destination.
  private func links(
    of reference: Reference, _ former: RowReader, isLast: Bool
  ) throws -> [BatchLink] {
    try moves.compactMap { move in
      let isTaken = !isLast && storage.binding.oneToOneSlots.contains(move.slot)
      var destination = isTaken ? nil : move.destination
      if let expression = move.expression {
        destination = try self.destination(
          evaluate(expression, at: reference, former), move.slot)
      }
      // An earlier object of the request may have taken the destination.
      let present = try write.writer.withRow(reference) { $0.reference(move.field) } ?? nil
      if destination == present { return nil }
      if destination == nil, storage.binding.traits[move.slot].limitsCount {
        write.validation.fail(
          .validationMissingMandatoryProperty, write.subject(reference, storage),
          storage.binding.name(of: move.slot), "has no destination")
        try write.stopAtManyErrors()
      }
      return BatchLink(
        slot: move.slot, storage: storage, old: present, new: destination)
    }
  }

  private func destination(_ value: KeyValue, _ slot: Int) throws -> Reference? {
    guard let value = try value.predicateValue else { return nil }
    guard case .object(let identity) = value else {
      throw storage.binding.error(
        about: slot, .unacceptableValue, "is to refer to \(value), which is no object")
    }
    return try write.destination(
      try storage.binding.destinationID(identity.base, slot), storage.binding, slot)
  }
}
