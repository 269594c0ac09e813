import Synchronization

/// Remembers which slot a key path leads to, so that its name is spelled out once and not once for
/// each object.
///
/// Key paths are told apart by identity. A remembered one is kept, since another object at its
/// address would be taken for it. The compiler makes one object for each property of an ordinary
/// class; in a generic class it may make one for each access, and so only so many are remembered.
final class SlotCache: Sendable {
  /// `@unchecked Sendable`: key paths to stored properties hold nothing but offsets, and are only
  /// kept here, never used.
  private struct Entry: @unchecked Sendable {
    let keyPath: AnyKeyPath
    let slot: Int
  }

  private static let limit = 256
  private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  func slot(of keyPath: AnyKeyPath) -> Int? {
    entries.withLock { $0[ObjectIdentifier(keyPath)]?.slot }
  }

  func remember(_ keyPath: AnyKeyPath, slot: Int) {
    let entry = Entry(keyPath: keyPath, slot: slot)
    entries.withLock { entries in
      if entries.count < Self.limit { entries[ObjectIdentifier(entry.keyPath)] = entry }
    }
  }
}
