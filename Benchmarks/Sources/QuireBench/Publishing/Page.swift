/// The page of benchmarks, written whole from the results, and its charts.
struct Page {
  private struct Entry {
    let row: Row
    let label: String
    let transaction: String
    let date: String
    let setup: Setup
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

          export PKG_CONFIG_PATH=$(Benchmarks/peers)   # without it: the system's SQLite and LMDB
          swift run -c release --package-path Benchmarks quire-bench publish
          swift run -c release --package-path Benchmarks quire-bench publish --from-results

      Measured on

      \(machines.joined(separator: "\n"))

      The machine is virtual and shared; its host differs from day to day. Ratios move less than rates: engines run
      in turn, each run in a process of its own, and what is shown is the median.

      **How to read it.** A ratio is ours by theirs: above 1 we are faster; below, the number is bold with a ▼. The
      spread is the distance from the worst run to the best as a part of the median, ours and then theirs; a ratio
      within the spread says nothing. Disk and peak memory are ours and theirs. *In a transaction* says what is
      between its begin and its end, or in one snapshot, of each engine. In the mode `full` a commit that
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
    let lost = (entries(of: Chapter.all) + seriesEntries).compactMap { entry -> [String]? in
      let row = entry.row
      let slower = [Contender.Engine.sqlite, .tuned, .lmdb].compactMap { peer -> String? in
        guard let ratio = row.ratio(to: peer), ratio < 1 else { return nil }
        return "\(Report.fixed(ratio, 2)) × \(peer.shortName)"
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

      Every row in which a peer is faster, of all sizes, or a goal is missed; of \(rows.count) rows.

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
      chapter.rows.flatMap { name, label, transaction in
        zip(results.rows, rows).filter { $1.name == name }
          .map {
            Entry(
              row: $1, label: label, transaction: transaction, date: $0.date, setup: $0.setup)
          }
      }
    }
  }

  /// The rows of the series, each with its size.
  private var seriesEntries: [Entry] {
    let steps = Series.all.flatMap(\.steps)
    return zip(results.rows, rows).compactMap { result, row in
      steps.first { $0.name == row.name }.map { step in
        Entry(
          row: row, label: "\(step.summary), \(GrowthChart.short(row.count))", transaction: "",
          date: result.date, setup: result.setup)
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
    let hasTransactions = entries.contains { !$0.transaction.isEmpty }
    let header =
      ["what", "mode", "n"] + (hasTransactions ? ["in a transaction"] : [])
      + engines.map(\.shownName) + peers.map { "by \($0.shownName)" }
      + ["spread", "disk, MB", "peak, MB"] + (hasGoals ? ["goal"] : [])
    let lines = entries.map { entry in
      let row = entry.row
      func each(_ text: (Contender.Engine) -> String?) -> String {
        engines.filter { row.results[$0] != nil }.compactMap(text).joined(separator: " / ")
      }
      return ["\(entry.label) (`\(row.name)`)", row.mode.rawValue, Page.grouped(row.count)]
        + (hasTransactions ? [entry.transaction] : [])
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
    return Page.table(header, lines) + "\n\n\(measured(entries, beside: peers))"
  }

  /// When, and beside which versions.
  private func measured(_ entries: [Entry], beside peers: [Contender.Engine]) -> String {
    let dates = Set(entries.map(\.date)).sorted().joined(separator: ", ")
    let versions = Page.versions(entries.map(\.setup), of: peers).joined(separator: ", ")
    return versions.isEmpty ? "Measured \(dates)." : "Measured \(dates), beside \(versions)."
  }

  private static func versions(_ setups: [Setup], of peers: [Contender.Engine]) -> [String] {
    func each(_ name: String, _ version: (Setup) -> String) -> String {
      name + " " + Set(setups.map(version)).sorted().joined(separator: " and ")
    }
    return (peers.contains(.sqlite) ? [each("SQLite") { $0.sqlite }] : [])
      + (peers.contains(.lmdb) ? [each("LMDB") { $0.lmdb }] : [])
  }

  private func goals(of row: Row) -> String {
    row.verdicts(rows).compactMap { goal, isMet in
      isMet.map { ($0 ? "met: " : "**missed**: ") + goal.text }
    }.joined(separator: "; ")
  }

  // MARK: Growth

  private static let growthText = """
    One store of each size, and everything that is asked of it in a process of its own, under caches of 64 MB, ours \
    and SQLite's, which maps its file besides; *256 MB* is SQLite with that much cache. A thousand look-ups are one \
    transaction, or one context; what changes or loads rows is one transaction each time. What is shown is the time for one result: an object that is found or inserted, a row \
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

      \(measured(seriesEntries, beside: [.sqlite]))

      """
  }

  // MARK: Peers

  private var peers: String {
    """
    ## What is compared with what

    Both peers are of Debian 13's source packages, compiled by a script with `-O2`
    ([Benchmarks/peers](../Benchmarks/peers)); a version that is none of these is the system's own.

    \(builds.joined(separator: "\n"))

    **SQLite** is used from C as its users would who know it: statements are prepared once, bound values are not copied, rows
    are found by their `INTEGER PRIMARY KEY`, and a loop of statements is one transaction where we have one snapshot. A file
    has a WAL, `synchronous` FULL, NORMAL or OFF for `full`, `ordered` and `none`, pages of 4 KiB as ours, as much cache as
    the store of ours beside it (64 MB, 512 MB for byte and integer keys), the whole file mapped, its temporary tables in
    memory, and a checkpoint each 64 MB as ours. It is opened by one connection, `locking_mode = EXCLUSIVE`, as our store is
    by one process, but beside a second thread that reads. Where one row is read, or 300 are migrated, nothing is set that
    they do not need.

    **LMDB** has a map of 8 GiB, `MDB_NOSUBDIR`, `MDB_NOSYNC` with `MDB_WRITEMAP` for `ordered` and `none`, and `MDB_APPEND`
    in the rows of sorted input alone; all look-ups of a row are in one transaction. With `MDB_NOSYNC` a power failure may
    leave no whole state at all. It has its pages in the system's cache; ours are in a cache of our own.

    Every byte that is read is added up, and the sums are compared with those of what was written: a wrong answer ends a run.
    GRDB is not measured: its sources were not at hand. [Benchmarks/README.md](../Benchmarks/README.md) has the rules, the
    options, and how a row is added.
    """ + "\n"
  }

  /// What was known of the peers' versions, a line for each.
  private var builds: [String] {
    var lines: [String] = []
    for setup in results.rows.map(\.setup) {
      let options = setup.sqliteOptions.map { "compiled with `\($0)`" } ?? "the system's"
      for line in ["- SQLite \(setup.sqlite), \(options)", "- LMDB \(setup.lmdb)"]
      where !lines.contains(line) {
        lines.append(line)
      }
    }
    return lines
  }

  // MARK: For other pages

  func row(_ name: String, _ mode: Mode) -> Row? {
    rows.first { $0.name == name && $0.mode == mode }
  }

  /// As "SQLite 3.46.1, LMDB 0.9.31".
  var peerVersions: String {
    Page.versions(results.rows.map(\.setup), of: [.sqlite, .lmdb]).joined(separator: ", ")
  }

  /// The month of the newest results, as "November 2026".
  var lastMonth: String {
    let parts = (results.rows.map(\.date).max() ?? "").split(separator: "-").compactMap { Int($0) }
    let names = [
      "January", "February", "March", "April", "May", "June", "July", "August", "September",
      "October", "November", "December",
    ]
    guard parts.count == 3, names.indices.contains(parts[1] - 1) else { return "not measured" }
    return "\(names[parts[1] - 1]) \(parts[0])"
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
    let text = Report.ratio(value)
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
