/// The page of benchmarks, written whole from the results, and its charts.
struct Page {
  private struct Entry {
    let row: Row
    let label: String
    let date: String
  }

  private let results: Results
  private let rows: [Row]

  /// - Throws: if a result is of no row.
  init(_ results: Results) throws {
    self.results = results
    rows = try results.rows.map { try $0.measured() }
  }

  /// The files by their names in the folder of documents.
  var files: [(name: String, text: String)] {
    var charts: [(String, String)] = []
    if let chart = glanceChart { charts.append(("benchmarks/at-a-glance.svg", chart.svg)) }
    for chapter in Chapter.all {
      guard let chart = chart(of: chapter) else { continue }
      charts.append(("benchmarks/" + chapter.chartName, chart.svg))
    }
    if let chart = growthChart { charts.append(("benchmarks/growth.svg", chart.svg)) }
    return [("benchmarks.md", text)] + charts
  }

  // MARK: Text

  private var text: String {
    ([introduction, glance, losses] + Chapter.all.compactMap(section) + [growth, peers])
      .filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private var introduction: String {
    let setups = results.rows.reduce(into: [(Setup, Set<String>)]()) { setups, row in
      if let index = setups.firstIndex(where: { $0.0 == row.setup }) {
        setups[index].1.insert(row.date)
      } else {
        setups.append((row.setup, [row.date]))
      }
    }
    let machines = setups.map { setup, dates in
      "- \(dates.sorted().joined(separator: ", ")): \(setup.description)"
    }
    return """
      <!-- Written by `quire-bench publish` from benchmarks/results.jsonl. Change the texts in \
      Benchmarks/Sources/QuireBench/Publishing, and run it again. -->

      # Benchmarks

      How fast Quire is beside SQLite and LMDB, and where it loses. Everything on this page comes from
      [the results](benchmarks/results.jsonl), which one command measures and one writes down:

          swift run -c release --package-path Benchmarks quire-bench publish
          swift run -c release --package-path Benchmarks quire-bench publish --from-results

      Measured on

      \(machines.joined(separator: "\n"))

      The machine is virtual and shared; its host differs from day to day. Ratios move less than rates: engines run
      in turn, each run in a process of its own, and what is shown is the median.

      **How to read it.** A ratio is ours by theirs: above 1 we are faster; below, the number is bold with a ▼. The
      spread is the distance from the worst run to the best as a part of the median, ours and then theirs; a ratio
      within the spread says nothing. Disk and peak memory are ours and theirs. In the mode `full` a commit that
      returned is on disk; in `ordered` it is not waited for, and a power failure leaves a whole older state; in
      `none` nothing is synced; `memory` is a store without a file. [What is compared with what](#what-is-compared-with-what)
      has the settings of the peers; [where the time goes](where-time-goes.md) says why a figure is as it is.

      """
  }

  private var glance: String {
    guard glanceChart != nil else { return "" }
    return """
      ## At a glance

      ![Ratios to SQLite and LMDB](benchmarks/at-a-glance.svg)

      """
  }

  private var losses: String {
    let lost = entries(of: Chapter.all).compactMap { entry -> [String]? in
      let row = entry.row
      let slower = [Contender.Engine.sqlite, .lmdb].compactMap { peer -> String? in
        guard let ratio = row.ratio(to: peer), ratio < 1 else { return nil }
        return "\(Report.fixed(ratio, 2)) × \(peer.shownName)"
      }
      let missed = row.verdicts(rows).compactMap { goal, isMet in
        isMet == false && !goal.isStretch ? goal.text : nil
      }
      guard !slower.isEmpty || !missed.isEmpty else { return nil }
      return [
        "\(entry.label) (`\(row.name)`)", row.mode.rawValue, slower.joined(separator: ", "),
        missed.joined(separator: ", "),
      ]
    }
    guard !lost.isEmpty else { return "" }
    return """
      ## Where we lose

      Every row in which a peer is faster, or a goal is missed; of \(rows.count) rows.

      \(Page.table(["what", "mode", "slower than a peer", "goal missed"], lost))

      """
  }

  private func section(of chapter: Chapter) -> String? {
    let entries = entries(of: [chapter])
    guard !entries.isEmpty else { return nil }
    let picture =
      chart(of: chapter) == nil ? "" : "![\(chapter.title)](benchmarks/\(chapter.chartName))\n\n"
    return """
      ## \(chapter.title)

      \(chapter.text)

      \(picture)\(table(of: entries))

      """
  }

  private func entries(of chapters: [Chapter]) -> [Entry] {
    chapters.flatMap { chapter in
      chapter.rows.flatMap { name, label in
        zip(results.rows, rows).filter { $1.name == name }
          .map { Entry(row: $1, label: label, date: $0.date) }
      }
    }
  }

  private func table(of entries: [Entry]) -> String {
    let engines = Contender.Engine.allCases.filter { engine in
      entries.contains { $0.row.results[engine] != nil }
    }
    let peers = engines.filter { peer in
      peer != .quire && entries.contains { $0.row.ratio(to: peer) != nil }
    }
    let hasGoals = entries.contains { !goals(of: $0.row).isEmpty }
    let header =
      ["what", "mode", "n"] + engines.map(\.shownName) + peers.map { "by \($0.shownName)" }
      + ["spread", "disk, MB", "peak, MB"] + (hasGoals ? ["goal"] : [])
    let lines = entries.map { entry in
      let row = entry.row
      func each(_ text: (Contender.Engine) -> String?) -> String {
        engines.filter { row.results[$0] != nil }.compactMap(text).joined(separator: " / ")
      }
      return ["\(entry.label) (`\(row.name)`)", row.mode.rawValue, Page.grouped(row.count)]
        + engines.map { row.rate($0).map { Report.figure($0, row.unit) } ?? "" }
        + peers.map { row.ratio(to: $0).map(Page.ratio) ?? "" }
        + [
          each { engine in
            (row.results[engine]?.count ?? 0) > 1
              ? row.spread(engine).map { "\(Int(($0 * 100).rounded())) %" } : "one run"
          },
          each { row.diskBytes($0).map { Report.fixed(Double($0) / 1e6, 1) } },
          each { row.peakKilobytes($0).map { Report.fixed(Double($0) * 1024 / 1e6, 0) } },
        ] + (hasGoals ? [goals(of: row)] : [])
    }
    let dates = Set(entries.map(\.date)).sorted()
    return Page.table(header, lines) + "\n\nMeasured \(dates.joined(separator: ", "))."
  }

  private func goals(of row: Row) -> String {
    row.verdicts(rows).compactMap { goal, isMet in
      isMet.map { ($0 ? "met: " : "**missed**: ") + goal.text }
    }.joined(separator: "; ")
  }

  // MARK: Growth

  private static let growthText = """
    One store of each size, and everything that is asked of it in a process of its own, under the default caches: \
    64 MB ours, 2 MB SQLite's, which has the system's cache behind it as well; *256 MB* is SQLite with that much \
    cache and a mapped file. What is shown is the time for one result: an object that is found or inserted, a row \
    that is read on the way. Ten million artworks are 2 GB. The sizes from a million on were measured once.
    """

  private var steps: [(workload: Workload, rows: [Row])] {
    (Series.all.flatMap(\.steps)).compactMap { step in
      let found = rows.filter { $0.name == step.name }.sorted { $0.count < $1.count }
      return found.isEmpty ? nil : (step, found)
    }
  }

  private static let engines: [Contender.Engine] = [.quire, .sqlite, .tuned]

  private var growthChart: GrowthChart? {
    let steps = self.steps
    guard !steps.isEmpty else { return nil }
    return GrowthChart(
      title: "Time for one result, by the number of objects",
      panels: steps.map { step, rows in
        GrowthChart.Panel(
          label: step.shortName,
          curves: Page.engines.compactMap { engine in
            let points = rows.compactMap { row in
              row.rate(engine).map { (size: row.count, nanoseconds: 1e9 / $0) }
            }
            return points.isEmpty ? nil : (engine, points)
          })
      })
  }

  private var growth: String {
    let steps = self.steps
    let sizes = Set(steps.flatMap { $0.rows.map(\.count) }).sorted()
    guard let largest = sizes.last else { return "" }
    let lines = steps.flatMap { step, rows in
      Page.engines.compactMap { engine -> [String]? in
        guard rows.contains(where: { $0.rate(engine) != nil }) else { return nil }
        let cells = sizes.map { size in
          rows.first { $0.count == size }.flatMap { $0.rate(engine) }
            .map { GrowthChart.time(1e9 / $0) } ?? ""
        }
        let last = rows.first { $0.count == largest }
        return [engine == .quire ? step.summary : "", engine.shortName] + cells
          + [
            last.flatMap { engine == .quire ? nil : $0.ratio(to: engine).map(Page.ratio) } ?? "",
            last.flatMap { $0.peakKilobytes(engine) }
              .map { Report.fixed(Double($0) * 1024 / 1e6, 0) } ?? "",
          ]
      }
    }
    return """
      ## From a thousand to ten million

      \(Page.growthText)

      ![Growth](benchmarks/growth.svg)

      \(Page.table(
        ["what", "engine"] + sizes.map(GrowthChart.short)
          + ["ratio at \(GrowthChart.short(largest))", "peak, MB"], lines))

      """
  }

  // MARK: Peers

  private var peers: String {
    """
    ## What is compared with what

    SQLite is used from C: prepared statements, bound values that are not copied, one transaction where we have one,
    everything else its default (4 KiB pages, 2 MB of cache). LMDB has a map of 8 GiB, and `MDB_APPEND` in the rows
    of sorted input alone; with `MDB_NOSYNC`, which is its side of `ordered` and `none`, a power failure may leave
    no whole state at all. Both have their pages in the system's cache; ours are in a cache of our own. Every byte
    that is read is added up, and the sums are compared with those of what was written: a wrong answer ends a run.
    GRDB is not measured: its sources were not at hand. [Benchmarks/README.md](../Benchmarks/README.md) has the
    rules, the options, and how a row is added.
    """ + "\n"
  }

  // MARK: Charts

  private var glanceChart: RatioChart? {
    RatioChart(
      title: "How many times as fast",
      Chapter.glance.compactMap { name, mode, label in
        rows.first { $0.name == name && $0.mode == mode }.map { (label, $0) }
      })
  }

  private func chart(of chapter: Chapter) -> RatioChart? {
    let entries = entries(of: [chapter])
    let hasModes = Set(entries.map(\.row.mode)).count > 1
    return RatioChart(
      title: chapter.title,
      entries.map { ($0.label + (hasModes ? ", \($0.row.mode.rawValue)" : ""), $0.row) })
  }

  // MARK: Words

  private static func table(_ header: [String], _ lines: [[String]]) -> String {
    ([header, header.map { _ in "---" }] + lines)
      .map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
  }

  private static func ratio(_ value: Double) -> String {
    let text = Report.fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0)
    return value < 1 ? "**\(text)** ▼" : text
  }

  private static func grouped(_ number: Int) -> String {
    let digits = Array(String(number))
    return digits.indices.map { index in
      (index > 0 && (digits.count - index) % 3 == 0 ? "," : "") + String(digits[index])
    }.joined()
  }
}

extension Workload {
  /// The name of a step in a chart.
  fileprivate var shortName: String {
    name.split(separator: "_").dropFirst().map { $0 == "id" ? "ID" : $0 }.joined(separator: " ")
  }
}

extension Contender.Engine {
  fileprivate var shortName: String { self == .tuned ? "SQLite, 256 MB" : shownName }
}
