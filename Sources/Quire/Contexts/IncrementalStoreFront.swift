import QuireModel

// What a store needs that works on a context's objects, as those of Core Data's form do. Values
// would be enough for rows; Core Data's stores are handed the context and its objects.

/// An incremental store that is told which context asks.
package protocol ContextualIncrementalStore: IncrementalStore {
  /// The store as one context asks it. It is called in the isolation of the context, and does not
  /// outlive it by more than the objects that the program still holds.
  func front(for context: ManagedObjectContext) -> any IncrementalStoreFront
}

/// An incremental store as one context asks it, on the objects of that context.
///
/// New objects of a save have their permanent IDs when
/// ``IncrementalStore/execute(_:)-(IncrementalStoreSave)`` is called, so that the context finds the
/// object of each row of the save by its ID.
package protocol IncrementalStoreFront: IncrementalStore {
  /// Numbers for new objects, as ``IncrementalStore/obtainPermanentIDs(for:)`` gives them.
  func obtainPermanentIDs(for objects: [ManagedObject]) throws -> [Int64]
}

extension IncrementalSource {
  /// The source as a context asks it: this one, unless the store is told which context asks.
  func front(for context: ManagedObjectContext) -> IncrementalSource {
    guard let store = store as? any ContextualIncrementalStore else { return self }
    return IncrementalSource(store.front(for: context), of: self)
  }

  /// Whether the store works on the objects of a context.
  var takesObjects: Bool { store is any IncrementalStoreFront }

  /// References that no object has ever had, for new objects of entities of the store.
  func takeReferences(for objects: [ManagedObject]) throws -> [Reference] {
    let names = objects.map(\.binding.entity.name)
    return try takeReferences(for: names) { store in
      if let front = store as? any IncrementalStoreFront {
        return try front.obtainPermanentIDs(for: objects)
      }
      return try store.obtainPermanentIDs(for: names)
    }
  }
}
