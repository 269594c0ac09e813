/// Places the boxes of a diagram, and the lines between them.
///
/// Boxes stand in columns, as in the method of Sugiyama, Tagawa and Toda (1981):
///
/// 1. Each connected part is laid out alone. Its boxes get columns, begun by the distance from the
///    box with the most lines, then moved while that makes lines shorter or columns more equal.
/// 2. A line that passes a column gets a position of its own there, so that it never runs through a
///    box. Boxes and such positions are put in an order with few crossings.
/// 3. Each stands as near to what it is connected with as the order allows.
/// 4. Between two columns is a channel, in which every line has a vertical piece of its own.
///
/// Nothing depends on chance or on the order of a dictionary: the same model has the same diagram.
package struct DiagramLayout {
  package struct Point: Equatable {
    package var x: Double
    package var y: Double
  }

  package struct Frame: Equatable {
    package var x: Double
    package var y: Double
    package var width: Double
    package var height: Double
  }

  package struct Size {
    package var width: Double
    package var height: Double

    package init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }
  }

  /// A point at the side of a box, that far from its top.
  package struct Port {
    package var box: Int
    package var offset: Double

    package init(box: Int, offset: Double) {
      self.box = box
      self.offset = offset
    }
  }

  package struct Connection {
    package var start: Port
    package var end: Port

    package init(start: Port, end: Port) {
      self.start = start
      self.end = end
    }
  }

  /// Of each box.
  package private(set) var frames: [Frame]
  /// Of each connection, the corners of its line from start to end. All pieces are horizontal or
  /// vertical.
  package private(set) var routes: [[Point]]
  package private(set) var size = Size(width: 0, height: 0)

  static let gapBetweenParts = 48.0

  package init(boxes: [Size], connections: [Connection]) {
    frames = boxes.map { Frame(x: 0, y: 0, width: $0.width, height: $0.height) }
    routes = Array(repeating: [], count: connections.count)
    let parts = Self.parts(boxes.count, connections).map {
      DiagramPart(boxes: boxes, members: $0, connections: connections)
    }
    place(parts)
  }

  /// The boxes that are connected with each other, the largest part first.
  private static func parts(_ count: Int, _ connections: [Connection]) -> [[Int]] {
    var part = Array(0..<count)
    // Small numbers win, until nothing changes.
    var isChanged = true
    while isChanged {
      isChanged = false
      for connection in connections {
        let (start, end) = (connection.start.box, connection.end.box)
        let least = min(part[start], part[end])
        if part[start] != least || part[end] != least {
          (part[start], part[end]) = (least, least)
          isChanged = true
        }
      }
    }
    let members = Dictionary(grouping: 0..<count) { part[$0] }
    return members.values.sorted {
      $0.count != $1.count ? $0.count > $1.count : $0[0] < $1[0]
    }
  }

  /// Sets the parts beside each other and below each other, in rows of about one width.
  private mutating func place(_ parts: [DiagramPart]) {
    let area = parts.reduce(0) { $0 + ($1.width + 48) * ($1.height + 48) }
    let limit = max(parts.map(\.width).max() ?? 0, (1.6 * area).squareRoot())
    var (x, y, rowHeight) = (0.0, 0.0, 0.0)
    for part in parts {
      if x > 0, x + part.width > limit {
        y += rowHeight + Self.gapBetweenParts
        (x, rowHeight) = (0, 0)
      }
      for (box, frame) in part.frames {
        frames[box] = frame
        frames[box].x += x
        frames[box].y += y
      }
      for (connection, route) in part.routes {
        routes[connection] = route.map { Point(x: $0.x + x, y: $0.y + y) }
      }
      size.width = max(size.width, x + part.width)
      size.height = max(size.height, y + part.height)
      rowHeight = max(rowHeight, part.height)
      x += part.width + Self.gapBetweenParts
    }
  }
}
