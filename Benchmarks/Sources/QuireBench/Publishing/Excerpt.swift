/// A table of the results in a page that is otherwise written by hand.
///
/// It stands between two comments of Markdown, and is written and checked with the page of
/// benchmarks.
struct Excerpt: Sendable {
  /// In the folder of documents.
  let path: String
  private let text: @Sendable (Page) -> String

  static let all = [
    Excerpt(path: "../README.md") { readme($0) },
    Excerpt(path: "guides/performance.md") { guide($0) },
  ]

  private static let start = "<!-- Written by `quire-bench publish`: -->"
  private static let end = "<!-- … up to here. -->"

  /// - Throws: if the page does not have the two comments.
  func replaced(in page: String, by results: Page) throws -> String {
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let first = lines.firstIndex(of: Excerpt.start),
      let last = lines.firstIndex(of: Excerpt.end), first < last
    else { throw BenchmarkError("\(path) has no lines \(Excerpt.start) and \(Excerpt.end)") }
    return (lines[...first] + ["", text(results), ""] + lines[last...]).joined(separator: "\n")
  }

  // MARK: The tables

  private typealias Place = (name: String, mode: Mode, label: String)

  private static let objects: [Place] = [
    ("obj_insert", .ordered, "insert, in one save"),
    ("obj_fetch_all", .ordered, "fetch all, with values"),
    ("obj_fetch_faults", .ordered, "fetch all, as faults"),
    ("obj_fetch_by_pk", .ordered, "fetch by ID"),
    ("obj_fetch_by_slug", .ordered, "fetch by a unique text"),
    ("obj_begins_with", .ordered, "BEGINSWITH, ten each"),
    ("obj_traverse", .ordered, "follow relationships"),
    ("obj_update", .ordered, "update"),
    ("obj_delete", .ordered, "delete"),
    ("obj_count", .ordered, "count by an index"),
    ("batch_insert", .ordered, "insert a million by a batch"),
    ("migrate_rewrite_1m", .full, "add an attribute to a million rows"),
    ("migrate_custom", .full, "a migration by a policy, 100,000"),
  ]

  private static let engine: [Place] = [
    ("kv_rand_get", .ordered, "random get"),
    ("kv_scan", .ordered, "scan"),
    ("kv_seq_put", .ordered, "sequential put"),
    ("kv_rand_put", .ordered, "random put"),
    ("kv_bulk", .ordered, "build in order"),
    ("durable_commit", .full, "durable commit"),
    ("durable_commit_8", .full, "durable commit, eight threads"),
    ("conc_reads", .ordered, "reads beside a writer"),
    ("conc_writes", .ordered, "writes beside a reader"),
    ("kv_open_close", .full, "open, read a row, close"),
    ("kv_large_scan", .ordered, "scan of 2 GB, cache of 64 MB"),
    ("kv_large_update", .ordered, "changes in 2 GB, the same cache"),
  ]

  private static func readme(_ page: Page) -> String {
    func cells(_ places: [Place], _ peers: [Contender.Engine]) -> [[String]] {
      places.compactMap { name, mode, label in
        page.row(name, mode).map { row in
          [label, row.rate(.quire).map { Report.figure($0, row.unit) } ?? ""]
            + peers.map { row.ratio(to: $0).map(ratio) ?? "" }
        }
      }
    }
    let left = cells(objects, [.sqlite])
    let right = cells(engine, [.sqlite, .lmdb])
    let lines = (0..<max(left.count, right.count)).map { index in
      (index < left.count ? left[index] : ["", "", ""]) + [""]
        + (index < right.count ? right[index] : ["", "", "", ""])
    }
    return """
      Quire by its peers, which are used from C and make no objects; above 1 Quire is faster, and **bold is where it loses**.
      SQLite has as much cache, and a transaction where we have a snapshot. \(page.peerVersions); \(page.lastMonth).

      | objects | rate | by SQLite | | engine | rate | by SQLite | by LMDB |
      |---|---|---|---|---|---|---|---|
      """ + "\n" + lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
  }

  private static func guide(_ page: Page) -> String {
    let places =
      objects + [
        ("obj_group", .ordered, "a group of 100,000: number, sum and average"),
        ("obj_live_list", .ordered, "a list kept up to date, one change"),
        ("stack_create", .memory, "a stack in memory, made and used"),
      ]
    let lines = places.compactMap { name, mode, label in
      page.row(name, mode).map { row in
        "| \(label) | \(row.rate(.quire).map { Report.figure($0, row.unit) } ?? "") "
          + "| \(row.ratio(to: .sqlite).map(ratio) ?? "") |"
      }
    }
    return """
      | what | rate | by SQLite |
      |---|---|---|
      """ + "\n" + lines.joined(separator: "\n") + "\n\n"
        + "A ratio above 1 says that Quire is faster. SQLite is used from C there, and makes no objects."
  }

  private static func ratio(_ value: Double) -> String {
    let text = Report.ratio(value)
    return value < 1 ? "**\(text)**" : text
  }
}
