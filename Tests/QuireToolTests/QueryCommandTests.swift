import Foundation
import Quire
import QuireTool
import Testing

@Suite struct QueryCommandTests {
  private func query(_ shop: Shop, _ options: String...) -> ToolRun {
    ToolRun(["query", shop.path, "--entity", "Work"] + options)
  }

  // MARK: Objects

  @Test func `objects come in the order that is asked for, with their values`() throws {
    let shop = try Shop(in: TemporaryFolder())
    let run = query(
      shop, "--where", "year >= 1902 AND price < 3", "--sort", "-price, title", "--limit", "9",
      "--offset", "2")
    #expect(run.code == .good && run.errors.isEmpty)
    let expected = shop.works.enumerated().filter { _, work in
      (work.year ?? 0) >= 1902 && (work.price ?? 9) < 3
    }.sorted { left, right in
      let (first, second) = (left.element, right.element)
      if first.price != second.price { return first.price ?? 0 > second.price ?? 0 }
      if first.title != second.title { return first.title ?? "" < second.title ?? "" }
      return left.offset < right.offset
    }.dropFirst(2).prefix(9)
    let found = try run.jsonLines()
    #expect(found.count == 9)
    for (row, (place, work)) in zip(found, expected) {
      #expect(row["objectID"] as? String == "Work/p\(place + 1)")
      #expect(row["title"] as? String == work.title && row["year"] as? Int == work.year)
      #expect(row["price"] as? Double == work.price && row["acquired"] is NSNull)
      #expect(row["artist"] as? String == work.artist.map { "Artist/p\($0 + 1)" })
      #expect(row.count == 6)
    }
  }

  @Test func `a wide row has a line for each property`() throws {
    let shop = try Shop(in: TemporaryFolder())
    let edit = ToolRun(
      "edit", shop.path, "--do", #"set Work/2 title="two\nlines\t\0and more""#)
    #expect(edit.code == .good, "\(edit.errors)")
    for words in [["--lines"], ["--format", "lines"]] {
      let run = ToolRun(
        [
          "query", shop.path, "--entity", "Work", "--limit", "2", "--columns",
          "objectID,title,artist",
        ]
          + words, on: Terminal(columnCount: 12))
      #expect(
        run.output == """
          objectID  Work/p1
          title     title 0
          artist    Artist/p1

          objectID  Work/p2
          title     two
                    lines  and more
          artist    Artist/p2

          (2 rows)

          """)
    }
    let groups = query(shop, "--group-by", "year", "--count", "--lines", "--limit", "1")
    #expect(groups.lines == ["year   nil", "count  10", "(1 row)"])
    #expect(query(shop, "--where", "FALSEPREDICATE", "--lines").output == "(0 rows)\n")
    #expect(query(shop, "--lines", "--format", "csv").code == .wrongUsage)
    #expect(query(shop, "--lines", "--json").code == .wrongUsage)
  }

  @Test func `with --json rows are one list`() throws {
    let shop = try Shop(in: TemporaryFolder())
    for options in [
      ["--limit", "7"], ["--where", "FALSEPREDICATE"], ["--group-by", "year", "--count"],
    ] {
      let lines = ToolRun(
        ["query", shop.path, "--entity", "Work"] + options + ["--format", "json"])
      let list = ToolRun(["query", shop.path, "--entity", "Work"] + options + ["--json"])
      let value = try JSONSerialization.jsonObject(with: Data(list.output.utf8))
      #expect(value as? NSArray == (try lines.jsonLines()) as NSArray)
    }
  }

  @Test func `columns are chosen, also over relationships`() throws {
    let shop = try Shop(in: TemporaryFolder())
    let run = query(
      shop, "--columns", "title,artist.name,artist,artist.works.@count,objectID", "--limit", "40",
      "--format", "csv")
    #expect(run.code == .good && run.errors.isEmpty)
    #expect(run.lines[0] == "title,artist.name,artist,artist.works.@count,objectID")
    let rows = run.lines.dropFirst().map { $0.components(separatedBy: ",") }
    #expect(rows.count == 40)
    for (place, (row, work)) in zip(rows, shop.works).enumerated() {
      #expect(row[4] == "Work/p\(place + 1)")
      #expect(row[2] == (work.artist.map { "Artist/p\($0 + 1)" } ?? ""))
      #expect(row[1].isEmpty == (work.artist == nil))
      let count = shop.works.count { $0.artist == work.artist }
      #expect(row[3] == (work.artist == nil ? "0" : "\(count)"))
    }
    func mistake(_ columns: String) -> String {
      let run = query(shop, "--columns", columns)
      #expect(run.code == .bad && run.output.isEmpty)
      return run.errors
    }
    #expect(
      mistake("titel").contains(
        "the column titel asks Work for titel, which it does not have; did you mean title?"))
    #expect(mistake("artist.works").contains("by artist.works.@count"))
    #expect(mistake("artist.works.title").contains("refers to many Work"))
    #expect(mistake("title.length").contains("asks title for length"))
  }

  @Test func `dates are asked for and shown by the calendar`() throws {
    let shop = try Shop(in: TemporaryFolder())
    let edit = ToolRun(
      "edit", shop.path, "--do", "set Work/p3 acquired=2024-01-31T12:00:00Z")
    #expect(edit.code == .good, "\(edit.errors)")
    let condition = "acquired >= CAST('2024-01-31', 'NSDate')"
    #expect(
      query(shop, "--where", condition, "--format", "table").lines[1].contains(
        "2024-01-31T12:00:00Z"))
    #expect(
      query(shop, "--max", "acquired", "--format", "table").lines[1] == "2024-01-31T12:00:00Z")
    #expect(
      try query(shop, "--where", condition).jsonLines().map { $0["acquired"] as? Double }
        == [728_395_200])
    for date in ["'2024-01-31'", "2024-01-31", "2024-01-31 12:00"] {
      let run = query(shop, "--where", "acquired >= \(date)")
      #expect(run.lines.count == 1 && run.errors.isEmpty, "\(date): \(run.errors)")
    }
  }

  @Test func `a terminal shows a table, and a file gets JSON`() throws {
    let shop = try Shop(in: TemporaryFolder())
    let words = [
      "query", shop.path, "--entity", "Work", "--where", "year == 1903", "--sort", "title",
      "--limit", "3",
    ]
    let table = """
      objectID  title    year  price  acquired  artist
      Work/p10  nil      1903    4.5  nil       Artist/p2
      Work/p40  nil      1903    0.0  nil       nil
      Work/p22  title 0  1903    4.0  nil       Artist/p2
      (3 rows)

      """
    #expect(ToolRun(words, onTerminal: true).output == table)
    #expect(ToolRun(words + ["--format", "table"]).output == table)
    #expect(ToolRun(words).lines.count == 3)
    #expect(ToolRun(words).output == ToolRun(words + ["--format=json"], onTerminal: true).output)
    let none = ToolRun(
      ["query", shop.path, "--entity", "Print"], onTerminal: true)
    #expect(none.output == "(0 rows)\n" && none.code == .good)
  }

  @Test func `values of a CSV are quoted where they must be`() throws {
    let folder = try TemporaryFolder()
    let model = Shop.model
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .quire, at: URL(filePath: folder.path("a.quire")))
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    for title in ["plain", "", "a \"b\", c", "two\nlines", nil, "\u{1B}[2J"] {
      let work = try EntityDescription.insertNewObject(forEntityName: "Work", into: context)
      try work.setValue(title, forKey: "title")
      try context.save()
    }
    try coordinator.remove(store)
    let run = ToolRun("query", folder.path("a.quire"), "--entity", "Work", "--format", "csv")
    #expect(
      run.output == """
        objectID,title,year,price,acquired,artist
        Work/p1,plain,,,,
        Work/p2,"",,,,
        Work/p3,"a ""b"", c",,,,
        Work/p4,"two
        lines",,,,
        Work/p5,,,,,
        Work/p6,\u{1B}[2J,,,,

        """)
    let dated = ToolRun(
      "edit", folder.path("a.quire"), "--do", "set Work/1 acquired=9999-12-31")
    #expect(dated.code == .good, "\(dated.errors)")
    #expect(
      ToolRun(
        "query", folder.path("a.quire"), "--entity", "Work", "--columns", "acquired", "--limit",
        "1", "--format", "csv"
      ).lines == ["acquired", "9999-12-31T00:00:00Z"])
    // In a table a row stays on its line, and nothing moves the cursor.
    let table = ToolRun("query", folder.path("a.quire"), "--entity", "Work", "--format", "table")
    #expect(table.lines.count == 8 && table.output.contains("  two lines  "))
    #expect(table.output.contains("   [2J  ") && !table.output.contains("\u{1B}"))
  }

  @Test func `the first thousand rows decide how wide a table is`() throws {
    let folder = try TemporaryFolder()
    let lines = (1...1_002).map {
      #"{"entity": "Note", "id": "\#($0)", "body": "\#($0 > 1_000 ? "a body that is long" : "short")"}"#
    }
    try lines.joined(separator: "\n").write(
      toFile: folder.path("in.jsonl"), atomically: false, encoding: .utf8)
    let (path, model) = (folder.path("a.quire"), Fixtures.store("Gallery 2.0"))
    #expect(ToolRun("load", folder.path("in.jsonl"), "--to", path, "--model", model).code == .good)
    func rows(_ terminal: Terminal?) -> [Substring] {
      ToolRun(["query", path, "--entity", "Note", "--format", "table"], on: terminal).lines
    }
    let whole = rows(nil)
    #expect(whole.count == 1_004 && whole.last == "(1,002 rows)")
    #expect(whole[1_000].hasPrefix("Note/p1000  short  nil "), "\(whole[1_000])")
    #expect(whole[1_001].hasPrefix("Note/p1001  a body that is long  nil "))
    let cut = rows(Terminal(columnCount: 200))
    #expect(cut[1_001].hasPrefix("Note/p1001  a bo…  nil "))
    #expect(cut.dropLast().map(\.count).max() == cut[0].count)
  }

  // MARK: Groups

  @Test func `groups have counts, sums and averages`() throws {
    let shop = try Shop(in: TemporaryFolder())
    let run = query(
      shop, "--group-by", "year,artist.name", "--count", "--sum", "price", "--avg", "price",
      "--max", "title", "--where", "price > 1")
    #expect(run.code == .good && run.errors.isEmpty)
    struct Key: Hashable {
      var year: Int?
      var artist: Int?
    }
    var groups = Dictionary(grouping: shop.works.filter { $0.price ?? 0 > 1 }) {
      Key(year: $0.year, artist: $0.artist)
    }
    let rows = try run.jsonLines()
    #expect(rows.count == groups.count && rows.count > 10)
    for row in rows {
      let artist = (row["artist.name"] as? String).flatMap { Int($0.suffix(1)) }
      let key = Key(year: row["year"] as? Int, artist: artist)
      let works = groups.removeValue(forKey: key) ?? []
      #expect(!works.isEmpty, "\(row)")
      let sum = works.reduce(0) { $0 + ($1.price ?? 0) }
      #expect(row["count"] as? Int == works.count && row["sum(price)"] as? Double == sum)
      #expect(row["avg(price)"] as? Double == sum / Double(works.count))
      #expect(row["max(title)"] as? String == works.compactMap(\.title).max())
    }
  }

  @Test func `groups are sorted by their columns, and cut`() throws {
    let shop = try Shop(in: TemporaryFolder())
    let run = query(
      shop, "--group-by", "title", "--count", "--sum", "price", "--sort", "-count,-sum(price)",
      "--limit", "3", "--format", "csv")
    let groups = Dictionary(grouping: shop.works, by: \.title).map { title, works in
      (title: title, count: works.count, sum: works.reduce(0) { $0 + ($1.price ?? 0) })
    }.sorted { ($0.count, $0.sum) > ($1.count, $1.sum) }
    let lines = groups.prefix(3).map { "\($0.title ?? ""),\($0.count),\($0.sum)\n" }
    #expect(run.output == "title,count,sum(price)\n" + lines.joined())
    #expect(
      query(shop, "--group-by", "year", "--offset", "1", "--limit", "2").output
        == "{\"year\":1900}\n{\"year\":1901}\n")
    #expect(query(shop, "--group-by", "year").lines.first == "{\"year\":null}")
  }

  @Test func `groups may be by an expression`() throws {
    let shop = try Shop(in: TemporaryFolder())
    let run = query(
      shop, "--group-by", "abs:(year - 1904)", "--count", "--sort", "-abs:(year - 1904)", "--limit",
      "1", "--format", "csv")
    let groups = Dictionary(grouping: shop.works) { $0.year.map { abs($0 - 1904) } }
    let most = try #require(groups.keys.compactMap { $0 }.max())
    #expect(run.output == "abs:(year - 1904),count\n\(most),\(groups[most]?.count ?? 0)\n")
    let mistake = query(shop, "--group-by", "year:(")
    #expect(mistake.code != .good && mistake.errors.contains("year:("))
  }

  @Test func `without groups everything is one`() throws {
    let shop = try Shop(in: TemporaryFolder())
    #expect(query(shop, "--count").output == "{\"count\":60}\n")
    #expect(query(shop, "--count", "--where", "year == 2000").output == "{\"count\":0}\n")
    #expect(
      query(shop, "--min", "year", "--avg", "year", "--where", "year == 1903").output
        == "{\"avg(year)\":1903.0,\"min(year)\":1903}\n")
  }

  // MARK: Mistakes

  @Test(arguments: ["query", "explain"])
  func `a format that cannot be read shows the place`(command: String) throws {
    let shop = try Shop(in: TemporaryFolder())
    let run = ToolRun(command, shop.path, "--entity", "Work", "--where", "year == 1900 AND")
    #expect(run.code == .bad && run.output.isEmpty)
    #expect(run.errors.hasPrefix("quire: \(shop.path): --where cannot be read: expected "))
    #expect(run.errors.contains(" at column 17, but found "))
    #expect(run.errors.hasSuffix("\n  year == 1900 AND\n                  ^\n"), "\(run.errors)")
  }

  @Test(arguments: ["query", "explain"])
  func `names that the store does not have are errors`(command: String) throws {
    let shop = try Shop(in: TemporaryFolder())
    func errors(_ words: String...) -> String {
      let run = ToolRun([command, shop.path] + words)
      #expect(run.code == .bad && run.output.isEmpty)
      return run.errors
    }
    #expect(
      errors("--entity", "Sculpture")
        .hasSuffix("the store has no entity Sculpture; it has Artist, Print, Work\n"))
    #expect(errors("--entity", "Work", "--where", "colour == 1").contains("colour"))
    #expect(errors("--entity", "Work", "--sort", "colour").contains("colour"))
    #expect(errors("--entity", "Work", "--sort", "-artist.works").contains("artist.works"))
    #expect(
      errors("--entity", "Work", "--where", "year == $YEAR AND title == $title")
        .hasSuffix("--where has variables, for which there is no value here: $YEAR, $title\n"))
    let missing = ToolRun(command, "/nowhere.quire", "--entity", "Work")
    #expect(missing.code == .bad && missing.errors.contains("/nowhere.quire"))
  }

  @Test func `options that make no sense are wrong usage`() {
    func sentence(_ words: String...) -> String? {
      let run = ToolRun(["query", "x", "--entity", "Work"] + words)
      #expect(run.code == .wrongUsage && run.output.isEmpty)
      return run.errors.split(separator: "\n").first.map(String.init)
    }
    #expect(sentence("--limit", "0") == "quire: --limit takes a number from 1.")
    #expect(sentence("--sort", "a,-") == "quire: --sort has a hyphen without a key.")
    #expect(
      sentence("--sort", "a,,b") == "quire: --sort has nothing between two commas, or beside one.")
    #expect(
      sentence("--format", "xml") == "quire: --format takes table, lines, json or csv, not “xml”.")
    #expect(
      sentence("--group-by", "a", "--count", "--sort", "b")
        == "quire: --sort takes columns of the groups, a, count, and “b” is none.")
    #expect(
      sentence("--count", "--columns", "a")
        == "quire: --columns are those of objects; groups have columns of their own.")
    #expect(sentence("--sum", "a,b,a") == "quire: The column sum(a) is asked for twice.")
    #expect(
      sentence("--limit", "9999999999999999999")
        == "quire: --limit takes a number up to 9223372036854775807, not 9999999999999999999.")
  }

  @Test func `a sum of what is no number is an error`() throws {
    let shop = try Shop(in: TemporaryFolder())
    let run = query(shop, "--sum", "title")
    #expect(run.code == .bad && run.errors.contains("title"))
  }

  // MARK: The store

  @Test func `a store of an older model is asked as it is, and not written`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.3")
    let before = try Data(contentsOf: URL(filePath: store))
    let run = ToolRun("query", store, "--entity", "Artist", "--count")
    #expect(
      run.output == "{\"count\":\(GalleryGenerator.objectCounts["Gallery 1.3"]?["Artist"] ?? 0)}\n")
    #expect(ToolRun("query", store, "--entity", "Artist", "--sort", "name").code == .good)
    #expect(ToolRun("explain", store, "--entity", "Artist").code == .good)
    #expect(try Data(contentsOf: URL(filePath: store)) == before)
  }

  // MARK: Explaining

  @Test func `an explanation names indexes and numbers`() throws {
    let shop = try Shop(in: TemporaryFolder())
    let words = [
      "explain", shop.path, "--entity", "Work", "--where", "title == 'title 3' OR year == 1903",
      "--sort", "-price", "--limit", "4",
    ]
    let run = ToolRun(words)
    #expect(run.code == .good)
    #expect(
      run.output == """
        Work where title == "title 3" OR year == 1903, by price descending, at most 4
          union: 16 rows, about 18 expected
            index Work.byTitle where title == "title 3": 8 rows, about 8 expected
            index Work.byYear where year == 1903: 10 rows, about 10 expected
          filter on rows: title == "title 3" OR year == 1903
          sort: price descending, keeping the first 4
          16 rows read, about 18 expected; 16 match, about 18 expected
        4 objects

        """)
    let json = try ToolRun(words + ["--json"]).json()
    #expect(json["entity"] as? String == "Work" && json["objects"] as? Int == 4)
    #expect(json["sort"] as? [String] == ["-price"] && json["limit"] as? Int == 4)
    let searches = try #require(json["searches"] as? [[String: Any]])
    #expect(searches.count == 1 && searches[0]["rows"] as? Int == 16)
    #expect(searches[0]["order"] as? String == "sort" && searches[0]["kept"] as? Int == 4)
    let source = try #require(searches[0]["source"] as? [String: Any])
    let parts = try #require(source["parts"] as? [[String: Any]])
    #expect(source["kind"] as? String == "union")
    #expect(parts.map { $0["index"] as? String } == ["Work.byTitle", "Work.byYear"])
    #expect(parts[1]["conditions"] as? [String] == ["year == 1903"])
    #expect(parts[1]["rows"] as? Int == 10 && parts[1]["expectedRows"] as? Int == 10)
  }
}
