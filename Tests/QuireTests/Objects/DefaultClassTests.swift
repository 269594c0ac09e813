import Quire
import Testing

/// What a module above Quire, such as `QuireCoreData`, builds upon.
@Suite struct DefaultClassTests {
  /// A class for entities without one, whose key-value coding does not throw.
  class Plain: ManagedObject {
    func value(forKey key: String) -> Any? {
      (try? (self as ManagedObject).value(forKey: key)) ?? nil
    }
    var entity: String { (self as ManagedObject).entity.name }
  }

  final class Artist: Plain { @Managed var name: String? }

  private func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      Entity("Artist") { Attribute("name", .string) }
      Entity("Painter", parent: "Artist")
      Entity("Artwork") { Attribute("title", .string) }
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, classes: [Artist.self], defaultClass: Plain.self)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `entities without a class of their own or of an ancestor have the default class`()
    throws
  {
    let context = try context()
    let classes: [String: ManagedObject.Type] = [
      "Artist": Artist.self, "Painter": Artist.self, "Artwork": Plain.self,
    ]
    for (name, type) in classes {
      let object = try EntityDescription.insertNewObject(forEntityName: name, into: context)
      #expect(Swift.type(of: object) == type)
    }
    try context.save()
    context.reset()
    let request = FetchRequest<ManagedObject>(entityName: "Artwork")
    #expect(try context.fetch(request).allSatisfy { type(of: $0) == Plain.self })
  }

  @Test func `a class may have members of its own with names of key-value coding`() throws {
    let context = try context()
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    #expect(artist.value(forKey: "name") as? String == "Hokusai")
    #expect(artist.value(forKey: "age") == nil && artist.entity == "Artist")
    #expect(throws: PersistenceError.self) { try (artist as ManagedObject).value(forKey: "age") }
    #expect(try artist.value(forKeyPath: "name") as? String == "Hokusai")
  }
}
