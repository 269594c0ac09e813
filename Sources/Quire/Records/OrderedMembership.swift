/// Whether objects are members of ordered relationships, asked many times of links that do not
/// change meanwhile.
///
/// The keys of ordered links have the position before the member: to find one, all members of the
/// owner are read. Asked by each of its members in turn, an owner with many of them would take time
/// in proportion to the square of their number; so the members of the owners that were asked about
/// last are kept.
struct OrderedMembership {
  private struct Owner: Hashable {
    var link: UInt16
    var key: Int64
  }

  private static let memberLimit = 1 << 20

  private var members: [Owner: Set<Reference>] = [:]
  private var memberCount = 0
  /// The number of members that were read so far, to answer all questions.
  private(set) var readCount = 0

  /// Whether an object is a member of an owner.
  ///
  /// - Parameter reader: the links of that relationship.
  /// - Complexity: O(1); at the first question about an owner O(members).
  mutating func contains(
    _ member: Reference, of owner: Int64, _ link: StoredEntity.Link, in reader: LinkReader
  ) throws -> Bool {
    let owner = Owner(link: link.number, key: owner)
    if let known = members[owner] { return known.contains(member) }
    let found = Set(try reader.members(of: owner.key))
    readCount += found.count
    if memberCount + found.count > OrderedMembership.memberLimit { removeAll() }
    members[owner] = found
    memberCount += found.count
    return found.contains(member)
  }

  /// Forgets what was read, as links have changed or nothing more will be asked.
  mutating func removeAll() {
    members = [:]
    memberCount = 0
  }
}
