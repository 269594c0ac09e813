#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What was measured of one row: a line of the file of results.
struct ResultRow: Codable {
  /// The figures of one run.
  struct Figures: Codable {
    var seconds: Double
    var rate: Double
    var diskBytes: Int
    var peakKilobytes: Int
  }

  var row: String
  var mode: Mode
  var count: Int
  /// The day, as 2026-11-27.
  var date: String
  var setup: Setup
  /// The runs of each engine by its name, in the order in which they were made.
  var runs: [String: [Figures]]

  init(_ row: Row, date: String, setup: Setup) {
    self.row = row.name
    mode = row.mode
    count = row.count
    self.date = date
    self.setup = setup
    runs = [:]
    for (engine, results) in row.results {
      runs[engine.rawValue] = results.map {
        Figures(
          seconds: $0.seconds, rate: $0.operationsPerSecond, diskBytes: $0.diskBytes,
          peakKilobytes: $0.peakKilobytes)
      }
    }
  }

  /// The row as the comparison makes it.
  ///
  /// - Throws: if the program has no such row or peer.
  func measured() throws -> Row {
    guard let (workload, part) = Workload.row(named: row) else {
      throw BenchmarkError("there is no row \(row): it was measured by another version")
    }
    var measured = Row(
      name: row, unit: workload.unit, mode: mode, count: count, goals: part.goals)
    for (name, runs) in runs {
      guard let engine = Contender.Engine(rawValue: name) else {
        throw BenchmarkError("\(row) has a peer \(name); there are \(Contender.Engine.peerNames)")
      }
      measured.results[engine] = runs.map { Measurement(row, count, $0) }
    }
    return measured
  }

  fileprivate func isSame(as other: ResultRow) -> Bool {
    row == other.row && mode == other.mode && count == other.count
  }
}

/// The newest results of each row, in a file with a line of JSON for each.
struct Results {
  private(set) var rows: [ResultRow] = []

  /// Reads the file; there need not be one.
  ///
  /// - Throws: an error that names the line which is not a result.
  init(from url: URL) throws {
    let path = url.path(percentEncoded: false)
    guard FileManager.default.fileExists(atPath: path) else { return }
    let text = try String(contentsOf: url, encoding: .utf8)
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    where !line.isEmpty {
      do {
        let row = try JSONDecoder().decode(ResultRow.self, from: Data(line.utf8))
        _ = try row.measured()
        rows.append(row)
      } catch {
        throw BenchmarkError("\(path), line \(index + 1): \(error)")
      }
    }
  }

  /// Takes rows in place of those of the same name, mode and size.
  mutating func take(_ new: [ResultRow]) {
    for row in new {
      rows.removeAll { $0.isSame(as: row) }
      rows.append(row)
    }
  }

  func write(to url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let order = Workload.rowNames
    let modes = Mode.allCases
    let sorted = rows.sorted { left, right in
      let places = [left, right].map { row in
        [
          order.firstIndex(of: row.row) ?? order.count, row.count,
          modes.firstIndex(of: row.mode) ?? modes.count,
        ]
      }
      return places[0].lexicographicallyPrecedes(places[1])
    }
    let lines = try sorted.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }
    try Data(lines.joined().utf8).write(to: url, options: .atomic)
  }
}

extension Workload {
  private static var withSteps: [Workload] { all + Series.all.flatMap(\.steps) }

  /// The names of all rows, in the order of the page.
  static var rowNames: [String] { withSteps.flatMap { $0.rows.map(\.name) } }

  static func row(named name: String) -> (Workload, Part)? {
    for workload in withSteps {
      if let part = workload.rows.first(where: { $0.name == name }) { return (workload, part) }
    }
    return nil
  }
}

extension Measurement {
  fileprivate init(_ name: String, _ count: Int, _ figures: ResultRow.Figures) {
    self.init(
      workload: name, count: count, seconds: figures.seconds,
      operationsPerSecond: figures.rate, diskBytes: figures.diskBytes,
      peakKilobytes: figures.peakKilobytes)
  }
}
