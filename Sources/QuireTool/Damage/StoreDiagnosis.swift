import Foundation
import Quire
import QuireStorage
import QuireXcode

/// The state of a store's files, with what to do about each thing that is wrong.
struct StoreDiagnosis {
  /// Something that is wrong.
  struct Problem {
    var what: String
    /// What to do about it, in sentences.
    var advice: [String] = []
  }

  let store: URL
  private(set) var problems: [Problem] = []
  /// What to do, the best first.
  var advice: [String] { problems.flatMap(\.advice) }
  /// What is good to know.
  private(set) var notes: [String] = []
  /// What the store is, in one line; `nil` if that is not known.
  private(set) var summary: String?
  private let console: Console

  /// - Parameter console: has the progress.
  init(of store: URL, _ console: Console) throws {
    self.store = store
    self.console = console
    guard FileManager.default.fileExists(atPath: store.path) else {
      throw InputError(
        "\(store.path): \(FileProblem.absence(of: store.path) ?? "there is no such file")")
    }
    switch FileKind(ofFileAt: store.path) {
    case .sqlite:
      problems.append(
        .init(
          what: "it is a SQLite file, no store of Quire",
          advice: [
            "If Core Data wrote it, make a store of it: quire import \(store.lastPathComponent) "
              + "--model MODEL --to NEW."
          ]))
      return
    case .quireStore, .other: break
    }
    try look()
  }

  private mutating func look() throws {
    guard let writer = try? PageStore.writer(of: store.path) else { return look(at: store) }
    try Tool.copying(store, from: writer, console) { copy in
      switch copy {
      case .success(let still): look(at: still)
      case .failure(let error): lookAtFailure(error, of: writer)
      }
    }
  }

  /// - Parameter still: the store, or a copy while somebody may write to it.
  private mutating func look(at still: URL) {
    do {
      let anatomy = try console.waiting("looking at pages") { task throws(StorageError) in
        try StoreAnatomy(of: still.path) { task.record($0, of: $1) }
      }
      notes += anatomy.notes
      // Beside a store in use are files that are being made.
      if still == store { lookAtFiles(anatomy) }
      let inspection = try? inspection(of: still)
      // What is wrong with pages is wrong with the objects on them, too.
      let findings =
        anatomy.findings.isEmpty
        ? inspection?.findings ?? [] : anatomy.findings.map { "\($0)" }
      notes += inspection?.notes ?? []
      lookAtContent(anatomy, of: still)
      if !findings.isEmpty { lookAtDamage(findings) }
    } catch {
      switch error {
      case .locked(let owner):
        problems.append(
          .init(
            what: "\(StorageError.locked(owner))",
            advice: [
              "Nothing is known to be wrong. Stop that program, and look again; or look at a copy, made "
                + "by quire backup. The file alone may be half of the store."
            ]))
      case .io(_, _, let code, _) where FileProblem.isPermission(code):
        problems.append(
          .init(
            what: "it may not be read: permission denied",
            advice: [
              "Run quire as somebody who may read it: \(FileProblem.permissionAdvice). Nothing is known "
                + "to be damaged."
            ]))
      case .unsupportedFormat, .unsupportedFeature:
        problems.append(
          .init(what: "\(error)", advice: ["A newer quire reads it; nothing is damaged."]))
      case .notAStore:
        lookAtDamage(
          ["\(error)"],
          first: [
            "If it never was a store, nothing is wrong with it: look for the store elsewhere."
          ])
      default: lookAtDamage(["\(error)"])
      }
    }
  }

  /// What keeps a store from being copied while it is in use.
  private mutating func lookAtFailure(_ error: StorageError, of writer: StoreWriter) {
    if Tool.isDamage(error) {
      problems.append(
        .init(
          what: "\(error)",
          advice: [
            "It is \(writer). Stop that program, so that nothing more is written to a damaged store, and "
              + "look again: quire doctor says then what can be kept."
          ]))
    } else {
      let isTooFast = if case .snapshotTooOld = error { true } else { false }
      problems.append(
        .init(
          what: isTooFast
            ? "it is \(writer), and changes faster than it can be read" : "\(error)",
          advice: [
            "Nothing is known to be wrong. Look again \(isTooFast ? "when less is written" : "later"), "
              + "or stop that program before."
          ]))
    }
  }

  private func inspection(of store: URL) throws -> StoreInspection {
    try console.waiting("looking at objects") { task in
      try StoreInspection(of: store) {
        task.record($0.completedUnitCount, of: $0.totalUnitCount)
      }
    }
  }

  /// What lies beside the store.
  private mutating func lookAtFiles(_ anatomy: StoreAnatomy) {
    let path = store.path
    let isClosed = anatomy.metas.first { $0.counts }?.isClean ?? false
    if let log = anatomy.log, !isClosed || log.goesOn, anatomy.findings.isEmpty {
      notes.append(
        "it was not closed: the next opening for writing takes over what "
          + "\(name(CompanionName.path(of: path, "-log"))) has; "
          + "copy and move the two together until then")
    }
    let folder = store.deletingLastPathComponent()
    let beside = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let remains = beside.filter { isUnfinished($0) }.sorted()
    if !remains.isEmpty {
      notes.append(
        "left by a process that ended while it was writing, and of no use: "
          + remains.joined(separator: ", ")
          + ". The next opening that finds the store not closed removes them; so may you, while "
          + "no process has the store open")
    }
  }

  private func name(_ path: String) -> String { URL(filePath: path).lastPathComponent }

  /// Whether a file beside the store is one of it that was being made (`docs/file-format.md`,
  /// Names).
  private func isUnfinished(_ name: String) -> Bool {
    let own = store.lastPathComponent
    for suffix in ["-log-new", "-pages-new", "-part", "-migrating"]
    where name == CompanionName.path(of: own, suffix) {
      return true
    }
    let prefix = CompanionName.prefixOfNewFiles(of: own)
    return name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil
  }

  private mutating func lookAtContent(_ anatomy: StoreAnatomy, of still: URL) {
    guard let content = try? StoreSummary(of: still) else { return }
    let version = content.versionName.map { ", version \($0)" } ?? ""
    summary =
      "\(anatomy.fileByteCount.grouped) bytes, \(content.objectCount.counting("object"))\(version)"
    if content.deferredMigration != nil {
      notes.append(
        "a deferred migration is not finished: quire migrate --finish, or the program does it")
    }
    if let free = anatomy.freePageCount, 2 * free > anatomy.pageCount {
      notes.append(
        "\((free * anatomy.pageSize).grouped) of \(anatomy.fileByteCount.grouped) bytes are free: "
          + "quire compact gives them back")
    }
  }

  // MARK: Damage

  /// - Parameter first: what to think of before all else.
  private mutating func lookAtDamage(_ findings: [String], first: [String] = []) {
    for finding in findings.prefix(10) { problems.append(.init(what: finding)) }
    if findings.count > 10 {
      problems.append(.init(what: "… and \((findings.count - 10).grouped) more findings"))
    }
    let file = store.lastPathComponent
    var advice =
      first + ["Copy the file before anything else: the disk that damaged it may go on doing so."]
    if findings.allSatisfy({ $0.contains("the next opening for writing writes it anew") }) {
      advice.append(
        "Then let something open it for writing: its program, or quire compact \(file). Nothing else "
          + "is wrong.")
      problems[problems.count - 1].advice = advice
      return
    }
    for missing in ["-log", "-pages"].map({ CompanionName.path(of: store.path, $0) })
    where findings.contains(where: { $0.contains(missing) }) {
      advice.append(
        "If \(name(missing)) was moved, renamed or left behind by a copy, put it back beside the "
          + "store: then nothing is lost.")
    }
    if let backup = soundBackup() {
      advice.append(
        "Go back to the backup: quire restore \(backup.name) --to \(file) (\(backup.text)).")
    } else {
      advice.append("Go back to a sound backup if there is one: quire restore BACKUP --to \(file).")
    }
    advice.append(salvageAdvice())
    problems[problems.count - 1].advice = advice
  }

  /// The copy that a migration leaves beside a store, if it is sound.
  private func soundBackup() -> (name: String, text: String)? {
    let backup = URL(filePath: store.path + "~")
    guard let inspection = try? inspection(of: backup), inspection.isSound else { return nil }
    let date =
      (try? FileManager.default.attributesOfItem(atPath: backup.path))?[.modificationDate] as? Date
    let day = date.map { ", written \($0.formatted(.iso8601))" } ?? ""
    return (
      backup.lastPathComponent, "\(inspection.objectCount.counting("object")), sound\(day)"
    )
  }

  /// Tries a salvage in a temporary folder, to say what it would bring.
  private func salvageAdvice() -> String {
    let command = "quire salvage \(store.lastPathComponent) --to NEW"
    let trial = try? Tool.salvaging(store, InputError(""), console) { _, report in report }
    guard let trial else {
      return "Or bring what is readable to a new store: \(command)"
        + " --model MODEL, with the model that the store was last opened with."
    }
    let lost =
      trial.isComplete
      ? "nothing is lost"
      : SalvageText(trial).missing.prefix(3).joined(separator: "; ")
    return "Or bring what is readable to a new store: \(command): "
      + "\(trial.keptCount.counting("object")) kept, \(lost)."
  }
}
