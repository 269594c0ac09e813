import Foundation
import Quire
import QuireModel
import QuireXcode

/// A model that was loaded from a file that the user named: one of Xcode's, or a store, which
/// carries the model that it was last opened with.
struct ModelFile {
  let model: VersionedModel
  /// Remarks on content that the loader did not understand, with its location; a remark on several
  /// versions is made once.
  let notes: [String]

  init(contentsOf url: URL) throws {
    if FileKind(ofFileAt: url.path) == .quireStore {
      let (summary, own) = try Tool.working(on: url) {
        (
          try StoreSummary(of: url),
          try PersistentStoreCoordinator.managedObjectModel(storedAt: url)
        )
      }
      let name = summary.versionName ?? url.deletingPathExtension().lastPathComponent
      model = VersionedModel(own, name: name)
      notes = []
      return
    }
    let history = try XcodeModelHistory(contentsOf: url)
    model = history.versionedModel
    notes =
      Self.gathered(history.versions)
      + history.unreadableVersions.map { "\($0.name) is left out: \($0.error)" }
  }

  /// Loads a model and notes what was not understood.
  static func load(_ path: String, _ console: Console) throws -> VersionedModel {
    let file = try ModelFile(contentsOf: URL(filePath: path))
    for note in file.notes { console.note(note) }
    return file.model
  }

  /// Loads several models as one with the entities of all, as a program has it that merges them.
  ///
  /// Its versions are all combinations of theirs, of which the current one is that of the current
  /// versions; combinations whose entities contradict each other are none.
  static func load(merging paths: [String], _ console: Console) throws -> VersionedModel {
    var models = try paths.map { try load($0, console) }
    if models.count == 1 { return models.removeFirst() }
    let count = models.reduce(1) {
      $0.multipliedReportingOverflow(by: $1.versions.count).partialValue
    }
    guard count <= combinationLimit else {
      let counts = models.map { "\($0.versions.count) of \($0.name)" }.joined(separator: ", ")
      throw InputError(
        "the models have too many versions to try all combinations (\(counts)): name single "
          + "versions, .xcdatamodel")
    }
    var combinations: [[VersionedModel.Version]] = [[]]
    for model in models {
      combinations = combinations.flatMap { start in model.versions.map { start + [$0] } }
    }
    let current = models.map(\.currentVersion)
    // The current versions have to fit each other: their contradiction is the error.
    let merged = try ManagedObjectModel(byMerging: current.map(\.model))
    func name(_ versions: [VersionedModel.Version]) -> String {
      versions.map(\.name).joined(separator: " + ")
    }
    if combinations.count == 1 { return VersionedModel(merged, name: name(current)) }
    let versions = combinations.compactMap { versions in
      (try? ManagedObjectModel(byMerging: versions.map(\.model))).map {
        VersionedModel.Version(name(versions), $0)
      }
    }
    let title = models.map(\.name).joined(separator: " + ")
    guard let model = VersionedModel(name: title, versions: versions, current: name(current)) else {
      throw InputError("two versions of the models have one name: name single ones, .xcdatamodel")
    }
    return model
  }

  private static let combinationLimit = 400

  private static func gathered(_ versions: [XcodeModel]) -> [String] {
    var texts: [String] = []
    var locations: [String: [String]] = [:]
    for version in versions {
      for note in version.notes {
        if locations[note.text] == nil { texts.append(note.text) }
        locations[note.text, default: []].append("\(version.name), line \(note.line)")
      }
    }
    return texts.map { text in
      let locations = locations[text] ?? []
      let rest =
        locations.count > 1 ? " and \((locations.count - 1).counting("location")) more" : ""
      return "\(locations[0])\(rest): \(text)"
    }
  }
}

extension VersionedModel {
  /// The version of this name; for a wrong name, throws an error that lists the existing ones.
  func existingVersion(named name: String) throws -> Version {
    if let version = version(named: name) { return version }
    let names = versions.map { "“\($0.name)”" }.joined(separator: ", ")
    throw InputError("the model \(self.name) has no version “\(name)”; it has \(names)")
  }
}

extension VersionHash {
  /// The first twelve digits, enough to distinguish hashes in a list.
  var short: String { String(description.prefix(12)) }
}
