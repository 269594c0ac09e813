import Foundation
import QuireModel
import QuireXcode

/// `quire port`: Swift sources that were written for Core Data, over `QuireCoreData`.
struct PortCommand: Command {
  static let syntax = CommandSyntax(
    name: "port", summary: "changes sources written for Core Data to QuireCoreData",
    group: .code,
    operands: [.init("FOLDER", "a folder with Swift files, in folders of any depth")],
    options: [
      .init(flag: "write", "change the files; without it they are only shown as a difference"),
      .json,
    ],
    discussion: """
      QuireCoreData has Core Data's names. What a machine can change is changed: imports,
      @NSManaged, @objc of managed objects, #keyPath, methods that Xcode writes for relationships,
      properties in extensions, which go into their classes. The rest is listed with file, line and
      what to do.

        quire port App           shows what would change, and lists what is left to do
        quire port App --write   changes the files

      With --json there are the names of the files in place of a difference.
      """,
    examples: [
      .init(
        "What would change in an app that was written for Core Data",
        "quire port Sources")
    ])

  private let path: String
  private let writes: Bool
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    path = arguments.operands[0]
    writes = arguments.has(flag: "write")
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let folder = try SourceFolder(path: path)
    for note in folder.notes { console.note(note) }
    let port = FolderPort(folder.files, models: folder.models.map { model($0, folder, console) })
    if writes { try folder.write(port.changes) }
    if isJSON {
      console.print(json(port, fileCount: folder.files.count))
    } else {
      printText(port, console)
    }
    for failure in port.failures {
      console.complain("\(failure.path): \(failure.reason); the file is left as it is")
    }
    console.note(summary(port, fileCount: folder.files.count))
    return port.failures.isEmpty ? .good : .bad
  }

  /// Of changes that were made there is no difference, and lines are those that files have then.
  private func printText(_ port: FolderPort, _ console: Console) {
    for change in writes ? [] : port.changes {
      console.output.write(
        UnifiedDiff.text(path: change.path, before: change.before, after: change.after))
    }
    if !writes, !port.changes.isEmpty, !port.findings.isEmpty { console.print("") }
    for finding in findings(of: port) { console.print(finding.text) }
  }

  private func findings(of port: FolderPort) -> [PortFinding] {
    writes ? port.findingsAfterChanges : port.findings
  }

  private func json(_ port: FolderPort, fileCount: Int) -> JSONValue {
    func paths(_ isMeant: (FolderPort.Change) -> Bool) -> JSONValue {
      JSONValue(port.changes.filter(isMeant).map(\.path))
    }
    return [
      "folder": .string(path),
      "files": JSONValue(fileCount),
      "isWritten": JSONValue(writes),
      "changed": paths { $0.before != nil && $0.after != nil },
      "new": paths { $0.before == nil },
      "removed": paths { $0.after == nil },
      "findings": .array(
        findings(of: port).map {
          [
            "file": .string($0.file), "lines": .array($0.lines.map { JSONValue($0) }),
            "what": .string($0.what), "remedy": .string($0.remedy),
          ]
        }),
      "failures": .array(
        port.failures.map { ["file": .string($0.path), "reason": .string($0.reason)] }),
    ]
  }

  /// A model that cannot be read is noted: the sources can be ported without it.
  private func model(
    _ path: String, _ folder: SourceFolder, _ console: Console
  ) -> FolderPort.Model {
    do {
      let history = try XcodeModelHistory(contentsOf: URL(filePath: "\(folder.path)/\(path)"))
      guard let current = history.versions.first(where: { $0.name == history.currentName }) else {
        throw InputError("its current version cannot be read")
      }
      return FolderPort.Model(
        path: path, entities: current.model.declaration.entities,
        codeGeneration: current.codeGeneration)
    } catch {
      console.note("\(path) is not looked at: \(Tool.diagnosis(of: error))")
      return FolderPort.Model(path: path, entities: [])
    }
  }

  private func summary(_ port: FolderPort, fileCount: Int) -> String {
    let changed = port.changes.count { $0.before != nil && $0.after != nil }
    let new = port.changes.count { $0.before == nil }
    let gone = port.changes.count { $0.after == nil }
    var parts = ["\(changed) of \(fileCount.counting("file")) \(writes ? "changed" : "to change")"]
    if new > 0 { parts.append("\(new) new") }
    if gone > 0 { parts.append("\(gone) removed") }
    let locations = port.findings.reduce(0) { $0 + max(1, $1.lines.count) }
    let hint = writes || port.changes.isEmpty ? "" : "; --write changes them"
    return parts.joined(separator: ", ") + hint
      + (locations > 0 ? ". \(locations.counting("place")) to look at" : "")
  }
}
