import QuireSimulation
import QuireTool
import Testing

@Suite struct DiagramLayoutTests {
  private typealias Layout = DiagramLayout

  /// A diagram of boxes with rows, some of them connected, some with themselves.
  private struct Scene {
    var boxes: [Layout.Size] = []
    var connections: [Layout.Connection] = []

    init(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      var free: [[Double]] = []
      for _ in 0..<Int.random(in: 1...22, using: &random) {
        let rows = Int.random(in: 1...14, using: &random)
        boxes.append(
          Layout.Size(
            width: Double(Int.random(in: 150...330, using: &random)),
            height: 42 + Double(rows) * 18))
        free.append((0..<rows).map { 45 + Double($0) * 18 })
      }
      for _ in 0..<Int.random(in: 0...boxes.count * 2, using: &random) {
        var ports: [Layout.Port] = []
        for _ in 0..<2 {
          guard let box = boxes.indices.filter({ !free[$0].isEmpty }).randomElement(using: &random)
          else { continue }
          let row = Int.random(in: free[box].indices, using: &random)
          ports.append(Layout.Port(box: box, offset: free[box].remove(at: row)))
        }
        guard ports.count == 2 else { break }
        connections.append(Layout.Connection(start: ports[0], end: ports[1]))
      }
    }

    var layout: Layout { Layout(boxes: boxes, connections: connections) }
  }

  /// A horizontal or vertical piece of a line.
  private struct Piece {
    var (left, right, top, bottom): (Double, Double, Double, Double)
    var line: Int

    init(_ first: Layout.Point, _ second: Layout.Point, of line: Int) {
      (left, right) = (min(first.x, second.x), max(first.x, second.x))
      (top, bottom) = (min(first.y, second.y), max(first.y, second.y))
      self.line = line
    }

    func runsThrough(_ frame: Layout.Frame) -> Bool {
      left < frame.x + frame.width && right > frame.x && top < frame.y + frame.height
        && bottom > frame.y
    }
  }

  private func pieces(of layout: Layout) -> [Piece] {
    layout.routes.enumerated().flatMap { number, route in
      zip(route, route.dropFirst()).map { Piece($0, $1, of: number) }
    }
  }

  /// In the last ones, lines enter a channel at the height where others leave it.
  private static let seeds = Array(UInt64(1)...8) + [112, 143, 166, 203]

  @Test(arguments: seeds)
  func `boxes do not overlap, and lines are straight and run through none`(seed: UInt64) {
    let layout = Scene(seed: seed).layout
    for (number, frame) in layout.frames.enumerated() {
      #expect(frame.x >= 0 && frame.x + frame.width <= layout.size.width)
      #expect(frame.y >= 0 && frame.y + frame.height <= layout.size.height)
      for other in layout.frames[(number + 1)...] {
        let isApart =
          frame.x + frame.width <= other.x || other.x + other.width <= frame.x
          || frame.y + frame.height <= other.y || other.y + other.height <= frame.y
        #expect(isApart, "seed \(seed): \(frame) and \(other)")
      }
    }
    for piece in pieces(of: layout) {
      #expect(piece.left == piece.right || piece.top == piece.bottom, "seed \(seed)")
      #expect(!layout.frames.contains { piece.runsThrough($0) }, "seed \(seed): \(piece)")
    }
  }

  @Test(arguments: seeds)
  func `a line begins and ends at the sides of its boxes, beside its rows`(seed: UInt64) throws {
    let scene = Scene(seed: seed)
    let layout = scene.layout
    for (connection, route) in zip(scene.connections, layout.routes) {
      let ends = [
        (connection.start, try #require(route.first)), (connection.end, try #require(route.last)),
      ]
      for (port, point) in ends {
        let frame = layout.frames[port.box]
        #expect([frame.x, frame.x + frame.width].contains(point.x), "seed \(seed)")
        #expect(point.y == frame.y + port.offset, "seed \(seed)")
      }
    }
  }

  @Test(arguments: seeds)
  func `two lines never share a piece of their way`(seed: UInt64) {
    let pieces = pieces(of: Scene(seed: seed).layout)
    for (number, piece) in pieces.enumerated() {
      for other in pieces[(number + 1)...] where other.line != piece.line {
        let isVertical =
          piece.left == piece.right && other.left == other.right && piece.left == other.left
          && piece.top < other.bottom && other.top < piece.bottom
        let isHorizontal =
          piece.top == piece.bottom && other.top == other.bottom && piece.top == other.top
          && piece.left < other.right && other.left < piece.right
        #expect(!isVertical && !isHorizontal, "seed \(seed): \(piece) and \(other)")
      }
    }
  }

  @Test func `a chain of boxes is drawn without a crossing`() {
    // Of each two lines, one begins where the other ends.
    let size = DiagramLayout.Size(width: 200, height: 100)
    let connections = (0..<5).map {
      Layout.Connection(
        start: Layout.Port(box: $0, offset: 60), end: Layout.Port(box: $0 + 1, offset: 40))
    }
    let layout = Layout(boxes: Array(repeating: size, count: 6), connections: connections)
    let pieces = pieces(of: layout)
    let crossings = pieces.filter { $0.left == $0.right }.map { upright in
      pieces.count {
        $0.top == $0.bottom && $0.line != upright.line && $0.left < upright.left
          && upright.left < $0.right && upright.top < $0.top && $0.top < upright.bottom
      }
    }
    #expect(crossings.reduce(0, +) == 0)
  }

  @Test func `hundreds of boxes are laid out in a moment`() {
    let size = DiagramLayout.Size(width: 200, height: 120)
    let connections = (1..<100).map {
      Layout.Connection(
        start: Layout.Port(box: $0, offset: 60), end: Layout.Port(box: $0 / 3, offset: 40))
    }
    let layout = Layout(boxes: Array(repeating: size, count: 100), connections: connections)
    #expect(layout.routes.allSatisfy { $0.count > 1 })
  }
}
