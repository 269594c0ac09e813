/// Verifies what must hold in one tree (`Trees/Tree.swift`), reaching each of its pages once.
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
    if PageValidation.ofTrees.defect(of: node, at: id, geometry: space.geometry) != nil {
      return
    }
    if node.count == 0, id != tree.state.root {
      inspection.add("a node that is not the root is empty", page: id, tree: name)
    }
    checkBounds(of: node, id, from: lower, below: upper, in: &inspection)
    if node.level > 0 {
      visitChildren(of: node, id, from: lower, below: upper, of: tree, in: &inspection)
    } else {
      entryCount += node.count
      for slot in 0..<node.count {
        visitOverflow(Layout.payload(at: slot, in: node), in: id, &inspection)
      }
    }
  }

  /// The first and the last key are enough: a node whose keys do not ascend was not let in.
  private func checkBounds(
    of node: Page, _ id: PageID, from lower: Layout.Key?, below upper: Layout.Key?,
    in inspection: inout Inspection
  ) {
    let first = node.level == 0 ? 0 : 1
    guard first < node.count else { return }
    withKeyRooms { room, _ in
      let lowest = Layout.key(at: first, in: node, room: room)
      if let lower, Layout.isAscending(lowest, lower) {
        inspection.add("key \(first) is below its parent's bound", page: id, tree: name)
      }
      let highest = Layout.key(at: node.count - 1, in: node, room: room)
      if let upper, !Layout.isAscending(highest, upper) {
        inspection.add("key \(node.count - 1) is not below the next bound", page: id, tree: name)
      }
    }
  }

  private mutating func visitChildren(
    of node: Page, _ id: PageID, from lower: Layout.Key?, below upper: Layout.Key?,
    of tree: Tree<Layout>, in inspection: inout Inspection
  ) {
    // One buffer for each bound of the current child, as visiting it uses buffers of its own.
    withKeyRooms { room, otherRoom in
      for slot in 0..<node.count {
        let childID = Layout.child(at: slot, in: node)
        guard inspection.reach(childID, from: name) else { continue }
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
            child, frame, childID,
            from: slot == 0 ? lower : Layout.key(at: slot, in: node, room: room),
            below: slot + 1 < node.count
              ? Layout.key(at: slot + 1, in: node, room: otherRoom) : upper,
            of: tree, in: &inspection)
        } catch {
          inspection.add(
            "a child of page \(id) cannot be read: \(error)", page: childID, tree: name)
        }
      }
    }
  }

  private func withKeyRooms(
    _ body: (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
  ) {
    let byteCount = space.pageSize / 4
    let rooms = PageMemory(byteCount: 2 * byteCount)
    body(rooms.base, rooms.base + byteCount)
    withExtendedLifetime(rooms) {}
  }

  private func visitOverflow(
    _ payload: UnsafeRawBufferPointer, in leaf: PageID, _ inspection: inout Inspection
  ) {
    guard let overflow = ValuePayload.overflow(of: payload) else { return }
    do throws(StorageError) {
      let ticket = try space.enter()
      defer { space.leave(ticket) }
      let run = try OverflowRun(overflow, referredToBy: leaf, in: space)
      // Of runs that share pages, only the first one is inspected.
      for id in run.pages(in: space.geometry) {
        guard inspection.reach(id, from: name) else { return }
      }
      _ = try run.assembled(in: space)
    } catch {
      inspection.add("a long value cannot be read: \(error)", page: leaf, tree: name)
    }
  }
}
