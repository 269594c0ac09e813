import QuireStorage

/// Links in memory that are not in their trees yet: for work that makes very many links, in any
/// order, in a store that is not read meanwhile.
///
/// Inserted one by one, such links touch nearly every page of the tree, and each commit writes a
/// page for almost every link. Here they are collected, 16 bytes each, until the tree is read or
/// there are too many; then they are inserted in the order of the tree. Links of ordered
/// relationships are never collected, as their position depends on those that exist.
final class DeferredLinks {
  private struct Entry: Comparable {
    let owner: UInt64
    let member: UInt64

    static func < (left: Entry, right: Entry) -> Bool {
      left.owner != right.owner ? left.owner < right.owner : left.member < right.member
    }
  }

  private struct Waiting {
    let link: StoredEntity.Link
    var entries: [Entry]
  }

  /// One entry for each relationship; there are few.
  @exclusivity(unchecked) private var waiting: [Waiting] = []
  @exclusivity(unchecked) private var count = 0

  /// The number of links after which they must be inserted: 16 MiB, sorted in place.
  private let limit = max(1, KeyMemory.byteCount / 8)

  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count >= limit }
  var links: [StoredEntity.Link] { waiting.map(\.link) }

  func add(_ link: StoredEntity.Link, from owner: Int64, to member: Reference) {
    let entry = Entry(owner: UInt64(bitPattern: owner), member: member.rawValue)
    count += 1
    if let index = waiting.firstIndex(where: { $0.link.number == link.number }) {
      waiting[index].entries.append(entry)
    } else {
      waiting.append(Waiting(link: link, entries: [entry]))
    }
  }

  func contains(_ link: StoredEntity.Link) -> Bool {
    waiting.contains { $0.link.number == link.number }
  }

  /// Removes the links of a relationship from the collection, as sorted keys of its tree without
  /// repetitions.
  ///
  /// - Parameter body: called with portions of the keys, valid within the call, until all are
  ///   taken.
  func take(
    _ link: StoredEntity.Link,
    _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) throws -> Void
  ) throws {
    var entries = takeSorted(link)
    let portion = 1024
    try withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: portion) { run in
      try entries.withUnsafeMutableBufferPointer { entries in
        var (start, count) = (0, 0)
        for index in entries.indices {
          let entry = entries[index]
          let isLast = index + 1 == entries.count
          if isLast || entry != entries[index + 1] {
            // In the layout of ``LinkKey``. The entry that it overwrites has been read.
            entries[start + count] = Entry(
              owner: entry.owner.bigEndian, member: entry.member.bigEndian)
            let key = UnsafeRawBufferPointer(
              rebasing: UnsafeRawBufferPointer(entries)[
                (start + count) * 16..<(start + count) * 16 + 16])
            run.initializeElement(at: count, to: key)
            count += 1
          }
          if count == portion || isLast {
            try body(UnsafeBufferPointer(rebasing: run[..<count]))
            (start, count) = (start + count, 0)
          }
        }
      }
    }
  }

  /// The same, for a tree that is being built.
  func take(_ link: StoredEntity.Link, _ builder: borrowing IndexTreeBuilder) throws {
    let entries = takeSorted(link)
    var index = 0
    try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { key in
      try builder.append(keys: {
        while index > 0, index < entries.count, entries[index] == entries[index - 1] { index += 1 }
        guard index < entries.count else { return nil }
        key.storeBytes(of: entries[index].owner.bigEndian, as: UInt64.self)
        key.storeBytes(of: entries[index].member.bigEndian, toByteOffset: 8, as: UInt64.self)
        index += 1
        return UnsafeRawBufferPointer(key)
      })
    }
  }

  private func takeSorted(_ link: StoredEntity.Link) -> [Entry] {
    guard let index = waiting.firstIndex(where: { $0.link.number == link.number }) else {
      return []
    }
    var entries = waiting.remove(at: index).entries
    count -= entries.count
    entries.sort()
    return entries
  }
}
