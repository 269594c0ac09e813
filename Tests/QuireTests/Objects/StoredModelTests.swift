import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A store carries its model. What a version hash does not count changes without a migration.
@Suite struct StoredModelTests {
  private func model(_ value: AttributeValue) throws
    -> ManagedObjectModel
  {
    try ManagedObjectModel {
      Entity("Person") { Attribute("name", .string, default: value) }
    }
  }

  private func add(
    _ model: ManagedObjectModel, at url: URL, _ options: PersistentStoreOptions = .init()
  ) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    try coordinator.remove(store)
  }

  private func storedDefault(at url: URL) throws -> AttributeValue? {
    try PersistentStoreCoordinator.managedObjectModel(storedAt: url).entities.first?.attributes
      .first?.defaultValue
  }

  @Test func `opening a store brings its copy of the model up to date`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "people.quire")
      try add(model(.string("nobody")), at: url)
      #expect(try storedDefault(at: url) == .string("nobody"))
      try add(model(.string("somebody")), at: url, [ReadOnlyPersistentStoreOption: true])
      #expect(try storedDefault(at: url) == .string("nobody"), "read-only means that")
      try add(model(.string("somebody")), at: url)
      #expect(try storedDefault(at: url) == .string("somebody"))
      let bytes = try Data(contentsOf: url)
      try add(model(.string("somebody")), at: url)
      #expect(try Data(contentsOf: url) == bytes, "the same model again writes nothing")
    }
  }
}
