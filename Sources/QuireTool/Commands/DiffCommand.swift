import Foundation
import QuireModel

/// `quire diff`: what changed between two versions of a model, or between two models.
struct DiffCommand: Command {
  static let syntax = CommandSyntax(
    name: "diff", summary: "what changed between two versions of a model, or two models",
    group: .models,
    operands: [
      .init("MODEL", "a folder .xcdatamodeld; or the older of two models, also a store's"),
      .init("FROM", "the name of the older version; without TO, the newer of two models"),
      .init("TO", "the name of the newer version", isOptional: true),
    ],
    options: [.json],
    discussion: """
      With two arguments these are two models, of which the current versions are compared. A
      store is the model that it was last opened with, also one that was written in
      Swift: quire diff shipped.quire fresh.quire.
      Obstacles are changes that no mapping can be inferred for; each says what to do about it.
      A difference is no error: the exit code is 0.
      """,
    examples: [
      .init(
        "What Gallery 2.7 has that Gallery 2.0 had not",
        #"quire diff Gallery.xcdatamodeld "Gallery 2.0" "Gallery 2.7""#),
      .init(
        "Whether a store has the current model",
        "quire diff gallery.quire Gallery.xcdatamodeld"),
    ])

  private let operands: [String]
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    operands = arguments.operands
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let model = try ModelFile.load(operands[0], console)
    let (source, destination): (VersionedModel.Version, VersionedModel.Version)
    if operands.count == 3 {
      source = try model.existingVersion(named: operands[1])
      destination = try model.existingVersion(named: operands[2])
    } else {
      source = model.currentVersion
      destination = try newerModel(than: model, console)
    }
    let difference = ModelDifference(from: source.model, to: destination.model)
    if isJSON {
      console.print([
        "from": .string(source.name), "to": .string(destination.name),
        "difference": JSONValue(difference),
      ])
    } else {
      console.print("\(source.name) → \(destination.name)\n\(difference)")
      if difference.isEmpty { console.print("Both versions read each other's stores.") }
    }
    return .good
  }

  /// The second of two models.
  private func newerModel(
    than model: VersionedModel, _ console: Console
  ) throws -> VersionedModel.Version {
    guard model.version(named: operands[1]) == nil else {
      throw InputError(
        "\(operands[1]) is a version of \(operands[0]): name the newer version too")
    }
    return try ModelFile.load(operands[1], console).currentVersion
  }
}
