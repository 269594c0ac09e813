import Foundation
import QuireModel

/// `quire generate`: Swift code of a model.
struct GenerateCommand: Command {
  static let syntax = CommandSyntax(
    name: "generate", summary: "writes classes, or a model in Swift, of a model",
    group: .code,
    operands: [.init("MODEL", "a folder .xcdatamodeld, .xcdatamodel, or a store")],
    options: [
      .init("to", "FOLDER", "the folder for the files; made if there is none", isRequired: true),
      .init("version", "NAME", "the name of a version; the current one unless given"),
      .init(
        "form", "FORM", "classes, which declare the model, or plain; classes unless given",
        choices: ClassGenerator.Form.allCases.map(\.rawValue)),
      .init(flag: "model-code", "write one file with the model in place of classes"),
      .init("file", "NAME", "one file of this name for all classes"),
      .init("name", "NAME", "the type in that file, and the file; Model unless given"),
      .init(flag: "force", "replace files that are there"), .json,
    ],
    discussion: """
      One file for each entity, with a subclass of ManagedObject. In the form classes
      ManagedObjectModel(for:) makes the same model of them, with the same version checksum. Those
      of the form plain have names and types of properties alone, for use with a model.
      All files are written, or none. They are yours to edit: the model is not read again.
      """,
    examples: [
      .init(
        "Classes of the current version, a file for each entity",
        "quire generate Gallery.xcdatamodeld --to Sources/Gallery"),
      .init(
        "The model that a store carries, as a function in Swift",
        "quire generate gallery.quire --to Sources/Model --model-code"),
    ])

  private enum Form {
    case classes(ClassGenerator.Form)
    case model(name: String)
  }

  private let path: String
  private let folder: URL
  private let version: String?
  private let form: Form
  private let file: String?
  private let replaces: Bool
  private let isJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.operands[0]
    folder = URL(filePath: arguments.requiredValue(of: "to"), directoryHint: .isDirectory)
    version = arguments.value(of: "version")
    replaces = arguments.has(flag: "force")
    isJSON = arguments.has(flag: "json")
    file = arguments.value(of: "file")
    let name = arguments.value(of: "name")
    if let file, !file.hasSuffix(".swift") || file.contains("/") {
      throw arguments.wrong("“\(file)” is not the name of a Swift file.")
    }
    if arguments.has(flag: "model-code") {
      if file != nil { throw arguments.wrong("--file is of classes; --name names the other file.") }
      if arguments.value(of: "form") != nil {
        throw arguments.wrong("--form is of classes, and --model-code writes none.")
      }
      if let name, !SwiftNames.canBeClass(name) {
        throw arguments.wrong("“\(name)” cannot be the name of a type in Swift.")
      }
      form = .model(name: name ?? "Model")
      return
    }
    if name != nil { throw arguments.wrong("--name goes with --model-code.") }
    form = .classes(try arguments.choice(of: "form") ?? .classes)
  }

  func run(_ console: Console) throws -> ExitCode {
    let history = try ModelFile.load(path, console)
    let version =
      try version.map { try history.existingVersion(named: $0) }
      ?? history.currentVersion
    let code = try code(of: version)
    let paths = try code.write(to: folder, replaces: replaces)
    if isJSON {
      console.print(["folder": .string(folder.path), "files": JSONValue(paths)])
    } else {
      for path in paths { console.print(path) }
    }
    for note in code.notes { console.note(note) }
    return .good
  }

  private func code(of version: VersionedModel.Version) throws -> GeneratedCode {
    switch form {
    case .classes(let form):
      let code = ClassGenerator.code(of: version.model, form)
      if code.files.isEmpty { throw InputError("the model has no entities") }
      return file.map(code.joined) ?? code
    case .model(let name):
      return ModelGenerator.code(of: version.model, name: name, title: version.name)
    }
  }
}
