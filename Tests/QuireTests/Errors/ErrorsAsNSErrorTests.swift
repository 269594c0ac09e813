import Foundation
import Quire
import QuireFoundation
import QuireModel
import QuireStorage
import Testing

/// What programs that were written for Core Data look for in an error: its domain, its code, and
/// what is in its `userInfo`.
@Suite struct ErrorsAsNSErrorTests {
  private func context(_ model: ManagedObjectModel = SmallGallery.model) throws
    -> ManagedObjectContext
  {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, classes: SmallGallery.classes)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return GotchaHome.context(of: coordinator)
  }

  private func error(of body: () throws -> Void) throws -> NSError {
    do {
      try body()
    } catch {
      return error as NSError
    }
    return try #require(nil as NSError?, "nothing was thrown")
  }

  @Test func `a validation error has Core Data's domain, code and keys`() throws {
    let context = try context()
    let tag = try context.insert("Tag")
    let error = try error { try context.save() }
    #expect(error.domain == "NSCocoaErrorDomain")
    #expect(error.code == 1570)
    #expect(error.userInfo["NSValidationErrorKey"] as? String == "word")
    #expect(error.userInfo["NSValidationErrorObject"] as? ManagedObjectID == tag.objectID)
    #expect(error.localizedDescription.contains("Tag.word"))
    #expect(!error.localizedDescription.contains("Quire.PersistenceError"))
  }

  @Test func `several errors are NSErrors behind one`() throws {
    let context = try context()
    try context.insert("Tag")
    try context.insert("Room")
    let error = try error { try context.save() }
    #expect(error.code == 1560)
    let details = try #require(error.userInfo[DetailedErrorsKey] as? [NSError])
    #expect(details.map(\.code) == [1570, 1570])
    let keys = details.compactMap { $0.userInfo[ValidationKeyErrorKey] as? String }
    #expect(Set(keys) == ["word", "show"])
    #expect(error.localizedDescription.contains("Tag.word"))
  }

  @Test func `the value that is wrong comes along`() throws {
    let context = try context()
    let artist = try context.insert("Artist")
    let error = try error { try artist.setValue(40_000, forKey: "born") }
    #expect(error.code == 1610)
    #expect(error.userInfo[ValidationValueErrorKey] as? Int == 40_000)
  }

  @Test func `an error of the engine is the underlying one`() throws {
    let url = URL(filePath: "/no/such/folder/store.quire")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
    let error = try error { try coordinator.addPersistentStore(type: .quire, at: url) }
    #expect(error.code == 134080)
    let underlying = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(underlying.localizedDescription.contains("/no/such/folder"))
    #expect(error.localizedFailureReason?.contains("/no/such/folder") == true)
  }

  @Test func `conflicts of a save come along`() throws {
    let context = try context()
    let artist = try context.insert("Artist", ["name": "Ada"])
    try context.save()
    let other = SmallGallery.sibling(of: context)
    let same = try #require(other.object(with: artist.objectID))
    try same.setValue("there", forKey: "name")
    try other.save()
    try artist.setValue("here", forKey: "name")
    let error = try error { try context.save() }
    #expect(error.code == 133020)
    let conflicts = error.userInfo["conflictList"] as? [MergeConflict.Report]
    #expect(conflicts?.map(\.objectID) == [artist.objectID])
  }

  @Test func `domain and code do not depend on who else is linked`() {
    // The module QuireFoundation adds the rest; what Foundation asks of any error is Quire's own.
    let error: any Error = PersistenceError(.migrationMissingSourceModel, "why")
    #expect(error._domain == "NSCocoaErrorDomain")
    #expect(error._code == 134130)
    #expect(error.localizedDescription == "why")
  }

  @Test func `other errors say as NSErrors what they say`() throws {
    func check(_ body: () throws -> Void) {
      do {
        try body()
        Issue.record("nothing was thrown")
      } catch {
        #expect(!"\(error)".contains("Error("), "it describes itself")
        #expect(error.localizedDescription == "\(error)")
      }
    }
    check { _ = try ManagedObjectModel { Entity("Artist", parent: "Nobody") } }
    check { _ = try FetchPredicate(format: "a ==") }
    check { throw FetchPredicateError(.missingVariables(["name"])) }
    check { throw StorageError.readOnly }
  }

  @Test func `a policy that always makes new conflicts ends with error 134050`() throws {
    final class Swinging: MergePolicy {
      override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
        for object in list.flatMap(\.conflictingObjects) {
          let other = try object.value(forKey: "slug") as? String == "a" ? "b" : "a"
          try object.setValue(other, forKey: "slug")
        }
      }
    }
    let model = try ManagedObjectModel {
      Entity("Page") {
        Attribute("slug", .string)
        UniquenessConstraint("slug")
      }
    }
    let context = try context(model)
    for slug in ["a", "b"] { try context.insert("Page", ["slug": slug]) }
    try context.save()
    let page = try context.insert("Page", ["slug": "a"])
    context.mergePolicy = Swinging(merge: .errorMergePolicyType)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .persistentStoreSaveConflicts && error?.code.rawValue == 134050)
    #expect(error?.constraintConflicts.first?.conflictingObjectIDs == [page.objectID])
    // Nothing was saved, and another policy can.
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
  }
}
