import Foundation
import Quire
import QuireModel
import QuireTool
import Testing

@Suite struct EditCommandTests {
  private static let model = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string, optional: false)
      Relationship("works", toMany: "Work", inverse: "artist", deleteRule: .cascade)
      Relationship("shows", toMany: "Show", inverse: "artists")
    }
    Entity("Work") {
      Attribute("title", .string)
      Attribute("price", .decimal)
      Attribute("year", .integer16)
      Attribute("weight", .double)
      Attribute("isSold", .boolean)
      Attribute("acquired", .date)
      Attribute("scan", .binaryData)
      Attribute("code", .uuid)
      Attribute("page", .uri)
      Attribute("place", .composite) {
        Attribute("city", .string)
        Attribute("zip", .integer32)
      }
      Attribute("length", .integer64, derivedFrom: "title.length")
      Relationship("artist", toOne: "Artist", inverse: "works")
    }
    Entity("Print", parent: "Work") { Attribute("edition", .integer32) }
    Entity("Show") {
      Attribute("name", .string)
      Relationship("artists", toMany: "Artist", inverse: "shows", ordered: true)
      Relationship("host", toOne: "Host", inverse: "shows")
    }
    Entity("Host") {
      Attribute("name", .string)
      Attribute("tags", .transformable)
      Relationship("shows", toMany: "Show", inverse: "host", deleteRule: .deny)
    }
  }

  /// A store with two artists, three works, a print, a show and its host.
  private struct Place {
    let folder: TemporaryFolder
    var path: String { folder.path("a.quire") }

    init() throws {
      folder = try TemporaryFolder()
      let coordinator = PersistentStoreCoordinator(managedObjectModel: EditCommandTests.model)
      let store = try coordinator.addPersistentStore(type: .quire, at: URL(filePath: path))
      try coordinator.remove(store)
      let run = edit(
        """
        # Two artists
        insert Artist as $yuko name="Yuko"; insert Artist as $ana name=Ana
        insert Work title="one" artist=$yuko price=10
        insert Work title="two" artist=$yuko price=20
        insert Work title="three" artist=$ana price=30
        insert Print title="four" edition=5
        insert Host as $host name=host
        insert Show name=show artists=$yuko,$ana host=$host
        """)
      #expect(run.code == .good, "\(run.errors)")
    }

    func edit(_ text: String, _ options: String...) -> ToolRun {
      ToolRun(["edit", path, "--do", text] + options)
    }

    func dump() -> String { ToolRun("dump", path).output }

    func value(_ id: String, _ key: String) throws -> Any? {
      let parts = id.split(separator: "/")
      let rows = try ToolRun("dump", path, "--entity", String(parts[0])).jsonLines()
      let row = rows.first { $0["id"] as? String == String(parts[1]) }
      let values = (row?["attributes"] as? [String: Any] ?? [:]).merging(
        row?["relationships"] as? [String: Any] ?? [:]
      ) { $1 }
      return values[key].flatMap { $0 is NSNull ? nil : $0 }
    }
  }

  @Test func `a value that is kept as JSON is typed and shown as JSON`() throws {
    let place = try Place()
    #expect(place.edit(#"set Host/1 tags='["new","red"]'"#).code == .good)
    let bytes = Data(#"["new","red"]"#.utf8).base64EncodedString()
    #expect(try place.value("Host/p1", "tags") as? String == bytes)
    let table = ToolRun("query", place.path, "--entity", "Host", "--format", "table")
    #expect(table.lines[1] == #"Host/p1   host  ["new","red"]"#)
    #expect(place.edit("set Host/1 tags=\(bytes)").code == .good)
    let wrong = place.edit(#"set Host/1 tags=["new"#)
    #expect(wrong.errors.contains("JSON"), "\(wrong.errors)")
  }

  @Test func `objects are inserted, changed, linked and deleted in one go`() throws {
    let place = try Place()
    let run = place.edit(
      """
      insert Artist as $new name='O''s'; set Work/1 title="a \\"b\\"\\n" artist=$new price=nil
      set Artist/2 works+=Work/2, Print/4
      delete Work/3
      """)
    // A quote inside of a text has a backslash before it, or the text is in the other quotes.
    #expect(
      run.code == .bad && run.errors.contains("column 31: the name of a property"), "\(run.errors)")
    let good = place.edit(
      """
      insert Artist as $new name='Oe'; set Work/1 title="a \\"b\\"\\n" artist=$new price=nil
      set Artist/2 works+=Work/2, Print/4
      delete Work/3
      """)
    #expect(good.code == .good && good.errors.isEmpty, "\(good.errors)")
    #expect(try place.value("Work/p1", "title") as? String == "a \"b\"\n")
    #expect(try place.value("Work/p1", "artist") as? String == "Artist/p3")
    #expect(try place.value("Work/p1", "price") == nil)
    #expect(try place.value("Work/p2", "artist") as? String == "Artist/p2")
    #expect(try place.value("Print/p4", "artist") as? String == "Artist/p2")
    #expect(try place.value("Artist/p2", "works") as? [String] == ["Print/p4", "Work/p2"])
    #expect(good.output.contains("+ Artist/p3\n    name: \"Oe\"\n"), "\(good.output)")
    #expect(good.output.contains("\n    artist: Artist/p1 → Artist/p3\n"))
    #expect(good.output.contains("\n- Work/p3\n"))
    #expect(good.output.hasSuffix(": 1 inserted, 5 changed, 1 deleted.\n"), "\(good.output)")
    #expect(ToolRun("check", place.path).code == .good)
  }

  @Test func `values are those of the model's types`() throws {
    let place = try Place()
    let code = "11111111-2222-3333-4444-555555555555"
    let run = place.edit(
      """
      set Work/p1 price=19.90 year=-5 weight=1e-3 isSold=yes acquired=2001-01-02 scan="AAH/" \
      code=\(code) page=https://example.com/a=b place='{"city": "Ede", "zip": 7}' title=nil
      set Work/2 title="nil" acquired=2001-01-01T00:00:01.5Z isSold=false weight=-0.5
      """)
    #expect(run.code == .good, "\(run.errors)")
    #expect(try place.value("Work/p1", "price") as? String == "19.9")
    #expect(try place.value("Work/p1", "year") as? Int == -5)
    #expect(try place.value("Work/p1", "weight") as? Double == 0.001)
    #expect(try place.value("Work/p1", "isSold") as? Bool == true)
    #expect(try place.value("Work/p1", "acquired") as? Double == 86_400)
    #expect(try place.value("Work/p1", "scan") as? String == "AAH/")
    #expect(try place.value("Work/p1", "code") as? String == code)
    #expect(try place.value("Work/p1", "page") as? String == "https://example.com/a=b")
    #expect(try (place.value("Work/p1", "place") as? [String: Any])?["zip"] as? Int == 7)
    #expect(try place.value("Work/p1", "title") == nil)
    #expect(try place.value("Work/p2", "title") as? String == "nil")
    #expect(try place.value("Work/p2", "acquired") as? Double == 1.5)
    #expect(try place.value("Work/p2", "length") as? Int == 3)
  }

  @Test func `many objects are changed by a predicate, in the state that statements before left`()
    throws
  {
    let place = try Place()
    let run = place.edit(
      """
      set Work where "price >= 20" year=2000
      insert Print year=2000
      delete Work where 'year == 2000 AND artist == nil'
      set Work where "price > 1000" year=1
      """)
    #expect(run.code == .good, "\(run.errors)")
    #expect(run.output.hasSuffix(": 0 inserted, 2 changed, 0 deleted.\n"), "\(run.output)")
    #expect(try place.value("Work/p3", "year") as? Int == 2000)
  }

  @Test func `the order of a relationship is that of the list`() throws {
    let place = try Place()
    #expect(place.edit("set Show/1 artists=Artist/2,Artist/1").code == .good)
    #expect(try place.value("Show/p1", "artists") as? [String] == ["Artist/p2", "Artist/p1"])
    let run = place.edit("set Show/1 artists+=Artist/2")
    #expect(run.output.contains("artists: in another order"), "\(run.output)")
    #expect(try place.value("Show/p1", "artists") as? [String] == ["Artist/p1", "Artist/p2"])
    #expect(place.edit("set Show/1 artists-=Artist/1").code == .good)
    #expect(try place.value("Show/p1", "artists") as? [String] == ["Artist/p2"])
    #expect(place.edit("set Show/1 artists=nil").code == .good)
    #expect(try place.value("Show/p1", "artists") as? [String] == [])
  }

  @Test func `a dry run says what would change, by delete rules as well, and changes nothing`()
    throws
  {
    let place = try Place()
    let before = try Data(contentsOf: URL(filePath: place.path))
    let run = place.edit("delete Artist/1; insert Artist name=new", "--dry-run")
    #expect(run.code == .good, "\(run.errors)")
    #expect(
      run.output == """
        + Artist, new
            name: "new"
        ~ Show/p1
            artists: - Artist/p1
        - Artist/p1
        - Work/p1, by a delete rule
        - Work/p2, by a delete rule
        Nothing was changed: this was a dry run. Otherwise: 1 inserted, 1 changed, 3 deleted.

        """, "\(run.output)")
    #expect(try Data(contentsOf: URL(filePath: place.path)) == before)
    // What a save would refuse is refused.
    for text in ["delete Host/1", "insert Artist", "set Work/1 year=99999"] {
      let (dry, wet) = (place.edit(text, "--dry-run"), place.edit(text))
      #expect(dry.code == .bad && wet.code == .bad)
      #expect(!dry.errors.isEmpty && !wet.errors.isEmpty)
    }
    #expect(try Data(contentsOf: URL(filePath: place.path)) == before || !place.dump().isEmpty)
  }

  @Test func `JSON has everything, with what was and what is`() throws {
    let place = try Place()
    let json = try place.edit(
      "insert Artist name=x; set Work/3 price=1; delete Artist/1", "--json"
    ).json()
    #expect(json["isSaved"] as? Bool == true)
    let inserted = try #require(json["inserted"] as? [[String: Any]])
    #expect(inserted.count == 1 && inserted[0]["id"] as? String == "Artist/p3")
    let updated = try #require(json["updated"] as? [[String: Any]])
    let work = try #require(updated.first { $0["id"] as? String == "Work/p3" })
    let price = (work["changes"] as? [String: [String: String]])?["price"]
    #expect(price == ["from": "30", "to": "1"])
    let deleted = try #require(json["deleted"] as? [[String: Any]])
    #expect(deleted.map { $0["byRule"] as? Bool } == [false, true, true])
  }

  @Test func `a mistake is told with its column, and nothing is changed`() throws {
    let place = try Place()
    let before = place.dump()
    for (text, column, message) in [
      ("update Work/1 price=3", 1, "not “update”; did you mean set?"),
      ("isnert Work", 1, "not “isnert”; did you mean insert?"),
      ("set Work/1 prise=3", 12, "Work has no property prise; did you mean price?"),
      ("set Wrok/1 price=3", 5, "has no entity Wrok; did you mean Work?"),
      ("set Work/99 price=3", 5, "there is no object Work/99 in the store"),
      ("set Work/1 price=cheap", 18, "price is a number of up to 38 digits, not “cheap”"),
      ("set Work/1 price=1,5", 12, "price is an attribute, which has one value"),
      ("set Work/1 price+=1", 12, "price is an attribute"),
      ("set Work/1 acquired=2001-02-30", 21, "acquired is a moment such as"),
      ("set Work/1 artist=Show/1", 19, "artist refers to Artist, not to Show"),
      ("set Work/1 artist=Artist/1,Artist/2", 12, "artist refers to one object"),
      ("set Work/1 length=3", 12, "length is derived"),
      ("set Work/1", 11, "an assignment is expected"),
      ("set Work/1 price", 17, "after price is expected: =, += or -="),
      ("set Work/1 price=", 18, "a value of price is expected"),
      ("set Work/1 title=\"a", 18, "this quote is not closed"),
      ("set Work/1 title=\"a\\x\"", 20, "is no escape"),
      ("set Work price=3", 10, "after Work is expected: where"),
      ("set Work where price>3", 16, "after where stands in quotes"),
      ("set Work where \"price >\" price=1", 24, "the format cannot be read"),
      ("delete $a", 8, "no insertion before is called $a"),
      ("insert Work as a", 16, "a name begins with $"),
      ("delete Work", 12, "after Work is expected"),
      ("delete Work/x", 8, "an object is called such as Artwork/12"),
    ] {
      let run = place.edit("  " + text)
      #expect(run.code == .bad && run.output.isEmpty)
      #expect(run.errors.contains("column \(column + 2): "), "\(text): \(run.errors)")
      #expect(run.errors.contains(message), "\(text): \(run.errors)")
      let mark = String(repeating: " ", count: column + 1 + 2)
      #expect(run.errors.hasSuffix("\n    \(text)\n\(mark)^\n"), "\(text): \(run.errors)")
    }
    let second = ToolRun(
      "edit", place.path, "--do", "set Work/1 price=1", "--do", "delete Work/1\ndelete Wrk/2")
    #expect(second.errors.contains("--do 2, line 2, column 8: "), "\(second.errors)")
    // What only a save finds is told where its object was named; and no store is to blame.
    for option in [["--dry-run"], []] {
      for (text, column, message) in [
        ("set Work/1 price=1\ninsert Artist", 8, "Artist.name has no value"),
        ("insert Artist name=a\nset Artist/1 name=nil", 5, "Artist.name has no value"),
        ("insert Artist name=a\ndelete Host/1", 8, "Host"),
        ("insert Artist name=a\nset Work/1 year=99999", 17, "99999"),
      ] {
        let late = ToolRun(["edit", place.path, "--do", text] + option)
        #expect(late.code == .bad && late.errors.contains(message), "\(late.errors)")
        #expect(late.errors.hasPrefix("quire: line 2, column \(column): "), "\(late.errors)")
        #expect(late.errors.hasSuffix("^\n"))
      }
    }
    #expect(place.dump() == before)
  }

  @Test func `a mistake common to several objects is reported once, with the objects`() throws {
    let place = try Place()
    let run = place.edit(
      "set Artist where \"TRUEPREDICATE\" name=nil; insert Artist; insert Artist")
    #expect(run.code == .bad)
    #expect(
      run.errors.contains("\n  Artist.name has no value, in 4 objects: Artist/p1, Artist/p2\n"),
      "\(run.errors)")
    let new = place.edit("insert Artist; insert Artist").errors
    #expect(new.contains("\n  Artist.name has no value, in 2 objects\n"), "\(new)")
    for text in [run.errors, new] {
      let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
      #expect(Set(lines).count == lines.count, "\(text)")
    }
  }

  @Test func `statements come from the standard input as well`() throws {
    let place = try Place()
    let run = try ToolProcess(
      ["quire", "edit", "a.quire"], in: place.folder.path,
      input: "set Work/1 title=\"two\nlines\"\n\n# done\n")
    #expect(run.wait() == 0, "\(run.errors)")
    #expect(try place.value("Work/p1", "title") as? String == "two\nlines")
    let nothing = try ToolProcess(["quire", "edit", "a.quire"], in: place.folder.path)
    #expect(
      nothing.wait() == 0 && nothing.output.hasSuffix(": 0 inserted, 0 changed, 0 deleted.\n"))
  }
}
