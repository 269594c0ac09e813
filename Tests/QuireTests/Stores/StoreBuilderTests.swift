import Quire
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// An import killed half-way left an empty store under the name of the one to be. The import could
// not be run again, and a program that opens the store if there is one took it for an empty one.
@Suite struct StoreBuilderTests {
  private func begin(_ url: URL, title: String = "Wave") throws -> StoreBuilder {
    let builder = try StoreBuilder(
      creating: url, model: SmallGallery.model, versionName: nil, uuid: UUID())
    try builder.insert(
      StoreBuilder.ObjectKey("Artwork", 7), attributes: ["title": .string(title)], toOne: [:])
    return builder
  }

  private func names(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  private func titles(at url: URL) throws -> [String?] {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    let store = try coordinator.addPersistentStore(type: .quire, at: url)
    defer { try? coordinator.remove(store) }
    #expect(try StoreInspection(of: store).findings == [])
    let context = GotchaHome.context(of: coordinator)
    return try context.all(SmallGallery.Artwork.self).map(\.title)
  }

  @Test func `a store has its name when it is whole, and not before`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store")
      let builder = try begin(url)
      #expect(try !names(in: folder).contains("store"))
      try builder.finish()
      #expect(try names(in: folder) == ["store"])
      #expect(try titles(at: url) == ["Wave"])
    }
  }

  @Test func `a builder that is dropped leaves nothing`() throws {
    try withTemporaryFolder { folder in
      _ = try begin(folder.appending(path: "store"))
      #expect(try names(in: folder) == [])
    }
  }

  @Test func `files of a killed builder do not hinder the next one, and are removed`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store")
      let other = folder.appending(path: "other")
      let builder = try begin(other, title: "half")
      // What kill -9 leaves: the files as they are now, and no lock.
      for name in try names(in: folder) {
        let copy = name.replacingOccurrences(of: "other", with: "store")
        try FileManager.default.copyItem(
          at: folder.appending(path: name), to: folder.appending(path: copy))
      }
      #expect(try !names(in: folder).contains("store"))
      try begin(url).finish()
      #expect(try titles(at: url) == ["Wave"])
      try builder.finish()
      #expect(try names(in: folder) == ["other", "store"])

      let third = folder.appending(path: "third")
      try Data("not a store".utf8).write(to: folder.appending(path: "third-part"))
      try begin(third).finish()
      #expect(try names(in: folder) == ["other", "store", "third"])
    }
  }

  @Test func `two builders of one store, and a store that is there, are errors`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store")
      let first = try begin(url)
      #expect { try begin(url, title: "second") } throws: {
        guard case .locked = ($0 as? PersistenceError)?.underlying as? StorageError else {
          return false
        }
        return true
      }
      try first.finish()
      #expect { try begin(url) } throws: {
        ($0 as? PersistenceError)?.underlying as? StorageError == .alreadyExists(path: url.path)
      }
      let late = try begin(folder.appending(path: "late"))
      try Data("theirs".utf8).write(to: folder.appending(path: "late"))
      #expect(throws: PersistenceError.self) { try late.finish() }
      #expect(try Data(contentsOf: folder.appending(path: "late")) == Data("theirs".utf8))
      #expect(try titles(at: url) == ["Wave"])
    }
  }
}
