#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `quire-bench publish`: measures, keeps the results, and writes the page of benchmarks from them.
struct PublishCommand {
  private let documents: URL
  private let arguments: Arguments

  private var resultsURL: URL { documents.appending(path: "benchmarks/results.jsonl") }

  init(_ arguments: Arguments) throws {
    self.arguments = arguments
    documents = URL(
      filePath: arguments.text("--docs") ?? "docs", directoryHint: .isDirectory)
    let path = documents.path(percentEncoded: false)
    guard FileManager.default.fileExists(atPath: path) else {
      throw BenchmarkError("there is no folder \(path): name the documents' one with --docs")
    }
  }

  func run() throws {
    if arguments["--check"] { return try check() }
    if !arguments["--from-results"] { try measure() }
    for (url, text) in try files() {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url, options: .atomic)
    }
  }

  /// All that is written: the page, its charts, and the tables in other pages.
  private func files() throws -> [(URL, String)] {
    let page = try Page(Results(from: resultsURL))
    let whole = page.files.map { (documents.appending(path: $0.name), $0.text) }
    let parts = try Excerpt.all.compactMap { excerpt -> (URL, String)? in
      let url = documents.appending(path: excerpt.path).standardizedFileURL
      // Another folder of documents, as for a trial, need not have the pages.
      guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
      return (url, try excerpt.replaced(in: text, by: page))
    }
    return whole + parts
  }

  /// Each row is kept as soon as it is there: what is broken off is not lost.
  private func measure() throws {
    let comparison = try Comparison(arguments)
    var results = try Results(from: resultsURL)
    try FileManager.default.createDirectory(
      at: resultsURL.deletingLastPathComponent(), withIntermediateDirectories: true)
    let setup = Setup.current(in: comparison.parent)
    StandardError.write(
      "beside SQLite \(setup.sqlite) (\(SQLiteDatabase.compileOptions)) and LMDB \(setup.lmdb)\n"
        + "(Benchmarks/peers builds those of the page)\n")
    var report = comparison.report
    print(report.header)
    try comparison.run { row in
      QuireBench.show(report.line(row))
      results.take([ResultRow(row, date: PublishCommand.today, setup: setup)])
      try results.write(to: resultsURL)
    }
    StandardError.write(report.summary + "\n")
  }

  /// - Throws: if the page or a chart is not what the results give, or a row has no place.
  private func check() throws {
    let placed = Set(
      Chapter.all.flatMap { $0.rows.map(\.name) } + Series.all.flatMap { $0.steps.map(\.name) })
    let missing = Workload.rowNames.filter { !placed.contains($0) }
    guard missing.isEmpty else {
      throw BenchmarkError("no chapter has \(missing.joined(separator: ", "))")
    }
    let names = Set(Workload.rowNames)
    let unknown = placed.filter { !names.contains($0) }.sorted()
    guard unknown.isEmpty else {
      throw BenchmarkError("chapters have \(unknown.joined(separator: ", ")), and no workload does")
    }
    for (url, text) in try files() {
      guard (try? String(contentsOf: url, encoding: .utf8)) == text else {
        throw BenchmarkError(
          "\(url.path(percentEncoded: false)) is not what the results give: "
            + "write it by quire-bench publish --from-results")
      }
    }
    StandardError.write("the page is what the results give\n")
  }

  private static var today: String {
    let parts = Calendar(identifier: .gregorian).dateComponents(
      in: .gmt, from: Date())
    return "\(parts.year ?? 0)-\((parts.month ?? 0).padded(2))-\((parts.day ?? 0).padded(2))"
  }
}
