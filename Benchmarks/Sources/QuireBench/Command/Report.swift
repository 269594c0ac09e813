/// Rows as people read them, and as programs do.
enum Report {
  static let header = line([
    "workload", "mode", "n", "quire", "sqlite", "ratio", "spread", "disk MB", "peak MB", "goal",
  ])

  static let rule = "|" + String(repeating: "---|", count: 10)

  /// One line of a Markdown table; pairs are ours and theirs.
  static func line(_ row: Row) -> String {
    func pair(_ text: (Contender.Engine) -> String?) -> String {
      "\(text(.quire) ?? "-") / \(text(.sqlite) ?? "-")"
    }
    return line([
      row.workload.name, row.mode.rawValue, "\(row.count)",
      row.rate(.quire).map { figure($0, row.workload.unit) } ?? "",
      row.rate(.sqlite).map { figure($0, row.workload.unit) } ?? "",
      row.ratio(to: .sqlite).map { fixed($0, 2) } ?? "",
      pair { row.spread($0).map { "\(Int(($0 * 100).rounded())) %" } },
      pair { row.diskBytes($0).map { fixed(Double($0) / 1e6, 1) } },
      pair { row.peakKilobytes($0).map { fixed(Double($0) * 1024 / 1e6, 0) } },
      row.meetsGoal.map { $0 ? "met" : "missed" } ?? "",
    ])
  }

  private static func line(_ cells: [String]) -> String {
    "| " + cells.joined(separator: " | ") + " |"
  }

  private static func figure(_ rate: Double, _ unit: Workload.Unit) -> String {
    switch unit {
    case .millisecondsEach: "\(fixed(1_000 / rate, 2)) ms"
    case .operationsPerSecond where rate >= 1e6: "\(fixed(rate / 1e6, 2)) M/s"
    case .operationsPerSecond where rate >= 1e4: "\(fixed(rate / 1e3, 0)) k/s"
    case .operationsPerSecond where rate >= 1e3: "\(fixed(rate / 1e3, 2)) k/s"
    case .operationsPerSecond: "\(fixed(rate, 0)) /s"
    }
  }

  /// The number with so many digits after the point.
  static func fixed(_ value: Double, _ digits: Int) -> String {
    let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((value * Double(scale)).rounded())
    return digits == 0 ? "\(scaled)" : "\(scaled / scale)." + (scaled % scale).padded(digits)
  }

  /// One line of JSON for each row; names and numbers only, so that nothing needs escaping.
  static func json(_ row: Row) -> String {
    let engines = Contender.Engine.allCases.filter { row.results[$0] != nil }.map { engine in
      "\"\(engine.rawValue)\":{\"rates\":\(row.rates(engine)),"
        + "\"median\":\(row.rate(engine) ?? 0),\"spread\":\(row.spread(engine) ?? 0),"
        + "\"bytes_on_disk\":\(row.diskBytes(engine) ?? 0),"
        + "\"peak_rss_kb\":\(row.peakKilobytes(engine) ?? 0)}"
    }
    let goal = row.meetsGoal.map { ",\"meets_goal\":\($0)" } ?? ""
    return "{\"workload\":\"\(row.workload.name)\",\"mode\":\"\(row.mode.rawValue)\","
      + "\"n\":\(row.count),\"ratio\":\(row.ratio(to: .sqlite) ?? 0)\(goal),"
      + engines.joined(separator: ",") + "}"
  }
}
