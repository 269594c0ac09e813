import Foundation
import Quire
import QuireModel
import QuireXcode
import Testing

@Suite struct XcodeModelHistoryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `versions named like the model come first, numbers count as numbers`() throws {
    for name in ["Shop", "Shop 2", "Shop 10", "Store v1.9", "Store v1.10", "Store v1.10.1"] {
      try addVersion(name)
    }
    try setCurrent("Shop 10.xcdatamodel")
    let model = try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld"))
    #expect(
      model.versions.map(\.name)
        == ["Shop", "Shop 2", "Shop 10", "Store v1.9", "Store v1.10", "Store v1.10.1"])
    #expect(model.currentVersion.name == "Shop 10")
    #expect(model.name == "Shop")
  }

  /// They were ordered by the words before the version.
  @Test func `a version in a name counts before the words around it`() throws {
    let names = [
      "Shop", "Shop 2", "Old", "Shop_cart_v3", "Shop_v4", "Shop_basket_v11", "Shop_a_V12_b",
      "Shop-version 13", "Shop_search_v13.2",
    ]
    for name in names.reversed() { try addVersion(name) }
    try setCurrent("Shop.xcdatamodel")
    let model = try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld"))
    #expect(model.versions.map(\.name) == names)
  }

  /// An application may have a hundred of them, and each takes some milliseconds.
  @Test func `versions that no store needs are not read`() throws {
    for (number, name) in ["Shop", "Shop 2", "Shop 3", "Shop 4"].enumerated() {
      try folder.write(
        #"<model><entity name="A"><attribute name="a\#(number)" optional="YES" attributeType="String"/></entity></model>"#,
        to: "Shop.xcdatamodeld/\(name).xcdatamodel/contents")
    }
    try setCurrent("Shop 4.xcdatamodel")
    let document = folder.file("Shop.xcdatamodeld")
    let store = folder.file("shop.quire")
    try withStore(
      try #require(try VersionedModel(contentsOf: document).version(named: "Shop 2")).model, store
    ) {
      _ = try EntityDescription.insertNewObject(forEntityName: "A", into: $0)
      try $0.save()
    }
    // The store has no name of its version now; it gets one.
    let second = try #require(try VersionedModel(contentsOf: document).endingAt("Shop 2"))
    let coordinator = PersistentStoreCoordinator(versionedModel: second)
    try coordinator.remove(try coordinator.addPersistentStore(type: .quire, at: store))

    let model = try VersionedModel(contentsOf: document)
    for name in ["Shop", "Shop 3"] {
      try folder.write("rubbish", to: "Shop.xcdatamodeld/\(name).xcdatamodel/contents")
    }
    let plan = try #require(try MigrationPlan.plan(forStoreAt: store, to: model))
    #expect(plan.sourceVersion == "Shop 2")
    let opened = PersistentStoreCoordinator(versionedModel: model)
    let migrated = try opened.addPersistentStore(type: .quire, at: store, options: .migrating)
    #expect(migrated.migrationReport?.plans.count == 1)
    try opened.remove(migrated)
    // What nobody has asked for is read now.
    #expect(model.versions.map(\.name) == ["Shop 2", "Shop 4"])
    #expect(model.unreadableVersions.map(\.name) == ["Shop", "Shop 3"])
  }

  @Test func `a single version needs no note of which is current`() throws {
    try addVersion("Shop")
    let model = try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld"))
    #expect(model.currentVersion.name == "Shop")
    let same = try VersionedModel(
      contentsOf: folder.file("Shop.xcdatamodeld").appendingPathComponent("Shop.xcdatamodel"))
    #expect(same.versions == model.versions)
  }

  @Test func `a current version that is not there is an error that lists those that are`() throws {
    try addVersion("Shop")
    try addVersion("Shop 2")
    try setCurrent("Shop 3.xcdatamodel")
    #expect { try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld")) } throws: {
      ($0 as? XcodeModelError)?.reason == .noSuchVersion("Shop 3", versions: ["Shop", "Shop 2"])
    }
    try folder.write("not a list", to: "Shop.xcdatamodeld/.xccurrentversion")
    #expect { try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld")) } throws: {
      "\($0)".contains("not a property list")
    }
  }

  @Test func `a folder without versions and one that is not there are refused`() throws {
    try folder.write("x", to: "Shop.xcdatamodeld/readme")
    #expect { try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld")) } throws: {
      "\($0)".contains("has no version")
    }
    #expect(throws: XcodeModelError.self) {
      try VersionedModel(contentsOf: folder.file("None.xcdatamodeld"))
    }
  }

  @Test func `a version that cannot be loaded does not block the others`() throws {
    try addVersion("Shop")
    try folder.write([1, 2], to: "Shop.xcdatamodeld/Shop 2.xcdatamodel/elements")
    try folder.write("<model><entity", to: "Shop.xcdatamodeld/Shop 3.xcdatamodel/contents")
    try folder.write(
      #"<model><entity name="A"/><entity name="A"/></model>"#,
      to: "Shop.xcdatamodeld/Shop 4.xcdatamodel/contents")
    try addVersion("Shop 5")
    try setCurrent("Shop 5.xcdatamodel")
    let history = try XcodeModelHistory(contentsOf: folder.file("Shop.xcdatamodeld"))
    #expect(history.versions.map(\.name) == ["Shop", "Shop 5"])
    #expect(history.unreadableVersions.map(\.name) == ["Shop 2", "Shop 3", "Shop 4"])
    #expect(history.unreadableVersions[0].error.reason == .binaryForm)
    let model = history.versionedModel
    #expect(model.versions.map(\.name) == ["Shop", "Shop 5"])
    #expect(model.unreadableVersions.map(\.name) == ["Shop 2", "Shop 3", "Shop 4"])
    #expect(model.unreadableVersions[0].reason.contains("before version 4.3"))
    #expect(model.endingAt("Shop")?.unreadableVersions.count == 3)
  }

  @Test func `the current version must be readable, and a store says which are not`() throws {
    try addVersion("Shop")
    try folder.write([1, 2], to: "Shop.xcdatamodeld/Shop 2.xcdatamodel/elements")
    try setCurrent("Shop 2.xcdatamodel")
    #expect { try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld")) } throws: {
      ($0 as? XcodeModelError)?.reason == .binaryForm
    }
    try setCurrent("Shop.xcdatamodel")
    let model = try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld"))
    let other = try ManagedObjectModel { Entity("B") }
    let url = folder.file("b.quire")
    try withStore(other, url) {
      _ = try EntityDescription.insertNewObject(forEntityName: "B", into: $0)
      try $0.save()
    }
    do {
      _ = try PersistentStoreCoordinator(versionedModel: model)
        .addPersistentStore(type: .quire, at: url, options: .migrating)
      Issue.record("no error")
    } catch let error as PersistenceError {
      #expect(error.code == .migrationMissingSourceModel)
      #expect(error.message.contains("“Shop 2”"), "\(error.message)")
    }
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "B")
    writer.addTable("ZB", [], [])
    #expect { try writer.store(in: folder).contents(in: model) } throws: {
      "\($0)".contains("“Shop 2”")
    }
  }

  private func addVersion(_ name: String) throws {
    try folder.write(
      "<model><entity name=\"A\"/></model>", to: "Shop.xcdatamodeld/\(name).xcdatamodel/contents")
  }

  private func setCurrent(_ name: String) throws {
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict>
      </plist>
      """, to: "Shop.xcdatamodeld/.xccurrentversion")
  }
}
