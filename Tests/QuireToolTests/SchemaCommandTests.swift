import Foundation
import Quire
import QuireModel
import QuireTool
import QuireXcode
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite struct SchemaCommandTests {
  /// A model with names that mean something in SVG and in Mermaid.
  private static let odd = try! ManagedObjectModel {
    Entity("Note") {
      Attribute("a<b>&\"c\"", .string)
      Attribute("x~y{z}", .integer16, optional: false)
      Relationship("of", toOne: "Odd \"one\"; 2", inverse: "notes; all")
    }
    Entity("Odd \"one\"; 2") {
      Relationship("notes; all", toMany: "Note", inverse: "of", deleteRule: .cascade)
      Relationship("next", toOne: "class")
    }
    Entity("class", parent: "Note") {}
    Entity("toString") {}
    Entity("作品", abstract: true) {}
  }

  private func store(of model: ManagedObjectModel, in folder: TemporaryFolder) throws -> String {
    let path = folder.path("odd.quire")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.remove(
      try coordinator.addPersistentStore(type: .quire, at: URL(filePath: path)))
    return path
  }

  @Test func `without a format the classes of generate are printed`() throws {
    let folder = try TemporaryFolder()
    let generated = ToolRun(
      "generate", Fixtures.model, "--to", folder.path("a"), "--file", "Gallery.swift")
    #expect(generated.code == .good)
    let text = try String(contentsOfFile: folder.path("a/Gallery.swift"), encoding: .utf8)
    let run = ToolRun("schema", Fixtures.model)
    #expect(run.code == .good)
    #expect(run.output == text)
  }

  @Test func `a version is chosen by its name, and a store has its own`() {
    for model in [Fixtures.model, Fixtures.store("Gallery 1.3")] {
      let run = ToolRun(
        "schema", model, "--version", "Gallery 1.3", "--format", "mermaid")
      #expect(run.code == .good)
      #expect(!run.output.contains("Edition"))
    }
    #expect(ToolRun("schema", Fixtures.model, "--format", "mermaid").output.contains("Edition"))
    let wrong = ToolRun("schema", Fixtures.model, "--version", "Gallery 9")
    #expect(wrong.code == .bad && wrong.errors.contains("has no version “Gallery 9”"))
  }

  // MARK: Mermaid

  @Test func `a class diagram says cardinalities, inverses, owners and parents`() {
    let lines = ToolRun("schema", Fixtures.model, "--format", "mermaid").lines
    #expect(lines.first == "classDiagram")
    for line in [
      "  class Document {", "    <<abstract>>", "    string? filename",
      "  Document <|-- ArtistDocument",
      "  Album \"0..*\" -- \"0..*\" Artist : artists, nullify / albumsFeaturingArtist, nullify",
      "  Album --> \"0..1\" Image : cover, nullify",
      "  Artwork \"1\" *-- \"0..*\" Edition : editionsForSale, cascade / artwork, nullify",
    ] {
      #expect(lines.contains { $0 == line }, "\(line)")
    }
  }

  @Test func `names that the language would read as its own are written by number`() throws {
    let folder = try TemporaryFolder()
    let run = ToolRun("schema", try store(of: Self.odd, in: folder), "--format", "mermaid")
    #expect(run.code == .good)
    for line in [
      "  class Note {", "    string? a#60;b#62;#38;#34;c#34;",
      "    integer16 x#126;y#123;z#125;", "  class Entity2[\"Odd#32;#34;one#34;#59;#32;2\"]",
      "  class Entity3[\"class\"]", "  class Entity4[\"toString\"]",
      "  class Entity5[\"作品\"] {",
      "  Note \"0..*\" --* \"0..1\" Entity2 : of, nullify / notes#59;#32;all, cascade",
      "  Entity2 --> \"0..1\" Entity3 : next, nullify", "  Note <|-- Entity3",
    ] {
      #expect(run.lines.contains { $0 == line }, "\(line) in \(run.output)")
    }
  }

  // MARK: SVG

  /// Texts and titles of an SVG file, as an XML reader finds them.
  private final class Reader: NSObject, XMLParserDelegate {
    var texts: [String] = []
    var elements: [String] = []
    private var text = ""

    static func read(_ svg: String) throws -> Reader {
      let reader = Reader()
      let parser = XMLParser(data: Data(svg.utf8))
      parser.delegate = reader
      try #require(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "no error")")
      return reader
    }

    func parser(
      _ parser: XMLParser, didStartElement element: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String]
    ) {
      elements.append(element)
      text = ""
    }

    func parser(_ parser: XMLParser, foundCharacters characters: String) { text += characters }

    func parser(
      _ parser: XMLParser, didEndElement element: String, namespaceURI: String?,
      qualifiedName: String?
    ) {
      if ["text", "title", "desc"].contains(element) { texts.append(text) }
    }
  }

  @Test(arguments: Fixtures.versions)
  func `the picture has every entity, property and relationship`(version: String) throws {
    let run = ToolRun("schema", Fixtures.store(version), "--format", "svg")
    #expect(run.code == .good)
    let texts = Set(try Reader.read(run.output).texts)
    let model = try PersistentStoreCoordinator.managedObjectModel(
      storedAt: URL(filePath: Fixtures.store(version)))
    for entity in model.entities {
      #expect(texts.contains(entity.name))
      for attribute in entity.declaration.attributes { #expect(texts.contains(attribute.name)) }
      for relationship in entity.declaration.relationships {
        #expect(texts.contains(relationship.name))
        let count = relationship.isToMany ? "0..*" : relationship.isOptional ? "0..1" : "1"
        #expect(
          texts.contains("\(count) \(relationship.destination), \(relationship.deleteRule)"))
      }
    }
    #expect(ToolRun("schema", Fixtures.store(version), "--format", "svg").output == run.output)
  }

  @Test func `names with signs of XML are the names that a reader finds`() throws {
    let folder = try TemporaryFolder()
    let run = ToolRun("schema", try store(of: Self.odd, in: folder), "--format", "svg")
    let texts = Set(try Reader.read(run.output).texts)
    for entity in Self.odd.entities {
      #expect(texts.contains(entity.name))
      for attribute in entity.declaration.attributes { #expect(texts.contains(attribute.name)) }
    }
  }

  @Test func `the picture describes itself, and knows light and dark`() throws {
    let run = ToolRun("schema", Fixtures.model, "--format", "svg")
    #expect(run.output.contains("role=\"img\" aria-labelledby="))
    #expect(run.output.contains("@media (prefers-color-scheme: dark)"))
    let reader = try Reader.read(run.output)
    #expect(reader.texts.first == "Gallery 2.7")
    let words = "Album.artists: to many Artist (0..*), delete rule nullify"
    #expect(reader.texts.contains { $0.hasPrefix("15 entities. ") && $0.contains(words) })
    #expect(!reader.elements.contains("script") && !reader.elements.contains("a"))
  }

  @Test(.enabled(if: RealData.isPresent, "\(RealData.absence)"))
  func `models of real applications are drawn`() throws {
    for path in [
      "artsy-folio/ArtsyPartner.xcdatamodeld", "duckduckgo-bookmarks/BookmarksModel.xcdatamodeld",
      "duckduckgo-bookmarks/SyncMetadata.xcdatamodeld",
      "wibosco-migration/CoreDataMigration_Example.xcdatamodeld",
    ] {
      let run = ToolRun("schema", try RealData.path(path), "--format", "svg")
      #expect(run.code == .good)
      #expect(try Reader.read(run.output).elements.contains("rect"))
    }
  }

  // MARK: Files and usage

  @Test func `a file gets the format of its name, and is kept unless forced`() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("gallery.svg")
    let run = ToolRun("schema", Fixtures.model, "--to", file)
    #expect(run.code == .good && run.output == "\(file)\n")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text == ToolRun("schema", Fixtures.model, "--format", "svg").output)

    let refused = ToolRun("schema", Fixtures.model, "--to", file, "--format", "mermaid")
    #expect(refused.code == .bad)
    #expect(refused.errors.contains("there is a file already, and it is kept: \(file)"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)

    let forced = ToolRun(
      "schema", Fixtures.model, "--to", file, "--format", "mermaid", "--force")
    #expect(forced.code == .good)
    #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("classDiagram"))

    #expect(ToolRun("schema", Fixtures.model, "--to", folder.path, "--force").code == .bad)
    let nowhere = ToolRun("schema", Fixtures.model, "--to", folder.path("no/where.svg"))
    #expect(nowhere.code == .bad)
    #expect(nowhere.errors.contains("there is no folder \(folder.path("no")) to write where.svg"))
  }

  @Test func `options that make no sense are wrong usage`() {
    for (arguments, words) in [
      (["--format", "png"], "--format takes swift, mermaid or svg, not “png”."),
      (["--force"], "--force goes with --to."),
    ] {
      let run = ToolRun(["schema", Fixtures.model] + arguments)
      #expect(run.code == .wrongUsage && run.errors.contains(words), "\(run.errors)")
    }
  }
}
