import Quire
import Testing

/// An entity with more properties than a typed property can note in its byte.
struct ManyPropertiesTests {
  private static let count = 300

  private final class Wide: ManagedObject {
    @Managed var p0: Int
    @Managed var p127: Int
    @Managed var p253: Int
    @Managed var p254: Int
    @Managed var p255: Int
    @Managed var p256: Int
    @Managed var p299: Int
  }

  private func coordinator() throws -> PersistentStoreCoordinator {
    let model = try ManagedObjectModel {
      Entity("Wide") {
        (0..<Self.count).map { Attribute("p\($0)", .integer64) as any EntityMember }
      }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: [Wide.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return coordinator
  }

  @Test func `each typed property finds its own slot, however high`() throws {
    let coordinator = try coordinator()
    for round in 0..<3 {
      let context = GotchaHome.context(of: coordinator)
      let wide = Wide(context: context)
      for index in 0..<Self.count { try wide.setValue(index + round, forKey: "p\(index)") }
      try context.save()
      let found = [wide.p0, wide.p127, wide.p253, wide.p254, wide.p255, wide.p256, wide.p299]
      #expect(found == [0, 127, 253, 254, 255, 256, 299].map { $0 + round })
      (wide.p254, wide.p299) = (-1, -2)
      #expect(try wide.value(forKey: "p254") as? Int == -1)
      #expect(try wide.value(forKey: "p299") as? Int == -2)
      #expect((wide.p253, wide.p255) == (253 + round, 255 + round))
    }
  }

  @Test func `a changed property is saved, however high its slot`() throws {
    let changed = [0, 63, 64, 65, 127, 128, 299]
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = try coordinator()
    let wide = Wide(context: context)
    for index in 0..<Self.count { try wide.setValue(index, forKey: "p\(index)") }
    try context.save()
    for index in 0..<Self.count {
      try wide.setValue(changed.contains(index) ? -index - 1 : index, forKey: "p\(index)")
    }
    #expect(Set(wide.changedValues().keys) == Set(changed.map { "p\($0)" }))
    try context.save()
    let other = SmallGallery.sibling(of: context)
    let stored = try #require(try other.all(Wide.self).first)
    for index in 0..<Self.count {
      let expected = changed.contains(index) ? -index - 1 : index
      #expect(try stored.value(forKey: "p\(index)") as? Int == expected, "p\(index)")
    }
    // One of them alone.
    for index in [5, 63, 64, 299] {
      try wide.setValue(7_000, forKey: "p\(index)")
      #expect(Array(wide.changedValues().keys) == ["p\(index)"])
      try context.save()
    }
    other.refreshAllObjects()
    for index in [5, 63, 64, 299] {
      #expect(try stored.value(forKey: "p\(index)") as? Int == 7_000, "p\(index)")
    }
  }
}
