/// A picture of lines, bars and words, which suits dark and light pages.
struct SVG {
  private let width: Int
  private let height: Int
  private let title: String
  private let description: String
  private var elements: [String] = []

  /// - Parameters:
  ///   - title: what a screen reader says first.
  ///   - description: what the picture shows, in a sentence or two.
  init(width: Int, height: Int, title: String, description: String) {
    self.width = width
    self.height = height
    self.title = title
    self.description = description
  }

  enum Anchor: String { case start, middle, end }

  mutating func text(
    _ text: String, _ x: Double, _ y: Double, _ anchor: Anchor = .start, class name: String = ""
  ) {
    elements.append(
      "<text x=\"\(SVG.number(x))\" y=\"\(SVG.number(y))\" text-anchor=\"\(anchor.rawValue)\""
        + "\(name.isEmpty ? "" : " class=\"\(name)\"")>\(SVG.escape(text))</text>")
  }

  mutating func line(
    _ x: Double, _ y: Double, to endX: Double, _ endY: Double, class name: String
  ) {
    elements.append(
      "<line x1=\"\(SVG.number(x))\" y1=\"\(SVG.number(y))\" x2=\"\(SVG.number(endX))\" "
        + "y2=\"\(SVG.number(endY))\" class=\"\(name)\"/>")
  }

  mutating func bar(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, class name: String
  ) {
    elements.append(
      "<rect x=\"\(SVG.number(x))\" y=\"\(SVG.number(y))\" width=\"\(SVG.number(width))\" "
        + "height=\"\(SVG.number(height))\" rx=\"2\" class=\"\(name)\"/>")
  }

  /// A line through points, with a dot at each.
  mutating func curve(_ points: [(x: Double, y: Double)], class name: String) {
    let path = points.map { "\(SVG.number($0.x)),\(SVG.number($0.y))" }.joined(separator: " ")
    elements.append("<polyline points=\"\(path)\" class=\"curve \(name)\"/>")
    for point in points {
      elements.append(
        "<circle cx=\"\(SVG.number(point.x))\" cy=\"\(SVG.number(point.y))\" r=\"2.5\" "
          + "class=\"dot \(name)\"/>")
    }
  }

  var source: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" \
    height="\(height)" role="img" aria-labelledby="title description">
    <title id="title">\(SVG.escape(title))</title>
    <desc id="description">\(SVG.escape(description))</desc>
    <style>
    \(SVG.style)
    </style>
    <rect width="\(width)" height="\(height)" rx="8" class="ground"/>
    \(elements.joined(separator: "\n"))
    </svg>

    """
  }

  private static let style = """
    .ground { fill: #ffffff; }
    text { font: 12px system-ui, "Helvetica Neue", Arial, sans-serif; fill: #1c2024; }
    .heading { font-weight: 600; font-size: 13px; }
    .quiet { fill: #60656c; }
    .small { font-size: 11px; }
    .grid { stroke: #d8dbe0; stroke-width: 1; }
    .even { stroke: #60656c; stroke-width: 1.5; }
    .sqlite { fill: #3b74b8; stroke: #3b74b8; }
    .lmdb { fill: #b9741a; stroke: #b9741a; }
    .machine { fill: #7b7f86; stroke: #7b7f86; }
    .quire { fill: #1f8a5b; stroke: #1f8a5b; }
    .tuned { fill: #8fb2de; stroke: #8fb2de; }
    .slower { fill: #c8423b; stroke: #c8423b; }
    rect { stroke: none; }
    .curve { fill: none; stroke-width: 2; }
    .dot { stroke: none; }
    text.slower { stroke: none; font-weight: 600; }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #14171a; }
      text { fill: #e6e8ea; }
      .quiet { fill: #9aa0a6; }
      .grid { stroke: #30353a; }
      .even { stroke: #9aa0a6; }
      .sqlite { fill: #6aa2e3; stroke: #6aa2e3; }
      .lmdb { fill: #e0a04a; stroke: #e0a04a; }
      .quire { fill: #43c089; stroke: #43c089; }
      .tuned { fill: #476a96; stroke: #476a96; }
      .slower { fill: #f0736b; stroke: #f0736b; }
      rect { stroke: none; }
      .curve { fill: none; }
      .dot, text.slower { stroke: none; }
    }
    """

  static func escape(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
  }

  /// A place, to a tenth of a point.
  private static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
  }
}
