import Foundation
import QuireModel

/// `quire fixtures`: all stores that the tests and `demo` use.
struct FixturesCommand: Command {
  /// The seed of the fixtures in the repository.
  static let seed: UInt64 = 2_001

  static let syntax = CommandSyntax(
    name: "fixtures",
    summary: "makes the stores of Fixtures: the gallery's, sound and damaged ones",
    group: .tool,
    operands: [.init("DIR", "the folder for the folders with the stores; made if there is none")],
    options: [
      .init("seed", "N", "another number makes another gallery; \(seed) unless given"),
      .init("model", "MODEL", "the gallery's model; that of the package unless given"),
      .init(flag: "replace", "replace files that are there"), .json,
    ],
    discussion: """
      Gallery has a store of every version of the gallery's model, Format2 stores of file format
      2, Damaged some that something happened to. The same seed gives the same files, byte for
      byte. Nothing is overwritten unless --replace is given.
      """,
    examples: [
      .init(
        "Make the stores of the package anew, after the file format has changed",
        "quire fixtures Fixtures --replace")
    ])

  private let folder: URL
  private let seed: UInt64
  private let model: String?
  private let replaces: Bool
  private let isJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    folder = URL(filePath: arguments.operands[0], directoryHint: .isDirectory)
    seed = try arguments.number(of: "seed") ?? Self.seed
    model = arguments.value(of: "model")
    replaces = arguments.has(flag: "replace")
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let model = try ModelFile.load(try model ?? FixtureFolder.find(nil).modelURL.path, console)
    let galleryFolder = folder.appending(path: FixtureFolder.modelName)
    let gallery = model.versions.map {
      galleryFolder.appending(path: "\($0.name).\(FixtureFolder.storeExtension)")
    }
    for version in model.versions where GalleryGenerator.objectCounts[version.name] == nil {
      throw GalleryError.noSuchVersion(version.name)
    }
    let files = try engineFiles()
    // Before the first is written: all or none.
    for file in gallery + files.map(\.url) where FileManager.default.fileExists(atPath: file.path) {
      guard replaces else { throw GalleryError.fileExists(file.path) }
    }
    for url in Set((gallery + files.map(\.url)).map { $0.deletingLastPathComponent() }) {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    for (version, file) in zip(model.versions, gallery) {
      if replaces { try? FileManager.default.removeItem(at: file) }
      var generator = GalleryGenerator(version, seed: seed)
      try generator.write(to: file)
      if !isJSON { console.print(file.path) }
    }
    for (url, bytes) in files {
      try Data(bytes).write(to: url)
      if !isJSON { console.print(url.path) }
    }
    if isJSON {
      console.print([
        "folder": .string(folder.path),
        "files": JSONValue((gallery + files.map(\.url)).map(\.path)),
      ])
    }
    return .good
  }

  /// The stores of the engine alone, with what lies beside them.
  private func engineFiles() throws -> [(url: URL, bytes: [UInt8])] {
    let sound = try SoundFixtures.all().map(\.fixture)
    let damaged = try DamagedFixtures.all()
    return [
      (SoundFixtures.folderName, sound, FixtureReadme.sound(sound)),
      (DamagedFixtures.folderName, damaged, FixtureReadme.damaged(damaged)),
    ].flatMap { name, fixtures, text in
      let target = folder.appending(path: name)
      return fixtures.flatMap(\.files).map { (target.appending(path: $0.name), $0.bytes) }
        + [(target.appending(path: "README.md"), Array(text.utf8))]
    }
  }
}
