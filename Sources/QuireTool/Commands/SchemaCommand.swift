import Foundation
import QuireModel

/// `quire schema`: a model as code or as a picture.
struct SchemaCommand: Command {
  static let syntax = CommandSyntax(
    name: "schema", summary: "prints a model as Swift classes, or draws it",
    group: .models,
    operands: [.init("MODEL", "a folder .xcdatamodeld, .xcdatamodel, or a store")],
    options: [
      .init("format", "FORMAT", "swift, mermaid or svg; swift unless the name of FILE says other"),
      .init("version", "NAME", "the name of a version; the current one unless given"),
      .init("to", "FILE", "a file to write instead of the standard output"),
      .init(flag: "force", "replace a file that is there"),
    ],
    discussion: """
      swift prints the classes of quire generate in one text. mermaid prints a class diagram that
      many wikis and code hosts draw. svg draws every entity with its attributes and relationships,
      for light and dark; a line ends at the rows of a relationship and of its inverse.
      """,
    examples: [
      .init("The classes that a store was written with", "quire schema gallery.quire"),
      .init("A picture of a model", "quire schema Gallery.xcdatamodeld --to gallery.svg"),
    ])

  private enum Format: String, CaseIterable {
    case swift, mermaid, svg

    /// The format that the name of a file represents.
    init?(nameOf file: String) {
      switch URL(filePath: file).pathExtension.lowercased() {
      case "swift": self = .swift
      case "mmd", "mermaid": self = .mermaid
      case "svg": self = .svg
      default: return nil
      }
    }
  }

  private let path: String
  private let format: Format
  private let version: String?
  private let file: String?
  private let replaces: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.operands[0]
    version = arguments.value(of: "version")
    file = arguments.value(of: "to")
    replaces = arguments.has(flag: "force")
    if replaces, file == nil { throw arguments.wrong("--force goes with --to.") }
    guard let word = arguments.value(of: "format") else {
      format = file.flatMap(Format.init(nameOf:)) ?? .swift
      if let file, Format(nameOf: file) == nil, !URL(filePath: file).pathExtension.isEmpty {
        throw arguments.wrong(
          "--to takes a name with .swift, .mmd or .svg at its end, or --format with it, not "
            + "“\(file)”.")
      }
      return
    }
    guard let format = Format(rawValue: word) else {
      throw arguments.wrong("--format takes swift, mermaid or svg, not “\(word)”.")
    }
    self.format = format
  }

  func run(_ console: Console) throws -> ExitCode {
    let history = try ModelFile.load(path, console)
    let version =
      try version.map { try history.existingVersion(named: $0) } ?? history.currentVersion
    if version.model.entities.isEmpty { throw InputError("the model has no entities") }
    let text = text(of: version, console)
    guard let file else {
      console.output.write(text)
      return .good
    }
    try PlainFile.write(text, to: file, replaces: replaces ? { _ in true } : { _ in false })
    console.print(URL(filePath: file).path)
    return .good
  }

  private func text(of version: VersionedModel.Version, _ console: Console) -> String {
    switch format {
    case .swift:
      let code = ClassGenerator.code(of: version.model, .classes).joined(as: "Model.swift")
      for note in code.notes { console.note(note) }
      return code.files.map(\.text).joined()
    case .mermaid: return MermaidDiagram.text(of: version.model)
    case .svg:
      return DiagramDrawing(of: ModelDiagram(of: version.model), title: version.name).text()
    }
  }
}
