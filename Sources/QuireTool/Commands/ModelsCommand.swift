import Foundation
import QuireModel

/// `quire models`: the versions of a model.
struct ModelsCommand: Command {
  static let syntax = CommandSyntax(
    name: "models", summary: "the versions of a model, their entities and hashes",
    group: .models,
    operands: [.init("MODEL", "a folder .xcdatamodeld, .xcdatamodel, or a store")],
    options: [
      .init(flag: "names", "only the names of the current version's entities, a line each"), .json,
    ],
    discussion: """
      A store carries the model that it was last opened with, also one that was written in Swift.
      An asterisk marks the current version. Counts include what an entity inherits. Hashes are
      shortened; --json has them whole, and every property. Shells complete names of entities by
      --names.
      """,
    examples: [
      .init(
        "The versions of a model, and which is the current one",
        "quire models Gallery.xcdatamodeld"),
      .init(
        "The model that a store carries",
        "quire models gallery.quire"),
    ])

  private let path: String
  private let isJSON: Bool
  private let showsNames: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.operands[0]
    showsNames = arguments.has(flag: "names")
    isJSON = arguments.has(flag: "json")
    if isJSON, showsNames { throw arguments.wrong("--json has the names: leave --names away.") }
  }

  func run(_ console: Console) throws -> ExitCode {
    let model = try ModelFile.load(path, console)
    if showsNames {
      for name in model.currentVersion.model.entities.map(\.name).sorted() { console.print(name) }
    } else if isJSON {
      console.print(json(model))
    } else {
      for version in model.versions {
        console.print(text(version, isCurrent: version.name == model.currentVersion.name))
      }
    }
    return .good
  }

  private func text(_ version: VersionedModel.Version, isCurrent: Bool) -> String {
    let entities = version.model.entities
    let names = entities.map { entity in
      entity.name + (entity.parent.map { ": \($0.name)" } ?? "")
        + (entity.isAbstract ? " (abstract)" : "")
    }
    let width = names.map(\.count).max() ?? 0
    let rows = zip(names, entities).map { name, entity in
      let attributes = entity.attributes.count.counting("attribute").padded(to: 13)
      let relationships = entity.relationships.count.counting("relationship").padded(to: 16)
      return "    \(name.padded(to: width))  \(attributes)  \(relationships)  "
        + entity.versionHash.short
    }
    let head =
      "\(isCurrent ? "*" : " ") \(version.name)  "
      + "\(entities.count.counting("entity", "entities"))  \(version.model.versionChecksum.short)"
    return ([head] + rows).joined(separator: "\n")
  }

  private func json(_ model: VersionedModel) -> JSONValue {
    [
      "name": .string(model.name),
      "current": .string(model.currentVersion.name),
      "versions": .array(
        model.versions.map { JSONValue($0, isCurrent: $0.name == model.currentVersion.name) }),
    ]
  }
}
