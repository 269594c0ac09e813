import Quire

// What is the same, and what is not.
extension ObjectOracle {
  /// - Parameter asStored: whether a row that led to a deleted object all the time is the same.
  func isSame(
    _ node: ObjectOracle.Node, _ other: ObjectOracle.Node, asStored: Bool = false
  ) -> Bool {
    node.values == other.values
      && relationships(of: node.entity).allSatisfy { relationship in
        var (here, there) = (links(node, relationship), links(other, relationship))
        if asStored, canDangle(relationship) {
          here.removeAll(where: isGoneOrBack)
          there.removeAll(where: isGoneOrBack)
        }
        return relationship.isOrdered ? here == there : here.sorted() == there.sorted()
      }
  }

  func isGoneOrBack(_ id: Int) -> Bool {
    guard let node = nodes[id] else { return true }
    return node.isDeleted || node.isNew && removed.contains(id)
  }

  /// Whether the deletion of a destination leaves the relationship as it is.
  func canDangle(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = relationship.inverse else { return true }
    return relationships(of: relationship.destination).first { $0.name == inverse }?.deleteRule
      == .noAction
  }

  /// Without those that lead to nothing any more.
  private func links(_ node: ObjectOracle.Node, _ relationship: RelationshipDescription) -> [Int] {
    (node.links[relationship.name] ?? []).filter { nodes[$0] != nil }
  }
}
