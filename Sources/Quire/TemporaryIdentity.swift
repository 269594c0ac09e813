import QuireModel
import QuireStorage
import Synchronization

/// What the temporary IDs of one object share, so that they find it after it was saved.
///
/// It lives as long as one of the IDs does, or as the object is being saved. Objects whose IDs
/// nobody has seen have none.
package final class TemporaryIdentity: Sendable {
  /// The number in the temporary IDs.
  let key: Int64
  private let place = Mutex<SavedPlace?>(nil)

  /// Where the object is.
  struct SavedPlace: Sendable {
    let store: StoreIdentity
    let key: Int64
    /// Its entity, where it is another object that stands for the one with the ID.
    let entity: EntityDescription?
  }

  /// Those that are alive, by their numbers, which a process gives once.
  private static let living = Mutex<[Int64: Entry]>([:])
  /// Their number: most saves need to look no further.
  private static let count = Atomic<Int>(0)

  private struct Entry {
    weak var identity: TemporaryIdentity?
    /// Tells the identity in `deinit`, where there are no weak references to it any longer.
    let address: ObjectIdentifier
  }

  private init(_ key: Int64) { self.key = key }

  deinit {
    TemporaryIdentity.living.withLock { living in
      // Another thread may have made a new one since.
      guard let entry = living[key], entry.address == ObjectIdentifier(self) else { return }
      living[key] = nil
      TemporaryIdentity.count.store(living.count, ordering: .relaxed)
    }
  }

  /// What the IDs with a number share.
  static func of(_ key: Int64) -> TemporaryIdentity {
    living.withLock { living in
      // In two steps: Swift 6.3 reads a weak reference behind `?` wrongly without optimisation.
      if let entry = living[key], let identity = entry.identity { return identity }
      let identity = TemporaryIdentity(key)
      living[key] = Entry(identity: identity, address: ObjectIdentifier(identity))
      count.store(living.count, ordering: .relaxed)
      return identity
    }
  }

  /// Whether there is one for the IDs with a number.
  package static func isLiving(_ key: Int64) -> Bool { living.withLock { $0[key] != nil } }

  /// Whether there are any in the process.
  static var isAnyLiving: Bool { count.load(ordering: .relaxed) > 0 }

  /// Records that the object whose temporary IDs have a number was saved.
  ///
  /// - Parameters:
  ///   - permanentKey: the number in its permanent ID.
  ///   - entity: the entity of the object that stands for it, if another one does.
  static func record(
    _ key: Int64, savedAs permanentKey: Int64, of entity: EntityDescription? = nil,
    in store: StoreIdentity
  ) {
    // Let go of outside, as its end takes the lock.
    let identity: TemporaryIdentity? = living.withLock { living in
      guard let entry = living[key] else { return nil }
      return entry.identity
    }
    identity?.place.withLock { $0 = SavedPlace(store: store, key: permanentKey, entity: entity) }
  }

  /// The store and the key of the object; `nil` if it was not saved.
  var savedPlace: SavedPlace? { place.withLock { $0 } }
}
