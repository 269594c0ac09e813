import Foundation
import Quire
import QuireModel
import QuireStorage
import QuireTool
import Testing

@Suite struct ShowCommandTests {
  /// A page as it was written, and the data in it as another reader of JSON finds it.
  struct Page {
    let run: ToolRun
    let html: String
    let data: [String: Any]

    init(of store: String, in folder: TemporaryFolder, _ options: String...) throws {
      let file = folder.path("page.html")
      run = ToolRun(["show", store, "--to", file, "--open", "no"] + options)
      html = try String(contentsOfFile: file, encoding: .utf8)
      let start = try #require(html.range(of: "id=\"data\">")).upperBound
      let end = try #require(html.range(of: "</script>", range: start..<html.endIndex)).lowerBound
      let json = try JSONSerialization.jsonObject(with: Data(html[start..<end].utf8))
      data = try #require(json as? [String: Any])
    }

    var entities: [[String: Any]] { data["entities"] as? [[String: Any]] ?? [] }

    func entity(_ name: String) throws -> [String: Any] {
      try #require(entities.first { $0["name"] as? String == name })
    }

    func objects(_ name: String) throws -> [[Any]] {
      try #require(try entity(name)["objects"] as? [[Any]])
    }

    /// The values of a property, which is an attribute or a relationship, by key.
    func values(_ property: String, of name: String) throws -> [Int: Any] {
      let entity = try entity(name)
      let names = ["attributes", "relationships"].flatMap {
        (entity[$0] as? [[String: Any]] ?? []).map { $0["name"] as? String }
      }
      let place = try #require(names.firstIndex(of: property)) + 1
      return Dictionary(
        uniqueKeysWithValues: try objects(name).map { ($0[0] as? Int ?? -1, $0[place]) })
    }

    var problems: [String] { data["problems"] as? [String] ?? [] }
  }

  @Test(arguments: Fixtures.someVersions)
  func `the page has every object, attribute and link of the store`(version: String) throws {
    let folder = try TemporaryFolder()
    let page = try Page(of: Fixtures.store(version), in: folder)
    #expect(page.run.code == .good && page.run.errors.isEmpty)
    #expect(page.run.output == folder.path("page.html") + "\n")
    let names = page.entities.map { $0["name"] as? String ?? "" }
    var count = 0
    for line in try ToolRun("dump", Fixtures.store(version)).jsonLines() {
      let entity = try #require(line["entity"] as? String)
      let key = try #require(Int((line["id"] as? String ?? "").dropFirst()))
      for (name, value) in try #require(line["relationships"] as? [String: Any]) {
        func pair(_ text: String) -> [Int] {
          let parts = text.split(separator: "/")
          return [names.firstIndex(of: String(parts[0])) ?? -1, Int(parts[1].dropFirst()) ?? -1]
        }
        let shown = try page.values(name, of: entity)[key]
        if let many = value as? [String] {
          #expect((shown as? [String: Any])?["n"] as? Int == many.count)
          #expect((shown as? [String: Any])?["r"] as? [Int] == many.flatMap(pair), "\(name)")
        } else {
          #expect(shown as? [Int] == (value as? String).map(pair), "\(entity).\(name)")
        }
      }
      for (name, value) in try #require(line["attributes"] as? [String: Any]) {
        let shown = try page.values(name, of: entity)[key]
        if let text = value as? String, shown is String { #expect(shown as? String == text) }
        if value is NSNull { #expect(shown is NSNull) }
        if let number = value as? NSNumber { #expect(shown as? NSNumber == number) }
      }
      count += 1
    }
    #expect(
      try page.entities.reduce(0) { try $0 + page.objects($1["name"] as? String ?? "").count }
        == count)
  }

  @Test func `the same store makes the same page`() throws {
    let folder = try TemporaryFolder()
    let first = try Page(of: Fixtures.store("Gallery 2.0"), in: folder).html
    #expect(try Page(of: Fixtures.store("Gallery 2.0"), in: folder).html == first)
  }

  @Test func `the page loads nothing from elsewhere`() throws {
    let folder = try TemporaryFolder()
    let html = try Page(of: Fixtures.store("Gallery 2.7"), in: folder).html
    #expect(html.contains("content=\"default-src 'none'; img-src data:;"))
    for match in html.matches(of: /(?:src|href)="([^"]*)"/) {
      #expect(match.1.hasPrefix("#"), "\(match.1)")
    }
    // The name of SVG's namespace is no address to load from.
    let text = html.replacing("xmlns=\"http://www.w3.org/2000/svg\"", with: "")
    #expect(!text.contains("url(") && !text.contains("@import") && !text.contains("fetch("))
  }

  // MARK: Hostile texts

  static let hostileTexts = [
    "</script><script>document.title = 'owned'</script>", "<!--", "<!-- <script>", "]]>", "-->",
    "\"'`\\", "\\u003c/script>", "a\u{2028}b\u{2029}c", "\u{0}\u{1}\u{8}\u{1F}\u{7F}\u{85}",
    "\u{FEFF}&lt;&amp;amp;", "<img src=x onerror=\"document.title='owned'\">",
    "javascript:document.title='owned'", "\r\n\t", "\u{202E}evil", "{{7*7}}${7*7}",
  ]

  static let hostileModel = try! ManagedObjectModel {
    Entity("<b onclick=\"x\">&'</script>") {
      Attribute("name</script>", .string)
      Attribute("link", .uri)
      Relationship("next<i>", toOne: "<b onclick=\"x\">&'</script>")
    }
  }

  static func hostileStore(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("<hostile> & \"store\".quire")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: hostileModel)
    let store = try coordinator.addPersistentStore(type: .quire, at: URL(filePath: path))
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let entity = try #require(hostileModel.entities.first)
    var last: ManagedObject?
    for text in hostileTexts {
      let object = try EntityDescription.insertNewObject(
        forEntityName: entity.name, into: context)
      try object.setValue(text, forKey: "name</script>")
      try object.setValue(URL(string: "javascript:document.title='owned'"), forKey: "link")
      try object.setValue(last, forKey: "next<i>")
      last = object
      try context.save()
    }
    try coordinator.remove(store)
    return path
  }

  @Test func `no text of a store ends the script, and each is read back as it was`() throws {
    let folder = try TemporaryFolder()
    let page = try Page(of: try Self.hostileStore(in: folder), in: folder)
    #expect(page.run.code == .good)
    let name = try #require(Self.hostileModel.entities.first?.name)
    let values = try page.values("name</script>", of: name)
    #expect(values.sorted { $0.key < $1.key }.map { $0.value as? String } == Self.hostileTexts)
    // Two scripts: the data, and what shows it.
    #expect(page.html.matches(of: /<script/).count == 2)
    #expect(page.html.matches(of: /<\/script/).count == 2)
    #expect(!page.html.contains("<b onclick") && !page.html.contains("<img"))
    #expect(!page.html.contains("<hostile>") && page.html.matches(of: /<!--/).count == 1)
    let signs: [Unicode.Scalar] = ["\u{0}", "\u{2028}", "\u{2029}", "\u{85}", "\u{FEFF}"]
    #expect(!page.html.unicodeScalars.contains { signs.contains($0) })
  }

  // MARK: Large and damaged stores

  @Test func `at most the limit of objects is there, with how many there are`() throws {
    let folder = try TemporaryFolder()
    let shop = try Shop(in: folder, count: 30)
    let page = try Page(of: shop.path, in: folder, "--limit", "7")
    #expect(try page.objects("Work").count == 7)
    #expect(try page.entity("Work")["count"] as? Int == 30)
    #expect(page.data["limit"] as? Int == 7)
    #expect(try Page(of: shop.path, in: folder, "--limit", "0").objects("Work").isEmpty)
    #expect(
      try Page(of: shop.path, in: folder, "--limit", "\(Int.max)").objects("Work").count == 30)
  }

  @Test func `long texts and bytes are cut, and say how long they are`() throws {
    let folder = try TemporaryFolder()
    let model = try ManagedObjectModel {
      Entity("Scan") {
        Attribute("text", .string)
        Attribute("bytes", .binaryData)
        Attribute("number", .integer64)
      }
    }
    let path = folder.path("scans.quire")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: URL(filePath: path))
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let scan = try EntityDescription.insertNewObject(forEntityName: "Scan", into: context)
    try scan.setValue(String(repeating: "é", count: 9_000), forKey: "text")
    try scan.setValue(Data(repeating: 0xAB, count: 70_000), forKey: "bytes")
    try scan.setValue(Int.max, forKey: "number")
    try context.save()
    try coordinator.remove(store)

    let page = try Page(of: path, in: folder)
    let text = try #require(try page.values("text", of: "Scan")[1] as? [String: Any])
    #expect(text["n"] as? Int == 9_000 && (text["t"] as? String)?.count == 2_000)
    let bytes = try #require(try page.values("bytes", of: "Scan")[1] as? [String: Any])
    #expect(bytes["b"] as? Int == 70_000)
    #expect(bytes["h"] as? String == String(repeating: "ab", count: 64))
    // A number of JavaScript would lose its last digits.
    #expect(try page.values("number", of: "Scan")[1] as? String == "\(Int.max)")
    #expect(page.html.utf8.count < 120_000)
  }

  @Test func `of a damaged store every readable object is there, and the rest is named`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    // The first leaf of the rows of Artwork: there are readable ones behind it.
    let pages = ToolRun("dump", store, "--pages").lines.filter {
      $0.contains("record leaf") && $0.contains("rows/4")
    }
    let number = try #require(pages.first?.split(separator: " ").first.flatMap { Int($0) })
    try folder.damage(store) { $0[number * 4096 + 300] ^= 1 }
    let page = try Page(of: store, in: folder)
    #expect(page.run.code == .bad)
    #expect(page.run.errors.contains("page \(number): tree rows/4: its checksum is wrong"))

    let json = try ToolRun("salvage", store, "--to", folder.path("saved.quire"), "--json").json()
    let losses = try #require(json["entities"] as? [[String: Any]])
    for loss in losses {
      let name = try #require(loss["name"] as? String)
      #expect(try page.objects(name).count == loss["kept"] as? Int, "\(name)")
      #expect(try page.entity(name)["lost"] as? Int == loss["lost"] as? Int, "\(name)")
    }
    let kept = try page.objects("Artwork").count
    #expect(kept > 0 && kept < 27)
    #expect(try page.entity("Artwork")["count"] as? Int == 27)
    let errors = try #require(try page.entity("Artwork")["errors"] as? [String])
    let loss = "\(27 - kept) objects of Artwork lost, among them p1, p2, "
    #expect(errors.first?.hasPrefix(loss) == true && page.run.errors.contains(loss))
    #expect(page.problems.contains { $0.hasPrefix(loss) })
    // Links of kept objects to lost ones.
    let links = try #require(try page.entity("Image")["errors"] as? [String])
    #expect(links.contains { $0.contains(" referred to Artwork/p") })
    #expect(try page.entity("Location")["errors"] as? [String] == [])
    // Links are listed in short where they are those of all entities.
    #expect(page.problems.contains { $0.hasSuffix("more links to lost objects") })
    #expect(page.problems.count < 20)
    let cells = try #require(page.data["pages"] as? [String: Any])
    let kinds = try #require(cells["kinds"] as? [String])
    #expect(kinds[try #require((cells["kind"] as? [Int])?[number])] == "damaged")
    #expect((cells["defects"] as? [String: String])?["\(number)"] != nil)
    // No salvage is left behind, and its folder is no part of the page.
    #expect(!page.html.contains("quire-salvage"))
  }

  @Test func `where only an index is damaged, every object is there and nothing is missing`() throws
  {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    let pages = ToolRun("dump", store, "--pages").lines.filter { $0.contains("indexes/") }
    let number = try #require(pages.first?.split(separator: " ").first.flatMap { Int($0) })
    try folder.damage(store) { $0[number * 4096 + 40] ^= 1 }
    let page = try Page(of: store, in: folder)
    #expect(page.run.code == .bad && !page.problems.isEmpty)
    #expect(page.entities.allSatisfy { ($0["errors"] as? [String])?.isEmpty == true })
    #expect(try page.objects("Artwork").count == 27)
  }

  @Test func `objects of a store that cannot be opened are on its page`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    // Long values of the schema: the model comes first, then the entities' layouts.
    let pages = ToolRun("dump", store, "--pages").lines.filter {
      $0.contains("overflow") && $0.contains("schema")
    }
    let number = try #require(pages.last?.split(separator: " ").first.flatMap { Int($0) })
    try folder.damage(store) { $0[number * 4096 + 100] ^= 1 }
    let page = try Page(of: store, in: folder)
    #expect(page.run.code == .bad && page.entities.count == 15)
    #expect(try page.objects("Artwork").count == 27)
    #expect(try page.entity("Artwork")["count"] as? Int == 27)
    #expect(try page.entity("Artwork")["errors"] as? [String] == [])
    #expect(page.html.contains("href=\"#/entity/Artwork\""))
    #expect(page.problems.contains { $0.hasPrefix("page \(number) is damaged") })
    // The folder of the store is no part of the page.
    #expect(!page.html.contains(folder.path))
  }

  @Test func `a store that cannot be opened still shows its pages`() throws {
    let folder = try TemporaryFolder()
    let damaged = Fixtures.folder.appending(path: "Damaged/damaged-map.quire").path
    let page = try Page(of: damaged, in: folder)
    #expect(page.run.code == .bad && page.entities.isEmpty)
    #expect(page.problems.contains("page 3: its checksum is wrong"))
    #expect(page.data["pages"] is [String: Any])
    let sound = Fixtures.folder.appending(path: "Format1/closed-512.quire").path
    #expect(try Page(of: sound, in: folder).run.code == .good)
  }

  // MARK: Pages, trees and versions

  @Test func `the map has every page, and trees say what they hold`() throws {
    let folder = try TemporaryFolder()
    let page = try Page(of: Fixtures.store("Gallery 2.7"), in: folder)
    let cells = try #require(page.data["pages"] as? [String: Any])
    let kinds = try #require(cells["kinds"] as? [String])
    let trees = try #require(page.data["trees"] as? [[String: Any]])
    let lines = ToolRun("dump", Fixtures.store("Gallery 2.7"), "--pages").lines.dropFirst()
    #expect(cells["count"] as? Int == lines.count)
    for (number, line) in lines.enumerated() {
      let kind = kinds[try #require((cells["kind"] as? [Int])?[number])]
      #expect(line.contains(" \(kind)"), "\(line): \(kind)")
      let tree = try #require((cells["tree"] as? [Int])?[number])
      if tree >= 0 { #expect(line.contains(" \(trees[tree]["name"] as? String ?? "-") ")) }
    }
    let titles = trees.map { $0["title"] as? String }
    for title in [
      "Rows of Artwork", "Links Artist.artworks", "Index Artwork.bySlug", "Catalog",
    ] {
      #expect(titles.contains(title), "\(title)")
    }
    let sizes = try #require(try page.entity("Artwork")["sizes"] as? [String: Int])
    #expect(sizes.values.allSatisfy { $0 > 0 } && sizes.count == 3)
  }

  @Test func `a cell of a large file stands for several pages`() throws {
    let anatomy = try StoreAnatomy(of: Fixtures.store("Gallery 2.7"))
    func cells(_ limit: Int) throws -> [String: Any] {
      let text = try PageCells(anatomy, cellLimit: limit).json().lineText
      let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
      return try #require(json as? [String: Any])
    }
    let (each, joined) = (try cells(51), try cells(10))
    #expect(each["group"] as? Int == 1 && joined["group"] as? Int == 6)
    #expect((each["kind"] as? [Int])?.count == 51 && (joined["kind"] as? [Int])?.count == 9)
    func entries(_ cells: [String: Any]) -> Int? { (cells["entries"] as? [Int])?.reduce(0, +) }
    #expect(entries(each) == entries(joined))
    // Pages 42 to 47 are leaves of links.
    let kinds = try #require(joined["kinds"] as? [String])
    #expect(kinds[try #require((joined["kind"] as? [Int])?[7])] == "index leaf")
  }

  @Test func `migrations of the store are listed`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.0")
    #expect(try Page(of: store, in: folder).data["migrations"] as? [String] == [])
    #expect(ToolRun("migrate", store, "--model", Fixtures.model).code == .good)
    let page = try Page(of: store, in: folder)
    let migrations = try #require(page.data["migrations"] as? [[String: Any]])
    #expect(migrations.map { $0["from"] as? String } == ["Gallery 2.0"])
    #expect(migrations.map { $0["to"] as? String } == ["Gallery 2.7"])
    #expect((page.data["model"] as? [String: Any])?["version"] as? String == "Gallery 2.7")
  }

  // MARK: Files and usage

  @Test func `an earlier page is replaced, and any other file is kept`() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("page.html")
    let store = Fixtures.store("Gallery 1.3")
    try Data("<!doctype html><p>mine".utf8).write(to: URL(filePath: file))
    let refused = ToolRun("show", store, "--to", file, "--open", "no")
    #expect(refused.code == .bad && refused.output.isEmpty)
    #expect(refused.errors.contains("there is a file already, and it is kept: \(file)"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "<!doctype html><p>mine")
    try FileManager.default.removeItem(atPath: file)
    for _ in 0..<2 {
      #expect(ToolRun("show", store, "--to", file, "--open", "no").code == .good)
    }
    #expect(ToolRun("show", store, "--to", store, "--open", "no").code == .bad)
    #expect(ToolRun("check", store).code == .good)
  }

  @Test func `the store is not written, and what is no store is an error`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    let before = try Data(contentsOf: URL(filePath: store))
    _ = try Page(of: store, in: folder)
    #expect(try Data(contentsOf: URL(filePath: store)) == before)
    let missing = ToolRun(
      "show", folder.path("no.quire"), "--to", folder.path("no.html"), "--open", "no")
    #expect(missing.code == .bad && missing.errors.contains("no.quire"))
    #expect(!FileManager.default.fileExists(atPath: folder.path("no.html")))
  }

  @Test func `options that make no sense are wrong usage`() {
    for (option, value, words) in [
      ("--open", "maybe", "--open takes yes or no, not “maybe”."),
      ("--limit", "many", "--limit takes a whole number"),
    ] {
      let run = ToolRun("show", Fixtures.store("Gallery 1.3"), option, value)
      #expect(run.code == .wrongUsage && run.errors.contains(words), "\(run.errors)")
    }
  }
}
