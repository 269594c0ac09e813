import Foundation
import QuireCoreData
import Testing

/// A class whose attribute names a transformer that nothing has registered.
final class MoodMemo: NSManagedObject {
  @Managed var mood: [String]?
}

@Suite struct ErrorTests {
  private let context = Library.context()

  @Test func `an error is caught as NSError, by its code and keys`() {
    let book = Book(context: context)
    do {
      try context.save()
      Issue.record("nothing was thrown")
    } catch let error as NSError where error.code == NSValidationMissingMandatoryPropertyError {
      #expect(error.domain == NSCocoaErrorDomain)
      #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "title")
      #expect(error.userInfo[NSValidationObjectErrorKey] as? Book === book)
      #expect(error.localizedDescription.contains("title"))
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test func `an error is caught as CocoaError`() {
    _ = Book(context: context)
    let error = #expect(throws: CocoaError.self) { try context.save() }
    #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
  }

  @Test func `an error is caught by the name of its code, and says what it is about`() throws {
    let book = Book(context: context)
    do {
      try context.save()
      Issue.record("nothing was thrown")
    } catch CocoaError.validationMissingMandatoryProperty {
      context.delete(book)
    }
    let cheap = Library.book("Emma", in: context)
    let other = Library.book("Emma", in: context)
    do {
      try context.save()
      Issue.record("nothing was thrown")
    } catch let error as CocoaError where error.code == .managedObjectConstraintMerge {
      #expect(error.validationKey == nil && error.userInfo["conflictList"] != nil)
    }
    cheap.title = nil
    let error = #expect(throws: CocoaError.self) { try context.save() }
    #expect(error?.validationKey == "title" && error?.validationObject as? Book === cheap)
    #expect(error?.validationValue == nil && other.title == "Emma")
  }

  @Test func `several errors are details of one`() {
    _ = [Book(context: context), Book(context: context)]
    let error = #expect(throws: NSError.self) { try context.save() }
    #expect(error?.code == NSValidationMultipleErrorsError)
    let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError]
    #expect(details?.map(\.code) == [1570, 1570])
    #expect(details?.allSatisfy { $0.userInfo[NSValidationObjectErrorKey] is Book } == true)
  }

  @Test func `equal values of a constraint are a conflict`() throws {
    Library.book("Emma", in: context)
    Library.book("Emma", in: context)
    let error = #expect(throws: NSError.self) { try context.save() }
    #expect(error?.code == NSManagedObjectConstraintMergeError)
    let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [Any]
    #expect(conflicts?.count == 1)
  }

  @Test func `an object that is not there, and an entity that is unknown, are errors`() throws {
    let book = Library.book("Emma", in: context)
    try context.save()
    let id = book.objectID
    context.delete(book)
    try context.save()
    let gone = #expect(throws: NSError.self) { try context.existingObject(with: id) }
    #expect(gone?.code == NSManagedObjectReferentialIntegrityError)
    #expect(throws: NSError.self) {
      try context.fetch(NSFetchRequest<Book>(entityName: "Pamphlet"))
    }
  }

  @Test func `an error names the remedy of this module`() throws {
    final class Unknown: NSManagedObject {}
    let context = Library.context()
    _ = Unknown(context: context)
    let error = #expect(throws: NSError.self) { try context.save() }
    #expect(error?.localizedDescription.contains("NSManagedObject.register") == true)
    #expect(error?.localizedDescription.contains("coordinator's classes") == false)
    let mood = NSAttributeDescription()
    (mood.name, mood.attributeType) = ("mood", .transformableAttributeType)
    mood.valueTransformerName = "NoSuchTransformer"
    let entity = NSEntityDescription()
    entity.name = "MoodMemo"
    entity.managedObjectClassName = "MoodMemo"
    entity.properties = [mood]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let other = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    other.persistentStoreCoordinator = coordinator
    MoodMemo(context: other).mood = ["calm"]
    let untransformed = #expect(throws: NSError.self) { try other.save() }
    #expect(untransformed?.localizedDescription.contains("setValueTransformer") == true)
  }
}
