import Foundation
import Quire
import QuireSimulation
import QuireTool
import QuireXcode
import Testing

/// Code that is generated of a model that has everything a model can have: the files in the folder
/// `Generated` beside this one. They are a part of these tests, so that the compiler has read them.
@Suite struct GeneratedCodeTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Generated")

  private static let classes: [ManagedObject.Type] = [
    EveryArticle.self, EveryMaker.self, EverySale.self, EverySold.self, Shelf.self, Workshop.self,
  ]

  /// Compares with the files that are there, and leaves what is generated now for a look at it.
  private func compare(_ code: GeneratedCode) throws {
    for file in code.files {
      let url = Self.folder.appending(path: file.name)
      let text = try? String(contentsOf: url, encoding: .utf8)
      if text == file.text { continue }
      let place = URL(filePath: TemporaryFolder.parent).appending(path: "Generated")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try Data(file.text.utf8).write(to: place.appending(path: file.name))
      Issue.record("\(file.name) is generated otherwise: see \(place.path)")
    }
  }

  @Test func `classes of a model that has everything are as they were`() throws {
    let code = ClassGenerator.code(of: try EverythingModel.make(), .classes)
    #expect(code.files.map(\.name) == Self.classes.map { "\($0).swift" })
    try compare(code)
    #expect(
      code.notes == [
        "not in the classes: the model's fetch request templates (all, cheap)",
        "not in the classes: the model's configurations (Cloud, Empty)",
        "not in the classes: the model's user info (owner, place)",
        "not in the classes: the model's localized names (Entity/Article, "
          + "Property/title/Entity/Article)",
      ])
  }

  @Test func `all classes may be in one file`() throws {
    let folder = try TemporaryFolder()
    let model = Fixtures.store("Gallery 2.7")
    #expect(ToolRun("generate", model, "--to", folder.path("many")).code == .good)
    let run = ToolRun("generate", model, "--to", folder.path("one"), "--file", "All.swift")
    #expect(run.code == .good)
    let text = try String(contentsOfFile: folder.path("one") + "/All.swift", encoding: .utf8)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path("many")) {
      let part = try String(contentsOfFile: folder.path("many") + "/\(name)", encoding: .utf8)
      let body = part.split(separator: "\n\n", maxSplits: 1)[1]
      #expect(part.hasPrefix("import ") && text.contains(body), "\(name)")
    }
    #expect(text.components(separatedBy: "import Quire\n").count == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("one")).count == 1)
    for wrong in ["All", "../All.swift"] {
      let refused = ToolRun("generate", model, "--to", folder.path("two"), "--file", wrong)
      #expect(refused.code == .wrongUsage)
    }
  }

  @Test func `classes declare the model that they are generated of`() throws {
    let model = try EverythingModel.make()
    let made = try ManagedObjectModel(for: Self.classes)
    #expect(made.versionChecksum == model.versionChecksum)
    let (facts, expected) = (Facts(made), Facts(model))
    for (one, other) in zip(facts.entities, expected.entities) {
      #expect(one.attributes == other.attributes)
      #expect(one.relationships == other.relationships)
      #expect(one == other)
    }
    #expect(facts.entities.count == expected.entities.count)
  }

  @Test func `classes do not contradict the model that they are generated of`() throws {
    let container = PersistentContainer(
      name: "Everything", managedObjectModel: try EverythingModel.make(), classes: Self.classes)
    try container.persistentStoreCoordinator.checkClasses()
  }

  @Test func `the code of a model makes that model, which has the same code`() throws {
    try compare(
      ModelGenerator.code(
        of: try EverythingModel.make(), name: "EverythingModel", title: "Everything"))
  }

  @Test func `plain classes have types and names alone`() throws {
    let code = ClassGenerator.code(of: try EverythingModel.make(), .plain)
    let sale = try #require(code.files.first { $0.name == "EverySale.swift" })
    #expect(
      sale.text == """
        import Quire

        final class EverySale: EverySold {
          override class var modelEntityName: String { "Sale" }

          @Managed var article: EveryArticle
        }

        """)
    let article = try #require(code.files.first { $0.name == "EveryArticle.swift" })
    for line in [
      "  @Managed var amount: Int16", "  @Managed var home: URL?", "  @Managed var tags: Data?",
      "  @Managed var bytes: Data", "  @Managed var `class`: String?",
      "  // No property “description”: every object has one of this name.",
      "  // No property “size”: an attribute of the type composite has none.",
    ] {
      #expect(article.text.contains("\(line)\n"), "\(line)")
    }
    #expect(!article.text.contains("entityDeclaration") && !article.text.contains("@Managed("))
  }

  @Test func `no line is longer than the formatter lets it be`() throws {
    let model = try EverythingModel.make()
    let codes = [
      ClassGenerator.code(of: model, .classes), ClassGenerator.code(of: model, .plain),
      ModelGenerator.code(of: model, name: "Model", title: "Everything"),
    ]
    for file in codes.flatMap(\.files) {
      for line in file.text.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
    }
  }

  /// What classes say of a model: without what nothing here depends on, and in no order.
  private struct Facts {
    var entities: [Entity]

    init(_ model: ManagedObjectModel) {
      entities = model.declaration.entities.map { entity in
        var entity = entity
        entity.managedObjectClassName = nil
        entity.coreSpotlightDisplayNameExpression = nil
        entity.attributes = entity.attributes.map { attribute in
          var attribute = attribute
          attribute.usesScalarValueType = false
          attribute.isIndexedBySpotlight = false
          attribute.allowsCloudEncryption = false
          attribute.isIndexed = false
          return attribute
        }.sorted { $0.name < $1.name }
        entity.relationships = entity.relationships.map { relationship in
          var relationship = relationship
          relationship.isIndexedBySpotlight = false
          return relationship
        }.sorted { $0.name < $1.name }
        entity.indexes.sort { $0.name < $1.name }
        entity.uniquenessConstraints.sort { $0.joined() < $1.joined() }
        return entity
      }
    }
  }
}

@Suite struct GenerateCommandTests {
  /// What the compiler says about files, with the modules of this build.
  private func diagnosesOfCompiler(_ folder: URL) throws -> String {
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "swift" }
    let modules = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "Modules")
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments =
      [
        "swiftc", "-swift-version", "6", "-parse-as-library", "-typecheck", "-module-name", "App",
        "-diagnostic-style", "llvm", "-I", modules.path(),
      ] + files.map { $0.path() }.sorted()
    let pipe = Pipe()
    compiler.standardError = pipe
    try compiler.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    compiler.waitUntilExit()
    return text
  }

  // In debug each form is compiled once, here or for names that types have: each compilation takes
  // two seconds.
  @Test(
    arguments: Amount.of(
      debug: [["--form", "classes"], ["--model-code"]],
      release: [["--form", "classes"], ["--form", "plain"], ["--model-code"]]))
  func `code generated from the gallery's model compiles`(_ options: [String]) throws {
    let folder = try TemporaryFolder()
    let run = ToolRun(["generate", Fixtures.model, "--to", folder.path("Gallery")] + options)
    #expect(run.code == .good && run.errors.isEmpty, "\(run.errors)")
    #expect(run.lines.count == (options == ["--model-code"] ? 1 : 15))
    let diagnoses = try diagnosesOfCompiler(folder.url.appending(path: "Gallery"))
    #expect(diagnoses.isEmpty, "\(diagnoses)")
  }

  @Test func `classes whose names are taken by types compile`() throws {
    let model = try ManagedObjectModel {
      Entity("Set") {
        Attribute("weight", .double)
        Relationship("workouts", toMany: "Workout", inverse: "sets")
      }
      Entity("Workout") {
        Attribute("date", .date, default: .date(Date(timeIntervalSinceReferenceDate: 0)))
        Relationship("sets", toMany: "Set", ordered: true)
        FetchIndex("byBoth", on: "date")
      }
      Entity("Date") { Attribute("string", .string) }
      Entity("Entity", abstract: true)
      Entity("String") { Attribute("init", .string) }
      Entity("Type") { Attribute("self", .string) }
      Entity("my entity")
      Entity("tag")
      Entity("Tag", class: "ManagedObject")
      Entity("One", class: "Same")
      Entity("Two", class: "Same")
      Entity("Managed")
    }
    for form in Amount.of(debug: [.plain], release: ClassGenerator.Form.allCases) {
      let folder = try TemporaryFolder()
      let code = ClassGenerator.code(of: model, form)
      #expect(
        code.files.map(\.name) == [
          "Date.swift", "Entity.swift", "EntityType.swift", "Managed.swift", "MyEntity.swift",
          "One.swift", "Set.swift", "String.swift", "Tag.swift", "Two.swift", "Workout.swift",
          "tag2.swift",
        ])
      for file in code.files {
        try Data(file.text.utf8).write(to: folder.url.appending(path: file.name))
      }
      let diagnoses = try diagnosesOfCompiler(folder.url)
      #expect(diagnoses.isEmpty, "\(diagnoses)")
    }
  }

  @Test func `names that no property can have are the names that do not compile`() throws {
    let sources = Fixtures.folder.deletingLastPathComponent().appending(path: "Sources/Quire")
    let files = try #require(FileManager.default.enumerator(atPath: sources.path()))
    var names: Set<String> = ["hashValue", "predicateValue"]
    for case let file as String in files where file.contains("Objects/ManagedObject") {
      let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
      for match in text.matches(of: /\n  (?:public final|open) var (\w+)/) {
        names.insert(String(match.1))
      }
      // Those that a class may declare anew with another type; a model had better not.
      for part in text.matches(of: /extension PropertyReading \{(?s:.*?)\n\}/) {
        for match in part.output.matches(of: /\n  public var (\w+)/) {
          names.insert(String(match.1))
        }
      }
    }
    #expect(SwiftNames.propertiesOfObjects == names)
  }

  @Test func `a store's model is written, and a version by its name`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.3")
    #expect(ToolRun("generate", store, "--to", folder.path("a"), "--model-code").code == .good)
    let run = ToolRun(
      "generate", Fixtures.model, "--version", "Gallery 1.3", "--to", folder.path("b"),
      "--model-code", "--name", "First")
    #expect(run.output == folder.path("b/First.swift") + "\n")
    func text(_ name: String) throws -> String {
      try String(contentsOf: folder.url.appending(path: name), encoding: .utf8)
    }
    let first = try text("a/Model.swift").replacing("enum Model {", with: "enum First {")
    #expect(try text("b/First.swift") == first)
  }

  @Test func `files that are there are kept, and none is written beside them`() throws {
    let folder = try TemporaryFolder()
    let place = folder.path("Shop")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let file = "\(place)/Show.swift"
    try Data("// mine\n".utf8).write(to: URL(filePath: file))
    let refused = ToolRun("generate", Fixtures.model, "--to", place)
    #expect(refused.code == .bad && refused.output.isEmpty)
    #expect(refused.errors.contains("there is a file already: \(file)"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["Show.swift"])

    let forced = ToolRun("generate", Fixtures.model, "--to", place, "--force")
    #expect(forced.code == .good)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place).count == 15)
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("class Show: ManagedObject"))
  }

  @Test func `a folder in the place of a file leaves everything as it was`() throws {
    let folder = try TemporaryFolder()
    let place = folder.path("Shop")
    try FileManager.default.createDirectory(
      atPath: "\(place)/User.swift", withIntermediateDirectories: true)
    let run = ToolRun("generate", Fixtures.model, "--to", place, "--force")
    #expect(run.code == .bad && run.errors.contains("\(place)/User.swift"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["User.swift"])
  }

  @Test func `options that make no sense are wrong usage`() throws {
    for (arguments, words) in [
      ([], "--to FOLDER is missing."),
      (["--to", "x", "--form", "tidy"], "--form takes classes or plain, not “tidy”."),
      (["--to", "x", "--name", "Model"], "--name goes with --model-code."),
      (["--to", "x", "--model-code", "--form", "plain"], "--form is of classes"),
      (["--to", "x", "--model-code", "--name", "a b"], "“a b” cannot be the name of a type"),
    ] {
      let run = ToolRun(["generate", Fixtures.model] + arguments)
      #expect(run.code == .wrongUsage)
      #expect(run.errors.contains(words), "\(run.errors)")
    }
  }
}
