import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct BuiltStoreTests {
  private static let model = try! ManagedObjectModel {
    Entity("A") {
      Attribute("x", .string)
      Relationship("next", toOne: "A", inverse: "previous")
      Relationship("previous", toMany: "A", inverse: "next")
    }
  }

  private func open(_ url: URL) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model)
    try coordinator.addPersistentStore(type: .quire, at: url)
    return GotchaHome.context(of: coordinator)
  }

  // An import brings versions from elsewhere, also the highest there is.
  @Test func `an object of the highest version can be saved`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let builder = try StoreBuilder(
        creating: url, model: Self.model, versionName: nil, uuid: UUID())
      try builder.insert(
        .init("A", 7), version: .max, attributes: ["x": "x"], toOne: ["next": .init("A", 7)])
      try builder.link(.init("A", 7), "previous", to: [.init("A", 7)])
      try builder.finish()
      let context = try open(url)
      let object = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "A")).first)
      try object.setValue("y", forKey: "x")
      try context.save()
      try object.setValue("z", forKey: "x")
      try context.save()
      #expect(try StoreFacts(context).findings == [])
      let new = try EntityDescription.insertNewObject(forEntityName: "A", into: context)
      try context.save()
      #expect(new.objectID.description == "A/p8")
    }
  }

  @Test func `a store that was not finished leaves no file, and what is wrong is told`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      do {
        let builder = try StoreBuilder(
          creating: url, model: Self.model, versionName: nil, uuid: UUID())
        try builder.insert(.init("A", 1), attributes: [:], toOne: [:])
        #expect(throws: PersistenceError.self) {
          try builder.insert(.init("A", 1), attributes: [:], toOne: [:])
        }
        #expect(throws: PersistenceError.self) {
          try builder.insert(.init("A", 0), attributes: [:], toOne: [:])
        }
        #expect(throws: PersistenceError.self) {
          try builder.insert(.init("B", 1), attributes: [:], toOne: [:])
        }
        #expect(throws: PersistenceError.self) {
          try builder.link(.init("A", 1), "next", to: [])
        }
      }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
          .isEmpty)
    }
  }
}
