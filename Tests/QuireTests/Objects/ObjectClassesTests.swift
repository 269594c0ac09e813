import Quire
import QuireTesting
import Testing

/// Called like the class that a model of the gallery's names, not like an entity.
final class FolioArtwork: ManagedObject { @Managed var title: String? }

@Suite struct ObjectClassesTests {
  final class Zoom: ManagedObject {}
  final class Artwork: ManagedObject {}

  final class Portrait: ManagedObject {
    override class var modelEntityName: String { "Artwork" }
  }

  private func context(
    class name: String?, _ classes: [ManagedObject.Type]
  ) throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      Entity("Artwork", class: name) { Attribute("title", .string) }
      Entity("Print", parent: "Artwork")
    }
    return try ManagedObjectContext.stubbed(model, classes: classes)
  }

  private func type(
    of entity: String = "Artwork", class name: String?, _ classes: [ManagedObject.Type]
  ) throws -> ManagedObject.Type {
    let context = try context(class: name, classes)
    return Swift.type(
      of: try EntityDescription.insertNewObject(forEntityName: entity, into: context))
  }

  @Test func `an entity finds the class that its model names`() throws {
    for name in ["FolioArtwork", ".FolioArtwork", "QuireTests.FolioArtwork", "Folio.FolioArtwork"] {
      #expect(
        try type(class: name, [Zoom.self, FolioArtwork.self]) == FolioArtwork.self, "\(name)")
    }
    #expect(
      try type(class: "FolioArtwork", [Artwork.self, FolioArtwork.self]) == FolioArtwork.self)
    #expect(try type(of: "Print", class: "Zoom", [Zoom.self, Artwork.self]) == Zoom.self)
  }

  @Test func `a class that names its entity, or is called like it, is found as before`() throws {
    #expect(try type(class: nil, [Artwork.self]) == Artwork.self)
    #expect(try type(class: "Artwork", [Artwork.self]) == Artwork.self)
    #expect(try type(class: "Unknown", [Artwork.self]) == Artwork.self)
    #expect(try type(class: "Artwork", [Artwork.self, Portrait.self]) == Portrait.self)
    #expect(try type(class: nil, [Zoom.self]) == ManagedObject.self)
    #expect(try type(of: "Print", class: nil, [Portrait.self]) == Portrait.self)
  }

  @Test func `a context makes objects of what its present coordinator says a class stands for`()
    throws
  {
    func coordinator(_ entity: String, isAbstract: Bool = false) throws
      -> PersistentStoreCoordinator
    {
      let model = try ManagedObjectModel {
        Entity(entity, class: "Zoom", abstract: isAbstract) { Attribute("title", .string) }
        Entity("Artwork") { Attribute("title", .string) }
      }
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: model, classes: [Zoom.self, Artwork.self])
      try coordinator.addPersistentStore(type: .inMemory, at: nil)
      return coordinator
    }
    let context = ManagedObjectContext()
    for entity in ["Print", "Sketch", "Print"] {
      context.persistentStoreCoordinator = try coordinator(entity)
      // In turn, and one after the other.
      let made: [ManagedObject] = [
        Zoom(context: context), Artwork(context: context), Zoom(context: context),
        Zoom(context: context), Artwork(context: context),
      ]
      let names = [entity, "Artwork", entity, entity, "Artwork"]
      #expect(made.map(\.entity.name) == names)
      #expect(made.allSatisfy { $0.managedObjectContext === context && $0.isInserted })
      try context.save()
      #expect(made.map(\.objectID.entity.name) == names)
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: entity)) == 3)
    }
    context.persistentStoreCoordinator = try coordinator("Folio", isAbstract: true)
    for _ in 0..<2 {
      #expect(Zoom(context: context).managedObjectContext == nil)
      #expect(throws: PersistenceError.self) { try context.save() }
    }
    context.persistentStoreCoordinator = nil
    #expect(Zoom(context: context).managedObjectContext == nil)
    #expect(throws: PersistenceError.self) { try context.save() }
  }

  @Test func `of two classes with one name the one in the module that the model names is found`()
    throws
  {
    enum Other {
      final class FolioArtwork: ManagedObject {}
    }
    let both: [ManagedObject.Type] = [FolioArtwork.self, Other.FolioArtwork.self]
    #expect(try type(class: "QuireTests.FolioArtwork", both) == FolioArtwork.self)
    #expect(
      try type(class: "QuireTests.FolioArtwork", both.reversed()) == FolioArtwork.self)
  }

  @Test func `objects of such a class are made and fetched without the name of the entity`() throws
  {
    let context = try context(class: "Folio.FolioArtwork", [FolioArtwork.self])
    let artwork = FolioArtwork(context: context)
    artwork.title = "Wave"
    #expect(artwork.entity.name == "Artwork")
    try context.save()
    let request = FetchRequest<FolioArtwork>()
    #expect(try context.fetch(request).map(\.title) == ["Wave"])
    #expect(try context.count(for: request) == 1)
    #expect(throws: PersistenceError.self) { try context.fetch(FetchRequest<Zoom>()) }
  }
}
