import Quire
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Copies of a store of an old version, whose migration is deferred.
struct DeferredTrial {
  private let fixture: URL
  private let versions: VersionedModel
  private let folder: URL

  init(_ fixture: URL, _ versions: VersionedModel, _ folder: URL) {
    self.fixture = fixture
    self.versions = versions
    self.folder = folder
  }

  /// A copy that was opened with the option to defer.
  func migrated(_ name: String) throws -> (url: URL, store: PersistentStoreCoordinator) {
    let url = folder.appending(path: name)
    try FileManager.default.copyItem(at: fixture, to: url)
    return (url, try open(url, options: .deferring))
  }

  func open(
    _ url: URL, options: PersistentStoreOptions = [:]
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(versionedModel: versions)
    try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    return coordinator
  }

  static func close(_ coordinator: PersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// That whoever looks at a deferred migration, at any time, finds what one that was made at once
  /// has made; and that in the end nothing tells the two apart.
  func expectTheSame(as immediate: URL) throws {
    let survey = try StoreSurvey(of: immediate)
    let (slowly, coordinator) = try migrated("slices")
    var isLeft = try coordinator.persistentStores.first?.deferredMigration() != nil
    try Self.close(coordinator)
    try expectTheSame(slowly, survey, "before it is finished")
    while isLeft {
      let coordinator = try open(slowly)
      isLeft = try coordinator.finishDeferredMigration(objectLimit: 60)
      try Self.close(coordinator)
      try expectTheSame(slowly, survey, "between slices")
    }
    let (atOnce, other) = try migrated("at once")
    try other.finishDeferredLightweightMigration()
    try Self.close(other)
    let rows = try Self.content(of: immediate)
    for url in [slowly, atOnce] {
      try expectTheSame(url, survey, "when it is finished")
      #expect(try StoreSummary(of: url).deferredMigration == nil)
      #expect(try Self.content(of: url) == rows)
    }
  }

  private func expectTheSame(_ url: URL, _ survey: StoreSurvey, _ when: Comment) throws {
    var comparison = SurveyComparison(
      survey, try StoreSurvey(of: url), versions.current, MigrationExpectations())
    comparison.compare()
    #expect(comparison.failures == [], when)
    #expect(try StoreInspection(of: url).findings == [], when)
  }

  /// Every entry of every tree, but for the history of migrations.
  static func content(of url: URL) throws -> [String: [UInt8]] {
    var options = PageStoreOptions()
    options.isReadOnly = true
    let pages = try PageStore.open(url.path(percentEncoded: false), options: options)
    defer { try? pages.close() }
    return try pages.read { snapshot in
      var content: [String: [UInt8]] = [:]
      for tree in try snapshot.treeNames() {
        if tree.kind == .record, var cursor = try snapshot.recordTree(tree.name)?.cursor() {
          var isInside = try cursor.first()
          while isInside {
            content["\(tree.name) \(try cursor.key)"] = Array(try cursor.valueBytes)
            isInside = try cursor.next()
          }
        } else if var cursor = try snapshot.indexTree(tree.name)?.cursor() {
          var isInside = try cursor.first()
          while isInside {
            let key = String(decoding: try cursor.key, as: UTF8.self)
            content["\(tree.name) \(key)"] = Array(try cursor.valueBytes)
            isInside = try cursor.next()
          }
        }
      }
      content["schema migrations"] = nil
      return content
    }
  }

  /// Changes the schema of a closed store behind everybody's back.
  static func changeSchema(
    of url: URL, _ body: (MutableIndexTree) throws -> Void
  ) throws {
    let pages = try PageStore.open(url.path(percentEncoded: false))
    defer { try? pages.close() }
    try pages.write { transaction in
      try body(try #require(try transaction.mutableIndexTree("schema")))
    }
  }
}
