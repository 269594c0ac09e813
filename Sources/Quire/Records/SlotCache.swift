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
  /// A box, as most caches stay without an entry, and to make or destroy even an empty dictionary
  /// of this type costs a process a search for the conformance of its keys.
  private final class Table {
    var entries: [ObjectIdentifier: Entry] = [:]
  }

  private let table = Mutex<Table?>(nil)

  func slot(of keyPath: AnyKeyPath) -> Int? {
    table.withLock { $0?.entries[ObjectIdentifier(keyPath)]?.slot }
  }

  func remember(_ keyPath: AnyKeyPath, slot: Int) {
    let entry = Entry(keyPath: keyPath, slot: slot)
    self.table.withLock { table in
      let known = table ?? Table()
      table = known
      guard known.entries.count < Self.limit else { return }
      known.entries[ObjectIdentifier(entry.keyPath)] = entry
    }
  }
}
