import Foundation
import QuireCoreData
import Testing

/// Turns a list of texts into lines.
final class LinesTransformer: QuireCoreData.ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? [String]).map { Data($0.joined(separator: "\n").utf8) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(decoding: $0, as: UTF8.self).components(separatedBy: "\n") }
  }
}

@Suite struct TransformerTests {
  @Test(arguments: [true, false])
  func `a transformer is found by its registered name, or by that of its class`(
    isRegistered: Bool
  ) throws {
    let name = NSValueTransformerName(isRegistered ? "Lines" : "LinesTransformer")
    if isRegistered { ValueTransformer.setValueTransformer(LinesTransformer(), forName: name) }
    let lines = NSAttributeDescription()
    lines.name = "lines"
    lines.attributeType = .transformableAttributeType
    lines.valueTransformerName = name.rawValue
    let entity = NSEntityDescription()
    entity.name = "Poem"
    entity.properties = [lines]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let poem = NSEntityDescription.insertNewObject(forEntityName: "Poem", into: context)
    poem.setValue(["Tyger", "burning"], forKey: "lines")
    try context.save()
    context.refreshAllObjects()
    #expect(poem.value(forKey: "lines") as? [String] == ["Tyger", "burning"])
    #expect(ValueTransformer.valueTransformerNames().contains(name) == isRegistered)
  }
}

/// Transformers by their names, and the one of keyed archives.
@Suite struct NamedTransformerTests {
  @Test func `an archive is read back, and other classes than the allowed are not`() throws {
    let name = NSValueTransformerName.secureUnarchiveFromDataTransformerName
    let transformer = try #require(ValueTransformer(forName: name))
    let data = try #require(transformer.reverseTransformedValue(["a", "b"]) as? Data)
    #expect(transformer.transformedValue(data) as? [String] == ["a", "b"])
    #expect(transformer.transformedValue(Data("no archive".utf8)) == nil)
    #expect(ValueTransformer(forName: NSValueTransformerName("no such transformer")) == nil)
  }

  @Test func `a request whose type is not known is copied into another`() {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.fetchLimit = 3
    let copy = NSFetchRequest<NSFetchRequestResult>(request as NSPersistentStoreRequest)
    #expect(copy.entityName == "Note" && copy.fetchLimit == 3 && copy !== request)
  }
}
