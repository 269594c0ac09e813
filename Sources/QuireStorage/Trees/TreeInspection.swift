/// Verifies what must hold in one tree (`Tree.swift`), reaching each of its pages once.
struct TreeInspection<Layout: NodeLayout> {
  let space: PageSpace
  let name: String
  private(set) var entryCount = 0

  init(space: PageSpace, name: String) {
    self.space = space
    self.name = name
  }

  mutating func inspect(root: PageID, in inspection: inout Inspection) {
    guard inspection.reach(root, from: name) else { return }
    let tree = Tree<Layout>(
      space: space, state: TreeState(kind: Layout.kind, root: root, count: 0))
    do throws(StorageError) {
      let ticket = try space.enter()
      let node: Page
      let frame: PageFrame
      do {
        defer { space.leave(ticket) }
        node = try tree.rootNode()
        frame = node.frame
      }
      visit(node, frame, root, from: nil, below: nil, of: tree, in: &inspection)
    } catch {
      inspection.add("the root cannot be read: \(error)", page: root, tree: name)
    }
  }

  /// - Parameters:
  ///   - frame: keeps the node in memory.
  ///   - lower: no key of the node is below it.
  ///   - upper: every key of the node is below it.
  private mutating func visit(
    _ node: Page, _ frame: PageFrame, _ id: PageID, from lower: Layout.Key?,
    below upper: Layout.Key?, of tree: Tree<Layout>, in inspection: inout Inspection
  ) {
    defer { withExtendedLifetime(frame) {} }
    if PageValidation.defect(of: node, at: id, geometry: space.geometry) != nil { return }
    if node.count == 0, id != tree.state.root {
      inspection.add("a node that is not the root is empty", page: id, tree: name)
    }
    for slot in 0..<node.count {
      let key = Layout.key(at: slot, in: node)
      if node.level == 0 || slot > 0 {
        if let lower, Layout.isAscending(key, lower) {
          inspection.add("key \(slot) is below its parent's bound", page: id, tree: name)
        }
        if let upper, !Layout.isAscending(key, upper) {
          inspection.add("key \(slot) is not below the next bound", page: id, tree: name)
        }
      }
      if node.level == 0 {
        entryCount += 1
        visitOverflow(Layout.payload(at: slot, in: node), in: id, &inspection)
      } else {
        visitChild(at: slot, of: node, id, from: lower, below: upper, of: tree, in: &inspection)
      }
    }
  }

  private mutating func visitChild(
    at slot: Int, of node: Page, _ id: PageID, from lower: Layout.Key?,
    below upper: Layout.Key?, of tree: Tree<Layout>, in inspection: inout Inspection
  ) {
    let childID = Layout.child(at: slot, in: node)
    guard inspection.reach(childID, from: name) else { return }
    do throws(StorageError) {
      let ticket = try space.enter()
      let child: Page
      let frame: PageFrame
      do {
        defer { space.leave(ticket) }
        (_, child) = try tree.childNode(at: slot, of: node)
        frame = child.frame
      }
      visit(
        child, frame, childID, from: slot == 0 ? lower : Layout.key(at: slot, in: node),
        below: slot + 1 < node.count ? Layout.key(at: slot + 1, in: node) : upper, of: tree,
        in: &inspection)
    } catch {
      inspection.add("a child of page \(id) cannot be read: \(error)", page: childID, tree: name)
    }
  }

  private func visitOverflow(
    _ payload: UnsafeRawBufferPointer, in leaf: PageID, _ inspection: inout Inspection
  ) {
    guard let overflow = ValuePayload.overflow(of: payload) else { return }
    do throws(StorageError) {
      let ticket = try space.enter()
      defer { space.leave(ticket) }
      let run = try OverflowRun(overflow, referredToBy: leaf, in: space)
      for id in run.pages(in: space.geometry) { _ = inspection.reach(id, from: name) }
      _ = try run.assembled(in: space)
    } catch {
      inspection.add("a long value cannot be read: \(error)", page: leaf, tree: name)
    }
  }
}
