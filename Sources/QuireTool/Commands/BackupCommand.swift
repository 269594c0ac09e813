import Foundation
import Quire
import QuireStorage

/// `quire backup`: a verified copy of a store in one file.
struct BackupCommand: Command {
  static let syntax = CommandSyntax(
    name: "backup", summary: "a copy of a store in one file, every page verified",
    group: .files,
    operands: [.init("STORE", "the store's file")],
    options: [
      .init("to", "FILE", "the copy, where no file may be", isRequired: true), .json,
    ],
    discussion: """
      The copy has the store's UUID and what was saved last, also what only the log holds yet, and
      is a closed store. It takes the store's place by quire restore. Nothing is written to the
      store. One that a program has open to write is refused: that program copies it by
      container.backUp(to:).
      """,
    examples: [
      .init(
        "A copy to keep, also while a log is beside the store",
        "quire backup gallery.quire --to gallery-copy.quire")
    ])

  private let store: URL
  private let copy: URL
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    store = URL(filePath: arguments.operands[0])
    copy = URL(filePath: arguments.requiredValue(of: "to"))
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    if let writer = try? PageStore.writer(of: store.path) {
      try copyFromOutside(writer, console)
    } else {
      try copyThrough(console)
    }
    let summary = try Tool.working(on: copy) { try StoreSummary(of: copy) }
    if isJSON {
      console.print([
        "store": .string(store.path), "backup": .string(copy.path),
        "uuid": .string(summary.identifier.uuidString), "objects": JSONValue(summary.objectCount),
      ])
    } else {
      console.print("\(copy.path) is a backup: \(summary.objectCount.counting("object")).")
    }
    return .good
  }

  private func copyThrough(_ console: Console) throws {
    try Tool.reading(store) { context, _ in
      for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
        try console.task("copying", .bytes) { task in
          try store.backUp(to: copy) {
            try task.reach($0.completedUnitCount, of: $0.totalUnitCount)
          }
        }
      }
    }
  }

  /// While programs have the store open.
  private func copyFromOutside(_ writer: StoreWriter, _ console: Console) throws {
    let commit = try Tool.working(on: store) {
      try console.waiting("copying") { _ in try LiveCopy.make(of: store.path, at: copy.path) }
    }
    console.note("\(store.path) is \(writer): this is its commit \(commit)")
  }
}
