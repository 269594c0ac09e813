import Foundation
import Quire
import QuireModel
import QuireSimulation
import QuireXcode
import Testing

@Suite struct RandomLeftoversTests {
  /// What is left of an object to compare: its values, and the key of its parent.
  private struct Content: Hashable, CustomStringConvertible {
    var entity: String
    var key: Int64
    var values: [String]
    var parent: Int64?
    var description: String { "\(entity) \(key) \(values) of \(parent.map { "\($0)" } ?? "-")" }
  }

  private static func text(_ value: Any?) -> String {
    switch value {
    case nil: "-"
    case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
    case let flag as Bool: flag ? "1" : "0"
    case let other?: "\(other)"
    }
  }

  private static func text(_ value: SQLiteValue) -> String {
    switch value {
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    case .null, .blob: "-"
    }
  }

  private func expected(_ project: RandomLeftovers) -> Set<Content> {
    var result: Set<Content> = []
    for (number, objects) in project.objects.enumerated() {
      for (index, object) in objects.enumerated() {
        result.insert(
          Content(
            entity: project.name(number, project.last), key: Int64(index + 1),
            values: object.values.map(Self.text), parent: object.parent.map { Int64($0 + 1) }))
      }
    }
    return result
  }

  private func contents(
    _ url: URL, _ model: ManagedObjectModel, _ project: RandomLeftovers
  ) throws -> Set<Content> {
    try withStore(model, url) { context in
      var result: Set<Content> = []
      for (number, entity) in project.entities.enumerated() {
        let name = project.name(number, project.last)
        for object in try context.fetch(FetchRequest<ManagedObject>(entityName: name)) {
          let hasParent = number > 0 && project.entities[number - 1].hasChildren
          let parent = hasParent ? try object.value(forKey: "parent") as? ManagedObject : nil
          result.insert(
            Content(
              entity: name, key: object.objectID.key,
              values: try entity.attributes.map { Self.text(try object.value(forKey: $0.name)) },
              parent: parent?.objectID.key))
        }
      }
      return result
    }
  }

  private func check(_ project: RandomLeftovers) throws {
    let folder = try TemporaryFolder()
    try project.write(to: folder)
    let history = try XcodeModelHistory(contentsOf: folder.file("Model.xcdatamodeld"))
    #expect(Set(history.unreadableVersions.map(\.name)) == Set(project.legacy))
    #expect(history.versions.count == RandomLeftovers.versionCount)
    let versions = history.versionedModel
    let model = versions.current
    let url = folder.file("Model.quire")
    let report = try CoreDataImport(of: folder.file("Model.sqlite"), in: versions).write(to: url)
    #expect(report.isComplete, "\(report)")
    // Where nothing was renamed last, versions have one structure, and none is better.
    let version = try #require(versions.version(named: report.version))
    #expect(version.model.entities.map(\.name) == model.entities.map(\.name))
    let renamed = project.entities.indices.filter {
      project.name($0, project.listed[$0]) != project.name($0, project.last)
    }
    #expect(report.notes.filter { $0.contains("renamed in place") }.count == renamed.count)
    let before = expected(project)
    #expect(try contents(url, version.model, project) == before)

    let loaded = try XcodeMappingModel(
      contentsOf: folder.file("Copy.xcmappingmodel"), sourceModel: version.model,
      destinationModel: model)
    #expect(loaded.notes.count == project.unfinishedCount)
    #expect(loaded.mappingModel.entityMappings.count == project.entities.count)
    let copy = folder.file("Copy.quire")
    try MigrationManager(sourceModel: version.model, destinationModel: model)
      .migrateStore(from: url, mapping: loaded.mappingModel, to: copy)
    #expect(try contents(copy, model, project) == before)
    #expect(try StoreInspection(of: copy).findings == [])
  }

  @Test func `a project with what Xcode leaves behind is loaded, imported and migrated whole`() {
    let count =
      ProcessInfo.processInfo.environment["QUIRE_LEFTOVERS"].flatMap { Int($0) }
      ?? Amount.of(debug: 15, release: 60)
    for seed in 0..<UInt64(count) {
      do {
        try check(RandomLeftovers(seed: seed))
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
  }
}
