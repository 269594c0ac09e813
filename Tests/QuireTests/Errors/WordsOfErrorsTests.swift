import Foundation
import Quire
import Testing

/// What errors say to the person who has made the mistake.
@Suite struct WordsOfErrorsTests {
  @Test func `a database of SQLite is told from other files, with the way to bring it over`() throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "Shop.sqlite")
      let bytes = Data("SQLite format 3\0".utf8) + Data(count: 5_000)
      try bytes.write(to: url)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
      let error = #expect(throws: PersistenceError.self) {
        try coordinator.addPersistentStore(type: .sqlite, at: url)
      }
      #expect(error?.code == .persistentStoreOpen)
      #expect(error?.message.contains("`quire import`") == true)
      #expect("\(try #require(error))".contains("a database of SQLite"))
      #expect(try Data(contentsOf: url) == bytes, "it was left alone")
      let other = folder.appending(path: "other")
      try Data(repeating: 7, count: 5_000).write(to: other)
      let plain = #expect(throws: PersistenceError.self) {
        try coordinator.addPersistentStore(type: .sqlite, at: other)
      }
      #expect(plain?.message.contains("import") == false)
    }
  }

  @Test func `an expression without a value says why once`() throws {
    let context = try SmallGallery.context()
    try context.insert("Artist", ["born": 1760])
    try context.save()
    var request = FetchRequest<SmallGallery.Artist>()
    request.predicate = try FetchPredicate(format: "born / 0 == 1")
    let error = #expect(throws: PersistenceError.self) { try context.fetch(request) }
    let text = "\(try #require(error))"
    #expect(text.components(separatedBy: "division by zero").count == 2, "\(text)")
    #expect(error?.localizedDescription.components(separatedBy: "division by zero").count == 2)
  }

  @Test(arguments: [
    ("a == %@", [], "argument number 1", "no arguments are given"),
    ("a == %@ AND b == %@", [1], "argument number 2", "no more than 1 is given"),
    ("a == %@ AND b == %@ AND c == %@", [1, 2], "argument number 3", "no more than 2 are given"),
  ])
  func `a format that wants more arguments says which one`(
    _ format: String, _ arguments: [Int], _ expected: String, _ found: String
  ) throws {
    let error = #expect(throws: PredicateFormatError.self) {
      try FetchPredicate(format: format, argumentArray: arguments)
    }
    #expect(error?.expected == expected)
    #expect(error?.found.contains(found) == true, "\(error?.found ?? "")")
  }

  final class Frame: ManagedObject {
    @Managed var wood: String?
    @Managed var artwork: ManagedObject?
    override func validateForDelete() throws {}
  }

  @Test func `a deletion that is denied says so without the help of its class`() throws {
    let context = try ManagedObjectContext.stubbed(SmallGallery.model, classes: [Frame.self])
    let frame = try context.insert("Frame")
    let artwork = try context.insert("Artwork", ["frame": frame])
    try context.save()
    context.delete(frame)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .validationRelationshipDeniedDelete && error?.key == "artwork")
    #expect(error?.objectID == frame.objectID)
    #expect(error?.message.contains("still refers to 1 object, so") == true)
    // What an override may do instead: lead the others elsewhere.
    try artwork.setValue(nil, forKey: "frame")
    try context.save()
    #expect(frame.managedObjectContext == nil)
  }

  final class Form: ManagedObject {
    @Managed var name: String
    @Managed(range: 0...150) var age: Int = 0
  }

  // A form that looked at `detailedErrors` showed nothing where one field was wrong.
  @Test func `each error of a save is found, also if it is the only one`() throws {
    let context = try ManagedObjectContext.stubbed(for: Form.self)
    let form = Form(context: context)
    form.age = 200
    let two = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(two?.singleErrors.map(\.key) == ["age", "name"])
    form.name = "Ada"
    let one = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(one?.detailedErrors.isEmpty == true, "as in Core Data")
    #expect(one?.singleErrors.map(\.key) == ["age"])
    #expect(one?.singleErrors.first?.code == one?.code)
  }

  @Test func `a text that is too short names its object`() throws {
    let model = try ManagedObjectModel {
      Entity("Tag") { Attribute("word", .string, length: 3...) }
    }
    let context = try ManagedObjectContext.stubbed(model)
    let tag = try context.insert("Tag", ["word": "a"])
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code.rawValue == 1670)
    #expect("\(try #require(error))".contains("\(tag.objectID)"))
  }
}
