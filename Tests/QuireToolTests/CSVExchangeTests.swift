import Foundation
import Quire
import QuireModel
import QuireTool
import Testing

/// Objects to files of comma-separated values, and back.
@Suite struct CSVExchangeTests {
  private func files(_ folder: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      files[name] = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    }
    return files
  }

  /// Exports, loads and exports again, twice: the first copy has IDs without gaps, the second has
  /// the same. The JSON of both is compared as well, which knows nothing of CSV.
  private func expectRoundTrips(_ store: String, _ folder: TemporaryFolder) throws {
    var source = store
    for round in 1...2 {
      let (out, copy) = (folder.path("csv\(round)"), folder.path("copy\(round).quire"))
      let export = ToolRun("export", source, "--to", out, "--format", "csv")
      #expect(export.code == .good, "\(export.errors)")
      let load = ToolRun("load", out, "--to", copy, "--model", store)
      #expect(load.code == .good, "\(load.errors)")
      if round == 2 { #expect(ToolRun("check", copy).code == .good) }
      source = copy
    }
    for (round, name) in [(1, "copy1.quire"), (2, "copy2.quire")] {
      let path = folder.path(name)
      #expect(ToolRun("export", path, "--to", folder.path("json\(round)")).code == .good)
    }
    #expect(
      ToolRun("export", source, "--to", folder.path("csv3"), "--format=csv").code == .good)
    #expect(try files(folder.path("csv3")) == files(folder.path("csv2")))
    #expect(try files(folder.path("json1")) == files(folder.path("json2")))
  }

  @Test(arguments: Fixtures.someVersions)
  func `a store exported as CSV and loaded again exports the same files`(version: String) throws {
    let folder = try TemporaryFolder()
    let store = Fixtures.store(version)
    try expectRoundTrips(store, folder)
  }

  @Test func `the way through CSV gives the objects that the way through JSON gives`() throws {
    let folder = try TemporaryFolder()
    let store = Fixtures.store("Gallery 1.3")
    for format in ["json", "csv"] {
      let (out, copy) = (folder.path(format), folder.path("\(format).quire"))
      #expect(ToolRun("export", store, "--to", out, "--format", format).code == .good)
      #expect(ToolRun("load", out, "--to", copy, "--model", store).code == .good)
      #expect(ToolRun("export", copy, "--to", folder.path("\(format) again")).code == .good)
    }
    #expect(try files(folder.path("json again")) == files(folder.path("csv again")))
  }

  // MARK: Values of every type

  private static let texts = [
    "", " ", "plain", "a,b", "\"", "\"\"", "two\nlines", "\r", "\r\n", "\n", "\"\u{301} accent",
    "é", "e\u{301}", "💛🏳️‍🌈", "\u{0}", "\u{FEFF}mark", "nil", "null", "  spaces  ", ",", "\u{2028}",
    "=1+1", "\\n",
  ]

  private static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date,
    .binaryData, .uuid, .uri, .transformable, .objectID,
  ]

  private static func value(
    of type: AttributeType, _ random: inout SeededRandom
  ) -> AttributeValue? {
    let bits = random.next()
    switch type {
    case .integer16: return .integer(Int64(Int16(truncatingIfNeeded: bits)))
    case .integer32: return .integer(Int64(Int32(truncatingIfNeeded: bits)))
    case .integer64:
      return .integer([Int64(bitPattern: bits), .min, .max, 0][random.below(4)])
    case .decimal:
      return .decimal(Decimal(Int64(bitPattern: bits)) / [1, 7, 1_000_000][random.below(3)])
    case .double:
      let number = Double(bitPattern: bits)
      return .double(
        [number.isNaN ? 0.1 : number, -0.0, .infinity, 1e300, 3, .nan][random.below(6)])
    case .float:
      let number = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
      return .float([number.isNaN ? 0.1 : number, -0.0, -.infinity, 0.1][random.below(4)])
    case .string: return .string(texts[random.below(texts.count)])
    case .boolean: return .boolean(bits % 2 == 0)
    case .date:
      let seconds = Double(Int32(truncatingIfNeeded: bits))
      return .date(
        Date(
          timeIntervalSinceReferenceDate: [seconds, seconds + 0.1, 1e15, -0.0][random.below(4)]))
    case .binaryData: return .binary(Data((0..<random.below(5)).map { UInt8($0 * 60) }))
    case .transformable: return .transformed(Data((0..<random.below(5)).map { UInt8($0 * 60) }))
    case .uuid: return .uuid(UUID())
    case .uri: return URL(string: "https://example.com/a,b?c=\(bits)").map { .uri($0) }
    case .objectID: return URL(string: "x-coredata://a/b/p\(bits)").map { .objectID($0) }
    case .undefined, .composite: return nil
    }
  }

  private func fill(_ path: String, _ random: inout SeededRandom) throws {
    let model = try ManagedObjectModel {
      Entity("Thing") {
        for type in Self.types { AttributeDescription("a\(type.rawValue)", type) }
        AttributeDescription("_hidden", .string)
        AttributeDescription("id", .string)
        Attribute("place", .composite) {
          Attribute("latitude", .double)
          Attribute("name", .string)
        }
        Attribute("length", .integer64, derivedFrom: "a700.length")
        Relationship("parent", toOne: "Thing", inverse: "children")
        Relationship("children", toMany: "Thing", inverse: "parent")
        Relationship("next", toMany: "Thing", inverse: "former", ordered: true)
        Relationship("former", toMany: "Thing", inverse: "next")
      }
      Entity("Special", parent: "Thing") { Attribute("more", .string) }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: URL(filePath: path))
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let things = try (0..<24).map { number in
      try EntityDescription.insertNewObject(
        forEntityName: number % 4 == 0 ? "Special" : "Thing", into: context)
    }
    for thing in things {
      for type in Self.types where random.below(5) > 0 {
        try thing.setValue(Self.value(of: type, &random), forKey: "a\(type.rawValue)")
      }
      for key in ["_hidden", "id"] where random.below(2) == 0 {
        try thing.setValue(Self.texts[random.below(Self.texts.count)], forKey: key)
      }
      if random.below(2) == 0 {
        let text = Self.texts[random.below(Self.texts.count)]
        try thing.setValue(
          AttributeValue.composite(["latitude": .double(0.1), "name": .string(text)]),
          forKey: "place")
      }
      try thing.setValue(random.pick(things), forKey: "parent")
      var next: [ManagedObject] = []
      for _ in 0..<random.below(4) {
        if let member = random.pick(things), !next.contains(member) { next.append(member) }
      }
      try thing.setValue(next, forKey: "next")
    }
    try context.save()
    try coordinator.remove(store)
  }

  @Test(arguments: 1...3)
  func `values of every type come back to the last bit`(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    var random = SeededRandom(seed: seed, stream: "CSV")
    try fill(folder.path("things.quire"), &random)
    try expectRoundTrips(folder.path("things.quire"), folder)
    // The store itself, whose objects come in another order than those of its entities.
    func values(_ path: String) -> [String] {
      let run = ToolRun(
        "query", path, "--entity", "Thing", "--sort", "a\(AttributeType.uuid.rawValue)")
      #expect(run.lines.count == 24)
      return run.lines.map {
        String($0).replacing(#/"(objectID|parent)":("[^"]*"|null),?/#, with: "")
      }
    }
    #expect(values(folder.path("things.quire")) == values(folder.path("copy2.quire")))
  }

  // MARK: Files of others

  private func load(_ text: String, _ folder: TemporaryFolder, _ options: String...) -> ToolRun {
    try? text.write(toFile: folder.path("Work.csv"), atomically: false, encoding: .utf8)
    return ToolRun(["load", folder.path("Work.csv"), "--to", folder.path("shop.quire")] + options)
  }

  @Test func `a file of a spreadsheet is loaded without ids, with the ends of lines it has`()
    throws
  {
    let shop = try Shop(in: TemporaryFolder(), count: 0)
    let text = "\u{FEFF}title,price,year\r\n\"a, \"\"b\"\"\",1.5,1900\r\n\"\",,\r\n\r\nthree,3,"
    let run = load(text, shop.folder)
    #expect(run.code == .good, "\(run.errors)")
    let rows = try ToolRun("query", shop.path, "--entity", "Work").jsonLines()
    #expect(rows.map { $0["title"] as? String } == ["a, \"b\"", "", "three"])
    #expect(rows.map { $0["price"] as? Double } == [1.5, nil, 3])
    #expect(rows.map { $0["year"] as? Int } == [1900, nil, nil])
  }

  @Test func `mistakes are told with file, line and column, and nothing is loaded`() throws {
    let shop = try Shop(in: TemporaryFolder(), count: 0)
    for (text, message) in [
      ("titel\nx\n", "line 1: Work has no property “titel”; did you mean title?"),
      ("title;year\nx;1\n", "no property “title;year”; commas stand between the values"),
      ("title,title\n", "line 1: there are two columns title"),
      ("title,year\nx,1\ny\n", "line 3: it has 1 field, and the first line 2"),
      ("title,year\n\"x\n\n\",1\ny,z\n", "line 5: year is a whole number, not “z”"),
      ("title,year\r\n\"x\r\n\r\n\",1\r\ny,z\r\n", "line 5: year is a whole number, not “z”"),
      ("title,year\n\n\ny,z\n", "line 4: year is a whole number, not “z”"),
      ("\n\ntitel\nx\n", "line 3: Work has no property “titel”"),
      ("\n\nid,price\n\na,cheap\n", "line 5: the exported a.price is \"cheap\""),
      ("title\n\"x\ny", "line 2: a value begins with a quote, and no quote ends it"),
      ("title\nx\"y\n", "line 2: a quote stands inside of a value"),
      ("title\n\"x\"y\n", "line 2: after the quote that ends a value there is no comma"),
      ("id,year\na,1\nb,99999\n", "line 3: "),
      ("id,price\na,1\nb,cheap\n", "line 3: the exported b.price is \"cheap\", and no value of"),
      ("id,price\na,cheap\n", "no value of double: write a number, as 19.99"),
      ("id,artist\na,nobody\n", "Work.csv, line 2: artist refers to “nobody”, which is not an id"),
      ("title,price\nx,cheap\n", "line 2: price is \"cheap\", and no value of double"),
    ] {
      let run = load(text, shop.folder)
      #expect(run.code == .bad && run.errors.contains(message), "\(text): \(run.errors)")
    }
    let unknown = load("title\nx\n", shop.folder, "--entity", "Wrok")
    #expect(unknown.errors.contains("no entity Wrok; did you mean Work?"), "\(unknown.errors)")
    #expect(ToolRun("query", shop.path, "--entity", "Work").output.isEmpty)
    // JSON is answered alike.
    try "{\"entity\":\"Work\",\"id\":\"1\"}\n{\"entity\":\"Work\",\"id\":\"2\",\"titel\":\"x\"}\n"
      .write(
        toFile: shop.folder.path("in.jsonl"), atomically: false, encoding: .utf8)
    let json = ToolRun("load", shop.folder.path("in.jsonl"), "--to", shop.path)
    #expect(
      json.errors.contains("in.jsonl, line 2: ") && json.errors.contains("did you mean title?"))
  }

  /// A new store whose entities have required and unique values.
  private func catalog(_ folder: TemporaryFolder) throws -> String {
    let model = try ManagedObjectModel {
      Entity("Book") {
        Attribute("title", .string, optional: false, length: 1...20)
        Attribute("isbn", .string)
        Attribute("pages", .integer32, optional: false, default: 100)
        Attribute("language", .string, default: "en")
        UniquenessConstraint("isbn")
      }
    }
    let path = folder.path("catalog.quire")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.remove(
      coordinator.addPersistentStore(type: .quire, at: URL(filePath: path)))
    return path
  }

  // A list without a column for a required attribute was refused, although the model has a default.
  @Test func `columns that a file does not have get the defaults of the model`() throws {
    let folder = try TemporaryFolder()
    let store = try catalog(folder)
    try "title\nEmma\n".write(
      toFile: folder.path("Book.csv"), atomically: false, encoding: .utf8)
    try #"{"entity":"Book","id":"1","title":"Typee"}"#.write(
      toFile: folder.path("list.jsonl"), atomically: false, encoding: .utf8)
    for file in ["Book.csv", "list.jsonl"] {
      let run = ToolRun("load", folder.path(file), "--to", store)
      #expect(run.code == .good, "\(run.errors)")
    }
    try "title,language\nOmoo,\n".write(
      toFile: folder.path("Book.csv"), atomically: false, encoding: .utf8)
    #expect(ToolRun("load", folder.path("Book.csv"), "--to", store).code == .good)
    let rows = try ToolRun("query", store, "--entity", "Book").jsonLines()
    #expect(rows.map { $0["pages"] as? Int } == [100, 100, 100])
    // In JSON an optional value that is left out is absent, as exports leave absent ones out.
    #expect(rows.map { $0["language"] as? String } == ["en", nil, nil])
  }

  @Test func `load reports a refused save with the files and lines at fault`() throws {
    let folder = try TemporaryFolder()
    let store = try catalog(folder)
    func errors(_ text: String) throws -> String {
      let path = folder.path("Book.csv")
      try text.write(toFile: path, atomically: false, encoding: .utf8)
      let run = ToolRun("load", path, "--to", store)
      #expect(run.code == .bad && run.output.isEmpty)
      return run.errors
    }
    #expect(
      try errors("title,isbn\nEmma,1\n,2\n").contains("Book.csv, line 3: Book.title has no value"))
    let several = try errors("title\n" + String(repeating: "\"\"\n", count: 25))
    #expect(several.contains("25 things are wrong"))
    #expect(several.contains("Book.csv, line 21: Book.title has 0 characters"))
    #expect(several.contains("and 5 more") && !several.contains("line 22"))
    let twice = try errors("title,isbn\nEmma,1\nTypee,2\nOmoo,2\n")
    #expect(twice.contains("Book.csv, line 3: ") && twice.contains("unique"), "\(twice)")
    #expect(twice.contains("is 2 in line 3, line 4"), "\(twice)")
    // What a value has of control characters is named, and does nothing to a terminal.
    let control = try errors("title,isbn\nEmma,\u{1B}[2J\nTypee,\u{1B}[2J\n")
    #expect(control.contains(#"\u{1B}[2J"#) && !control.contains("\u{1B}"), "\(control)")
    #expect(ToolRun("query", store, "--entity", "Book").output.isEmpty)
  }

  @Test(arguments: [
    ("{\"entity\":", "list.jsonl, line 1: it is not a JSON object"),
    ("[1]", "list.jsonl, line 1: it is not a JSON object"),
    ("{\"id\":\"1\"}", "line 1: it has no entity: an object in JSON says its entity"),
  ])
  func `a line that is no object of an export says what is one`(_ text: String, _ message: String)
    throws
  {
    let folder = try TemporaryFolder()
    let store = try catalog(folder)
    try text.write(toFile: folder.path("list.jsonl"), atomically: false, encoding: .utf8)
    let run = ToolRun("load", folder.path("list.jsonl"), "--to", store)
    #expect(run.code == .bad && run.errors.contains(message), "\(run.errors)")
  }

  @Test func `a mistake in the first line of a second file is told with that file`() throws {
    let shop = try Shop(in: TemporaryFolder(), count: 0)
    let folder = shop.folder.path("in")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false)
    for (name, text) in [("Artist", "id,name\na,Hilma\n"), ("Work", "id,price\nb,cheap\n")] {
      try text.write(toFile: "\(folder)/\(name).csv", atomically: false, encoding: .utf8)
    }
    let run = ToolRun("load", folder, "--to", shop.path)
    #expect(run.code == .bad && run.errors.contains("Work.csv, line 2: "), "\(run.errors)")
  }

  @Test func `a folder with both kinds of files is refused`() throws {
    let folder = try TemporaryFolder()
    let store = Fixtures.store("Gallery 2.7")
    for format in ["csv", "json"] {
      let run = ToolRun("export", store, "--to", folder.path("out"), "--format", format)
      #expect(run.code == .good)
    }
    let run = ToolRun("load", folder.path("out"), "--to", folder.path("a"), "--model", store)
    #expect(run.code == .bad && run.errors.contains("files .jsonl and .csv"))
  }
}
