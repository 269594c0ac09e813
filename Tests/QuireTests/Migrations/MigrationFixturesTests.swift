import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct MigrationFixturesTests {
  private func check(
    _ folder: FixtureFolder, _ name: String, budget: Duration? = nil,
    counts: ExpectedCounts = [:], changedEntities: Set<String> = [], stepByStep: Bool = false,
    options: PersistentStoreOptions = .migrating,
    look: (ManagedObjectContext) throws -> Void = { _ in }
  ) throws -> [String] {
    try fixtureFailures {
      try MigrationFixture(at: folder.file(name)).check(
        migratingTo: FixtureFolder.model(), budget: budget, counts: counts,
        changedEntities: changedEntities, stepByStep: stepByStep, options: options, look: look)
    }
  }

  // MARK: What is looked at

  @Test func `a folder that is missing, empty or without fixtures is an error`() throws {
    try withTemporaryFolder { url in
      let model = try FixtureFolder.model()
      func failures(_ folder: URL) throws -> [[String]] {
        let fixtures = MigrationFixtures(in: folder)
        return [
          try fixtureFailures { _ = try fixtures.all },
          try fixtureFailures { try fixtures.check(migratingTo: model) },
          try fixtureFailures { try fixtures.requireFixtures(of: model) },
        ]
      }
      let missing = try failures(url.appending(path: "nowhere"))
      #expect(missing.allSatisfy { $0.count == 1 && $0[0].contains("no such folder") })
      let empty = try failures(url)
      #expect(empty.allSatisfy { $0.count == 1 && $0[0].contains("it is empty") })
      try Data("Read me".utf8).write(to: url.appending(path: "README.md"))
      let read = try failures(url)
      #expect(read.allSatisfy { $0.count == 1 && $0[0].contains("all it has is README.md") })
    }
  }

  @Test func `an error of a property that is looked at is a failure`() throws {
    final class Painter: ManagedObject {
      override class var modelEntityName: String { "Person" }
      @Managed var name: String?
    }
    try FixtureFolder.use { folder in
      let failures = try check(folder, "1.1.quire") { Painter(context: $0).name = "Hilma" }
      #expect(failures.count == 1 && failures[0].contains("class Painter is not registered"))
      #expect(try check(folder, "1.1.quire") == [])
    }
  }

  // A new one was expected to be absent, so that no model could ever get one.
  @Test func `derived attributes have what their expressions give of the migrated objects`() throws
  {
    func model(_ title: String, _ attributes: [Attribute]) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Order") {
          Attribute("number", .integer64)
          for attribute in attributes { attribute }
          Relationship("lines", toMany: "Line", inverse: "order")
        }
        Entity("Line") {
          Attribute(title, .string, renamedFrom: title == "name" ? nil : "name")
          Attribute("price", .double)
          Relationship("order", toOne: "Order", inverse: "lines")
        }
      }
    }
    let old = try model(
      "name",
      [
        Attribute("size", .integer64, derivedFrom: "lines.@count"),
        Attribute("saved", .date, derivedFrom: "now()"),
      ])
    let new = try model(
      "title",
      [
        Attribute("size", .double, derivedFrom: "lines.price.@sum"),
        Attribute("saved", .date, derivedFrom: "now()"),
        Attribute("again", .date, derivedFrom: "now()"),
        Attribute("count", .integer64, derivedFrom: "lines.@count"),
        Attribute("dearest", .double, derivedFrom: "lines.price.@max"),
        Attribute("twice", .integer64, optional: false, default: 7, derivedFrom: "number * 2"),
      ])
    let versions = try #require(VersionedModel(versions: [.init("1", old), .init("2", new)]))
    try withTemporaryFolder { url in
      let fixtures = MigrationFixtures(in: url)
      try fixtures.record(try #require(versions.endingAt("1"))) { context in
        for number in [nil, 1, 2] as [Int?] {
          let order = try context.insert("Order", number.map { ["number": $0] } ?? [:])
          for line in 0..<(number ?? 0) {
            try context.insert("Line", ["name": "x", "price": 0.1 + Double(line), "order": order])
          }
        }
      }
      try fixtures.check(migratingTo: versions, stepByStep: true) { _, context in
        var request = FetchRequest<ManagedObject>(entityName: "Order")
        request.sortDescriptors = [FetchSortDescriptor(key: "number")]
        let orders = try context.fetch(request)
        #expect(try orders.map { try $0.value(forKey: "count") as? Int } == [0, 1, 2])
        #expect(try orders.map { try $0.value(forKey: "twice") as? Int } == [7, 2, 4])
      }
    }
  }

  @Test func `fixtures are found in subfolders, in the order of their numbers`() throws {
    try FixtureFolder.use { folder in
      let model = try FixtureFolder.model()
      for name in ["1.10", "1.1.5", "phones/2.0", "phones/10"] {
        try folder.fixtures.record(model, named: name, fill: FixtureFolder.fill)
      }
      try Data().write(to: folder.file(".gitignore"))
      try Data("Notes".utf8).write(to: folder.file("phones/Notes.TXT"))
      try FileManager.default.createDirectory(
        at: folder.file("People.xcdatamodeld"), withIntermediateDirectories: true)
      try Data("<model/>".utf8).write(to: folder.file("People.xcdatamodeld/contents"))
      let fixtures = folder.fixtures
      #expect(
        try fixtures.all.map(\.name) == [
          "1.0.quire", "1.1.quire", "1.1.5.quire", "1.10.quire", "phones/2.0.quire",
          "phones/10.quire",
        ])
      #expect(
        try fixtures.ignoredFiles == [
          ".gitignore", "People.xcdatamodeld/contents", "phones/Notes.TXT",
        ])
      try fixtures.check(migratingTo: model, stepByStep: false)
      let some = MigrationFixtures(in: folder.url, ignoring: ["phones", "1.10.quire"])
      #expect(try some.all.map(\.name) == ["1.0.quire", "1.1.quire", "1.1.5.quire"])
      #expect(try some.ignoredFiles.contains("phones/10.quire"))
    }
  }

  @Test(arguments: [
    ("cut", "1.0.quire"), ("empty", "1.0.quire"), ("flipped", "1.0.quire"),
    ("a pointer of Git LFS", "1.0.quire"), ("SQLite", "people.sqlite"),
    ("a log without its store", "1.2.quire-log"), ("what nobody knows", "data"),
  ])
  func `a fixture file that is not a sound store is always reported`(_ what: String, _ name: String)
    throws
  {
    try FixtureFolder.use { folder in
      var bytes = try Data(contentsOf: folder.file("1.0.quire"))
      switch what {
      case "cut": bytes = bytes.prefix(bytes.count / 2)
      case "empty": bytes = Data()
      case "flipped": bytes[bytes.count - 100] ^= 1
      case "a pointer of Git LFS":
        bytes = Data("version https://git-lfs.github.com/spec/v1\noid sha256:0".utf8)
      case "SQLite": bytes = Data("SQLite format 3\0".utf8)
      default: bytes = Data("nothing".utf8)
      }
      try bytes.write(to: folder.file(name))
      let model = try FixtureFolder.model()
      let checked = try fixtureFailures { try folder.fixtures.check(migratingTo: model) }
      #expect(checked.count == 1 && checked[0].contains("“\(name)”"), "\(checked)")
      let required = try fixtureFailures { try folder.fixtures.requireFixtures(of: model) }
      #expect(required.contains { $0.contains("“\(name)”") }, "\(required)")
      if what == "flipped" { #expect(checked[0].contains("before any migration it is unsound")) }
      if what == "a pointer of Git LFS" { #expect(checked[0].contains("git lfs pull")) }
      if what == "SQLite" { #expect(checked[0].contains("quire import")) }
    }
  }

  // MARK: What is not touched

  @Test func `fixtures are not written to, and may lie where nobody may write`() throws {
    try FixtureFolder.use { folder in
      let before = try folder.contents()
      let manager = FileManager.default
      for name in before.keys {
        try manager.setAttributes(
          [.posixPermissions: 0o444], ofItemAtPath: folder.file(name).path(percentEncoded: false))
      }
      let path = folder.url.path(percentEncoded: false)
      try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: path)
      defer { try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path) }
      try folder.fixtures.check(
        migratingTo: FixtureFolder.model(), budget: .seconds(10), stepByStep: false
      ) { _, context in
        // A copy can be written to, whatever its original allows.
        try FixtureFolder.fill(context)
        try context.save()
      }
      #expect(try folder.contents() == before)
      try withTemporaryFolder { copies in
        let check = try MigrationCheck(
          of: folder.file("1.0.quire"), to: FixtureFolder.model(), in: copies)
        let attributes = try manager.attributesOfItem(
          atPath: check.store.path(percentEncoded: false))
        // Root may write to anything, so that the mode is asked too.
        #expect((attributes[.posixPermissions] as? Int ?? 0) & 0o200 != 0)
      }
    }
  }

  @Test func `a store that was never closed is a fixture, with the log beside it`() throws {
    try FixtureFolder.use { folder in
      try withTemporaryFolder { other in
        let store = other.appending(path: "app.quire")
        let coordinator = PersistentStoreCoordinator(
          versionedModel: try #require(try FixtureFolder.model().endingAt("1.1")))
        try coordinator.addPersistentStore(type: .quire, at: store)
        let context = GotchaHome.context(of: coordinator)
        try FixtureFolder.fill(context)
        try context.save()
        // As after a crash: both files, and the owner's note.
        for suffix in ["", "-log", "-owner"] {
          try FileManager.default.copyItem(
            at: URL(filePath: store.path(percentEncoded: false) + suffix),
            to: folder.file("crashed.quire\(suffix)"))
        }
      }
      let before = try folder.contents()
      #expect(before.count == 5)
      #expect(try folder.fixtures.all.map(\.name) == ["1.0.quire", "1.1.quire", "crashed.quire"])
      #expect(try check(folder, "crashed.quire", counts: ["Person": 2]) == [])
      try folder.fixtures.requireFixtures(of: FixtureFolder.model())
      #expect(try folder.contents() == before)
    }
  }

  @Test func `whoever changes a fixture during its check is found out`() throws {
    try FixtureFolder.use { folder in
      let changed = try check(folder, "1.0.quire") { _ in
        try Data("mine".utf8).write(to: folder.file("1.0.quire"))
      }
      #expect(changed.count == 1 && changed[0].contains("changed 1.0.quire"), "\(changed)")
      let made = try check(folder, "1.1.quire") { _ in
        try Data().write(to: folder.file("1.1.quire-owner"))
      }
      #expect(made.count == 1 && made[0].contains("made 1.1.quire-owner"), "\(made)")
    }
  }

  // MARK: What is expected

  @Test func `time counts when there is a budget, and the best of three copies counts`() throws {
    try FixtureFolder.use { folder in
      #expect(try check(folder, "1.0.quire") == [])
      #expect(try check(folder, "1.0.quire", budget: .seconds(10)) == [])
      let late = try check(folder, "1.0.quire", budget: .zero)
      #expect(late.count == 1)
      #expect(late[0].contains("the best of 3 copies, and may take 0.0 ms"), "\(late)")
    }
  }

  @Test func `all failures of a fixture are in one error, which reads well`() throws {
    struct Sadness: Error, CustomStringConvertible { let description = "Hilma is not there" }
    try FixtureFolder.use { folder in
      let error = try #require(throws: MigrationFixtureError.self) {
        try MigrationFixture(at: folder.file("1.0.quire")).check(
          migratingTo: FixtureFolder.model(), counts: ["Person": 3, "Nobody": 1],
          changedEntities: ["Elf"]
        ) { context in
          let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
          #expect(try people.map { try $0.value(forKey: "name") as? String }.count == 2)
          throw Sadness()
        }
      }
      #expect(
        "\(error)" == """
          4 failures of the fixture “1.0.quire”:
            1. Nobody is expected of the fixture, but the current model has no such entity
            2. Elf is expected of the fixture, but the current model has no such entity
            3. Person: objects: 2 instead of 3
            4. the application's own check says: Hilma is not there
          """)
    }
  }

  @Test func `counts are those of the fixtures they are given for, which must be there`() throws {
    try FixtureFolder.use { folder in
      let failures = try fixtureFailures {
        try folder.fixtures.check(
          migratingTo: FixtureFolder.model(),
          counts: ["1.0.quire": ["Person": 2], "1.1.quire": ["Person": 1], "1.2.quire": [:]])
      }
      #expect(failures.count == 2)
      #expect(failures.first?.contains("there is no fixture “1.2.quire”") == true, "\(failures)")
      #expect(failures.last?.contains("Person: objects: 2 instead of 1") == true)
      #expect(failures.last?.contains("“1.1.quire”") == true)
    }
  }

  @Test func `the options are those of the application`() throws {
    try FixtureFolder.use { folder in
      let failures = try check(folder, "1.0.quire", options: [:])
      #expect(failures.count == 1 && failures[0].contains("error 134100"), "\(failures)")
    }
  }

  @Test func `an entity whose count is another one on purpose is counted and no more`() throws {
    try FixtureFolder.use { folder in
      let before = try StoreSurvey(of: folder.file("1.1.quire"))
      let store = folder.file("merged.quire")
      try FileManager.default.copyItem(at: folder.file("1.1.quire"), to: store)
      let model = try #require(try FixtureFolder.model().endingAt("1.1"))
      let coordinator = PersistentStoreCoordinator(versionedModel: model)
      let opened = try coordinator.addPersistentStore(type: .quire, at: store)
      let context = GotchaHome.context(of: coordinator)
      let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
      try people[0].setValue("Both", forKey: "name")
      context.delete(people[1])
      try context.save()
      try coordinator.remove(opened)
      let after = try StoreSurvey(of: store)
      func failures(_ expectations: MigrationExpectations) -> [String] {
        var comparison = SurveyComparison(before, after, model.current, expectations)
        comparison.compare()
        return comparison.failures
      }
      #expect(failures(.init()).count == 5, "\(failures(.init()))")
      #expect(failures(.init(counts: ["Person": 1])) == [])
      #expect(failures(.init(counts: .init { $0 == "Person" ? $1 / 2 : nil })) == [])
      #expect(failures(.init(counts: ["Person": 0])) == ["Person: objects: 1 instead of 0"])
      #expect(failures(.init(changedEntities: ["Person"])) == [])
      #expect(failures(.init(counts: ["Person": 2])).count == 5)
    }
  }

  @Test func `a check step by step finds values that only the single steps lose`() throws {
    try FixtureFolder.use { folder in
      #expect(try check(folder, "1.0.quire") == [])
      #expect(try check(folder, "1.1.quire", stepByStep: true) == [])
      let failures = try check(folder, "1.0.quire", stepByStep: true)
      #expect(
        failures
          == ["Hilma", "Wassily"].indices.map {
            "step by step (1.1, 2.0) the outcome is another one: "
              + "Person/p\($0 + 1).nick is nothing instead of \"x\""
          })
    }
  }
}
