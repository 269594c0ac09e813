import Quire
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A model of 65,535 entities was refused, and a file of 20 KB was left, which a later opening took
// for a store.

/// New stores that are refused for what they are to hold.
@Suite struct `Refused stores` {
  private func expectNothing(
    in folder: URL, but kept: Set<String> = [], _ body: (URL) throws -> Void
  ) throws {
    #expect(throws: PersistenceError.self) { try body(folder.appending(path: "new.quire")) }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(left) == kept)
  }

  /// As it takes seconds in a debug build, it is done in release alone.
  @Test(.enabled(if: Amount.of(debug: false, release: true)))
  func `a model with too many entities leaves no file`() throws {
    let model = try ManagedObjectModel {
      for number in 1...65_536 { Entity("E\(number)") { Attribute("a", .string) } }
    }
    try withTemporaryFolder { folder in
      try expectNothing(in: folder) { url in
        let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .quire, at: url)
      }
    }
  }

  @Test func `the UUID of another store leaves no file`() throws {
    let model = try ManagedObjectModel { Entity("Artist") { Attribute("name", .string) } }
    try withTemporaryFolder { folder in
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      let first = try coordinator.addPersistentStore(
        type: .quire, at: folder.appending(path: "first.quire"))
      let before = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
      try expectNothing(in: folder, but: before) { url in
        var options: PersistentStoreOptions = [:]
        options.storeUUID = first.identifier
        try coordinator.addPersistentStore(type: .quire, at: url, options: options)
      }
      try coordinator.remove(first)
    }
  }
}
