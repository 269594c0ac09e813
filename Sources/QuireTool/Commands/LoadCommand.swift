import Foundation
import Quire
import QuireModel

/// `quire load`: makes objects of the files of `quire export`.
struct LoadCommand: Command {
  static let syntax = CommandSyntax(
    name: "load", summary: "inserts what quire export has written into a store",
    operands: [.init("FOLDER", "a folder of files .jsonl, or one such file, also /dev/stdin")],
    options: [
      .init("to", "STORE", "the store's file; made if it is not there", isRequired: true),
      .init("model", "MODEL", "the model of a new store: .xcdatamodeld, .xcdatamodel or a store"),
      .init(flag: "drop-missing", "drop links to objects that are not in the files"),
      .json,
    ],
    discussion: """
      The objects are new: they get IDs of their own, in the order of the lines, and are linked as
      the lines say. All are checked and saved at once, or none is: a line that is malformed, that
      the model does not fit, or that a rule of the model forbids is named. A store that is there
      keeps its model and its objects.
      """,
    examples: [
      .init(
        "Move objects into a new store, through files that any program can change",
        "quire export gallery.quire --to gallery && quire load gallery --to new.quire --model gallery.quire"
      )
    ])

  private let source: URL
  private let store: URL
  private let model: String?
  private let dropsMissing: Bool
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    source = URL(filePath: arguments.operands[0])
    store = URL(filePath: arguments.requiredValue(of: "to"))
    model = arguments.value(of: "model")
    dropsMissing = arguments.has(flag: "drop-missing")
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let isNew = !FileManager.default.fileExists(atPath: store.path)
    let exported = try console.task("reading", .bytes) { try read($0) }
    let coordinator = try coordinator(isNew: isNew, console)
    do {
      try Tool.working(on: store) {
        let opened = try coordinator.addPersistentStore(type: .quire, at: store)
        defer { try? coordinator.remove(opened) }
        let context = ManagedObjectContext()
        context.persistentStoreCoordinator = coordinator
        try console.task("inserting", .objects) { try insert(exported, into: context, $0) }
        try console.task("saving \(exported.count.counting("object"))", .parts) { _ in
          try context.save()
        }
      }
    } catch {
      if isNew { try? coordinator.destroyPersistentStore(at: store, type: .quire) }
      throw error
    }
    if isJSON {
      console.print(["store": .string(store.path), "objects": JSONValue(exported.count)])
    } else {
      console.print("\(store.path) has \(exported.count.counting("new object")).")
    }
    return .good
  }

  private func insert(
    _ exported: [ExportedObject], into context: ManagedObjectContext, _ task: TaskProgress
  ) throws {
    let watched = WatchedObjects(objects: exported) { done in
      task.record(done, of: exported.count)
      return Interruption.code == nil
    }
    // Where the list ends early, links lead to what is not there: that is not the error.
    let inserted = Result {
      try context.insert(watched, missing: dropsMissing ? .drop : .refuse)
    }
    try Interruption.check()
    _ = try inserted.get()
  }

  private func coordinator(isNew: Bool, _ console: Console) throws -> PersistentStoreCoordinator {
    if isNew {
      guard let model else {
        throw InputError(
          "\(store.path) is not there yet: say by --model what objects it is to have")
      }
      return PersistentStoreCoordinator(versionedModel: try ModelFile.load(model, console))
    }
    if model != nil {
      throw InputError("\(store.path) is there, and has a model: --model is for a new store")
    }
    return PersistentStoreCoordinator(
      managedObjectModel: try Tool.working(on: store) {
        try PersistentStoreCoordinator.managedObjectModel(storedAt: store)
      })
  }

  private func read(_ task: TaskProgress) throws -> [ExportedObject] {
    let files = try files()
    let total = try files.reduce(0) { count, file in
      count + (try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
    }
    var done = 0
    return try files.flatMap { file in
      try lines(of: file) { byteCount in
        done += byteCount
        try task.reach(done, of: total)
      }
    }
  }

  private func files() throws -> [URL] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: source.path, isDirectory: &isFolder) else {
      throw InputError("\(source.path) is not there")
    }
    guard isFolder.boolValue else { return [source] }
    let files = try FileManager.default.contentsOfDirectory(
      at: source, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "jsonl" }.sorted { $0.path < $1.path }
    guard !files.isEmpty else { throw InputError("\(source.path) has no files .jsonl") }
    return files
  }

  /// The bytes of a file, which may be a pipe: `/dev/stdin`.
  ///
  /// - Parameter advance: called after each block, with no bytes.
  private func bytes(
    of file: URL, _ advance: (_ byteCount: Int) throws -> Void
  ) throws -> Data {
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    var bytes = Data()
    while let block = try handle.read(upToCount: 1 << 16), !block.isEmpty {
      bytes += block
      // Decoding is to come, and takes longer.
      try advance(0)
    }
    return bytes
  }

  private func lines(
    of file: URL, _ advance: (_ byteCount: Int) throws -> Void
  ) throws -> [ExportedObject] {
    let decoder = JSONDecoder()
    let lines = try bytes(of: file, advance).split(
      separator: 0x0A, omittingEmptySubsequences: false)
    return try lines.enumerated().compactMap { number, line in
      try advance(line.count + 1)
      if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { return nil }
      do {
        return try decoder.decode(ExportedObject.self, from: line)
      } catch let error as DecodingError {
        throw InputError("\(file.path), line \(number + 1): \(Self.reason(error))")
      }
    }
  }

  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .dataCorrupted(let context): context.debugDescription
    case .keyNotFound(let key, _): "it has no \(key.stringValue)"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "\(context.codingPath.map(\.stringValue).joined(separator: ".")): \(context.debugDescription)"
    @unknown default: "\(error)"
    }
  }
}

/// Objects to insert, which tell how many were taken, and end early when that is wanted.
private struct WatchedObjects: Collection {
  let objects: [ExportedObject]
  /// Called with the number of objects before this one; returns whether it is to be inserted.
  let goesOn: (Int) -> Bool

  var startIndex: Int { 0 }
  var endIndex: Int { objects.count }
  func index(after index: Int) -> Int { index + 1 }
  subscript(index: Int) -> ExportedObject { objects[index] }

  func makeIterator() -> AnyIterator<ExportedObject> {
    var place = 0
    return AnyIterator {
      guard place < objects.count, goesOn(place) else { return nil }
      defer { place += 1 }
      return objects[place]
    }
  }
}
