import Foundation
import Quire
import QuireXcode
import Testing

@Suite struct StringsFileTests {
  private func read(_ text: String) throws -> [String: String] {
    try StringsFile(Data(text.utf8)).translations
  }

  @Test func `the form that people write is read, comments and all`() throws {
    let text = #"""
      /* Shown above the list: "not = this"; */
      "Entity/Artwork" = "Œuvre";
      // "Property/no" = "no";
      "Property/title/Entity/Artwork"="Titre\n\"court\"";"a" /* why */ = /* how */ 'b"c' ;
      Property/price = Prix; alone; "quoted alone";
      "escapes" = "\t\\\a\b\f\r\v\'\x\101\60\U00e9\u00E9\Ud83c\Udf0a\u";
      "two
      lines" = "one\
      two";
      "twice" = "first"; "twice" = "last"; "empty" = "";
      """#
    let found = try read(text)
    #expect(found["Entity/Artwork"] == "Œuvre")
    #expect(found["Property/title/Entity/Artwork"] == "Titre\n\"court\"")
    #expect(found["a"] == "b\"c" && found["Property/price"] == "Prix" && found["empty"] == "")
    #expect(found["alone"] == "alone" && found["quoted alone"] == "quoted alone")
    #expect(found["escapes"] == "\t\\\u{7}\u{8}\u{C}\r\u{B}'xA0éu00E9🌊u")
    #expect(found["two\nlines"] == "one\ntwo" && found["twice"] == "last")
    #expect(found.count == 10)
    #expect(try read("{ a = b; } // end") == ["a": "b"])
    #expect(try read(" /* nothing */ \n") == [:] && read("") == [:])
  }

  @Test func `UTF-8 and UTF-16 are told from each other`() throws {
    let text = "\"Entity/Artwork\" = \"Œuvre 🌊\";"
    let little = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    for bytes in [
      Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFF, 0xFE] + little,
      [0xFE, 0xFF] + big, little, big,
    ] {
      #expect(try StringsFile(Data(bytes)).translations == ["Entity/Artwork": "Œuvre 🌊"])
    }
    for bytes in [
      [0xFF, 0xFE] + little.dropLast(), [0xFF, 0xFE, 0x22, 0x00, 0x3C, 0xD8], [0x22, 0xFF, 0x22],
    ] as [[UInt8]] {
      let error = #expect(throws: StringsFileError.self) { try StringsFile(Data(bytes)) }
      guard case .notText? = error?.reason else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  @Test func `property lists are read, in XML and as Xcode compiles them`() throws {
    let xml = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>Entity/Artwork</key><string>Œuvre</string></dict></plist>
      """
    #expect(try read(xml) == ["Entity/Artwork": "Œuvre"])
    let binary = try PropertyListSerialization.data(
      fromPropertyList: ["Entity/Artwork": "Œuvre"], format: .binary, options: 0)
    #expect(try StringsFile(binary).translations == ["Entity/Artwork": "Œuvre"])
    for list in [
      xml.replacing("<string>Œuvre</string>", with: "<integer>1</integer>"),
      "<plist><array/></plist>", "<plist><dict>", "<?xml",
    ] {
      let error = #expect(throws: StringsFileError.self) { try read(list) }
      guard case .notStrings? = error?.reason else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    #expect(throws: StringsFileError.self) { try StringsFile(binary.dropLast(10)) }
  }

  @Test(arguments: [
    ("\"a\" = \"b\"", 1, 10, "no “;”"), ("a = b\nc = d;", 2, 1, "no “;”"),
    ("\n = b;", 2, 2, "a key"),
    ("\"a\" = ;", 1, 7, "a text for “a”"), ("a = b;\r\n  \"c", 2, 3, "not closed"),
    ("a = \"b", 1, 5, "not closed"), ("x;\n/* y", 2, 1, "comment"), ("a = (b);", 1, 5, "lists"),
    ("a = { b = c; };", 1, 5, "dictionaries"), ("{ a = b;", 1, 1, "not closed"),
    ("{ a = b; } c;", 1, 12, "follows"), ("\"\\U12\" = a;", 1, 2, "four"),
    ("\"\\Ud83c\";", 1, 2, "half"), ("\"\\Udf0a\";", 1, 2, "half"), ("\"\\377\";", 1, 2, "octal"),
    ("\"\\", 1, 2, "nothing follows"), ("ä = b;", 1, 1, "a key"), ("}", 1, 1, "a key"),
  ])
  func `a malformed strings file is an error with line and column`(
    _ text: String, _ line: Int, _ column: Int, _ words: String
  ) throws {
    let error = try #require(throws: StringsFileError.self) { try read(text) }
    guard case .malformed(line, column, let told) = error.reason else {
      Issue.record("\(text): \(error)")
      return
    }
    #expect(told.contains(words), "\(error)")
    #expect(error.description.hasPrefix("the text:\(line):\(column): "))
  }

  @Test func `no damage to a file does more than throw`() {
    let text = Array(
      (#"{ /* c */ "Entity/A" = "\Ud83c\Udf0a\101"; 'b' = c; // d"# + "\n}").utf8)
    var refusals = 0
    for index in text.indices {
      for byte in [0, 0x22, 0x5C, 0x7B, 0x80, 0xFF] as [UInt8] {
        var damaged = text
        damaged[index] = byte
        for bytes in [damaged, Array(damaged[..<index]), Array(damaged[index...])] {
          do {
            _ = try StringsFile(Data(bytes))
          } catch {
            refusals += 1
            #expect(error.file == "the text")
          }
        }
      }
    }
    #expect(refusals > 100)
  }

  // MARK: Beside a model

  @Test func `the translations of a model are found by languages`() throws {
    let folder = try TemporaryFolder()
    func write(_ place: String, _ word: String) throws {
      let folder = folder.file(place)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("\"Entity/Artwork\" = \"\(word)\";".utf8).write(
        to: folder.appendingPathComponent("GalleryModel.strings"))
    }
    let model = try ManagedObjectModel { Entity("Artwork") { Attribute("title", .string) } }
    func name(_ languages: [String]) throws -> String {
      let translated = try model.translated(
        by: "Gallery", in: folder.file(""), languages: languages)
      #expect(translated.entityVersionHashesByName == model.entityVersionHashesByName)
      return try translated.localizedName(of: #require(translated.entity(named: "Artwork")))
    }
    #expect(try name(["de"]) == "Artwork")
    try write("", "anywhere")
    #expect(try name(["de"]) == "anywhere")
    try write("Base.lproj", "base")
    try write("de.lproj", "Werk")
    try write("fr_CA.lproj", "Œuvre")
    #expect(try name(["de-AT", "fr-CA"]) == "Werk" && name(["fr-CA", "de"]) == "Œuvre")
    #expect(try name(["fr"]) == "base" && name([]) == "base")
    try Data("oops".utf8).write(to: folder.file("de.lproj/GalleryModel.strings"))
    let error = #expect(throws: StringsFileError.self) { try name(["de"]) }
    #expect(error?.file.hasSuffix("de.lproj/GalleryModel.strings") == true)
    let missing = #expect(throws: StringsFileError.self) {
      try model.translated(byContentsOf: folder.file("none.strings"))
    }
    guard case .unreadable? = missing?.reason else {
      Issue.record("\(String(describing: missing))")
      return
    }
  }
}
