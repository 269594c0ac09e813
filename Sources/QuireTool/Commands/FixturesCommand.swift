import Foundation
import QuireModel

/// `quire fixtures`: a store of every version of the gallery's model.
struct FixturesCommand: Command {
  /// The seed of the fixtures in the repository.
  static let seed: UInt64 = 2_001

  static let syntax = CommandSyntax(
    name: "fixtures", summary: "makes the stores that demo migrates, one of each version",
    operands: [.init("DIR", "the folder for the stores; made if there is none")],
    options: [
      .init("seed", "N", "another number makes other content; \(seed) unless given"),
      .init("model", "MODEL", "the gallery's model; that of the package unless given"),
    ],
    discussion: """
      The same seed gives the same files, byte for byte. Nothing is overwritten.
      """)

  private let folder: URL
  private let seed: UInt64
  private let model: String?

  init(_ arguments: Arguments) throws(UsageError) {
    folder = URL(filePath: arguments.operands[0], directoryHint: .isDirectory)
    seed = try arguments.number(of: "seed") ?? Self.seed
    model = arguments.value(of: "model")
  }

  func run(_ console: Console) throws -> ExitCode {
    let model = try ModelFile.load(try model ?? FixtureFolder.find(nil).modelURL.path, console)
    let files = model.versions.map {
      folder.appending(path: "\($0.name).\(FixtureFolder.storeExtension)")
    }
    // Before the first is written: all or none.
    for (version, file) in zip(model.versions, files) {
      guard GalleryGenerator.objectCounts[version.name] != nil else {
        throw GalleryError.noSuchVersion(version.name)
      }
      guard !FileManager.default.fileExists(atPath: file.path) else {
        throw GalleryError.fileExists(file.path)
      }
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (version, file) in zip(model.versions, files) {
      var generator = GalleryGenerator(version, seed: seed)
      try generator.write(to: file)
      console.print(file.path)
    }
    return .good
  }
}
