import QuireModel

// The state of an object in its context, and the content of its slots.
extension ManagedObject {
  /// What one property of a changed object holds.
  enum Slot {
    /// The value is the row's.
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
    /// A hook such as ``awakeFromFetch()`` runs: what it sets is no change to save.
    static let awaking = State(rawValue: 32)
    /// ``awakeFromInsert()`` is called, or was. Stays with an object that was never saved.
    static let awoken = State(rawValue: 64)
    /// A save has removed the object's row, and the deletion was undone: the next save writes the
    /// row anew, under its former reference.
    static let returning = State(rawValue: 128)

    /// The flags of which an object in its context's lists of changes has one.
    static let unsaved: State = [.inserted, .updated, .deleted]
  }
}
