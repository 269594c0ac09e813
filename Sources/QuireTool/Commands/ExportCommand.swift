import Foundation
import Quire
import QuireModel

/// `quire export`: the objects of a store as lines of JSON or as CSV, one file an entity.
struct ExportCommand: Command {
  static let syntax = CommandSyntax(
    name: "export", summary: "the objects of a store as JSON or CSV, a file for each entity",
    operands: [.init("STORE", "the store's file")],
    options: [
      .init("to", "FOLDER", "where to write; made if it is not there", isRequired: true),
      .init("entity", "NAME", "only the objects of this entity and its subentities"),
      .init(
        "format", "FORMAT", "json, a JSON object on each line, or csv; json unless given",
        choices: ExportFormat.allCases.map(\.rawValue)),
      .json,
    ],
    discussion: """
      Artwork.jsonl has a line for each artwork: its entity, an id, and its properties by name;
      what has no value is left out. Relationships are ids. Moments are as in ISO 8601, bytes
      base64, decimal numbers texts. Artwork.csv (RFC 4180) has a line of names first, the same
      values, and nothing where there is none; "" is an empty text, and ids of several objects have
      spaces between them. quire load makes objects of the lines that are equal to the
      last bit. No file that is there is written over, and when one cannot be written none is left.
      """,
    examples: [
      .init(
        "All objects, a file for each entity",
        "quire export gallery.quire --to gallery"),
      .init(
        "The works for a spreadsheet",
        "quire export gallery.quire --to gallery --format csv --entity Artwork"),
    ])

  private let store: URL
  private let folder: URL
  private let entity: String?
  private let format: ExportFormat
  private let isJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    store = URL(filePath: arguments.operands[0])
    folder = URL(
      filePath: arguments.requiredValue(of: "to"), directoryHint: .isDirectory)
    entity = arguments.value(of: "entity")
    format = try arguments.choice(of: "format") ?? .json
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let (counts, code) = try console.task("exporting", .objects) { try export($0, console) }
    let total = counts.reduce(0) { $0 + $1.count }
    if isJSON {
      console.print([
        "store": .string(store.path), "folder": .string(folder.path),
        "objects": .object(counts.map { ($0.name, JSONValue($0.count)) }),
      ])
    } else {
      console.print("\(folder.path) has \(total.counting("object")):\n\(Table.counts(counts))")
    }
    return code
  }

  private func export(
    _ task: TaskProgress, _ console: Console
  ) throws -> (counts: [(name: String, count: Int)], code: ExitCode) {
    var counts: [(name: String, count: Int)] = []
    let code = try Tool.readingPastDamage(store, console) { context, model in
      counts = []
      let entities =
        try entity.map { model.family(of: try Tool.entity(named: $0, of: model)) }
        ?? model.entities
      let concrete = entities.filter { !$0.isAbstract }.sorted { $0.name < $1.name }
      let total = try concrete.reduce(0) { try $0 + context.count(for: request(for: $1)) }
      let isNew = !FileManager.default.fileExists(atPath: folder.path)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      var written: [URL] = []
      do {
        for entity in concrete {
          let file = folder.appending(path: "\(entity.fileName).\(format.fileExtension)")
          let done = counts.reduce(0) { $0 + $1.count }
          let count = try write(entity, of: context, to: file, &written) {
            try task.reach(done + $0, of: total)
          }
          counts.append((entity.name, count))
        }
      } catch {
        for file in written { try? FileManager.default.removeItem(at: file) }
        if isNew { try? FileManager.default.removeItem(at: folder) }
        throw error
      }
    }
    return (counts, code)
  }

  private func write(
    _ entity: EntityDescription, of context: ManagedObjectContext, to file: URL,
    _ written: inout [URL], _ reach: (_ count: Int) throws -> Void
  ) throws -> Int {
    guard !FileManager.default.fileExists(atPath: file.path) else {
      throw InputError("\(file.path) is there already, and is not written over")
    }
    let output = try LineFile(creating: file)
    written.append(file)
    let encoder = ObjectEncoder(format, for: entity)
    if let header = encoder.header { try output.write(header) }
    let objects = try context.fetchBatched(request(for: entity))
    for start in stride(from: 0, to: objects.count, by: Self.batchSize) {
      let slice = objects[start..<min(start + Self.batchSize, objects.count)]
      for exported in try context.export(slice) { try output.write(encoder.line(of: exported)) }
      try reach(start + slice.count)
    }
    try output.close()
    return objects.count
  }
}

extension ExportCommand {
  /// The number of objects that are in memory at a time.
  private static let batchSize = 1_000

  /// The entity's own objects.
  private func request(for entity: EntityDescription) -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: entity.name)
    request.includesSubentities = false
    request.fetchBatchSize = Self.batchSize
    return request
  }
}

/// A new file that is written line by line.
private final class LineFile {
  private let handle: FileHandle
  private var pending = Data()

  init(creating url: URL) throws {
    try Data().write(to: url, options: .withoutOverwriting)
    handle = try FileHandle(forWritingTo: url)
  }

  func write(_ line: Data) throws {
    pending.append(line)
    pending.append(0x0A)
    if pending.count > 1 << 16 { try flush() }
  }

  func close() throws {
    try flush()
    try handle.close()
  }

  private func flush() throws {
    try handle.write(contentsOf: pending)
    pending.removeAll(keepingCapacity: true)
  }
}
