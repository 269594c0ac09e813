import Foundation
import QuireModel
import QuireXcode

/// A model that was loaded from a file the user named.
struct ModelFile {
  let model: VersionedModel
  /// What the loader did not understand, with the version it was found in.
  let notes: [String]

  init(contentsOf url: URL) throws {
    let history = try XcodeModelHistory(contentsOf: url)
    model = history.versionedModel
    notes = history.versions.flatMap { version in
      version.notes.map { "\(version.name), \($0)" }
    }
  }

  /// Loads a model and tells what was not understood.
  static func load(_ path: String, _ console: Console) throws -> VersionedModel {
    let file = try ModelFile(contentsOf: URL(filePath: path))
    for note in file.notes { console.note(note) }
    return file.model
  }
}

extension VersionedModel {
  /// The version of this name, for a user who may have mistyped it.
  func existingVersion(named name: String) throws -> Version {
    if let version = version(named: name) { return version }
    let names = versions.map { "“\($0.name)”" }.joined(separator: ", ")
    throw InputError("the model \(self.name) has no version “\(name)”; it has \(names)")
  }
}

extension VersionHash {
  /// The first twelve digits, to tell hashes apart by eye.
  var short: String { String(description.prefix(12)) }
}
