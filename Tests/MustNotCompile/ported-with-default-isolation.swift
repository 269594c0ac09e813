// Code of an app as it was written for Core Data, in a module whose code is the main actor's unless
// it says otherwise: nothing of it has to say `@MainActor`, and it is checked all the same. Classes
// of objects belong to whatever isolation their context has, as everywhere; what an extension adds
// to them for use off the main actor says so.
// flags: -default-isolation MainActor
import Quire

final class Note: ManagedObject {
  @Managed var text: String
  @Managed var changeCount: Int
  @Managed var tags: Set<Tag>

  override func willSave() {
    if changeCount == 0 { changeCount = tags.count + 1 }
  }
}

class Tag: ManagedObject {
  @Managed var name: String
  @Managed var notes: Set<Note>

  required init(_ origin: Origin) { super.init(origin) }
}

nonisolated extension Note {
  var title: String { String(text.prefix(20)) }
}

final class Library: PersistentContainer, @unchecked Sendable {
  override func newBackgroundContext() -> sending ManagedObjectContext {
    let context = super.newBackgroundContext()
    context.transactionAuthor = "library"
    return context
  }
}

final class NotePolicy: EntityMigrationPolicy {
  override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}
}

final class NoteStore {
  static let shared = NoteStore(Library(name: "Notes", managedObjectModel: model))
  static let model = try! ManagedObjectModel { Entity("Note") { Attribute("text", .string) } }

  let container: PersistentContainer
  lazy var context = container.viewContext

  init(_ container: PersistentContainer) { self.container = container }

  func add(_ text: String) throws {
    let note = Note(context: context)
    note.text = text
    try container.viewContext.save()
  }

  func importNotes(_ texts: [String]) async throws {
    try await container.performBackgroundTask { context in
      for text in texts { Note(context: context).text = text }
      try context.save()
      let notes = try context.fetch(FetchRequest<Note>())
      print(notes.map(\.title), notes.first?.tags.first?.name ?? "")
    }
  }
}

extension NoteStore: FetchedResultsControllerDelegate {
  func controllerDidChangeContent(_ controller: FetchedResultsController<Note>) {}
}

func show() throws {
  try NoteStore.shared.add("today")
  print(try NoteStore.shared.context.fetch(FetchRequest<Note>(entityName: "Note")).count)
}
