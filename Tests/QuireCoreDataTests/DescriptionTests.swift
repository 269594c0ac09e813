import Foundation
import QuireCoreData
import Testing

/// What descriptions of a model say, as programs use them.
@Suite struct DescriptionTests {
  final class Color: NSObject {
    let name: String
    init(name: String) { self.name = name }
  }

  final class ColorTransformer: QuireCoreData.ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? Color).map { Data($0.name.utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).map { Color(name: String(decoding: $0, as: UTF8.self)) }
    }
  }

  private func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType) = (name, type)
    return attribute
  }

  private func model(_ properties: [NSPropertyDescription]) -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "Memo"
    entity.properties = properties
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private func context(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `a user info is an empty dictionary at first`() {
    let (property, entity) = (NSRelationshipDescription(), NSEntityDescription())
    property.userInfo?["key"] = "value"
    entity.userInfo?["key"] = "value"
    #expect(property.userInfo?["key"] as? String == "value")
    #expect(entity.userInfo?["key"] as? String == "value")
    let (one, two) = (NSEntityMapping(), NSPropertyMapping())
    one.userInfo?["key"] = "value"
    two.userInfo?["key"] = "value"
    #expect(one.userInfo?.count == 1 && two.userInfo?.count == 1)
  }

  @Test func `models, entities, properties and mapping models that say the same are equal`() throws
  {
    let (first, second) = (Library.model(), Library.model())
    #expect(first == second && first.hash == second.hash)
    #expect(first.entitiesByName["Book"] == second.entitiesByName["Book"])
    #expect(first.entitiesByName["Book"] != second.entitiesByName["Shelf"])
    let (title, other) = (
      first.entitiesByName["Book"]?.propertiesByName["title"],
      second.entitiesByName["Book"]?.propertiesByName["title"]
    )
    #expect(title == other)
    func mapping() throws -> NSMappingModel {
      try NSMappingModel.inferredMappingModel(forSourceModel: first, destinationModel: second)
    }
    #expect(try mapping() == mapping())
    let changed = try mapping()
    changed.entityMappings[0].name = "another"
    #expect(try mapping() != changed)
    other?.isOptional.toggle()
    #expect(first != second && title != other)
    #expect(first.entitiesByName["Book"] != second.entitiesByName["Book"])
    let url = try #require(Bundle.module.url(forResource: "Trips", withExtension: "xcdatamodeld"))
    let (read, again) = (
      NSManagedObjectModel(contentsOf: url), NSManagedObjectModel(contentsOf: url)
    )
    _ = again?.entities
    #expect(read == again && read?.hash == again?.hash)
  }

  @Test func `any validation predicate is evaluated with the value`() throws {
    let text = attribute("text", .stringAttributeType)
    text.setValidationPredicates(
      [
        NSPredicate(format: "length >= 3 AND length <= 5"),
        NSPredicate(format: "SELF CONTAINS 'x'"),
        NSPredicate { value, _ in value as? String != "xxxx" },
      ], withValidationWarnings: ["not long enough", 1999])
    let number = attribute("number", .integer16AttributeType)
    number.setValidationPredicates(
      [
        NSPredicate(format: "SELF > 0"), NSPredicate(format: "SELF <= 9"),
        NSPredicate(format: "SELF <= 7"),
      ], withValidationWarnings: nil)
    #expect(text.validationPredicates.count == 3 && text.validationWarnings.count == 2)
    let (parts, whole) = (NSRelationshipDescription(), NSRelationshipDescription())
    let model = model([text, number, parts, whole])
    let entity = model.entities[0]
    (parts.name, parts.destinationEntity, parts.maxCount) = ("parts", entity, 0)
    (whole.name, whole.destinationEntity, whole.maxCount) = ("whole", entity, 1)
    (parts.inverseRelationship, whole.inverseRelationship) = (whole, parts)
    parts.setValidationPredicates(
      [NSPredicate(format: "SELF.@count < 2")], withValidationWarnings: nil)
    let context = try context(model)
    func memo() -> NSManagedObject {
      NSEntityDescription.insertNewObject(forEntityName: "Memo", into: context)
    }
    let object = memo()
    try context.save()
    func codes(_ key: String, _ value: Any?) -> [Int] {
      object.setValue(value, forKey: key)
      do {
        try context.save()
        return []
      } catch let error as NSError {
        let details = error.userInfo[NSDetailedErrorsKey] as? [NSError]
        context.rollback()
        return (details ?? [error]).map(\.code).sorted()
      }
    }
    #expect(codes("text", "abx") == [] && codes("text", nil) == [])
    #expect(codes("text", "ax") == [NSManagedObjectValidationError])
    #expect(codes("text", "abc") == [1999])
    #expect(codes("text", "xxxx") == [NSManagedObjectValidationError])
    #expect(codes("number", 7) == [])
    #expect(codes("number", 0) == [NSManagedObjectValidationError])
    #expect(codes("number", 8) == [NSManagedObjectValidationError])
    #expect(codes("number", 10).contains(NSValidationNumberTooLargeError))
    #expect(codes("parts", NSSet(array: [memo()])) == [])
    #expect(codes("parts", NSSet(array: [memo(), memo()])) == [NSManagedObjectValidationError])
  }

  @Test func `a transformable attribute has a default value of its transformer's type`() throws {
    QuireCoreData.ValueTransformer.setValueTransformer(
      ColorTransformer(), forName: NSValueTransformerName("DescriptionTestsColor"))
    let color = attribute("color", .transformableAttributeType)
    color.valueTransformerName = "DescriptionTestsColor"
    color.defaultValue = Color(name: "red")
    let context = try context(model([color]))
    let object = NSEntityDescription.insertNewObject(forEntityName: "Memo", into: context)
    #expect((object.value(forKey: "color") as? Color)?.name == "red")
    try context.save()
    context.refresh(object, mergeChanges: false)
    #expect((object.value(forKey: "color") as? Color)?.name == "red")
    #expect((color.defaultValue as? Color)?.name == "red")
  }
}
