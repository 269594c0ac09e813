import QuireModel

// What an object is in the midst of, and what it has changed.
extension ManagedObject {
  /// What one property of a changed object holds.
  enum Slot {
    /// What the row says.
    case unchanged
    case value(AttributeValue?)
    case one(ManagedObject?)
    case many(PendingMembers)
  }

  struct State: OptionSet {
    var rawValue: UInt8
    static let inserted = State(rawValue: 1)
    static let updated = State(rawValue: 2)
    static let deleted = State(rawValue: 4)
    /// The delete rules of this deleted object were applied.
    static let propagated = State(rawValue: 8)
    /// The object's row is gone from the store.
    static let inaccessible = State(rawValue: 16)
    /// The object is told that its row has come: what it then sets is no change to save.
    static let awaking = State(rawValue: 32)
    /// The object was told that it is inserted. Stays with an object that was never saved.
    static let awoken = State(rawValue: 64)
    /// A save has removed the object's row, and the deletion was undone: the next save writes the
    /// row anew, in its former place.
    static let returning = State(rawValue: 128)

    /// What an object is that its context's list of changes has.
    static let unsaved: State = [.inserted, .updated, .deleted]
  }
}
