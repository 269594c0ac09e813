/// Assigns the connected boxes of a diagram to columns.
struct DiagramColumns {
  /// The room that a column takes besides its boxes, about.
  private static let channelWidth = 110.0
  private static let gap = 28.0
  /// The width of a page by its height that is aimed at.
  private static let aspect = 1.5

  private let boxes: [DiagramLayout.Size]
  /// Pairs of different boxes; one that has several lines comes several times.
  private let pairs: [(Int, Int)]
  /// The column of each box, none empty.
  private(set) var columns: [Int]

  /// - Parameter pairs: of numbers of `boxes`, which must be connected.
  init(boxes: [DiagramLayout.Size], pairs: [(Int, Int)]) {
    self.boxes = boxes
    self.pairs = pairs
    columns = Array(repeating: 0, count: boxes.count)
    guard boxes.count > 1 else { return }
    let distances = distances(from: hub)
    let width = boxes.reduce(0) { $0 + $1.width } / Double(boxes.count) + Self.channelWidth
    let height = boxes.reduce(0) { $0 + $1.height + Self.gap }
    let likely = Int((Self.aspect * height / width).squareRoot().rounded())
    let counts = Set((likely - 1...likely + 1).map { min(max($0, 2), boxes.count) }).sorted()
    var best = Double.infinity
    for count in counts {
      var candidate = distances.map { min($0, count - 1) }
      let cost = improve(&candidate, count)
      if cost < best { (best, columns) = (cost, candidate) }
    }
    // Columns that nothing is left in do not count.
    let used = Set(columns).sorted()
    columns = columns.map { column in used.firstIndex(of: column) ?? 0 }
  }

  /// The box with the most lines, the first of several.
  private var hub: Int {
    var counts = Array(repeating: 0, count: boxes.count)
    for (left, right) in pairs {
      counts[left] += 1
      counts[right] += 1
    }
    return counts.indices.max { (counts[$0], $1) < (counts[$1], $0) } ?? 0
  }

  private func distances(from start: Int) -> [Int] {
    var distances = Array(repeating: Int.max, count: boxes.count)
    distances[start] = 0
    var wave = [start]
    while !wave.isEmpty {
      var next: [Int] = []
      for box in wave {
        for (left, right) in pairs where left == box || right == box {
          let other = left == box ? right : left
          guard distances[other] == .max else { continue }
          distances[other] = distances[box] + 1
          next.append(other)
        }
      }
      wave = next
    }
    return distances
  }

  /// Moves boxes, and exchanges two, as long as the cost falls.
  ///
  /// - Returns: the cost in the end.
  private func improve(_ columns: inout [Int], _ count: Int) -> Double {
    var cost = cost(of: columns, count)
    // Ends by itself, as the cost falls each time; the limit is for models with hundreds of boxes.
    for _ in 0..<12 {
      let before = cost
      for box in boxes.indices {
        for column in 0..<count where column != columns[box] {
          let former = columns[box]
          columns[box] = column
          let changed = self.cost(of: columns, count)
          if changed < cost - 1e-9 { cost = changed } else { columns[box] = former }
        }
      }
      if boxes.count <= 48 {
        for left in boxes.indices {
          for right in left + 1..<boxes.count where columns[left] != columns[right] {
            columns.swapAt(left, right)
            let changed = self.cost(of: columns, count)
            if changed < cost - 1e-9 { cost = changed } else { columns.swapAt(left, right) }
          }
        }
      }
      if cost >= before { break }
    }
    return cost
  }

  /// What speaks against an assignment: lines within a column and across columns, columns of
  /// unequal height, and a page that is far too wide or too high.
  private func cost(of columns: [Int], _ count: Int) -> Double {
    var cost = 0.0
    for (left, right) in pairs {
      switch abs(columns[left] - columns[right]) {
      case 0: cost += 1.3
      case 1: break
      case let distance: cost += 1.5 * Double(distance - 1)
      }
    }
    var heights = Array(repeating: 0.0, count: count)
    var widths = Array(repeating: 0.0, count: count)
    for (box, column) in columns.enumerated() {
      heights[column] += boxes[box].height + Self.gap
      widths[column] = max(widths[column], boxes[box].width + Self.channelWidth)
    }
    let highest = heights.max() ?? 1
    let mean = heights.reduce(0, +) / Double(count)
    for height in heights { cost += 2 * max(0, height / mean - 1.25) }
    let width = widths.reduce(0, +)
    let ratio = width / highest / Self.aspect
    // The form of a small picture is of no importance.
    let weight = min(3, 0.35 * Double(boxes.count))
    return cost + weight * max(0, max(ratio, 1 / ratio) - 1.2)
  }
}
