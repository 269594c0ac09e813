import Quire
import Testing

// A saved object keeps its transient values, and so has something of its own in memory. It was then
// taken for a changed one: refreshing it left it as it was, and a transient value that rested on
// old attributes was shown beside the new ones.
@Suite struct TransientRefreshTests {
  private static let model = try! ManagedObjectModel {
    Entity("Document") {
      Attribute("title", .string)
      Attribute("draft", .string, transient: true)
      transient(Relationship("window", toOne: "Window", inverse: "document"))
      transient(Relationship("recent", toMany: "Window"))
    }
    Entity("Window") {
      Attribute("size", .integer16)
      Attribute("isKey", .boolean, transient: true)
      transient(Relationship("document", toOne: "Document", inverse: "window"))
    }
  }

  private static func transient(_ relationship: RelationshipDescription) -> RelationshipDescription
  {
    var relationship = relationship
    relationship.isTransient = true
    return relationship
  }

  private func scene() throws -> (
    context: ManagedObjectContext, document: ManagedObject, window: ManagedObject
  ) {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let document = try EntityDescription.insertNewObject(forEntityName: "Document", into: context)
    let window = try EntityDescription.insertNewObject(forEntityName: "Window", into: context)
    try document.setValue("draft", forKey: "draft")
    try document.setValue(window, forKey: "window")
    try document.setValue(Set([window]), forKey: "recent")
    try window.setValue(true, forKey: "isKey")
    try context.save()
    return (context, document, window)
  }

  @Test func `a clean object with transient values becomes a fault when all are refreshed`() throws
  {
    let (context, document, window) = try scene()
    context.refreshAllObjects()
    #expect(document.isFault && window.isFault && !context.hasChanges)
    #expect(try document.value(forKey: "draft") == nil)
    #expect(try document.value(forKey: "window") == nil)
    #expect(try window.value(forKey: "document") == nil)
  }

  @Test(arguments: [true, false])
  func `so does one that is refreshed alone, and the other end stays clean`(_ merging: Bool) throws
  {
    let (context, document, window) = try scene()
    context.refresh(document, mergeChanges: merging)
    #expect(document.isFault && !window.isFault)
    #expect(try window.value(forKey: "document") == nil)
    #expect(try window.value(forKey: "isKey") as? Bool == true)
    #expect(merging ? !context.hasChanges : !document.hasChanges)
  }

  @Test func `a changed object keeps its transient values over a refresh with its changes`() throws
  {
    let (context, document, window) = try scene()
    try document.setValue("title", forKey: "title")
    context.refreshAllObjects()
    #expect(!document.isFault && window.isFault)
    #expect(try document.value(forKey: "draft") as? String == "draft")
    #expect(try document.value(forKey: "title") as? String == "title")
    try window.setValue(false, forKey: "isKey")
    context.refresh(window, mergeChanges: true)
    #expect(try window.value(forKey: "isKey") as? Bool == false, "set and not saved yet")
  }

  @Test func `a hook's change of another object is not lost while all are refreshed`() throws {
    final class Page: ManagedObject {
      @Managed var number: Int16
      @Managed var seen: Int16
      var counted: Page?
      override func willTurnIntoFault() { counted?.number += 1 }
    }
    let model = try ManagedObjectModel {
      Entity("Page") {
        Attribute("number", .integer16, default: 0)
        Attribute("seen", .integer16, transient: true)
      }
    }
    let context = try ManagedObjectContext.stubbed(model, classes: [Page.self])
    let pages = (0..<3).map { _ in Page(context: context) }
    for page in pages { page.seen = 1 }
    try context.save()
    pages[0].counted = pages[1]
    pages[2].counted = pages[1]
    context.refreshAllObjects()
    #expect(pages[0].isFault && pages[2].isFault)
    try context.save()
    context.refresh(pages[1], mergeChanges: false)
    #expect([1, 2].contains(pages[1].number))
    pages[0].counted = nil
    pages[2].counted = nil
  }

  @Test func `values that others save replace those computed of the former ones`() throws {
    let (context, document, window) = try scene()
    context.automaticallyMergesChangesFromParent = true
    let other = SmallGallery.sibling(of: context)
    let theirs = try other.existingObject(with: document.objectID)
    try theirs.setValue("theirs", forKey: "title")
    try other.save()
    context.processPendingChanges()
    #expect(try document.value(forKey: "title") as? String == "theirs")
    #expect(try document.value(forKey: "draft") == nil)
    #expect(try window.value(forKey: "isKey") as? Bool == true, "nobody has saved it")
    #expect(!context.hasChanges)
  }
}
