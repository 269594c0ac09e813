import Foundation
import Quire
import QuireModel
import QuireXcode

/// A model that was loaded from a file that the user named: one of Xcode's, or a store, which
/// carries the model that it was last opened with.
struct ModelFile {
  let model: VersionedModel
  /// Remarks on content that the loader did not understand, with its place; a remark on several
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

  private static func gathered(_ versions: [XcodeModel]) -> [String] {
    var texts: [String] = []
    var places: [String: [String]] = [:]
    for version in versions {
      for note in version.notes {
        if places[note.text] == nil { texts.append(note.text) }
        places[note.text, default: []].append("\(version.name), line \(note.line)")
      }
    }
    return texts.map { text in
      let places = places[text] ?? []
      let rest = places.count > 1 ? " and \((places.count - 1).counting("place")) more" : ""
      return "\(places[0])\(rest): \(text)"
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
