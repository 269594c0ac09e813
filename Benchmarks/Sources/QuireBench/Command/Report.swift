/// Rows as people read them, and as programs do.
struct Report {
  /// Us and the peers, in the order of the columns.
  let engines: [Contender.Engine]
  /// Whether the goals are looked at: a short run says nothing about speed.
  let judges: Bool
  private var rows: [Row] = []

  init(engines: [Contender.Engine], judges: Bool) {
    self.engines = engines
    self.judges = judges
  }

  private var peers: [Contender.Engine] { engines.filter { $0 != .quire } }

  // MARK: The table

  var header: String {
    let columns =
      ["workload", "mode", "n"] + engines.map(\.rawValue) + peers.map { "by \($0.rawValue)" }
      + ["spread", "disk MB", "peak MB", "goal"]
    return Report.line(columns) + "\n|" + String(repeating: "---|", count: columns.count)
  }

  /// One line of a Markdown table; spread, disk and peak are those of each engine in turn.
  mutating func line(_ row: Row) -> String {
    defer { rows.append(row) }
    func each(_ text: (Contender.Engine) -> String?) -> String {
      engines.filter { row.results[$0] != nil }.map { text($0) ?? "-" }.joined(separator: " / ")
    }
    return Report.line(
      [row.name, row.mode.rawValue, "\(row.count)"]
        + engines.map { row.rate($0).map { Report.figure($0, row.unit) } ?? "" }
        + peers.map { row.ratio(to: $0).map { Report.fixed($0, 2) } ?? "" }
        + [
          each { row.spread($0).map { "\(Int(($0 * 100).rounded())) %" } },
          each { row.diskBytes($0).map { Report.fixed(Double($0) / 1e6, 1) } },
          each { row.peakKilobytes($0).map { Report.fixed(Double($0) * 1024 / 1e6, 0) } },
          verdicts(row).map { "\($0.isMet ? "met" : "missed"): \($0.goal.text)" }
            .joined(separator: "; "),
        ])
  }

  /// The goals that could be judged.
  private func verdicts(_ row: Row) -> [(goal: Goal, isMet: Bool)] {
    guard judges else { return [] }
    return row.verdicts(rows).compactMap { goal, isMet in isMet.map { (goal, $0) } }
  }

  /// How many goals were met, and which were not.
  var summary: String {
    var metCount = 0
    var missed: [String] = []
    for row in rows {
      for (goal, isMet) in verdicts(row) where !goal.isStretch {
        if isMet { metCount += 1 } else { missed.append("\(row.name) \(row.mode): \(goal.text)") }
      }
    }
    guard metCount + missed.count > 0 else { return "no goal was looked at" }
    return
      (["\(metCount) of \(metCount + missed.count) goals met"] + missed.map { "  missed: \($0)" })
      .joined(separator: "\n")
  }

  // MARK: JSON

  /// One line of JSON for each row; names and numbers only, so that nothing needs escaping.
  mutating func json(_ row: Row) -> String {
    defer { rows.append(row) }
    let figures = engines.filter { row.results[$0] != nil }.map { engine in
      "\"\(engine.rawValue)\":{\"rates\":\(row.rates(engine)),"
        + "\"median\":\(row.rate(engine) ?? 0),\"spread\":\(row.spread(engine) ?? 0),"
        + "\"bytes_on_disk\":\(row.diskBytes(engine) ?? 0),"
        + "\"peak_rss_kb\":\(row.peakKilobytes(engine) ?? 0)}"
    }
    let ratios = peers.compactMap { peer in
      row.ratio(to: peer).map { "\"\(peer.rawValue)\":\($0)" }
    }
    let goals = verdicts(row).map { goal, isMet in
      "{\"goal\":\"\(goal.text)\",\"stretch\":\(goal.isStretch),\"met\":\(isMet)}"
    }
    return "{\"workload\":\"\(row.name)\",\"mode\":\"\(row.mode.rawValue)\",\"n\":\(row.count),"
      + "\"ratios\":{\(ratios.joined(separator: ","))},"
      + "\"goals\":[\(goals.joined(separator: ","))],\(figures.joined(separator: ","))}"
  }

  // MARK: Numbers

  private static func line(_ cells: [String]) -> String {
    "| " + cells.joined(separator: " | ") + " |"
  }

  static func figure(_ rate: Double, _ unit: Workload.Unit) -> String {
    switch unit {
    case .millisecondsEach: "\(fixed(1_000 / rate, 2)) ms"
    case .bytesEach: "\(fixed(1_000_000 / rate, 0)) B"
    case .operationsPerSecond where rate >= 1e6: "\(fixed(rate / 1e6, 2)) M/s"
    case .operationsPerSecond where rate >= 1e4: "\(fixed(rate / 1e3, 0)) k/s"
    case .operationsPerSecond where rate >= 1e3: "\(fixed(rate / 1e3, 2)) k/s"
    case .operationsPerSecond: "\(fixed(rate, 0)) /s"
    }
  }

  /// The number as a goal names it: without digits that say nothing.
  static func number(_ value: Double) -> String {
    value == value.rounded() ? "\(Int(value))" : fixed(value, 1)
  }

  /// A ratio to three digits.
  static func ratio(_ value: Double) -> String {
    fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0)
  }

  /// The number with so many digits after the point.
  static func fixed(_ value: Double, _ digits: Int) -> String {
    let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((value * Double(scale)).rounded())
    return digits == 0 ? "\(scaled)" : "\(scaled / scale)." + (scaled % scale).padded(digits)
  }
}
