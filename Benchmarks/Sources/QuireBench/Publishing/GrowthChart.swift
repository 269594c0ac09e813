#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What one result costs at each size, for several steps side by side, both scales logarithmic.
struct GrowthChart {
  struct Panel {
    let label: String
    /// Nanoseconds for a result by size.
    let curves: [(engine: Contender.Engine, points: [(size: Int, nanoseconds: Double)])]
  }

  let title: String
  let panels: [Panel]

  private static let columnCount = 3
  private static let panelWidth = 246.0
  private static let panelHeight = 176.0
  private static let top = 58.0

  var svg: String {
    let rowCount = (panels.count + GrowthChart.columnCount - 1) / GrowthChart.columnCount
    var picture = SVG(
      width: Int(GrowthChart.panelWidth) * GrowthChart.columnCount + 22,
      height: Int(GrowthChart.top + Double(rowCount) * GrowthChart.panelHeight) + 8, title: title,
      description: panels.map(description).joined(separator: "; "))
    picture.text(title, 14, 24, class: "heading")
    var place = 14.0
    for engine in [Contender.Engine.quire, .sqlite, .tuned]
    where panels.contains(where: { $0.curves.contains { $0.engine == engine } }) {
      picture.bar(place, 35, 10, 10, class: engine.rawValue)
      picture.text(engine.shownName, place + 15, 44, class: "small")
      place += 34 + 6.2 * Double(engine.shownName.count)
    }
    for (index, panel) in panels.enumerated() {
      draw(
        panel, Double(index % GrowthChart.columnCount) * GrowthChart.panelWidth + 11,
        GrowthChart.top + Double(index / GrowthChart.columnCount) * GrowthChart.panelHeight,
        &picture)
    }
    return picture.source
  }

  private func draw(_ panel: Panel, _ left: Double, _ top: Double, _ picture: inout SVG) {
    let points = panel.curves.flatMap(\.points)
    guard let smallest = points.map(\.size).min(), let largest = points.map(\.size).max(),
      let least = points.map(\.nanoseconds).min(), let most = points.map(\.nanoseconds).max()
    else { return }
    let (start, end) = (left + 52, left + GrowthChart.panelWidth - 16)
    let (ceiling, floor) = (top + 26, top + GrowthChart.panelHeight - 30)
    let lowest = log10(least).rounded(.down)
    let highest = max(lowest + 1, log10(most).rounded(.up))
    let sizes = (log10(Double(smallest)), max(log10(Double(largest)), log10(Double(smallest)) + 1))
    func x(_ size: Int) -> Double {
      start + (log10(Double(size)) - sizes.0) / (sizes.1 - sizes.0) * (end - start)
    }
    func y(_ nanoseconds: Double) -> Double {
      floor - (log10(nanoseconds) - lowest) / (highest - lowest) * (floor - ceiling)
    }
    picture.text(panel.label, start, top + 14)
    for exponent in Int(lowest)...Int(highest) {
      let nanoseconds = pow(10, Double(exponent))
      picture.line(start, y(nanoseconds), to: end, y(nanoseconds), class: "grid")
      picture.text(
        GrowthChart.time(nanoseconds), start - 6, y(nanoseconds) + 4, .end, class: "quiet small")
    }
    for size in Set(points.map(\.size)).sorted() {
      picture.text(GrowthChart.short(size), x(size), floor + 15, .middle, class: "quiet small")
    }
    for curve in panel.curves.reversed() {
      picture.curve(
        curve.points.map { (x($0.size), y($0.nanoseconds)) }, class: curve.engine.rawValue)
    }
  }

  private func description(_ panel: Panel) -> String {
    "\(panel.label): "
      + panel.curves.map { curve in
        "\(curve.engine.shownName) "
          + curve.points.map { "\(GrowthChart.time($0.nanoseconds)) at \($0.size)" }
          .joined(separator: ", ")
      }.joined(separator: "; ")
  }

  /// A time to three digits, with its unit.
  static func time(_ nanoseconds: Double) -> String {
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]
    let (name, unit) = units.last { nanoseconds >= $0.1 * 0.9995 } ?? units[0]
    let value = nanoseconds / unit
    let text = Report.fixed(value, value >= 100 ? 0 : value >= 10 ? 1 : 2)
    // 1.00 µs is as well said by 1 µs.
    let isRound = abs(value - value.rounded()) < 0.005
    return "\(isRound ? "\(Int(value.rounded()))" : text) \(name)"
  }

  /// A size as 1 k or 10 M.
  static func short(_ size: Int) -> String {
    size >= 1_000_000 ? "\(size / 1_000_000) M" : size >= 1_000 ? "\(size / 1_000) k" : "\(size)"
  }
}
