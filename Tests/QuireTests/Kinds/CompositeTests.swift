import Quire
import QuireTesting
import Testing

// The elements of composite attributes: their defaults and their rules.
@Suite struct CompositeTests {
  private static let model = try! ManagedObjectModel {
    Entity("Person") {
      Attribute("name", .string)
      Attribute("home", .composite) {
        Attribute("city", .string, optional: false, length: 2...20)
        Attribute("country", .string, default: "NL")
        Attribute("place", .composite) { Attribute("height", .integer16, default: 2, range: 0...9) }
      }
      Attribute("work", .composite) { Attribute("city", .string, optional: false) }
    }
  }

  private func person() throws -> (ManagedObject, ManagedObjectContext) {
    let context = try ManagedObjectContext.stubbed(Self.model)
    return (try EntityDescription.insertNewObject(forEntityName: "Person", into: context), context)
  }

  @Test func `a new object has the defaults of elements, where there are any`() throws {
    let (person, context) = try person()
    #expect(try person.value(forKeyPath: "home.country") as? String == "NL")
    #expect(try person.value(forKeyPath: "home.place.height") as? Int == 2)
    #expect(try person.value(forKeyPath: "home.city") == nil)
    #expect(try person.value(forKey: "work") == nil)
    try person.setValue("Ede", forKeyPath: "home.city")
    try context.save()
    var request = FetchRequest<ManagedObject>(entityName: "Person")
    request.predicate = try FetchPredicate(format: "home.place.height == 2")
    #expect(try context.fetch(request) == [person])
  }

  @Test func `elements are checked when the object is saved`() throws {
    let (person, context) = try person()
    func failure() -> PersistenceError? {
      #expect(throws: PersistenceError.self) { try context.save() }
    }
    let missing = failure()
    #expect(missing?.code == .validationMissingMandatoryProperty && missing?.key == "home.city")
    try person.setValue("E", forKeyPath: "home.city")
    let short = failure()
    #expect(short?.code == .validationStringTooShort && short?.key == "home.city")
    try person.setValue("Ede", forKeyPath: "home.city")
    try person.setValue(10, forKeyPath: "home.place.height")
    let high = failure()
    #expect(high?.code == .validationNumberTooLarge && high?.key == "home.place.height")
    try person.setValue(9, forKeyPath: "home.place.height")
    // What is not there has no elements to lack.
    try context.save()
  }
}
