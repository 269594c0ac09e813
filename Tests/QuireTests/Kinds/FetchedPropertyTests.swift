import Quire
import QuireTesting
import Testing

// Fetched properties: arrays that a request finds.
@Suite struct FetchedPropertyTests {
  private static let model = try! ManagedObjectModel {
    Entity("Artwork") {
      Attribute("title", .string)
      Attribute("price", .integer64)
      FetchedProperty(
        "namesakes", of: "Artwork",
        where: "title == $FETCH_SOURCE.title AND SELF != $FETCH_SOURCE",
        sortedBy: [FetchSortDescriptor(key: "price")])
      FetchedProperty(
        "dear", of: "Artwork", where: "price >= $FETCHED_PROPERTY.userInfo.least.integerValue",
        sortedBy: [FetchSortDescriptor(key: "price", ascending: false)], limit: 2,
        userInfo: ["least": "20"])
      FetchedProperty("called", of: "Artwork", where: "title == $FETCHED_PROPERTY")
      FetchedProperty("ring", of: "Artwork", where: "ANY $FETCH_SOURCE.ring == SELF")
    }
    Entity("Print", parent: "Artwork") { Attribute("edition", .integer64) }
  }

  private func context() throws -> ManagedObjectContext {
    let context = try ManagedObjectContext.stubbed(Self.model)
    for price in [10, 20, 30] {
      try insert("Wave", price, in: context)
    }
    try context.save()
    return context
  }

  @discardableResult
  private func insert(
    _ title: String, _ price: Int, _ entity: String = "Artwork", in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
    try object.setValue(title, forKey: "title")
    try object.setValue(price, forKey: "price")
    return object
  }

  private func first(_ context: ManagedObjectContext) throws -> ManagedObject {
    var request = FetchRequest<ManagedObject>(entityName: "Artwork")
    request.sortDescriptors = [FetchSortDescriptor(key: "price")]
    return try #require(try context.fetch(request).first)
  }

  private func prices(_ object: ManagedObject, _ key: String) throws -> [Int] {
    let found = try #require(try object.value(forKey: key) as? [ManagedObject])
    return try found.map { try $0.value(forKey: "price") as? Int ?? 0 }
  }

  @Test func `a fetched property finds what its request says, unsaved objects too`() throws {
    let context = try context()
    let object = try first(context)
    try insert("Wave", 5, in: context)
    #expect(try prices(object, "namesakes") == [5, 20, 30])
    #expect(try prices(object, "dear") == [30, 20])
    #expect(try object.value(forKeyPath: "namesakes.@max.price") as? Int == 30)
    #expect(try prices(object, "called") == [])
  }

  @Test func `a fetched property keeps its objects until the object is refreshed`() throws {
    let context = try context()
    let object = try first(context)
    #expect(try prices(object, "namesakes") == [20, 30])
    do { try insert("Wave", 40, in: context) }
    #expect(try prices(object, "namesakes") == [20, 30])
    try context.save()
    #expect(try prices(object, "namesakes") == [20, 30])
    context.refresh(object, mergeChanges: false)
    #expect(try prices(object, "namesakes") == [20, 30, 40])
    try insert("Wave", 50, in: context)
    context.refresh(object, mergeChanges: true)
    #expect(try prices(object, "namesakes") == [20, 30, 40, 50])
    // The last one is saved, and nobody holds it any more.
    try context.save()
    #expect(try prices(object, "namesakes") == [20, 30, 40, 50])
  }

  @Test func `objects that find each other do not keep each other`() throws {
    let context = try context()
    let object = try first(context)
    _ = try prices(object, "namesakes")
    do {
      let other = try #require(try object.value(forKey: "namesakes") as? [ManagedObject])[0]
      _ = try prices(other, "namesakes")
    }
    #expect(context.registeredObjects == [object])
    #expect(try prices(object, "namesakes") == [20, 30])
  }

  @Test func `subentities inherit fetched properties`() throws {
    let context = try context()
    let print = try insert("Wave", 1, "Print", in: context)
    #expect(try prices(print, "namesakes") == [10, 20, 30])
  }

  @Test func `a fetched property cannot be set, nor ask for itself`() throws {
    let context = try context()
    let object = try first(context)
    let error = #expect(throws: PersistenceError.self) {
      try object.setValue([object], forKey: "namesakes")
    }
    #expect(error?.code == .unacceptableValue && error?.key == "namesakes")
    let ring = #expect(throws: PersistenceError.self) { try object.value(forKey: "ring") }
    #expect(ring?.message.contains("asks for itself") == true)
    #expect(throws: PersistenceError.self) { try object.value(forKey: "ring") }
    #expect(!object.hasChanges)
  }
}
