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

/// How many times as fast as each peer: a bar for each row and peer, on a scale that doubles.
///
/// Bars begin at 1. What goes to the left is slower, and has its number in red.
struct RatioChart {
  private struct Bar {
    let peer: Contender.Engine
    let ratio: Double
  }

  private let title: String
  private let groups: [(label: String, figure: String, bars: [Bar])]
  private let lowest: Int
  private let highest: Int

  private static let width = 760.0
  private static let plotStart = 236.0
  private static let plotEnd = 620.0
  private static let top = 62.0
  private static let barHeight = 12.0

  /// - Returns: `nil` if no row has a peer.
  init?(title: String, _ rows: [(label: String, row: Row)]) {
    self.title = title
    groups = rows.compactMap { label, row in
      let peers: [Contender.Engine] = [.sqlite, .lmdb, .machine]
      let bars = peers.compactMap { peer in
        row.ratio(to: peer).map { Bar(peer: peer, ratio: $0) }
      }
      guard !bars.isEmpty, let rate = row.rate(.quire) else { return nil }
      return (label, Report.figure(rate, row.unit), bars)
    }
    let exponents = groups.flatMap { $0.bars.map { log2($0.ratio) } }
    guard let least = exponents.min(), let most = exponents.max() else { return nil }
    lowest = Int(min(-1, least.rounded(.down)))
    highest = Int(max(2, most.rounded(.up)))
  }

  private func x(_ exponent: Double) -> Double {
    let share = (exponent - Double(lowest)) / Double(highest - lowest)
    return RatioChart.plotStart + share * (RatioChart.plotEnd - RatioChart.plotStart)
  }

  var svg: String {
    let heights = groups.map { Double($0.bars.count) * RatioChart.barHeight + 8 }
    let bottom = RatioChart.top + heights.reduce(0, +)
    var picture = SVG(
      width: Int(RatioChart.width), height: Int(bottom) + 30, title: title,
      description: description)
    drawLegend(&picture)
    let step = max(1, (highest - lowest + 7) / 8)
    for exponent in lowest...highest where exponent % step == 0 {
      let place = x(Double(exponent))
      picture.line(
        place, RatioChart.top - 6, to: place, bottom, class: exponent == 0 ? "even" : "grid")
      picture.text(
        exponent >= 0 ? "\(1 << exponent)×" : "1/\(1 << -exponent)", place, bottom + 16, .middle,
        class: "quiet small")
    }
    var y = RatioChart.top
    for (group, height) in zip(groups, heights) {
      let middle = y + (height - 8) / 2 + 4
      picture.text(group.label, RatioChart.plotStart - 10, middle, .end)
      picture.text(group.figure, RatioChart.width - 14, middle, .end, class: "quiet small")
      for (index, bar) in group.bars.enumerated() {
        draw(bar, y + Double(index) * RatioChart.barHeight, &picture)
      }
      y += height
    }
    return picture.source
  }

  private func draw(_ bar: Bar, _ y: Double, _ picture: inout SVG) {
    let (start, end) = (x(0), x(log2(bar.ratio)))
    picture.bar(
      min(start, end), y + 1, max(1, abs(end - start)), RatioChart.barHeight - 2,
      class: bar.peer.rawValue)
    // Beside the line where the bar goes to the left, so that it is in nobody's way.
    picture.text(
      Report.fixed(bar.ratio, bar.ratio < 10 ? 2 : 0), max(start, end) + 5, y + 10,
      class: bar.ratio < 1 ? "small slower" : "small")
  }

  private func drawLegend(_ picture: inout SVG) {
    picture.text(title, 14, 24, class: "heading")
    var place = 14.0
    for peer in [Contender.Engine.sqlite, .lmdb, .machine]
    where groups.contains(where: { $0.bars.contains { $0.peer == peer } }) {
      picture.bar(place, 35, 10, 10, class: peer.rawValue)
      let name = "times \(peer.shownName)"
      picture.text(name, place + 15, 44, class: "small")
      place += 32 + 6.2 * Double(name.count)
    }
    picture.text("red, and to the left: slower", place, 44, class: "small slower")
    picture.text("ours", RatioChart.width - 14, 44, .end, class: "quiet small")
  }

  private var description: String {
    groups.map { group in
      "\(group.label): "
        + group.bars.map { "\(Report.fixed($0.ratio, 2)) times \($0.peer.shownName)" }
        .joined(separator: ", ")
    }.joined(separator: "; ")
  }
}

extension Contender.Engine {
  var shownName: String {
    switch self {
    case .quire: "Quire"
    case .sqlite: "SQLite"
    case .tuned: "SQLite with 256 MB of cache"
    case .lmdb: "LMDB"
    case .machine: "the disk alone"
    }
  }
}
