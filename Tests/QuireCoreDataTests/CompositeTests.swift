import Foundation
import Quire
import QuireCoreData
import QuireSimulation
import Testing

@Suite struct CompositeTests {
  /// A person with an address, which has a place.
  private func model() -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      return attribute
    }
    let (place, address) = (NSCompositeAttributeDescription(), NSCompositeAttributeDescription())
    place.name = "place"
    place.elements = [attribute("latitude", .double), attribute("longitude", .double)]
    address.name = "address"
    address.elements = [attribute("city", .string), attribute("zip", .integer32), place]
    address.defaultValue = ["city": "Edo"]
    let person = NSEntityDescription()
    person.name = "Person"
    person.properties = [attribute("name", .string), address]
    let model = NSManagedObjectModel()
    model.entities = [person]
    return model
  }

  @Test func `a composite attribute is set, read and looked for by its elements`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = Gallery.context(of: coordinator)
    let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
    #expect((person.value(forKey: "address") as? [String: Any])?["city"] as? String == "Edo")
    person.setValue(
      ["city": "Uraga", "zip": NSNumber(value: 239), "place": ["latitude": 35.25]],
      forKey: "address")
    person.setValue("Hiroshige", forKeyPath: "name")
    person.setValue(139.7, forKeyPath: "address.place.longitude")
    try context.save()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.predicate = NSPredicate(format: "address.zip > 200 AND address.place.longitude > 100")
    let found = try #require(Gallery.context(of: coordinator).fetch(request).first)
    let address = try #require(found.value(forKey: "address") as? [String: Any])
    #expect(address["city"] as? String == "Uraga" && address["zip"] as? Int == 239)
    #expect((address["place"] as? [String: Any])?["latitude"] as? Double == 35.25)
    #expect(found.value(forKeyPath: "address.city") as? String == "Uraga")
    request.predicate = NSPredicate(format: "address.city == 'Edo'")
    #expect(try context.count(for: request) == 0)
  }

  @Test func `a composite attribute keeps its elements in a file, and its place in the hash`()
    throws
  {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let url = folder.url.appendingPathComponent("people.store")
    for _ in 0..<2 {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url)
      try coordinator.remove(store)
    }
    let other = model()
    let address = other.entities[0].attributesByName["address"] as? NSCompositeAttributeDescription
    #expect(address?.elements.map(\.name) == ["city", "zip", "place"])
    address?.elements.removeFirst()
    address?.defaultValue = nil
    let error = #expect(throws: NSError.self) {
      try NSPersistentStoreCoordinator(managedObjectModel: other).addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
  }

  @Test func `a composite attribute that was read is one, with what it was read with`() throws {
    let read = NSManagedObjectModel(VersionedModel(try model().resolved()))
    let address = try #require(
      read.entitiesByName["Person"]?.attributesByName["address"]
        as? NSCompositeAttributeDescription)
    #expect(address.type == .composite && address.elements.map(\.type).last == .composite)
    #expect(address.elements.last is NSCompositeAttributeDescription)
    #expect(read.entityVersionHashesByName == model().entityVersionHashesByName)
  }
}
