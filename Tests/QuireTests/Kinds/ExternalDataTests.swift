import Quire
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Large binary values, which lie outside of their rows.
@Suite struct ExternalDataTests {
  private static func model(
    external: Bool = true, preview: Bool = true, photo: String = "photo", extra: Bool = false
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Image") {
        Attribute("name", .string)
        Attribute(
          photo, .binaryData, storedExternally: external,
          renamedFrom: photo == "photo" ? nil : "photo")
        if preview { Attribute("preview", .transformable, storedExternally: external) }
        if extra {
          Attribute("a", .binaryData, storedExternally: true)
          Attribute("rating", .integer64, default: 3)
        }
      }
      Entity("Album") { Attribute("cover", .binaryData, storedExternally: external) }
    }
  }

  /// 100 KiB and more are kept outside.
  private func large(_ byte: UInt8, _ count: Int = 200_000) -> Data {
    Data(repeating: byte, count: count)
  }

  private func insert(
    _ name: String, _ photo: Data?, _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let image = try EntityDescription.insertNewObject(forEntityName: "Image", into: context)
    try image.setValue(name, forKey: "name")
    try image.setValue(photo, forKey: "photo")
    return image
  }

  private func data(_ object: ManagedObject, _ key: String = "photo") throws -> Data? {
    try object.value(forKey: key) as? Data
  }

  /// The lengths of the values outside of rows, by their numbers; and what else a store says.
  private struct Content: Equatable {
    var values: [Int64: Int] = [:]
    var format = 0
    var findings: [String] = []
  }

  private func content(_ context: ManagedObjectContext) throws -> Content {
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try #require(coordinator.persistentStores.first)
    var content = Content()
    try store.withSnapshot { snapshot in
      if let tree = try snapshot.recordTree("blobs") {
        var cursor = tree.cursor()
        var isInside = try cursor.first()
        while isInside {
          content.values[try cursor.key] = try cursor.valueBytes.count
          isInside = try cursor.next()
        }
      }
      let format = try snapshot.indexTree("schema")?.value(for: Array("format".utf8))
      content.format = format.map { Int($0.bytes[0]) } ?? 0
    }
    content.findings = try StoreInspection(of: store).findings
    return content
  }

  @Test(arguments: GotchaHome.own)
  func `large values have a place of their own, and come back`(home: GotchaHome) throws {
    try home.withContext(Self.model(), classes: []) { context in
      let small = try insert("small", large(1, 102_400), context)
      #expect(try content(context) == Content(format: 1))
      try context.save()
      #expect(try content(context) == Content(format: 1))
      let image = try insert("large", large(2, 102_401), context)
      try image.setValue(large(3), forKey: "preview")
      try context.save()
      #expect(try content(context) == Content(values: [1: 102_401, 2: 200_000], format: 4))
      let other = SmallGallery.sibling(of: context)
      let found = try other.existingObject(with: image.objectID)
      #expect(try data(found) == large(2, 102_401))
      #expect(try data(found, "preview") == large(3))
      #expect(try data(other.existingObject(with: small.objectID)) == large(1, 102_400))
      var request = FetchRequest<ManagedObject>(entityName: "Image")
      request.predicate = Key("photo") == large(2, 102_401)
      #expect(try other.fetch(request) == [found])
    }
  }

  @Test(arguments: GotchaHome.own)
  func `saving another property leaves a large value where it is`(home: GotchaHome) throws {
    try home.withContext(Self.model(), classes: []) { context in
      let image = try insert("a", large(1), context)
      try context.save()
      try image.setValue("b", forKey: "name")
      try context.save()
      #expect(try content(context) == Content(values: [1: 200_000], format: 4))
      // Nor does setting it to what it is move it.
      try image.setValue(large(1), forKey: "photo")
      #expect(!image.hasPersistentChangedValues)
      try image.setValue("c", forKey: "name")
      try context.save()
      #expect(try content(context) == Content(values: [1: 200_000], format: 4))
      try image.setValue(large(2), forKey: "photo")
      try context.save()
      #expect(try content(context) == Content(values: [2: 200_000], format: 4))
      #expect(try data(image) == large(2))
    }
  }

  @Test(arguments: GotchaHome.own)
  func `a value goes with its object, with nil, and when it becomes small`(home: GotchaHome) throws
  {
    try home.withContext(Self.model(), classes: []) { context in
      let images = try (1...3).map { try insert("\($0)", large(UInt8($0)), context) }
      try context.save()
      #expect(try content(context).values.count == 3)
      context.delete(images[0])
      try images[1].setValue(nil, forKey: "photo")
      try context.save()
      #expect(try content(context) == Content(values: [3: 200_000], format: 4))
      try images[2].setValue(large(9, 10), forKey: "photo")
      try context.save()
      // And so the store is one that every release reads.
      #expect(try content(context) == Content(format: 1))
      #expect(try data(images[2]) == large(9, 10))
      #expect(try data(images[1]) == nil)
      _ = try insert("again", large(4), context)
      try context.save()
      #expect(try content(context) == Content(values: [4: 200_000], format: 4))
    }
  }

  @Test func `nothing is left of a save that fails`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model())
    let image = try insert("a", large(1), context)
    try context.save()
    let other = SmallGallery.sibling(of: context)
    let same = try other.existingObject(with: image.objectID)
    try same.setValue(large(2), forKey: "photo")
    try image.setValue(large(3), forKey: "photo")
    try context.save()
    #expect(throws: PersistenceError.self) { try other.save() }
    #expect(try content(context).values.count == 1)
    #expect(try content(context).findings == [])
    #expect(try data(image) == large(3))
    other.mergePolicy = .mergeByPropertyObjectTrump
    try other.save()
    #expect(try content(context).values.count == 1)
    #expect(try data(same) == large(2))
    // Here it is what it was when the store was last looked at; then what there is now, as what was
    // there is gone.
    #expect(try data(image) == large(3))
    _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Album"))
    #expect(try data(image) == large(2))
  }

  @Test func `the store's value wins where that is asked for`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model())
    let image = try insert("a", large(1), context)
    try context.save()
    let other = SmallGallery.sibling(of: context)
    let same = try other.existingObject(with: image.objectID)
    try same.setValue(large(2), forKey: "photo")
    try same.setValue("mine", forKey: "name")
    try image.setValue(large(3), forKey: "photo")
    try context.save()
    other.mergePolicy = .mergeByPropertyStoreTrump
    try other.save()
    #expect(try data(same) == large(3))
    #expect(try same.value(forKey: "name") as? String == "mine")
    #expect(try content(context).values.count == 1)
    #expect(try content(context).findings == [])
  }

  @Test func `the store's value wins also where the value that was read is gone`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model())
    let image = try insert("a", large(1), context)
    try context.save()
    let other = SmallGallery.sibling(of: context)
    let same = try other.existingObject(with: image.objectID)
    try same.setValue("mine", forKey: "name")
    try image.setValue(large(3), forKey: "photo")
    try context.save()
    // This fetch moves the other context on to a state that has the first value no more.
    _ = try other.count(for: FetchRequest<ManagedObject>(entityName: "Image"))
    try same.setPrimitiveValue(large(2), forKey: "photo")
    other.mergePolicy = .mergeByPropertyStoreTrump
    try other.save()
    #expect(try data(same) == large(3))
    #expect(try same.value(forKey: "name") as? String == "mine")
    #expect(try content(context).findings == [])
  }

  @Test func `a deletion that is undone after its save brings the value back`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model())
    context.undoManager = UndoManager()
    let image = try insert("a", large(1), context)
    try context.save()
    context.delete(image)
    try context.save()
    #expect(try content(context) == Content(format: 1))
    try context.undoManager?.undo()
    try context.save()
    #expect(try data(image) == large(1))
    #expect(try content(context).values.count == 1)
    #expect(try content(context).findings == [])
    try image.setValue(large(2), forKey: "photo")
    try context.save()
    try context.undoManager?.undo()
    try context.save()
    #expect(try data(image) == large(1))
    #expect(try content(context).findings == [])
  }

  @Test func `whether a value is outside is the row's to say, not the model's`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "images.quire")
      try open(url, .init(Self.model())) { context in
        _ = try insert("a", large(1), context)
        try context.save()
      }
      try open(url, .init(Self.model(external: false))) { context in
        let image = try first(context)
        #expect(try data(image) == large(1))
        try image.setValue("b", forKey: "name")
        try context.save()
        #expect(try content(context).values == [1: 200_000])
        try image.setValue(large(2), forKey: "photo")
        try context.save()
        #expect(try content(context) == Content(format: 1))
      }
      try open(url, .init(Self.model())) { context in
        let image = try first(context)
        #expect(try data(image) == large(2))
      }
    }
  }

  // MARK: Migrations

  private func open(
    _ url: URL, _ model: VersionedModel, _ options: PersistentStoreOptions = .migrating,
    _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    let context = GotchaHome.context(of: coordinator)
    try body(context)
    try coordinator.remove(store)
    #expect(try StoreInspection(of: url).findings == [])
  }

  private func first(_ context: ManagedObjectContext) throws -> ManagedObject {
    try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Image")).first)
  }

  private func migrate(
    to model: ManagedObjectModel, deferring: Bool = false,
    _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "images.quire")
      let old = try Self.model()
      try open(url, .init(old)) { context in
        let image = try insert("a", large(1), context)
        try image.setValue(large(2), forKey: "preview")
        _ = try insert("b", large(3, 100), context)
        let album = try EntityDescription.insertNewObject(forEntityName: "Album", into: context)
        try album.setValue(large(4), forKey: "cover")
        try context.save()
      }
      let versions = try #require(
        VersionedModel(versions: [.init("1", old), .init("2", model)]))
      var options = PersistentStoreOptions.migrating
      options.defersLightweightMigration = deferring
      try open(url, versions, options, body)
      try open(url, versions) { context in
        try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
        try body(context)
      }
    }
  }

  @Test(arguments: [false, true])
  func `a migration that rewrites rows keeps their values`(deferring: Bool) throws {
    try migrate(to: Self.model(photo: "picture", extra: true), deferring: deferring) { context in
      let image = try first(context)
      #expect(try data(image, "picture") == large(1))
      #expect(try data(image, "preview") == large(2))
      #expect(try image.value(forKey: "rating") as? Int == 3)
      #expect(try data(image, "a") == nil)
      let content = try content(context)
      #expect(content.values.count == 3 && content.format == 4 && content.findings == [])
    }
  }

  @Test(arguments: [false, true])
  func `a migration removes external values that the new model does not have`(deferring: Bool)
    throws
  {
    try migrate(to: Self.model(preview: false, extra: true), deferring: deferring) { context in
      let image = try first(context)
      #expect(try data(image) == large(1))
      #expect(try content(context).values.count == 2)
      #expect(try content(context).findings == [])
    }
    let bare = try ManagedObjectModel { Entity("Image") { Attribute("name", .string) } }
    try migrate(to: bare, deferring: deferring) { context in
      let content = try content(context)
      // Rows of the older layout may remain until the migration is finished.
      #expect(content.values.isEmpty && content.format <= (deferring ? 2 : 1))
    }
  }

  @Test func `a saved row of an older layout leaves nothing behind`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "images.quire")
      let old = try Self.model()
      try open(url, .init(old)) { context in
        for number in 1...3 { _ = try insert("\(number)", large(UInt8(number)), context) }
        try context.save()
      }
      let versions = try #require(
        try VersionedModel(versions: [.init("1", old), .init("2", Self.model(extra: true))]))
      var options = PersistentStoreOptions.migrating
      options.defersLightweightMigration = true
      try open(url, versions, options) { context in
        let image = try first(context)
        try image.setValue(large(8), forKey: "photo")
        try image.setValue(large(9), forKey: "a")
        try context.save()
        #expect(try content(context).values.count == 4)
        #expect(try content(context).findings == [])
        #expect(try data(image) == large(8))
        #expect(try data(image, "a") == large(9))
      }
    }
  }

  // MARK: Inspection

  @Test func `an inspection finds values that are gone, or that nobody has`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "images.quire")
      try open(url, .init(Self.model())) { context in
        _ = try insert("a", large(1), context)
        try context.save()
      }
      let path = url.path(percentEncoded: false)
      func change(_ body: (MutableRecordTree) throws -> Void) throws -> [String] {
        let pages = try PageStore.open(path, options: PageStoreOptions())
        try pages.write { transaction in
          try body(try #require(try transaction.mutableRecordTree("blobs")))
        }
        try pages.close()
        return try StoreInspection(of: url).findings
      }
      let one = try change { _ = try $0.put([1, 2], for: 1) }
      #expect(one.count == 1 && one[0].contains("200000 bytes"))
      let two = try change {
        _ = try $0.remove(1)
        _ = try $0.put([1], for: 7)
      }
      #expect(two.count == 2 && two[0].contains("does not exist"))
      #expect(two.last?.contains("number 7 outside of rows belongs to nothing") == true)
    }
  }
}
