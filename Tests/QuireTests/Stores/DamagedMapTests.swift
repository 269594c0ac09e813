import Quire
import QuireModel
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Nothing vouches for pages whose page map is damaged. A store that has lost one is not read by
/// itself any more; whoever wants to save what is left says so.
@Suite struct DamagedMapTests {
  private static let model = try! ManagedObjectModel {
    Entity("Work") { Attribute("title", .string) }
  }

  @Test func `of a store whose page map is damaged all can be saved that is whole`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "works.quire")
      try withStore(Self.model, url) { context in
        for number in 0..<100 {
          let work = try EntityDescription.insertNewObject(
            forEntityName: "Work", into: context)
          try work.setValue("title \(number)", forKey: "title")
        }
        try context.save()
      }
      var bytes = try [UInt8](Data(contentsOf: url))
      bytes[3 * 4096 + 100] ^= 1
      try Data(bytes).write(to: url)

      func titles(_ options: PersistentStoreOptions) throws -> Set<String> {
        let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model)
        let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
        defer { try? coordinator.remove(store) }
        let context = GotchaHome.context(of: coordinator)
        let works = try context.fetch(FetchRequest<ManagedObject>(entityName: "Work"))
        return try Set(works.compactMap { try $0.value(forKey: "title") as? String })
      }
      var options = PersistentStoreOptions()
      for isReadOnly in [false, true] {
        options.isReadOnly = isReadOnly
        let error = #expect(throws: PersistenceError.self) { try titles(options) }
        #expect(error.map { "\($0)" }?.contains("page map") ?? false)
      }
      options.readsUnvouchedPages = true
      #expect(try titles(options) == Set((0..<100).map { "title \($0)" }))
      options.isReadOnly = false
      #expect(throws: PersistenceError.self) { try titles(options) }

      let inspection = try StoreInspection(of: url)
      #expect(inspection.objectCount == 100)
      #expect(inspection.findings.contains { $0.contains("nothing vouches for pages 0 to") })
    }
  }
}
