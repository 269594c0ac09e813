import Foundation
import Quire
import QuireModel
import QuireStorage

extension Tool {
  /// Runs `body` with a context of a store, and the store's own model, with which it is opened
  /// read-only: nothing is written, and nothing is migrated.
  static func reading<Result>(
    _ store: URL, _ body: (ManagedObjectContext, ManagedObjectModel) throws -> Result
  ) throws -> Result {
    try working(on: store) { try opening(store, body) }
  }

  /// The same, of a copy while a program has the store open.
  static func reading<Result>(
    _ store: URL, _ console: Console,
    _ body: (ManagedObjectContext, ManagedObjectModel) throws -> Result
  ) throws -> Result {
    try still(store, console) { still in try working(on: store) { try opening(still, body) } }
  }

  private static func opening<Result>(
    _ store: URL, _ body: (ManagedObjectContext, ManagedObjectModel) throws -> Result
  ) throws -> Result {
    let model = try PersistentStoreCoordinator.managedObjectModel(storedAt: store)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      type: .quire, at: store, options: [ReadOnlyPersistentStoreOption: true])
    defer { try? coordinator.remove(opened) }
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let result = try body(context, model)
    // An object that cannot be read looks like one without values.
    try context.throwKeptErrors()
    return result
  }

  /// The same again, and of a damaged store with everything that can still be read of it: that is
  /// put together in a temporary store, and what is missing is told.
  ///
  /// - Parameters:
  ///   - readsAll: whether `body` writes results before it has read everything. Then pages are
  ///     verified first, as results cannot be taken back.
  /// - Returns: the code to end with: bad if anything is missing.
  static func readingPastDamage(
    _ store: URL, _ console: Console, readsAll: Bool = false,
    _ body: (ManagedObjectContext, ManagedObjectModel) throws -> Void
  ) throws -> ExitCode {
    try still(store, console) { still in
      try readingPastDamage(of: still, shownAs: store, console, readsAll: readsAll, body)
    }
  }

  private static func readingPastDamage(
    of still: URL, shownAs store: URL, _ console: Console, readsAll: Bool,
    _ body: (ManagedObjectContext, ManagedObjectModel) throws -> Void
  ) throws -> ExitCode {
    do {
      if readsAll { try verify(still, console) }
      try opening(still, body)
      return .good
    } catch  where isDamage(error) && console.output.isUntouched {
      return try working(on: store) {
        try salvaging(still, error, console) { copy, report in
          console.complain("\(store.path): \(diagnosis(of: error))")
          // Also where the body finds nothing: what it looks for may be lost.
          defer {
            console.output.flush()
            for line in SalvageText(report).missing { console.note(line) }
            console.note("quire doctor says what to do")
          }
          try opening(copy, body)
          return .bad
        }
      }
    } catch {
      return try working(on: store) { throw error }
    }
  }

  private static func verify(_ store: URL, _ console: Console) throws {
    var options = PageStoreOptions()
    options.isReadOnly = true
    let pages = try PageStore.open(store.path, options: options)
    defer { try? pages.close() }
    let report = try console.waiting("looking at pages") { task in
      try pages.check { task.record($0, of: $1) }
    }
    if let finding = report.findings.first {
      throw StorageError.damaged(page: finding.page ?? PageID(rawValue: 0), reason: finding.message)
    }
  }

  /// Runs `body` with a temporary store of what can be read of a damaged one.
  ///
  /// - Parameter damage: is thrown if nothing can be read at all.
  static func salvaging<Result>(
    _ store: URL, _ damage: any Error, _ console: Console,
    _ body: (URL, SalvageReport) throws -> Result
  ) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "quire-salvage-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appending(path: store.lastPathComponent)
    let report: SalvageReport
    do {
      let salvage = try console.waiting("reading pages") { task in
        try StoreSalvage(of: store) {
          task.record($0.completedUnitCount, of: $0.totalUnitCount)
        }
      }
      report = try console.waiting("gathering what is readable") { task in
        try salvage.write(to: copy) { task.record($0.completedUnitCount, of: $0.totalUnitCount) }
      }
    } catch {
      throw damage
    }
    return try body(copy, report)
  }

  /// Whether an error says that a store's file is damaged or incomplete.
  static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as StorageError:
      switch error {
      case .damaged, .logMissing, .imagesMissing, .logDamaged, .logCutShort: true
      default: false
      }
    case let error as PersistenceError:
      error.underlying.map { isDamage($0) } ?? error.detailedErrors.contains { isDamage($0) }
    default: false
    }
  }

  /// The entity of this name; for a wrong name, throws an error that lists the existing ones.
  static func entity(
    named name: String, of model: ManagedObjectModel
  ) throws -> EntityDescription {
    if let entity = model.entity(named: name) { return entity }
    let names = model.entities.map(\.name)
    let hint =
      Suggestion.question(for: name, among: names) ?? "it has \(names.joined(separator: ", "))"
    throw InputError("the store has no entity \(name); \(hint)")
  }
}
