import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Names that change places are in no version hash: a store was opened as it was, and every value
/// appeared under the other name, without a word.
@Suite struct `Names that change places` {
  private func people(
    _ first: String? = nil, _ last: String? = nil, modifier: String? = nil
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Person") {
        Attribute("first", .string, renamedFrom: first, versionHashModifier: modifier)
        Attribute("last", .string, renamedFrom: last)
      }
    }
  }

  private func open(
    _ model: ManagedObjectModel, at url: URL, isReadOnly: Bool = false
  ) throws -> [[String?]] {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    var options = PersistentStoreOptions.migrating
    options.isReadOnly = isReadOnly
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    defer { try? coordinator.remove(store) }
    let context = GotchaHome.context(of: coordinator)
    return try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map {
      [try $0.value(forKey: "first") as? String, try $0.value(forKey: "last") as? String]
    }
  }

  private func withPeople(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      try withStore(try people(), url) { context in
        let ada = try EntityDescription.insertNewObject(forEntityName: "Person", into: context)
        try ada.setValue("Ada", forKey: "first")
        try ada.setValue("Lovelace", forKey: "last")
        try context.save()
      }
      try body(url)
    }
  }

  @Test func `the store is refused, with what to write, and that moves the values`() throws {
    try withPeople { url in
      for isReadOnly in [false, true] {
        let error = persistenceError {
          _ = try open(people("last", "first"), at: url, isReadOnly: isReadOnly)
        }
        #expect(error?.code == .migration)
        #expect(error?.entityName == "Person" && error?.key == "first")
        #expect(
          error?.message.contains("Person.first was last and that Person.last was first") == true
            && error?.message.contains(#"versionHashModifier: "2""#) == true, "\(error as Any)")
      }
      let moved = try open(people("last", "first", modifier: "2"), at: url)
      #expect(moved == [["Lovelace", "Ada"]])
      // The store says by now what the model says.
      let again = try open(people("last", "first", modifier: "2"), at: url)
      #expect(again == [["Lovelace", "Ada"]])
      // Without the names that were given, it is the same version.
      let plain = try open(people(modifier: "2"), at: url)
      #expect(plain == [["Lovelace", "Ada"]])
    }
  }

  @Test func `a renaming that says nothing new is none`() throws {
    try withPeople { url in
      // As many keep it, long after the name was changed.
      let kept = try open(people("given", nil), at: url)
      #expect(kept == [["Ada", "Lovelace"]])
    }
  }

  @Test func `names of entities, of relationships and within composites change places as well`()
    throws
  {
    func model(_ isOther: Bool) throws -> ManagedObjectModel {
      func was(_ name: String) -> String? { isOther ? name : nil }
      return try ManagedObjectModel {
        Entity("A", renamedFrom: was("B")) { Attribute("n", .integer64) }
        Entity("B", renamedFrom: was("A")) { Attribute("n", .integer64) }
        Entity("Link", abstract: true) {
          Relationship("from", toOne: "A", inverse: nil, renamedFrom: was("to"))
          Relationship("to", toOne: "A", inverse: nil, renamedFrom: was("from"))
          Attribute("place", .composite) {
            Attribute("x", .double, renamedFrom: was("y"))
            Attribute("y", .double, renamedFrom: was("x"))
          }
        }
        Entity("Road", parent: "Link")
      }
    }
    let (old, new) = (try model(false), try model(true))
    #expect(old == new, "the hashes are not equal")
    #expect(
      new.unseenRenamings(since: old).map { "\($0.name) \($0.formerName)" } == [
        "A B", "B A", "Link.place.x place.y", "Link.place.y place.x", "Link.from to",
        "Link.to from",
      ])
    #expect(new.unseenRenamings(since: new).isEmpty)
    #expect(old.unseenRenamings(since: new).isEmpty)
  }
}
