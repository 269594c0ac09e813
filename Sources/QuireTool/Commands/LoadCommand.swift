import Foundation
import Quire
import QuireModel

/// `quire load`: makes objects of the files of `quire export`.
struct LoadCommand: Command {
  static let syntax = CommandSyntax(
    name: "load", summary: "inserts what quire export has written into a store",
    operands: [
      .init("FOLDER", "a folder of files .jsonl or .csv, or one such file, also /dev/stdin")
    ],
    options: [
      .init("to", "STORE", "the store's file; made if it is not there", isRequired: true),
      .init(
        "model", "MODEL", "the model of a new store: .xcdatamodeld, .xcdatamodel or a store",
        isRepeatable: true),
      .init("entity", "NAME", "the entity of a CSV file whose name is another"),
      .init(flag: "drop-missing", "drop links to objects that are not in the files"),
      .json,
    ],
    discussion: """
      The objects are new: they get IDs of their own, in the order of the lines, and are linked as
      the lines say. All are checked and saved at once, or none is: a line that is malformed, that
      the model does not fit, or that a rule of the model forbids is named. A store that is there
      keeps its model and its objects.
      A file .csv has the objects of the entity that it is called after, and a first line with the
      names of properties. Its column id may be missing, where nothing refers to the objects.
      The save at the end is one step: what of it is done is not known, and not shown.
      """,
    examples: [
      .init(
        "Move objects into a new store, through files that any program can change",
        "quire export gallery.quire --to out && quire load out --to new.quire --model gallery.quire"
      ),
      .init(
        "New objects from a spreadsheet, to a store that is there",
        "printf 'name,slug\\nYuko,yuko\\n' | quire load /dev/stdin --to gallery.quire --entity Artist"
      ),
    ])

  private let source: URL
  private let entityName: String?
  private let store: URL
  private let models: [String]
  private let dropsMissing: Bool
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    source = URL(filePath: arguments.operands[0])
    entityName = arguments.value(of: "entity")
    store = URL(filePath: arguments.requiredValue(of: "to"))
    models = arguments.values(of: "model")
    dropsMissing = arguments.has(flag: "drop-missing")
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let isNew = !FileManager.default.fileExists(atPath: store.path)
    if isNew { try PlainFile.expectAccess(to: store) }
    let files = try ObjectFiles(at: source, entityName: entityName)
    let coordinator = try coordinator(isNew: isNew, console)
    let content = try console.task("reading", .bytes) {
      try files.read(coordinator.managedObjectModel, $0)
    }
    if !dropsMissing { try content.checkLinks(in: coordinator.managedObjectModel) }
    do {
      try Tool.working(on: store) {
        let opened = try coordinator.addPersistentStore(type: .quire, at: store)
        defer { try? coordinator.remove(opened) }
        let context = ManagedObjectContext()
        context.persistentStoreCoordinator = coordinator
        let objects = try console.task("inserting", .objects) {
          try insert(content, into: context, $0)
        }
        let title = "saving \(content.objects.count.counting("object"))"
        try console.task(title, .parts) { _ in try save(objects, of: content, in: context) }
      }
    } catch {
      if isNew { try? coordinator.destroyPersistentStore(at: store, type: .quire) }
      throw error
    }
    let count = content.objects.count
    if isJSON {
      console.print(["store": .string(store.path), "objects": JSONValue(count)])
    } else {
      console.print("\(store.path) has \(count.counting("new object")).")
    }
    return .good
  }

  private func insert(
    _ content: ObjectFiles.Content, into context: ManagedObjectContext, _ task: TaskProgress
  ) throws -> [ManagedObject] {
    var last: Int?
    let watched = WatchedObjects(objects: content.objects) { done in
      task.record(done, of: content.objects.count)
      last = done < content.objects.count ? done : nil
      return Interruption.code == nil
    }
    do {
      let objects = try context.insert(watched, missing: dropsMissing ? .drop : .refuse)
      try Interruption.check()
      return objects
    } catch {
      // Where the list ends early, links refer to what is not there: that is not the error.
      try Interruption.check()
      guard let last else { throw error }
      let hint = hint(on: error, content.objects[last].entityName, context)
      var text = Tool.diagnosis(of: error)
      if !content.hasID(last) {
        text = text.replacing("the exported \(content.objects[last].id).", with: "")
      }
      throw InputError(at: content.location(of: last), text + (hint.map { "; \($0)" } ?? ""))
    }
  }

  /// - Throws: what the save refuses, with the lines of the objects.
  private func save(
    _ objects: [ManagedObject], of content: ObjectFiles.Content, in context: ManagedObjectContext
  ) throws {
    do {
      try context.save()
    } catch let error as PersistenceError {
      var indexes: [ManagedObjectID: Int] = [:]
      for (index, object) in objects.enumerated() { indexes[object.objectID] = index }
      let mistakes = error.singleErrors.flatMap { single in
        single.subjects.prefix(1).compactMap { indexes[$0] }.map { (index: $0, error: single) }
      }.sorted { $0.index < $1.index }
      guard let first = mistakes.first else { throw error }
      // New objects have IDs that mean nothing to a reader. The longest are replaced first, as the
      // others are beginnings of some.
      func naming(_ text: String, _ error: PersistenceError) -> String {
        error.subjects.sorted { $0.description.utf8.count > $1.description.utf8.count }
          .reduce(text) { text, id in
            guard let index = indexes[id] else { return text }
            return text.replacing("\(id)", with: "line \(content.line(of: index))")
          }
      }
      if mistakes.count == 1 {
        throw InputError(
          at: content.location(of: first.index),
          naming(Tool.diagnosis(of: first.error), first.error))
      }
      let lines = mistakes.prefix(Self.mistakeLimit).map {
        "\n  \(content.location(of: $0.index)): \(naming($0.error.message, $0.error))"
      }
      let rest = mistakes.count - lines.count
      throw InputError(
        at: store.path,
        error.message + lines.joined() + (rest > 0 ? "\n  and \(rest) more" : ""))
    }
  }

  private static let mistakeLimit = 20

  /// What a name that the model does not have may have been meant to be.
  private func hint(
    on error: any Error, _ entityName: String, _ context: ManagedObjectContext
  ) -> String? {
    guard let error = error as? PersistenceError, error.code == .undefinedKey,
      let model = context.persistentStoreCoordinator?.managedObjectModel
    else { return nil }
    guard let entity = model.entity(named: entityName) else {
      return Suggestion.question(for: entityName, among: model.entities.map(\.name))
    }
    let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    return error.key.flatMap { Suggestion.question(for: $0, among: names) }
  }

  private func coordinator(isNew: Bool, _ console: Console) throws -> PersistentStoreCoordinator {
    if isNew {
      guard !models.isEmpty else {
        throw InputError(
          "\(store.path) is not there yet: say by --model what objects it is to have")
      }
      return PersistentStoreCoordinator(
        versionedModel: try ModelFile.load(merging: models, console))
    }
    if !models.isEmpty {
      throw InputError("\(store.path) is there, and has a model: --model is for a new store")
    }
    return PersistentStoreCoordinator(
      managedObjectModel: try Tool.working(on: store) {
        try PersistentStoreCoordinator.managedObjectModel(storedAt: store)
      })
  }
}

/// Objects to insert, which tell how many were taken, and end early when that is wanted.
private struct WatchedObjects: Collection {
  let objects: [ExportedObject]
  /// Called with the number of objects before the next one, and of all at the end; returns whether
  /// to go on.
  let goesOn: (Int) -> Bool

  var startIndex: Int { 0 }
  var endIndex: Int { objects.count }
  func index(after index: Int) -> Int { index + 1 }
  subscript(index: Int) -> ExportedObject { objects[index] }

  func makeIterator() -> AnyIterator<ExportedObject> {
    var index = 0
    return AnyIterator {
      guard goesOn(index), index < objects.count else { return nil }
      defer { index += 1 }
      return objects[index]
    }
  }
}

extension PersistenceError {
  /// The objects that it is about.
  fileprivate var subjects: [ManagedObjectID] {
    (objectID.map { [$0] } ?? []) + constraintConflicts.flatMap(\.conflictingObjectIDs)
  }
}
