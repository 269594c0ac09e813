/// The members of an ordered relationship in their order, to be changed in place.
///
/// Two floors: chunks of some hundred members, and a list of the chunks with the position at which
/// each begins. Where a member is, is found by the chunk that it is in, which a table keeps; so
/// adding, removing and moving cost O(√*n*) moves of a pointer each, whatever the position, where
/// an array moves all that is behind it and searches for the member first. 50,000 members are 200
/// chunks.
///
/// A chunk that was not changed knows where its members were when the order was made, so that a
/// save need not compare them.
///
/// A member may be in the order twice: one that refers to itself by a relationship that is its own
/// inverse. Such an order is searched from its beginning.
final class MemberOrder {
  private final class Chunk {
    @exclusivity(unchecked) var members: [ManagedObject]
    /// The chunk's own index among the chunks.
    @exclusivity(unchecked) var number = 0
    /// Where its members began when the order was made; `nil` if the chunk was changed since.
    @exclusivity(unchecked) var formerStart: Int?

    init(_ members: [ManagedObject], formerStart: Int? = nil) {
      (self.members, self.formerStart) = (members, formerStart)
    }

    func position(of member: ManagedObject) -> Int? {
      members.withUnsafeBufferPointer { $0.firstIndex { $0 === member } }
    }
  }

  /// The number of members in a chunk of a new order, and that beyond which one is divided.
  private static let usualCount = 256
  private static let largestCount = 512
  /// The number of members up to which no table is kept.
  private static let searchLimit = 16
  /// The number of searches that are made without a table, which costs as much as they do.
  private static let searchesWithoutTable = 32

  // Unchecked as in ``ManagedObject``: each access is over before anything else is called.
  /// None is empty, unless it is the only one.
  @exclusivity(unchecked) private var chunks: [Chunk]
  /// The position of the first member of each chunk: beside each other, as many change at once.
  @exclusivity(unchecked) private var starts: [Int] = [0]
  @exclusivity(unchecked) private(set) var count: Int
  /// The chunk of each member; made when there were many searches among many.
  @exclusivity(unchecked) private var homes: [ObjectIdentifier: Chunk]?
  @exclusivity(unchecked) private var searchCount = 0
  /// Whether a member was found to be there twice: then there is no table.
  @exclusivity(unchecked) private var hasRepetitions = false

  init(_ members: [ManagedObject]) {
    count = members.count
    if members.count <= Self.largestCount {
      chunks = [Chunk(members, formerStart: 0)]
    } else {
      chunks = stride(from: 0, to: count, by: Self.usualCount).map {
        Chunk(
          Array(members[$0..<min($0 + Self.usualCount, members.count)]), formerStart: $0)
      }
      renumber(from: 0)
    }
  }

  /// All members.
  ///
  /// - Complexity: O(*n*); O(1) with one chunk.
  var array: [ManagedObject] {
    if chunks.count == 1 { return chunks[0].members }
    var array: [ManagedObject] = []
    array.reserveCapacity(count)
    for chunk in chunks { array += chunk.members }
    return array
  }

  // MARK: Questions

  func member(at position: Int) -> ManagedObject {
    let chunk = chunk(at: position)
    return chunk.members[position - starts[chunk.number]]
  }

  func allSatisfy(_ condition: (ManagedObject) -> Bool) -> Bool {
    chunks.allSatisfy { $0.members.allSatisfy(condition) }
  }

  /// A stretch of the order that may differ from what it was when the order was made.
  struct Stretch {
    /// What was there.
    let former: Range<Int>
    /// What is there now.
    let members: [ManagedObject]
  }

  /// All stretches that were changed since the order was made, in their order.
  ///
  /// - Parameter count: the number of members that it had.
  /// - Complexity: O(√*n*), and O(members) of each chunk that was changed.
  func changedStretches(of count: Int) -> [Stretch] {
    var stretches: [Stretch] = []
    var (end, members) = (0, [] as [ManagedObject])
    func finishStretch(at start: Int) {
      if end < start || !members.isEmpty {
        stretches.append(Stretch(former: end..<start, members: members))
      }
      members = []
    }
    for chunk in chunks {
      guard let start = chunk.formerStart else {
        members += chunk.members
        continue
      }
      finishStretch(at: start)
      end = start + chunk.members.count
    }
    finishStretch(at: count)
    return stretches
  }

  func contains(_ member: ManagedObject) -> Bool {
    if let homes = table() { return homes[ObjectIdentifier(member)] != nil }
    return chunks.contains { $0.position(of: member) != nil }
  }

  /// The first position of a member.
  func position(of member: ManagedObject) -> Int? {
    if let homes = table() {
      guard let home = homes[ObjectIdentifier(member)] else { return nil }
      let offset = home.position(of: member)
      assert(offset != nil, "the table of an order names a chunk that has not the member")
      return offset.map { starts[home.number] + $0 }
    }
    for chunk in chunks {
      if let offset = chunk.position(of: member) { return starts[chunk.number] + offset }
    }
    return nil
  }

  // MARK: Changes

  func append(_ member: ManagedObject) { insert(member, at: count) }

  func insert(_ member: ManagedObject, at position: Int) {
    let chunk = put(member, at: position)
    if homes?.updateValue(chunk, forKey: ObjectIdentifier(member)) != nil {
      (homes, hasRepetitions) = (nil, true)
    }
    divideIfLarge(chunk)
  }

  private func divideIfLarge(_ chunk: Chunk) {
    guard chunk.members.count > Self.largestCount else { return }
    chunk.formerStart = nil
    let half = chunk.members.count / 2
    let rest = Chunk(Array(chunk.members[half...]))
    chunk.members.removeLast(chunk.members.count - half)
    chunks.insert(rest, at: chunk.number + 1)
    if homes != nil {
      for member in rest.members { homes?[ObjectIdentifier(member)] = rest }
    }
    renumber(from: chunk.number + 1)
  }

  /// Removes a member wherever it is.
  func remove(_ member: ManagedObject) {
    // Without a table it may be there twice.
    while let position = position(of: member) { remove(at: position) }
  }

  private func remove(at position: Int) {
    let member = take(at: position)
    homes?[ObjectIdentifier(member)] = nil
  }

  /// Moves a member from one position to another, which it has afterwards.
  func move(from source: Int, to destination: Int) {
    if source == destination { return }
    let member = take(at: source)
    let chunk = put(member, at: destination)
    homes?[ObjectIdentifier(member)] = chunk
    divideIfLarge(chunk)
  }

  /// Adds a member to a chunk, and leaves the table as it is.
  private func put(_ member: ManagedObject, at position: Int) -> Chunk {
    let chunk = position == count ? chunks[chunks.count - 1] : chunk(at: position)
    chunk.members.insert(member, at: position - starts[chunk.number])
    chunk.formerStart = nil
    count += 1
    shift(behind: chunk, by: 1)
    return chunk
  }

  /// Takes a member out of its chunk, and leaves the table as it is.
  private func take(at position: Int) -> ManagedObject {
    let chunk = chunk(at: position)
    let member = chunk.members.remove(at: position - starts[chunk.number])
    chunk.formerStart = nil
    count -= 1
    shift(behind: chunk, by: -1)
    if chunk.members.isEmpty, chunks.count > 1 {
      chunks.remove(at: chunk.number)
      renumber(from: chunk.number)
    }
    return member
  }

  private func shift(behind chunk: Chunk, by step: Int) {
    // Without a check for each, which would take longer than all else that a change does.
    starts.withUnsafeMutableBufferPointer { starts in
      for number in chunk.number + 1..<starts.count { starts[number] += step }
    }
  }

  // MARK: Positions

  private func chunk(at position: Int) -> Chunk {
    var (low, high) = (0, chunks.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if starts[middle] <= position { low = middle } else { high = middle - 1 }
    }
    return chunks[low]
  }

  /// Numbers the chunks behind one that came or went.
  private func renumber(from first: Int) {
    var start = first == 0 ? 0 : starts[first - 1] + chunks[first - 1].members.count
    starts.removeSubrange(first...)
    for number in first..<chunks.count {
      chunks[number].number = number
      starts.append(start)
      start += chunks[number].members.count
    }
    assert(start == count, "the chunks of an order have \(start) members of \(count)")
  }

  /// The table, if the order is not short, is searched often, and has no member twice.
  private func table() -> [ObjectIdentifier: Chunk]? {
    if let homes { return homes }
    guard count > Self.searchLimit, !hasRepetitions else { return nil }
    searchCount += 1
    guard searchCount > Self.searchesWithoutTable else { return nil }
    var table: [ObjectIdentifier: Chunk] = Dictionary(minimumCapacity: count)
    for chunk in chunks {
      for member in chunk.members { table[ObjectIdentifier(member)] = chunk }
    }
    hasRepetitions = table.count != count
    if !hasRepetitions { homes = table }
    return homes
  }
}
