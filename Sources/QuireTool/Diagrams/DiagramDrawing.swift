/// A diagram of a model as SVG: boxes with the properties of entities, lines between the rows of
/// relationships.
///
/// Colours are CSS variables with values for light and dark. The text is in a font of fixed width,
/// so that the width of a row is known without a font.
struct DiagramDrawing {
  private static let rowHeight = 18.0
  private static let headHeight = 30.0
  private static let padding = 6.0
  private static let characterWidth = 7.25
  private static let border = 24.0
  private static let legendHeight = 56.0

  private let diagram: ModelDiagram
  private let layout: DiagramLayout
  private let title: String
  /// The address that a click on an entity opens; `nil` for none.
  private let address: ((String) -> String)?

  init(
    of diagram: ModelDiagram, title: String, leadingTo address: ((String) -> String)? = nil
  ) {
    self.diagram = diagram
    self.title = title
    self.address = address
    layout = DiagramLayout(
      boxes: diagram.boxes.map { Self.size(of: $0) },
      connections: diagram.lines.map { line in
        DiagramLayout.Connection(
          start: Self.port(line.start, of: line, in: diagram),
          end: Self.port(line.end, of: line, in: diagram))
      })
  }

  // MARK: Measures

  private static func size(of box: ModelDiagram.Box) -> DiagramLayout.Size {
    let rows = box.rows.map {
      Double(columns($0.name) + 3 + columns($0.detail)) * characterWidth
    }
    let head = Double(columns(box.name)) * 8.6 + Double(columns(note(box))) * 6.6 + 16
    let sections = [box.attributes, box.relationships].filter { !$0.isEmpty }
    let height = sections.reduce(headHeight) {
      $0 + 2 * padding + Double($1.count) * rowHeight
    }
    let width = max(150, head, rows.max() ?? 0) + 24
    return DiagramLayout.Size(width: width.rounded(), height: max(height, headHeight + 4))
  }

  /// Where a line ends at a box. At the head, inheritance and relationships without an inverse have
  /// positions of their own, so that their marks do not cover each other.
  private static func port(
    _ end: ModelDiagram.End, of line: ModelDiagram.Line, in diagram: ModelDiagram
  ) -> DiagramLayout.Port {
    guard let row = end.row else {
      return DiagramLayout.Port(box: end.box, offset: line.kind == .inheritance ? 10 : 22)
    }
    return DiagramLayout.Port(
      box: end.box, offset: middle(ofRow: row, in: diagram.boxes[end.box]))
  }

  private static func middle(ofRow row: Int, in box: ModelDiagram.Box) -> Double {
    let isAfterAttributes = row >= box.attributes.count && !box.attributes.isEmpty
    return headHeight + padding + (isAfterAttributes ? 2 * padding : 0)
      + (Double(row) + 0.5) * rowHeight
  }

  /// What stands beside the name.
  private static func note(_ box: ModelDiagram.Box) -> String {
    (box.parent.map { ": \(cut($0))" } ?? "") + (box.isAbstract ? " abstract" : "")
  }

  private static func cut(_ text: String) -> String {
    text.count > 40 ? text.prefix(39) + "…" : text
  }

  /// The width of a text in columns of the font; signs from about the Hangul on take two.
  private static func columns(_ text: String) -> Int {
    cut(text).reduce(0) { count, character in
      count + ((character.unicodeScalars.first?.value ?? 0) >= 0x1100 ? 2 : 1)
    }
  }

  // MARK: Drawing

  /// The whole picture.
  ///
  /// - Parameter isAlone: whether the picture is a file, rather than a part of a page.
  func text(isAlone: Bool = true) -> String {
    let border = Self.border
    let legend = diagram.boxes.isEmpty ? 0 : Self.legendHeight
    let width = max(layout.size.width, diagram.lines.isEmpty ? 0 : 780) + 2 * border
    let height = layout.size.height + 2 * border + legend
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"quire-diagram\" "
        + "width=\"\(Self.digits(width))\" height=\"\(Self.digits(height))\" "
        + "viewBox=\"0 0 \(Self.digits(width)) \(Self.digits(height))\" "
        + "role=\"\(address == nil ? "img" : "group")\" "
        + "aria-labelledby=\"quire-diagram-title quire-diagram-desc\">",
      "<title id=\"quire-diagram-title\">\(MarkupText.escaped(title))</title>",
      "<desc id=\"quire-diagram-desc\">\(MarkupText.escaped(summary))</desc>",
      "<style>\(Self.style)</style>",
    ]
    if isAlone { lines.append("<rect class=\"ground\" width=\"100%\" height=\"100%\"/>") }
    lines.append("<g transform=\"translate(\(Self.digits(border)) \(Self.digits(border)))\">")
    for (number, line) in diagram.lines.enumerated() {
      lines.append(drawing(of: line, layout.routes[number]))
    }
    for (number, box) in diagram.boxes.enumerated() {
      lines.append(drawing(of: box, layout.frames[number]))
    }
    if !diagram.lines.isEmpty { lines.append(self.legend(at: layout.size.height + 36)) }
    lines += ["</g>", "</svg>"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// The diagram in words: what every line says.
  private var summary: String {
    let entities = diagram.boxes.count.counting("entity", "entities")
    let lines = diagram.lines.map { $0.explanation.split(separator: "\n").joined(separator: "; ") }
    return ([entities] + lines).joined(separator: ". ") + "."
  }

  private func drawing(of box: ModelDiagram.Box, _ frame: DiagramLayout.Frame) -> String {
    let name = MarkupText.escaped(box.name)
    let (x, y) = (Self.digits(frame.x), Self.digits(frame.y))
    let (width, height) = (Self.digits(frame.width), Self.digits(frame.height))
    let right = Self.digits(frame.width - 12)
    var parts = [
      "<g class=\"entity\(box.isAbstract ? " abstract" : "")\" transform=\"translate(\(x) \(y))\">",
      "<title>\(name)\(MarkupText.escaped(Self.note(box)))</title>",
      "<rect class=\"box\" width=\"\(width)\" height=\"\(height)\" rx=\"6\"/>",
      "<path class=\"head\" d=\"M0 30V6a6 6 0 0 1 6-6H\(Self.digits(frame.width - 6))"
        + "a6 6 0 0 1 6 6V30z\"/>",
      "<text class=\"name\" x=\"12\" y=\"20\">\(MarkupText.escaped(Self.cut(box.name)))</text>",
    ]
    let note = Self.note(box)
    if !note.isEmpty {
      parts.append(
        "<text class=\"note\" x=\"\(right)\" y=\"20\">\(MarkupText.escaped(note))</text>")
    }
    if !box.attributes.isEmpty, !box.relationships.isEmpty {
      let middle = Self.headHeight + 2 * Self.padding + Double(box.attributes.count) * 18
      parts.append("<path class=\"rule\" d=\"M0 \(Self.digits(middle))H\(width)\"/>")
    }
    for (number, row) in box.rows.enumerated() {
      let base = Self.digits(Self.middle(ofRow: number, in: box) + 4)
      parts.append(
        "<g><title>\(MarkupText.escaped(row.explanation))</title>"
          + "<text x=\"12\" y=\"\(base)\">\(MarkupText.escaped(Self.cut(row.name)))</text>"
          + "<text class=\"detail\" x=\"\(right)\" y=\"\(base)\">"
          + "\(MarkupText.escaped(Self.cut(row.detail)))</text></g>")
    }
    parts.append("</g>")
    let drawing = parts.joined(separator: "\n")
    guard let address else { return drawing }
    return "<a href=\"\(MarkupText.escaped(address(box.name)))\" aria-label=\"\(name)\">\n"
      + "\(drawing)\n</a>"
  }

  // MARK: Lines

  private func drawing(of line: ModelDiagram.Line, _ corners: [DiagramLayout.Point]) -> String {
    guard corners.count > 1 else { return "" }
    let (first, last) = (corners[0], corners[corners.count - 1])
    let path = Self.path(through: corners)
    let marks =
      Self.mark(line.start.mark, at: first, towards: corners[1])
      + Self.mark(line.end.mark, at: last, towards: corners[corners.count - 2])
    return "<g class=\"line \(line.kind)\"><title>\(MarkupText.escaped(line.explanation))</title>"
      + "<path class=\"reach\" d=\"\(path)\"/><path d=\"\(path)\"/>\(marks)</g>"
  }

  /// A path with round corners.
  private static func path(through corners: [DiagramLayout.Point]) -> String {
    var path = "M\(digits(corners[0].x)) \(digits(corners[0].y))"
    for index in corners.indices.dropFirst().dropLast() {
      let (before, corner, after) = (corners[index - 1], corners[index], corners[index + 1])
      func step(_ other: DiagramLayout.Point) -> (Double, Double) {
        let distance = max(abs(other.x - corner.x), abs(other.y - corner.y))
        let radius = min(5, distance / 2)
        return (
          (other.x - corner.x) / max(distance, 1) * radius,
          (other.y - corner.y) / max(distance, 1) * radius
        )
      }
      let (entry, exit) = (step(before), step(after))
      path +=
        "L\(digits(corner.x + entry.0)) \(digits(corner.y + entry.1))"
        + "Q\(digits(corner.x)) \(digits(corner.y)) "
        + "\(digits(corner.x + exit.0)) \(digits(corner.y + exit.1))"
    }
    let last = corners[corners.count - 1]
    return path + "L\(digits(last.x)) \(digits(last.y))"
  }

  /// The mark at the end of a line, which leaves its box to the left or to the right.
  private static func mark(
    _ mark: ModelDiagram.Mark, at point: DiagramLayout.Point, towards next: DiagramLayout.Point
  ) -> String {
    let side = next.x < point.x ? -1.0 : 1.0
    func x(_ distance: Double) -> String { digits(point.x + side * distance) }
    let (y, upper, lower) = (digits(point.y), digits(point.y - 6), digits(point.y + 6))
    func bar(_ distance: Double) -> String {
      "<path d=\"M\(x(distance)) \(upper)V\(lower)\"/>"
    }
    func circle(_ distance: Double) -> String {
      "<circle cx=\"\(x(distance))\" cy=\"\(y)\" r=\"3.5\"/>"
    }
    let foot = "<path d=\"M\(x(0)) \(upper)L\(x(11)) \(y)L\(x(0)) \(lower)\"/>"
    switch mark {
    case .none: return ""
    case .one: return bar(7) + bar(11)
    case .zeroOrOne: return bar(7) + circle(14)
    case .many: return foot + circle(15)
    case .oneOrMany: return foot + bar(14)
    case .parent:
      return "<path class=\"parent\" d=\"M\(x(0)) \(y)L\(x(12)) \(upper)V\(lower)z\"/>"
    }
  }

  private func legend(at y: Double) -> String {
    let entries: [(ModelDiagram.Mark, String, String)] = [
      (.zeroOrOne, "relationship", "none or one"), (.one, "relationship", "one"),
      (.many, "relationship", "any number"), (.oneOrMany, "relationship", "one or more"),
      (.none, "cascade", "deletes with it (cascade)"), (.parent, "inheritance", "inherits from"),
    ]
    var x = 0.0
    let parts = entries.map { mark, kind, text in
      defer { x += 54 + Double(text.count) * 6.6 }
      let (start, end) = (DiagramLayout.Point(x: x, y: y), DiagramLayout.Point(x: x + 28, y: y))
      return "<g class=\"line \(kind)\"><path d=\"\(Self.path(through: [start, end]))\"/>"
        + Self.mark(mark, at: end, towards: start) + "</g>"
        + "<text class=\"key\" x=\"\(Self.digits(x + 36))\" y=\"\(Self.digits(y + 4))\">"
        + "\(text)</text>"
    }
    return "<g class=\"legend\" aria-hidden=\"true\">\n\(parts.joined(separator: "\n"))\n</g>"
  }

  /// A number in the fewest digits, with at most one decimal.
  private static func digits(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    let sign = tenths < 0 ? "-" : ""
    let (whole, rest) = abs(tenths).quotientAndRemainder(dividingBy: 10)
    return rest == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(rest)"
  }

  private static let style = """

    .quire-diagram {
      --ground: #ffffff; --box: #ffffff; --head: #e8eef7; --ink: #1b2733; --quiet: #5b6b7b;
      --edge: #9fb0c3; --line: #6f8296; --cascade: #b4471f; --inherit: #4a6fa5;
      font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
    }
    @media (prefers-color-scheme: dark) {
      .quire-diagram {
        --ground: #12181f; --box: #1a222c; --head: #26344a; --ink: #e4eaf1; --quiet: #9aabbc;
        --edge: #44566b; --line: #8093a8; --cascade: #f0905f; --inherit: #86aee6;
      }
    }
    .quire-diagram:root { background: var(--ground); }
    .quire-diagram text { fill: var(--ink); }
    .quire-diagram .ground { fill: var(--ground); }
    .quire-diagram .box { fill: var(--box); stroke: var(--edge); }
    .quire-diagram .head { fill: var(--head); }
    .quire-diagram .abstract .name { font-style: italic; }
    .quire-diagram .rule { stroke: var(--edge); stroke-opacity: .6; }
    .quire-diagram .name { font: 600 13px system-ui, sans-serif; }
    .quire-diagram .note, .quire-diagram .key { font: 12px system-ui, sans-serif; }
    .quire-diagram .note, .quire-diagram .detail { text-anchor: end; }
    .quire-diagram .note, .quire-diagram .detail, .quire-diagram .key { fill: var(--quiet); }
    .quire-diagram .line path, .quire-diagram .line circle {
      fill: none; stroke: var(--line); stroke-width: 1.3;
    }
    .quire-diagram .line circle, .quire-diagram .line .parent { fill: var(--ground); }
    .quire-diagram .cascade path, .quire-diagram .cascade circle { stroke: var(--cascade); }
    .quire-diagram .inheritance path { stroke: var(--inherit); }
    .quire-diagram .line .reach { stroke: transparent; stroke-width: 9; }
    .quire-diagram .line:hover path:not(.reach) { stroke-width: 2.6; }
    .quire-diagram a { text-decoration: none; }
    .quire-diagram a:hover .box, .quire-diagram a:focus .box {
      stroke: var(--inherit); stroke-width: 2;
    }

    """
}
