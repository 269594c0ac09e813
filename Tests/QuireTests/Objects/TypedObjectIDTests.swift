import Foundation
import Quire
import Testing

private class Work: ManagedObject {
  @Managed var title: String = ""
}
private final class Print: Work {}
private final class Owner: ManagedObject {
  @Managed var name: String = ""
}

// What Xcode writes below the classes of a model: with an ID of its own, or the object's identity.
extension Owner: Identifiable {}

@Suite struct TypedObjectIDTests {
  @Test func `an ID leads to an object of its class, in any context`() async throws {
    let container = try PersistentContainer(name: "IDs", for: Print.self, Work.self, Owner.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    let print = Print(context: context)
    print.title = "Wave"
    let temporary = print.typedID
    #expect(context.object(with: temporary) === print)
    try context.save()
    let id = print.typedID
    #expect(id.objectID == print.objectID && id != temporary)
    let title = try await container.read { try $0.existingObject(with: id).title }
    #expect(title == "Wave")

    // An ID as one of an ancestor's class, and of a class that it is not.
    let work = TypedObjectID<Work>(id.objectID)
    #expect(try context.existingObject(with: work) === print)
    let owner = TypedObjectID<Owner>(id.objectID)
    #expect(context.object(with: owner) == nil)
    let error = #expect(throws: PersistenceError.self) { try context.existingObject(with: owner) }
    #expect(error?.code == .unacceptableValue)

    let decoder = JSONDecoder()
    decoder.userInfo[.persistentStoreCoordinator] = container.persistentStoreCoordinator
    let data = try JSONEncoder().encode([id])
    #expect(try decoder.decode([TypedObjectID<Print>].self, from: data) == [id])
    #expect("\(id)" == "\(print.objectID)")
    #expect(
      Owner(context: context).id == ObjectIdentifier(try #require(context.insertedObjects.first)))
  }
}
