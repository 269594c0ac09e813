import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store that is migrated to every version in turn, like that of a user who installed each
/// release.
struct StepwiseMigration {
  private let store: URL
  private let model: VersionedModel
  private let expectations: MigrationExpectations

  /// - Parameter store: a copy, which is migrated.
  init(of store: URL, in model: VersionedModel, _ expectations: MigrationExpectations) {
    self.store = store
    self.model = model
    self.expectations = expectations
  }

  /// Migrates the store step by step, and returns the differences from a direct migration.
  func failures(comparedWith direct: StoreSurvey) throws -> [String] {
    let path = try path()
    // The classes are those of the current version, and no objects are used on the way.
    var expectations = expectations
    expectations.classes = []
    for version in path {
      guard let target = model.endingAt(version.name) else { continue }
      do {
        try TimedOpening(of: store, target, expectations).close()
      } catch {
        return ["step by step it gets stuck on the way to \(version.name): \(error)"]
      }
    }
    let names = path.map(\.name).joined(separator: ", ")
    return try StoreSurvey(of: store).differences(from: direct).map {
      "step by step (\(names)) the outcome is another one: \($0)"
    }
  }

  /// The versions between the store's and the current one, which is the last.
  private func path() throws -> [VersionedModel.Version] {
    let hashes = try PersistentStoreCoordinator.managedObjectModel(storedAt: store)
      .entityVersionHashesByName
    let versions = model.versions
    guard let source = model.version(matching: hashes),
      let start = versions.firstIndex(of: source),
      let end = versions.firstIndex(of: model.currentVersion), start < end
    else { return [model.currentVersion] }
    return Array(versions[(start + 1)...end])
  }
}

extension StoreSurvey {
  /// The differences of this store from `other`, both of one version; a line for each, up to a
  /// readable number.
  func differences(from other: StoreSurvey) -> [String] {
    var lines: [String] = []
    for (name, content) in objects.sorted(by: { $0.key < $1.key }) {
      guard let theirs = other.objects[name] else {
        lines.append("\(name) is there")
        continue
      }
      let attributes = Set(content.attributes.keys).union(theirs.attributes.keys)
      for attribute in attributes.sorted()
      where content.attributes[attribute] != theirs.attributes[attribute]
        && !content.volatile.contains(attribute)
      {
        let values = [content, theirs].map { content in
          content.attributes[attribute].map { "\(PredicateValue.value($0))" } ?? "nothing"
        }
        lines.append("\(name).\(attribute) is \(values[0]) instead of \(values[1])")
      }
      for (link, members) in content.links.sorted(by: { $0.key < $1.key })
      where theirs.links[link] != members {
        let expected = theirs.links[link] ?? []
        lines.append("\(name).\(link) refers to \(members) instead of \(expected)")
      }
    }
    for name in other.objects.keys.sorted() where objects[name] == nil {
      lines.append("\(name) is missing")
    }
    let limit = 10
    return lines.count > limit
      ? lines.prefix(limit) + ["\(lines.count - limit) more such differences"] : lines
  }
}
