import Quire
import QuireTesting
import Testing

// A relationship without an inverse is not told when its destination is deleted. One that was never
// saved stayed in the relationship as an object without a context, and a save wrote its temporary
// number into the row: a damaged store. A saved one made the save fail with a conflict, as if
// another context had deleted it, which no refreshing could solve. Found by a random walk.
@Suite struct DeletedDestinationTests {
  typealias Artwork = SmallGallery.Artwork

  private static let model = try! ManagedObjectModel {
    Entity("Folder") {
      Attribute("name", .string)
      Relationship("first", toOne: "Page")
      Relationship("pages", toMany: "Page")
      Relationship("order", toMany: "Page", ordered: true)
      Relationship("owned", toOne: "Page", inverse: "owner")
    }
    Entity("Page") {
      Attribute("name", .string)
      Relationship("owner", toOne: "Folder", inverse: "owned", deleteRule: .deny)
    }
  }

  private func folder(_ page: ManagedObject, in context: ManagedObjectContext) throws
    -> ManagedObject
  {
    let folder = try EntityDescription.insertNewObject(forEntityName: "Folder", into: context)
    try folder.setValue(page, forKey: "first")
    try folder.setValue(Set([page]) as Set<ManagedObject>, forKey: "pages")
    try folder.setValue([page], forKey: "order")
    return folder
  }

  private func expectEmpty(_ folder: ManagedObject) throws {
    #expect(try folder.value(forKey: "first") == nil)
    #expect(try (folder.value(forKey: "pages") as? Set<ManagedObject>)?.isEmpty == true)
    #expect(try (folder.value(forKey: "order") as? [ManagedObject])?.isEmpty == true)
    #expect(try folder.value(forKey: "owned") == nil)
  }

  @Test func `an object that was deleted before it was saved is in no relationship`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let page = try EntityDescription.insertNewObject(forEntityName: "Page", into: context)
    let folder = try folder(page, in: context)
    // A rule that denies has nothing to say about what was never saved.
    try folder.setValue(page, forKey: "owned")
    context.delete(page)
    context.processPendingChanges()
    try expectEmpty(folder)
    try context.save()
    try expectEmpty(folder)
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `a saved object that is deleted with the save that would lead to it is left out`()
    throws
  {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let page = try EntityDescription.insertNewObject(forEntityName: "Page", into: context)
    try context.save()
    let folder = try folder(page, in: context)
    context.delete(page)
    try context.save()
    try expectEmpty(folder)
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `a destination that another context deleted is a conflict all the same`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let page = try EntityDescription.insertNewObject(forEntityName: "Page", into: context)
    try context.save()
    let other = SmallGallery.sibling(of: context)
    let same = try #require(other.object(with: page.objectID))
    _ = try folder(same, in: other)
    context.delete(page)
    try context.save()
    #expect { try other.save() } throws: { code(of: $0) == .managedObjectMerge }
  }
}
