import Foundation
import QuireModel

/// `quire demo`: migrates stores of every shipped version to the current one, and checks them.
struct DemoCommand: Command {
  static let syntax = CommandSyntax(
    name: "demo", summary: "migrates copies of stores of every version of a model, and checks them",
    group: .tool,
    options: [
      .init("fixtures", "DIR", "the folder with the model and its stores; the package's Fixtures"),
      .init("keep", "DIR", "leave the migrated copies in this folder"), .json,
    ],
    discussion: """
      Each fixture is copied and migrated \(MigrationTrial.usualRunCount) times. Compared with the store before are the objects
      of every entity, every value, every link, from either side; every page and index is checked.
      The median time from the open call to the durable commit must not be over \(MigrationTrial.budget.milliText).
      Any failure makes the exit code 1.

      Copies are made in a temporary folder (TMPDIR), whose disk the times are true of.
      """,
    examples: [
      .init(
        "Migrate every fixture of the package, and keep the migrated copies",
        "quire demo --keep migrated")
    ])

  private let fixtures: String?
  private let keep: URL?
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    fixtures = arguments.value(of: "fixtures")
    keep = arguments.value(of: "keep").map { URL(filePath: $0, directoryHint: .isDirectory) }
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let fixtures = try FixtureFolder.find(fixtures)
    let model = try ModelFile.load(fixtures.modelURL.path, console)
    let stores = try fixtures.stores(of: model)
    try prepareToKeep(stores)
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "quire-demo-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // A failure to remove the temporary folder is ignored.
    defer { try? FileManager.default.removeItem(at: folder) }

    var trials: [MigrationTrial] = []
    for store in stores {
      let trial = MigrationTrial(of: store, to: model, in: folder, keep: keep)
      trials.append(trial)
      if !isJSON {
        console.print(trial.text + "\n")
        console.output.flush()
      }
    }
    if isJSON { console.print(json(trials, model)) } else { console.print(verdict(trials, model)) }
    return trials.allSatisfy(\.passed) ? .good : .bad
  }

  private func prepareToKeep(_ stores: [URL]) throws {
    guard let keep else { return }
    try FileManager.default.createDirectory(at: keep, withIntermediateDirectories: true)
    for store in stores {
      let copy = keep.appending(path: store.lastPathComponent)
      if FileManager.default.fileExists(atPath: copy.path) {
        throw InputError("there is a file already: \(copy.path). Nothing is overwritten")
      }
    }
  }

  private func verdict(_ trials: [MigrationTrial], _ model: VersionedModel) -> String {
    let failed = trials.filter { !$0.passed }
    guard failed.isEmpty else {
      return "FAILED: \(failed.count) of \(trials.count.counting("fixture")): "
        + failed.map(\.name).joined(separator: ", ")
    }
    let facts = trials.reduce(0) { $0 + $1.factCount }
    let slowest = trials.compactMap(\.median).max() ?? .zero
    let worst = trials.compactMap(\.worst).max() ?? .zero
    return "All \(trials.count.counting("fixture")) are at \(model.currentVersion.name): "
      + "\(facts.counting("fact")) compared, slowest \(slowest.milliText) (median), "
      + "\(worst.milliText) at worst, of \(MigrationTrial.budget.milliText)."
  }

  private func json(_ trials: [MigrationTrial], _ model: VersionedModel) -> JSONValue {
    [
      "model": .string(model.name),
      "current": .string(model.currentVersion.name),
      "budgetMilliseconds": JSONValue(MigrationTrial.budget.milliseconds),
      "fixtures": .array(trials.map(\.json)),
      "facts": JSONValue(trials.reduce(0) { $0 + $1.factCount }),
      "passed": JSONValue(trials.allSatisfy(\.passed)),
    ]
  }
}
