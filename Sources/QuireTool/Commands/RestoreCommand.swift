import Foundation
import Quire

/// `quire restore`: puts a backup in the place of the store that it is a backup of, or makes a
/// store from shipped commits.
struct RestoreCommand: Command {
  static let syntax = CommandSyntax(
    name: "restore", summary: "a backup in its store's place, or a moment that was shipped",
    group: .files,
    operands: [
      .init("BACKUP", "a backup, or another closed copy of the store", isOptional: true)
    ],
    options: [
      .init(
        "to", "STORE", "the store's file, which may be damaged or gone; with --from a new file",
        isRequired: true),
      .init("from", "FOLDER", "in place of a backup: a folder to which quire ship shipped"),
      .init("at", "DATE", "with --from: the last commit seen by then, as “2026-05-31 12:30”"),
      .init("commit", "NUMBER", "with --from: that commit"),
      .json,
    ],
    discussion: """
      Every page of the backup is verified on the way. The store must have the backup's UUID, and
      nobody may have it open. It is as it was until, in one step, it is the backup's content; the
      backup stays.

      With --from a new store is made, as the shipped one was at that moment, or as it was last. It
      takes the place of the old one as a backup does.
      """,
    examples: [
      .init(
        "Back to what a store was, after a change that went wrong",
        "quire backup gallery.quire --to copy.quire && quire restore copy.quire --to gallery.quire"),
      .init(
        "A store as it was when it was shipped last",
        "quire ship gallery.quire --to shipped --once && quire restore --from shipped --to copy.quire"
      ),
    ])

  private enum Source {
    case backup(URL)
    case folder(URL, StoreShipping.Moment)
  }

  private let source: Source
  private let store: URL
  private let isJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    source = try RestoreCommand.source(arguments)
    store = URL(filePath: arguments.requiredValue(of: "to"))
    isJSON = arguments.has(flag: "json")
  }

  private static func source(_ arguments: Arguments) throws(UsageError) -> Source {
    let (date, commit) = (arguments.value(of: "at"), arguments.value(of: "commit"))
    guard let folder = arguments.value(of: "from") else {
      guard date == nil, commit == nil else {
        throw UsageError(
          "A moment is restored from a folder of shipped commits: name it by --from.",
          usage: syntax.usage)
      }
      guard let backup = arguments.operands.first else {
        throw UsageError(
          "Name a backup, or by --from a folder of shipped commits.", usage: syntax.usage)
      }
      return .backup(URL(filePath: backup))
    }
    guard arguments.operands.isEmpty else {
      throw UsageError(
        "A store is restored from a backup or by --from, not from both.", usage: syntax.usage)
    }
    switch (date, commit) {
    case (nil, nil): return .folder(URL(filePath: folder), .newest)
    case (let text?, nil):
      guard let date = DateText.date(of: text) else {
        throw UsageError(DateText.mistake(in: text), usage: syntax.usage)
      }
      return .folder(URL(filePath: folder), .date(date))
    case (nil, let text?):
      guard let number = UInt64(text) else {
        throw UsageError("--commit is the number of a commit, not “\(text)”.", usage: syntax.usage)
      }
      return .folder(URL(filePath: folder), .commit(number))
    default:
      throw UsageError(
        "--at and --commit both say which commit: leave one out.", usage: syntax.usage)
    }
  }

  func run(_ console: Console) throws -> ExitCode {
    switch source {
    case .backup(let backup): try restore(backup, console)
    case .folder(let folder, let moment): try restore(moment, from: folder, console)
    }
  }

  private func restore(_ backup: URL, _ console: Console) throws -> ExitCode {
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

  private func restore(
    _ moment: StoreShipping.Moment, from folder: URL, _ console: Console
  ) throws -> ExitCode {
    let shown = try console.task("restoring", .bytes) { task in
      try Tool.working(on: store) {
        try StoreShipping.restore(moment, from: folder, to: store) {
          try task.reach($0.completedUnitCount, of: $0.totalUnitCount)
        }
      }
    }
    if isJSON {
      console.print([
        "folder": .string(folder.path), "store": .string(store.path),
        "commit": JSONValue(shown.commit),
        "date": .string(ShipCommand.text(shown.date)),
      ])
    } else {
      console.print(
        "\(store.path) is the store as of commit \(shown.commit), seen "
          + "\(ShipCommand.text(shown.date)).")
    }
    return .good
  }
}
