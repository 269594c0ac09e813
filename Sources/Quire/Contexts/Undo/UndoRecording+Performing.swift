import QuireStorage

// The effects of registered actions.
extension UndoRecording {
  func processPendingChanges() { context?.processPendingChangesOfEvent() }

  /// Finishes a group whose actions were performed, each of which has changed one end of one thing:
  ///
  /// 1. Where the context has read on since the change that was undone, ends of links are made to
  ///    agree.
  /// 2. Hooks are called.
  /// 3. Delete rules are applied, and observers notified.
  /// 4. Objects that equal their rows become clean.
  func finishPerforming() {
    guard let context else { return }
    let performed = self.performed
    self.performed = PerformedChanges()
    attempt { try performed.makeAgree(in: context) }
    performed.callHooks(in: context)
    context.processPendingChangesOfEvent()
    performed.cleanUp(in: context)
  }

  /// Calls `body` while a slot of an object can be changed: in its context, or in the kept content
  /// of an object that has left. No observer is notified of the latter, so it is registered here.
  private func change(
    _ slot: Int, of object: ManagedObject, _ body: () throws -> Void
  ) throws {
    if let context, object.context === context {
      performed.record(object, .undoUpdate)
      try body()
    } else if object.context == nil,
      let taken = self.taken.byObject[ObjectIdentifier(object)]?.taken,
      let former = taken.copy(of: slot)
    {
      try taken.withContent(body)
      if let present = taken.copy(of: slot) { enter(former, present, slot, of: object) }
    }
  }

  /// Registers the change of a slot of kept content. The action changes the object, not the kept
  /// content: by the time it is performed, the object may be in its context again.
  private func enter(
    _ former: ManagedObject.Slot, _ present: ManagedObject.Slot, _ slot: Int,
    of object: ManagedObject
  ) {
    switch (former, present) {
    case (.value(let value), _): register { try $0.put(value, slot, object) }
    case (.one(let destination), _):
      let former = self.former(destination, slot, of: object)
      register { try $0.put(former, slot, object) }
    case (.many(let former), .many(let present)):
      let (former, order) = (former.order ?? former.added, former.order)
      let present = present.order ?? present.added
      let (isFormer, isPresent) = (Set(former), Set(present))
      // The action that is registered first is performed last.
      if let order, order != present { register { try $0.arrange(order, slot, object) } }
      for member in present where !isFormer.contains(member) {
        register { try $0.remove(member, slot, object) }
      }
      for member in former where !isPresent.contains(member) {
        register { try $0.add(member, slot, object, readCount: nil) }
      }
    case (.many, _), (.unchanged, _): break
    }
  }

  func put(_ value: AttributeValue?, _ slot: Int, _ object: ManagedObject) throws {
    try change(slot, of: object) { try object.put(value, in: slot) }
  }

  func put(_ destination: ManagedObject?, _ slot: Int, _ object: ManagedObject) throws {
    try change(slot, of: object) {
      performed.record(object, slot, formerly: try object.rawOne(slot))
      try object.put(destination, in: slot)
    }
    forgetLoss(of: object, slot)
  }

  /// - Parameter readCount: when the member was removed, if that is known.
  func add(
    _ member: ManagedObject, _ slot: Int, _ object: ManagedObject, readCount: Int?
  ) throws {
    try changeMembers(slot, of: object) { recording in
      if try object.holds(member, slot) { return }
      let isKnown = readCount.map { !hasRead(since: $0) } ?? false
      if !isKnown { performed.record(additionOf: member, slot, to: object) }
      try recording?.enterOrder(slot, of: object)
      try object.pendingAdd(member, slot, isUndone: isKnown)
      recording?.register { try $0.remove(member, slot, object) }
    }
  }

  func remove(_ member: ManagedObject, _ slot: Int, _ object: ManagedObject) throws {
    if let loss = taken.byObject[ObjectIdentifier(member)]?.taken?.forgetLoss(of: object, slot) {
      register { try $0.putBack(loss, of: member) }
    }
    try changeMembers(slot, of: object) { recording in
      guard try object.holds(member, slot) else { return }
      try recording?.enterOrder(slot, of: object)
      try object.pendingRemove(member, slot)
      recording?.register { try $0.add(member, slot, object, readCount: nil) }
    }
  }

  /// Calls `body` while a member can be added or removed. Unlike other changes, the member is
  /// registered by `body`: kept content may have many members, which are not copied and compared
  /// for each one.
  ///
  /// - Parameter body: gets the recording with which to register the change; `nil` in a context,
  ///   whose observers do so.
  private func changeMembers(
    _ slot: Int, of object: ManagedObject, _ body: (UndoRecording?) throws -> Void
  ) throws {
    if let context, object.context === context {
      performed.record(object, .undoUpdate)
      try body(nil)
    } else if object.context == nil, let taken = taken.byObject[ObjectIdentifier(object)]?.taken {
      try taken.withContent { try body(self) }
    }
  }

  /// Orders members. Those that are not in `order`, as they were added since, come at the end.
  func arrange(_ order: [ManagedObject], _ slot: Int, _ object: ManagedObject) throws {
    try change(slot, of: object) {
      let current = try object.rawMembers(slot)
      let left = order.filter { $0.context == nil }
      let arranged = MergedOrder.order(of: current + left, as: order)
      if arranged != current { try object.putOrder(arranged, in: slot) }
    }
  }

  func takeAway(_ object: ManagedObject, isInsertion: Bool) throws {
    guard let context, object.context === context, !object.isDeleted else { return }
    // Objects may have been led here while registration was disabled.
    if isInsertion { try object.leaveOtherEnds() }
    performed.record(object, .undoInsertion)
    isOfInsertion = isInsertion
    defer { isOfInsertion = nil }
    context.takeAway(object)
  }

  /// - Parameter readCount: when the object was deleted.
  func bringBack(_ taken: TakenObject, isInsertion: Bool, readCount: Int) throws {
    guard let context else { return }
    let object = taken.object
    isOfInsertion = isInsertion
    defer { isOfInsertion = nil }
    // As long as the context has read nothing new, the actions restore both ends.
    var mayDiffer = true
    if object.context === context {
      guard object.isDeleted else { return }
      mayDiffer = hasRead(since: readCount)
      context.revive(object)
    } else {
      guard object.context == nil, let content = taken.content else { return }
      try context.bringBack(taken, content)
      let losses = taken.losses
      taken.forgetContent()
      for loss in losses { try restore(loss, of: object) }
    }
    if mayDiffer { performed.record(returnOf: object) }
    performed.record(object, .undoDeletion)
  }

  /// Undoes the removal of a member that a save had removed before, as it has left the context.
  private func putBack(_ loss: TakenObject.Loss, of member: ManagedObject) throws {
    guard let lost = taken.byObject[ObjectIdentifier(member)]?.taken, lost.content != nil else {
      return try restore(loss, of: member)
    }
    lost.record(loss)
    register { try $0.remove(member, loss.slot, loss.object) }
  }

  private func restore(_ loss: TakenObject.Loss, of destination: ManagedObject) throws {
    let (object, slot) = (loss.object, loss.slot)
    if let inverse = object.inverseSlot(of: slot, on: destination),
      try !destination.refers(to: object, inverse)
    {
      return
    }
    if !object.isToMany(slot) {
      try change(slot, of: object) {
        // A row may still refer to what left before.
        if try object.rawOne(slot)?.context == nil { try object.put(destination, in: slot) }
      }
    } else if try !object.holds(destination, slot) {
      // If it is there, an action has put it back where it was, after what the loss tells.
      try add(destination, slot, object, readCount: nil)
      // Others of the order may have been removed since.
      let present = Set(try object.rawMembers(slot))
      if let order = loss.order { try arrange(order.filter(present.contains), slot, object) }
    }
  }
}
