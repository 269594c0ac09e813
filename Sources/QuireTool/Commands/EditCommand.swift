import Foundation
import Quire
import QuireModel

/// `quire edit`: inserts, changes and deletes objects of a store, in one transaction.
struct EditCommand: Command {
  static let syntax = CommandSyntax(
    name: "edit", summary: "inserts, changes and deletes objects, all at once or none",
    operands: [.init("STORE", "the store's file")],
    options: [
      .init(
        "do", "STATEMENTS", "what to do, instead of the standard input; may be given several times",
        isRepeatable: true),
      .init(flag: "dry-run", "only say what would change"), .json,
    ],
    discussion: """
      Statements, with a line or a semicolon for each:
        insert Artist as $a name="Hokusai" birthYear=1760
        set Artwork/12 price=3 title="The Great Wave" artists+=$a images-=Image/7
        set Artwork where "price > 50000" isPublished=true
        delete Show/3 Note/7

      Values are of the types of the model: numbers, true, a text in quotes (or a word without),
      2024-01-31T12:00:00Z, base64, nil. Relationships take objects; those to many a list with
      commas, or += and -=. $a is the new object in later statements.
      The rules of the model hold: values are checked, and delete rules applied, also to what is
      told by --dry-run. When anything is wrong, nothing is changed.
      """,
    examples: [
      .init(
        "What the deletion of an artist takes along, by the delete rules of the model",
        #"quire edit gallery.quire --do "delete Artist/3" --dry-run"#),
      .init(
        "Change an object and insert another that refers to it",
        #"quire edit gallery.quire --do "set Artwork/1 title=Tide; insert Note body=new artwork=Artwork/1""#
      ),
    ])

  private let store: URL
  private let statements: [String]
  private let isDryRun: Bool
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    store = URL(filePath: arguments.operands[0])
    statements = arguments.values(of: "do")
    isDryRun = arguments.has(flag: "dry-run")
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let texts = try statements.isEmpty ? [input(console)] : statements
    let scripts = try texts.enumerated().map { index, text in
      try telling(text, index) { try EditParser.parse(text) }
    }
    let report = try console.task("editing", .parts) { _ in
      try Tool.working(on: store) { try edit(texts, scripts) }
    }
    answer(report, console)
    return .good
  }

  private func input(_ console: Console) throws -> String {
    if isatty(0) != 0 {
      console.note("statements are read up to Ctrl-D; quire help edit has examples")
    }
    let bytes = try FileHandle.standardInput.readToEnd() ?? Data()
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw InputError("the standard input is not in UTF-8")
    }
    return text
  }

  /// Adds to a mistake the line that it is in.
  private func telling<Result>(
    _ text: String, _ index: Int, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let mistake as EditMistake {
      throw inputError(mistake, text, index)
    }
  }

  private func inputError(_ mistake: EditMistake, _ text: String, _ index: Int) -> InputError {
    mistake.inputError(in: text, statements.count > 1 ? "--do \(index + 1), " : "")
  }

  private func edit(_ texts: [String], _ scripts: [EditScript]) throws -> EditReport {
    let model = try PersistentStoreCoordinator.managedObjectModel(storedAt: store)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      type: .quire, at: store, options: [ReadOnlyPersistentStoreOption: isDryRun])
    defer { try? coordinator.remove(opened) }
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    var session = EditSession(context, model)
    for (index, script) in scripts.enumerated() {
      try telling(texts[index], index) { try session.run(script) }
    }
    // Delete rules are applied here.
    context.processPendingChanges()
    let report = try EditReport(of: context, deleted: session.deleted)
    try Interruption.check()
    do {
      if isDryRun { try validate(context) } else { try context.save() }
    } catch let error as PersistenceError {
      // The first of those that are about an object which a statement names.
      for detail in error.detailedErrors + [error] {
        guard let mention = session.mention(of: detail) else { continue }
        let mistake = EditMistake(position: mention.position, reason: Tool.diagnosis(of: error))
        throw inputError(mistake, texts[mention.script], mention.script)
      }
      throw error
    }
    return report
  }

  /// What a save would refuse, but for values that have to be unique.
  private func validate(_ context: ManagedObjectContext) throws {
    for object in context.deletedObjects { try object.validateForDelete() }
    for object in context.insertedObjects { try object.validateForInsert() }
    for object in context.updatedObjects where !object.isDeleted {
      try object.validateForUpdate()
    }
    try context.throwKeptErrors()
  }

  private func answer(_ report: EditReport, _ console: Console) {
    if isJSON {
      console.print(
        .object(
          [("store", .string(store.path)), ("isSaved", JSONValue(!isDryRun))] + report.members))
      return
    }
    if !report.isEmpty { console.print(report.text) }
    console.print(
      isDryRun
        ? "Nothing was changed: this was a dry run. Otherwise: \(report.summary)."
        : "\(store.path): \(report.summary).")
  }
}
