import Foundation
import Quire
import QuireCoreData
import Testing

@Suite struct ModelTests {
  @Test func `a model of Xcode's keeps its hashes after its descriptions were looked at`() throws {
    let url = try #require(Bundle.module.url(forResource: "Trips", withExtension: "xcdatamodeld"))
    let model = try #require(NSManagedObjectModel(contentsOf: url))
    let untouched = try #require(NSManagedObjectModel(contentsOf: url))
    let trip = try #require(model.entitiesByName["Trip"])
    #expect(trip.managedObjectClassName == "Trip")
    #expect(trip.attributesByName["rating"]?.attributeType == .integer16AttributeType)
    #expect(trip.attributesByName["name"]?.defaultValue as? String == "New Trip")
    let places = try #require(trip.relationshipsByName["places"])
    #expect(places.isOrdered && places.isToMany && places.deleteRule == .cascadeDeleteRule)
    #expect(places.destinationEntity?.name == "Place")
    #expect(places.inverseRelationship?.name == "trip")
    #expect(model.entityVersionHashesByName == untouched.entityVersionHashesByName)
    #expect(try model.resolved() == untouched.resolved())
    trip.attributesByName["rating"]?.isOptional.toggle()
    #expect(trip.versionHash != untouched.entityVersionHashesByName["Trip"])
    let compiled = url.deletingPathExtension().appendingPathExtension("momd")
    #expect(NSManagedObjectModel(contentsOf: compiled) != nil)
    #expect(NSManagedObjectModel(contentsOf: url.appendingPathComponent("none")) == nil)
  }

  @Test func `descriptions say everything that a model in code needs`() throws {
    let (person, author) = (NSEntityDescription(), NSEntityDescription())
    person.name = "Person"
    person.isAbstract = true
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    name.setValidationPredicates(
      [NSPredicate(format: "SELF MATCHES '[A-Z].*'"), NSPredicate(format: "length <= 9")],
      withValidationWarnings: nil)
    let born = NSAttributeDescription()
    born.name = "born"
    born.attributeType = .integer16AttributeType
    born.setValidationPredicates([NSPredicate(format: "SELF >= 1500")], withValidationWarnings: nil)
    person.properties = [name]
    author.name = "Author"
    author.properties = [born]
    author.userInfo = ["color": "red"]
    person.subentities = [author]
    let model = NSManagedObjectModel()
    model.entities = [person, author]
    model.setEntities([author], forConfigurationName: "Authors")
    #expect(author.superentity === person && author.isKindOf(entity: person))
    #expect(author.properties.map(\.name) == ["name", "born"])
    #expect(model.configurations == ["Authors"])
    #expect(model.entities(forConfigurationName: "Authors") == [author])
    let quire = try model.resolved()
    #expect(quire.entity(named: "Author")?.attributes.map(\.name) == ["name", "born"])
    #expect(quire.entity(named: "Author")?.userInfo == ["color": "red"])

    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let object = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
    func code(_ key: String, _ value: Any) -> Int? {
      object.setValuesForKeys(["name": "Austen", "born": 1775])
      object.setValue(value, forKey: key)
      return #expect(throws: NSError.self) { try context.save() }?.code
    }
    #expect(code("name", "austen") == NSValidationStringPatternMatchingError)
    #expect(code("name", "Austen Jane") == NSValidationStringTooLongError)
    #expect(code("born", 12) == NSValidationNumberTooSmallError)
  }

  @Test func `derived attributes, fetched properties and templates are kept`() throws {
    let model = Library.model()
    let shelf = try #require(model.entitiesByName["Shelf"])
    let count = NSDerivedAttributeDescription()
    count.name = "count"
    count.attributeType = .integer64AttributeType
    count.derivationExpression = NSExpression(format: "books.@count")
    let long = NSFetchedPropertyDescription()
    long.name = "long"
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
    request.predicate = NSPredicate(format: "shelf == $FETCH_SOURCE AND pages > 100")
    long.fetchRequest = request
    shelf.properties += [count, long]
    let template = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
    template.predicate = NSPredicate(format: "pages > $LEAST")
    model.setFetchRequestTemplate(template, forName: "longerThan")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let object = Shelf(context: context)
    let book = Library.book("Emma", pages: 300, on: object, in: context)
    Library.book("Leaf", pages: 2, on: object, in: context)
    try context.save()
    #expect(object.value(forKey: "count") as? Int == 2)
    #expect(object.value(forKey: "long") as? [Book] == [book])
    let longer = try #require(
      model.fetchRequestFromTemplate(
        withName: "longerThan", substitutionVariables: ["LEAST": 100]))
    #expect(try context.fetch(longer) as? [Book] == [book])
    #expect(model.fetchRequestTemplate(forName: "none") == nil)
    #expect(model.fetchRequestTemplatesByName == ["longerThan": template])
    let read = NSManagedObjectModel(VersionedModel(try model.resolved()))
    let names = read.fetchRequestTemplatesByName
    #expect(names.keys.sorted() == ["longerThan"])
    #expect(names["longerThan"]?.predicate?.predicateFormat == "pages > $LEAST")
    read.setFetchRequestTemplate(nil, forName: "longerThan")
    #expect(read.fetchRequestTemplatesByName.isEmpty)
    #expect(read.fetchRequestTemplate(forName: "longerThan") == nil)
  }
}
