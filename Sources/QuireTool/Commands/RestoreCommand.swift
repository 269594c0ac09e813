import Foundation
import Quire

/// `quire restore`: puts a backup in the place of the store that it is a backup of.
struct RestoreCommand: Command {
  static let syntax = CommandSyntax(
    name: "restore", summary: "puts a backup in the place of its store",
    group: .files,
    operands: [.init("BACKUP", "a backup, or another closed copy of the store")],
    options: [
      .init("to", "STORE", "the store's file, which may be damaged or gone", isRequired: true),
      .json,
    ],
    discussion: """
      Every page of the backup is verified on the way. The store must have the backup's UUID, and
      nobody may have it open. It is as it was until, in one step, it is the backup's content; the
      backup stays.
      """,
    examples: [
      .init(
        "Back to what a store was, after a change that went wrong",
        "quire backup gallery.quire --to copy.quire && quire restore copy.quire --to gallery.quire")
    ])

  private let backup: URL
  private let store: URL
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    backup = URL(filePath: arguments.operands[0])
    store = URL(filePath: arguments.requiredValue(of: "to"))
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    try console.task("restoring", .bytes) { task in
      try Tool.working(on: store) {
        try PersistentStoreCoordinator.restorePersistentStore(at: store, fromBackupAt: backup) {
          try task.reach($0.completedUnitCount, of: $0.totalUnitCount)
        }
      }
    }
    let summary = try Tool.working(on: store) { try StoreSummary(of: store) }
    if isJSON {
      console.print([
        "backup": .string(backup.path),
        "store": .string(store.path),
        "uuid": .string(summary.identifier.uuidString),
        "modelVersion": JSONValue(summary.versionName),
        "objects": JSONValue(summary.objectCount),
      ])
    } else {
      let version = summary.versionName.map { ", version \($0)" } ?? ""
      console.print(
        "\(store.path) is restored: \(summary.objectCount.counting("object"))\(version).")
    }
    return .good
  }
}
