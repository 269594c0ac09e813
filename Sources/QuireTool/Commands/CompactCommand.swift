import Foundation
import Quire

/// `quire compact`: rewrites a store without free pages.
struct CompactCommand: Command {
  static let syntax = CommandSyntax(
    name: "compact", summary: "rewrites a store with full pages and without free ones",
    group: .files,
    operands: [.init("STORE", "the store's file")], options: [.json],
    discussion: """
      The new file takes the place of the old one in one step; until then there are both. Objects,
      IDs and the UUID stay. On a full disk, and where a page is damaged, the store is as it was.
      """,
    examples: [
      .init(
        "Make a store smaller from which much was deleted",
        "quire compact gallery.quire")
    ])

  private let store: URL
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    store = URL(filePath: arguments.operands[0])
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let (before, after) = try console.task("compacting", .entries) { task in
      try Tool.working(on: store) { try compact(task) }
    }
    if isJSON {
      console.print([
        "store": .string(store.path), "bytesBefore": JSONValue(before),
        "bytesAfter": JSONValue(after),
      ])
    } else {
      console.print("\(store.path): \(before.grouped) bytes before, \(after.grouped) bytes now.")
    }
    return .good
  }

  /// - Returns: the bytes of the store before and after.
  private func compact(_ task: TaskProgress) throws -> (Int, Int) {
    let model = try PersistentStoreCoordinator.managedObjectModel(storedAt: store)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(type: .quire, at: store)
    do {
      let before = opened.statistics.pageCount * opened.statistics.pageSize
      try opened.compact { try task.reach($0.completedUnitCount, of: $0.totalUnitCount) }
      let after = opened.statistics.pageCount * opened.statistics.pageSize
      try coordinator.remove(opened)
      return (before, after)
    } catch {
      try? coordinator.remove(opened)
      throw error
    }
  }
}
