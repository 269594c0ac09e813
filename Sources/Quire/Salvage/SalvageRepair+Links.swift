import QuireModel
import QuireStorage

// Links of to-many relationships: those to lost objects go, and those that only the other side has
// left come back.
extension SalvageRepair {
  func repairLinks(_ link: StoredEntity.Link, of storage: EntityStorage) throws {
    guard let tree = try writer.transaction.indexTree(link.tree) else { return }
    var wrong: [LinkKey] = []
    var missing: [(StoredEntity.Link, owner: Int64, Reference)] = []
    var owner: (key: Int64, isThere: Bool)?
    try LinkReader(tree: tree, isOrdered: link.isOrdered).forEach { key in
      try progress.advance()
      if owner?.key != key.owner {
        let reference = Reference(entity: storage.stored.number, key: key.owner)
        owner = (
          key.owner, Reference.keys.contains(key.owner) ? try writer.contains(reference) : false
        )
      }
      switch try state(of: key, link, storage, isOwnerThere: owner?.isThere ?? false) {
      case .right: break
      case .wrong: wrong.append(key)
      case .oneSided(let back):
        missing.append(
          (back, key.member.key, Reference(entity: storage.stored.number, key: key.owner)))
      }
    }
    removedLinkCounts[link.tree, default: 0] += wrong.count
    let links = try writer.links(link)
    for key in wrong { _ = try links.remove(key.bytes(isOrdered: link.isOrdered)) }
    for (back, owner, member) in missing { try restore(back, from: owner, to: member) }
  }

  private enum LinkState {
    case right
    /// One of its ends is lost, or its member has another owner.
    case wrong
    /// The tree of the other side has not its half.
    case oneSided(StoredEntity.Link)
  }

  private func state(
    of key: LinkKey, _ link: StoredEntity.Link, _ storage: EntityStorage, isOwnerThere: Bool
  ) throws -> LinkState {
    let owner = Reference(entity: storage.stored.number, key: key.owner)
    guard let relationship = storage.binding.entity.relationship(named: link.relationship),
      let other = writer.entities.storage(of: key.member),
      other.binding.entity.isKind(ofEntityNamed: relationship.destination)
    else { return .wrong }
    guard isOwnerThere else {
      // The other side, if it is there, says which object it has lost.
      mention(owner)
      return .wrong
    }
    guard try writer.contains(key.member) else {
      recordBroken(owner, link.relationship, key.member)
      return .wrong
    }
    guard let inverse = relationship.inverse else { return .right }
    if let field = other.layout.index(of: inverse) {
      return try writer.withRow(key.member) { $0.reference(field) == owner } ?? false
        ? .right : .wrong
    }
    guard let back = other.stored.link(named: inverse), isDamaged(back) else { return .right }
    return try has(back, key.member.key, owner) ? .right : .oneSided(back)
  }
}
