import Foundation
import Quire
import QuireXcode
import Testing

@Suite struct GalleryModelTests {
  @Test func `the model in Swift is the model of Xcode, in every hash and every fact`() throws {
    let swift = try GalleryModel.make()
    let xcode = try Gallery.model().current
    #expect(swift.versionChecksum == xcode.versionChecksum)
    #expect(swift.entityVersionHashesByName == xcode.entityVersionHashesByName)
    #expect(swift.declaration.versionIdentifiers == xcode.declaration.versionIdentifiers)
    #expect(swift.configurations == xcode.configurations)
    #expect(swift.fetchRequestTemplates == xcode.fetchRequestTemplates)
    #expect(swift.entities.map(\.name) == xcode.entities.map(\.name))
    for (ours, theirs) in zip(swift.entities, xcode.entities) {
      #expect(facts(of: ours) == facts(of: theirs), "\(ours.name)")
    }
  }

  /// A declaration with its properties by name: Xcode's order is alphabetical. Xcode names every
  /// class too, where Swift need not name one that is called like its entity.
  private func facts(of entity: EntityDescription) -> Entity {
    var facts = entity.declaration
    facts.managedObjectClassName = facts.managedObjectClassName ?? facts.name
    facts.attributes.sort { $0.name < $1.name }
    facts.relationships.sort { $0.name < $1.name }
    return facts
  }

  // The fixtures' stores were written before models had user info: their archives are of format 1.
  @Test func `the model in a store of an earlier release has every fact of the one in Swift`()
    throws
  {
    let file = Gallery.folder.appending(path: "Gallery 2.7.quire")
    let stored = try PersistentStoreCoordinator.managedObjectModel(storedAt: file)
    let swift = try GalleryModel.make()
    #expect(stored.versionChecksum == swift.versionChecksum)
    for (theirs, ours) in zip(stored.entities, swift.entities) {
      #expect(facts(of: theirs) == facts(of: ours), "\(ours.name)")
    }
  }

  @Test func `the current versions of all models in a folder are merged`() throws {
    let folder = Gallery.folder.deletingLastPathComponent()
    let merged = try ManagedObjectModel.mergedModel(from: [folder])
    #expect(try merged.declaration == Gallery.model().current.declaration)
    #expect {
      try ManagedObjectModel.mergedModel(from: [Gallery.folder])
    } throws: {
      "\($0)".contains("there is no .xcdatamodeld")
    }
  }

  @Test func `a store's metadata choose the version of a model that wrote it`() throws {
    let folder = Gallery.folder.deletingLastPathComponent()
    for version in try Gallery.model().versions {
      let hashes = version.model.entityVersionHashesByName
      let metadata: [String: Any] = [
        StoreModelVersionHashesKey: hashes.mapValues { Data($0.bytes) }
      ]
      let model = try ManagedObjectModel.mergedModel(from: [folder], forStoreMetadata: metadata)
      #expect(model.versionChecksum == version.model.versionChecksum)
      #expect(model.versionIdentifiers == version.model.versionIdentifiers)
      for other in try Gallery.model().versions {
        #expect(
          other.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
            == (other.name == version.name))
      }
    }
    #expect {
      try ManagedObjectModel.mergedModel(
        from: [folder],
        forStoreMetadata: [StoreModelVersionHashesKey: ["Album": Data(count: 32)]])
    } throws: {
      "\($0)".contains("entity Album is in no model that is merged as the store has it")
    }
  }
}
