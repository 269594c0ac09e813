import Quire
import QuireTesting
import Testing

// A store knows nothing of transient properties.
@Suite struct TransientPathTests {
  private static let model = try! ManagedObjectModel {
    Entity("Note") {
      Attribute("text", .string)
      Attribute("isOpen", .boolean, transient: true)
      Relationship("draft", toOne: "Note", transient: true)
      Relationship("answerTo", toOne: "Note", inverse: "answers")
      Relationship("answers", toMany: "Note", inverse: "answerTo")
    }
  }

  @Test(arguments: ["isOpen == YES", "answerTo.isOpen == YES", "draft.text == 'a'", "draft == nil"])
  func `a fetch by a transient property is refused`(format: String) throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let note = try EntityDescription.insertNewObject(forEntityName: "Note", into: context)
    try note.setValue(true, forKey: "isOpen")
    var request = FetchRequest<ManagedObject>(entityName: "Note")
    request.predicate = try FetchPredicate(format: format)
    let error = #expect(throws: PersistenceError.self) { try context.fetch(request) }
    #expect(error?.code == .persistentStoreUnsupportedRequestType)
    #expect(error?.message.contains("transient") == true)
    #expect(throws: PersistenceError.self) { try context.count(for: request) }
  }

  @Test func `an order by a transient property is refused, objects in memory are not`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let note = try EntityDescription.insertNewObject(forEntityName: "Note", into: context)
    try note.setValue(true, forKey: "isOpen")
    var request = FetchRequest<ManagedObject>(entityName: "Note")
    request.sortDescriptors = [FetchSortDescriptor(key: "isOpen")]
    let error = #expect(throws: PersistenceError.self) { try context.fetch(request) }
    #expect(error?.key == "isOpen")
    #expect(try FetchPredicate(format: "isOpen == YES").evaluate(with: note))
  }
}
