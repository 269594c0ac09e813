import Foundation
import Quire
import QuireXcode
import Testing

@Suite struct `A container by its model's name` {
  private static let gallery = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures/Gallery.xcdatamodeld")

  @Test func `the model is found in the folders, and in resources of packages in them`() throws {
    let folder = try TemporaryFolder()
    let resources = folder.file("Shop_Shop.resources")
    try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: Self.gallery, to: resources.appendingPathComponent("Gallery.xcdatamodeld"))
    for place in [folder.file(""), resources] {
      let container = try PersistentContainer(
        name: "Gallery", in: [folder.file("none"), place])
      #expect(container.name == "Gallery")
      #expect(
        container.managedObjectModel == (try VersionedModel(contentsOf: Self.gallery)).current)
      try container.loadPersistentStore(at: nil)
    }
  }

  @Test func `a model that is nowhere is an error that says where it was looked for`() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: PersistenceError.self) {
      try PersistentContainer(name: "Gallery", in: [folder.file("")])
    }
    #expect(error?.code == .migrationMissingSourceModel)
    #expect(error?.message.contains("Gallery.xcdatamodeld") == true)
    #expect(error?.message.contains(folder.file("").path) == true)
    #expect(throws: PersistenceError.self) { try PersistentContainer(name: "NoSuchModel") }
  }
}
