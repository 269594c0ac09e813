/// A connected part of a diagram, laid out with its corner at the origin.
struct DiagramPart {
  typealias Point = DiagramLayout.Point

  /// A box, or the point where a line passes a column.
  private struct Node {
    /// `nil` for a point of a line.
    var box: Int?
    var column: Int
    var height: Double
    var y = 0.0
  }

  /// The end of a piece of a line at a node.
  private struct Port {
    var node: Int
    var offset: Double
  }

  /// A line between two neighbouring columns, or within one.
  private struct Piece {
    var connection: Int
    var left: Port
    var right: Port
  }

  private static let gap = 30.0
  private static let passageHeight = 2.0
  private static let passageGap = 12.0

  private(set) var frames: [(box: Int, frame: DiagramLayout.Frame)] = []
  private(set) var routes: [(connection: Int, corners: [Point])] = []
  private(set) var width = 0.0
  private(set) var height = 0.0

  private var nodes: [Node] = []
  /// Numbers of nodes from the top down.
  private var columns: [[Int]] = []
  private var pieces: [Piece] = []
  /// The connections that begin in a column to the right of the one where they end.
  private var reversed: Set<Int> = []
  /// The pieces at each node.
  private var piecesOfNode: [[Int]] = []

  init(
    boxes: [DiagramLayout.Size], members: [Int], connections: [DiagramLayout.Connection]
  ) {
    let positions = Dictionary(uniqueKeysWithValues: members.enumerated().map { ($1, $0) })
    let own = connections.indices.filter { positions[connections[$0].start.box] != nil }
    let pairs = own.compactMap { number -> (Int, Int)? in
      let connection = connections[number]
      guard let start = positions[connection.start.box], let end = positions[connection.end.box],
        start != end
      else { return nil }
      return (start, end)
    }
    let assigned = DiagramColumns(boxes: members.map { boxes[$0] }, pairs: pairs).columns
    for (position, box) in members.enumerated() {
      nodes.append(Node(box: box, column: assigned[position], height: boxes[box].height))
    }
    for number in own { addPieces(of: connections[number], number, positions) }
    columns = Array(repeating: [], count: (assigned.max() ?? 0) + 1)
    for (number, node) in nodes.enumerated() { columns[node.column].append(number) }
    piecesOfNode = Array(repeating: [], count: nodes.count)
    for (number, piece) in pieces.enumerated() {
      piecesOfNode[piece.left.node].append(number)
      piecesOfNode[piece.right.node].append(number)
    }
    arrange()
    draw(boxes)
  }

  private mutating func addPieces(
    of connection: DiagramLayout.Connection, _ number: Int, _ positions: [Int: Int]
  ) {
    guard let start = positions[connection.start.box], let end = positions[connection.end.box]
    else {
      return
    }
    var left = Port(node: start, offset: connection.start.offset)
    var right = Port(node: end, offset: connection.end.offset)
    if nodes[start].column > nodes[end].column {
      swap(&left, &right)
      reversed.insert(number)
    }
    let last = nodes[right.node].column
    for column in stride(from: nodes[left.node].column + 1, to: last, by: 1) {
      nodes.append(Node(box: nil, column: column, height: Self.passageHeight))
      let passage = Port(node: nodes.count - 1, offset: Self.passageHeight / 2)
      pieces.append(Piece(connection: number, left: left, right: passage))
      left = passage
    }
    pieces.append(Piece(connection: number, left: left, right: right))
  }

  // MARK: Order

  private mutating func arrange() {
    for column in columns.indices { pack(column) }
    var best = (cost: cost, nodes: nodes, columns: columns)
    for round in 0..<16 {
      let order = round.isMultiple(of: 2) ? Array(columns.indices) : columns.indices.reversed()
      for column in order {
        let wishes = columns[column].map { wish(of: $0) }
        let sorted = columns[column].indices.sorted {
          wishes[$0] != wishes[$1] ? wishes[$0] < wishes[$1] : $0 < $1
        }
        columns[column] = sorted.map { columns[column][$0] }
        pack(column)
      }
      let cost = self.cost
      if cost < best.cost - 1e-6 { best = (cost, nodes, columns) }
    }
    (nodes, columns) = (best.nodes, best.columns)
    exchangeNeighbours()
    settle()
  }

  /// Exchanges two nodes that stand one above the other, as long as that makes the cost smaller.
  private mutating func exchangeNeighbours() {
    // The cost takes time with the square of the lines.
    guard pieces.count <= 120 else { return }
    var least = cost
    for _ in 0..<8 {
      let before = least
      for column in columns.indices {
        for position in columns[column].indices.dropLast() {
          let former = nodes
          columns[column].swapAt(position, position + 1)
          for other in columns.indices { pack(other) }
          let changed = cost
          if changed < least - 1e-6 {
            least = changed
          } else {
            columns[column].swapAt(position, position + 1)
            nodes = former
          }
        }
      }
      if least >= before { break }
    }
  }

  /// Lets all nodes come to rest, keeping their order.
  private mutating func settle() {
    var best = (cost: cost, nodes: nodes)
    for round in 0..<12 {
      for column in round.isMultiple(of: 2) ? Array(columns.indices) : columns.indices.reversed() {
        pack(column)
      }
      let cost = self.cost
      if cost < best.cost { best = (cost, nodes) }
    }
    nodes = best.nodes
    let top = nodes.map(\.y).min() ?? 0
    for number in nodes.indices { nodes[number].y = (nodes[number].y - top).rounded() }
    height = nodes.map { $0.y + $0.height }.max() ?? 0
  }

  /// Where the top of a node would make its lines straight, in the mean.
  private func wish(of number: Int) -> Double {
    var (sum, count) = (0.0, 0.0)
    for piece in piecesOfNode[number] {
      let (left, right) = (pieces[piece].left, pieces[piece].right)
      guard left.node != right.node else { continue }
      let (own, other) = left.node == number ? (left, right) : (right, left)
      sum += nodes[other.node].y + other.offset - own.offset
      count += 1
    }
    return count > 0 ? sum / count : nodes[number].y
  }

  /// Places the nodes of a column in their order, as near to where they wish to be as the gaps
  /// allow: by the sum of squares, which the pooling of adjacent violators makes smallest.
  private mutating func pack(_ column: Int) {
    var offset = 0.0
    var offsets: [Double] = []
    var pools: [(sum: Double, weight: Double, count: Int)] = []
    for (position, number) in columns[column].enumerated() {
      if position > 0 { offset += gap(columns[column][position - 1], number) }
      offsets.append(offset)
      // A line that passes has nothing but its straightness to lose.
      let weight = nodes[number].box == nil ? 3.0 : Double(max(1, piecesOfNode[number].count))
      pools.append(((wish(of: number) - offset) * weight, weight, 1))
      offset += nodes[number].height
      while pools.count > 1 {
        let (last, before) = (pools[pools.count - 1], pools[pools.count - 2])
        guard before.sum / before.weight > last.sum / last.weight else { break }
        pools.removeLast()
        pools[pools.count - 1] = (
          before.sum + last.sum, before.weight + last.weight, before.count + last.count
        )
      }
    }
    var position = 0
    for pool in pools {
      for _ in 0..<pool.count {
        nodes[columns[column][position]].y = pool.sum / pool.weight + offsets[position]
        position += 1
      }
    }
  }

  private func gap(_ upper: Int, _ lower: Int) -> Double {
    nodes[upper].box == nil && nodes[lower].box == nil ? Self.passageGap : Self.gap
  }

  /// Crossings and the length of lines.
  private var cost: Double {
    var cost = 0.0
    let heights = pieces.map { piece in
      (
        nodes[piece.left.node].y + piece.left.offset, nodes[piece.right.node].y + piece.right.offset
      )
    }
    for (number, piece) in pieces.enumerated() {
      let (left, right) = heights[number]
      cost += abs(left - right)
      let column = nodes[piece.left.node].column
      let isWithin = column == nodes[piece.right.node].column
      for other in number + 1..<max(pieces.count, number + 1) {
        let second = pieces[other]
        guard nodes[second.left.node].column == column else { continue }
        let (otherLeft, otherRight) = heights[other]
        let isOtherWithin = nodes[second.right.node].column == column
        let isCrossing =
          switch (isWithin, isOtherWithin) {
          case (false, false): (left - otherLeft) * (right - otherRight) < 0
          case (true, false):
            min(left, right) < otherLeft && otherLeft < max(left, right)
          case (false, true):
            min(otherLeft, otherRight) < left && left < max(otherLeft, otherRight)
          case (true, true): false
          }
        if isCrossing { cost += 260 }
      }
    }
    return cost
  }

  // MARK: Lines

  private mutating func draw(_ boxes: [DiagramLayout.Size]) {
    var corners: [Int: [Point]] = [:]
    var x = 0.0
    for (column, members) in columns.enumerated() {
      let columnWidth = members.compactMap { nodes[$0].box.map { boxes[$0].width } }.max() ?? 0
      for number in members {
        guard let box = nodes[number].box else { continue }
        frames.append(
          (
            box,
            DiagramLayout.Frame(
              x: x, y: nodes[number].y, width: columnWidth, height: nodes[number].height)
          ))
      }
      x += columnWidth
      let own = pieces.indices.filter { nodes[pieces[$0].left.node].column == column }
      let channel = DiagramChannel(own.map { wire(of: pieces[$0]) })
      for (position, number) in own.enumerated() {
        let wire = channel.wires[position]
        let turn =
          x + DiagramChannel.margin + Double(channel.tracks[position]) * DiagramChannel.spacing
        let far = wire.returns ? x : x + channel.width
        corners[pieces[number].connection, default: []] += [
          Point(x: x, y: wire.left), Point(x: turn, y: wire.left), Point(x: turn, y: wire.right),
          Point(x: far, y: wire.right),
        ]
      }
      if !own.isEmpty { x += channel.width }
    }
    width = x
    for number in corners.keys.sorted() {
      let route = Self.simplified(corners[number] ?? [])
      routes.append((number, reversed.contains(number) ? route.reversed() : route))
    }
  }

  private func wire(of piece: Piece) -> DiagramChannel.Wire {
    DiagramChannel.Wire(
      left: nodes[piece.left.node].y + piece.left.offset,
      right: nodes[piece.right.node].y + piece.right.offset,
      returns: nodes[piece.left.node].column == nodes[piece.right.node].column)
  }

  /// Without corners on a straight piece.
  private static func simplified(_ corners: [Point]) -> [Point] {
    var result: [Point] = []
    for corner in corners {
      if result.last == corner { continue }
      if result.count > 1 {
        let (first, second) = (result[result.count - 2], result[result.count - 1])
        let isStraight =
          first.x == second.x && second.x == corner.x
          || first.y == second.y && second.y == corner.y
        if isStraight { result.removeLast() }
      }
      result.append(corner)
    }
    return result
  }
}
