import QuireStorage

/// Links that were made and are not in their trees yet: for whoever makes very many, in any order,
/// in a store that nobody else looks at.
///
/// Put one by one they go all over the tree, and each commit writes a page for nearly every link.
/// Here they wait, at 16 bytes each, until somebody wants to read the tree or there are too many;
/// then they are put in the order of the tree. Of ordered relationships none waits: where a link
/// goes depends on those that are there.
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

  /// One for each relationship; there are few.
  private var waiting: [Waiting] = []
  private var count = 0

  /// More links than these, 16 MiB, should not wait.
  private static let limit = 1 << 20

  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count >= DeferredLinks.limit }
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

  /// Takes the links of a relationship out, as keys of its tree in their order, each once.
  ///
  /// - Parameter body: the bytes are valid within a call.
  func take(
    _ link: StoredEntity.Link, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    guard let index = waiting.firstIndex(where: { $0.link.number == link.number }) else { return }
    var entries = waiting.remove(at: index).entries
    count -= entries.count
    entries.sort()
    var last: Entry?
    for entry in entries where entry != last {
      // As ``LinkKey`` has it.
      let key = (entry.owner.bigEndian, entry.member.bigEndian)
      try withUnsafeBytes(of: key, body)
      last = entry
    }
  }
}
