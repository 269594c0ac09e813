import Quire
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Looks at relationships whose links were made by the mapping before, and changes them.
private final class LookingPolicy: EntityMigrationPolicy {
  private var names: [String] = []
  private var counts: [Int] = []

  override func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let items = try items(of: dInstance)
    counts.append(items.count)
    if counts.count < 4 {
      var request = FetchRequest<ManagedObject>(entityName: "Owner")
      request.predicate = try FetchPredicate(format: "items.@count == 3")
      counts.append(try manager.destinationContext.count(for: request))
    }
    let name = try dInstance.value(forKey: "name") as? String ?? ""
    names.append(name)
    if name == "0", items.count > 1 {
      // One item goes to another owner, one goes altogether.
      let other = try manager.destinationInstances(
        forEntityMappingName: "OwnerToOwner", sourceInstances: nil)[1]
      try items[0].setValue(other, forKey: "owner")
      manager.destinationContext.delete(items[1])
    }
  }

  override func performCustomValidation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let owners = try manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: nil)
    manager.userInfo["names"] = names
    manager.userInfo["counts"] = counts
    manager.userInfo["after"] = try owners.map { try items(of: $0).count }
  }

  private func items(of owner: ManagedObject) throws -> [ManagedObject] {
    let items = try owner.value(forKey: "items") as? Set<ManagedObject> ?? []
    return try items.sorted {
      let names = try [$0, $1].map { try $0.value(forKey: "name") as? String ?? "" }
      return names[0] < names[1]
    }
  }
}

@Suite struct `Links that wait during a migration` {
  private let model = try! ManagedObjectModel {
    Entity("Owner") {
      Attribute("name", .string)
      Relationship("items", toMany: "Item", inverse: "owner")
    }
    Entity("Item") {
      Attribute("name", .string)
      Relationship("owner", toOne: "Owner", inverse: "items")
      Relationship("friends", toMany: "Item", inverse: "friendOf")
      Relationship("friendOf", toMany: "Item", inverse: "friends")
    }
  }

  private func withStore<Result>(
    _ url: URL, _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: url)
    let context = GotchaHome.context(of: coordinator)
    let result = try body(context)
    try coordinator.remove(store)
    return result
  }

  /// Three items for each owner; each item has the one behind it for a friend.
  private func fill(_ url: URL, ownerCount: Int) throws {
    try withStore(url) { context in
      var last: ManagedObject?
      for number in 0..<ownerCount {
        let owner = try EntityDescription.insertNewObject(forEntityName: "Owner", into: context)
        try owner.setValue("\(number)", forKey: "name")
        for letter in ["a", "b", "c"] {
          let item = try EntityDescription.insertNewObject(forEntityName: "Item", into: context)
          try item.setValue(letter, forKey: "name")
          try item.setValue(owner, forKey: "owner")
          if let last { try last.setValue(Set([item]), forKey: "friends") }
          last = item
        }
      }
      try context.save()
    }
  }

  private var mapping: MappingModel {
    var item = EntityMapping(from: "Item", to: "Item", .transformEntityMappingType)
    item.attributeMappings = [PropertyMapping("name", source: "name")]
    item.relationshipMappings = [
      PropertyMapping("owner", destinationsOf: "owner", in: "OwnerToOwner"),
      PropertyMapping("friends", destinationsOf: "friends", in: "ItemToItem"),
    ]
    var owner = EntityMapping(from: "Owner", to: "Owner", .transformEntityMappingType)
    owner.attributeMappings = [PropertyMapping("name", source: "name")]
    owner.entityMigrationPolicy = LookingPolicy.self
    return MappingModel(entityMappings: [item, owner])
  }

  /// With more owners than a batch has objects, links are made after some are in their tree.
  @Test(arguments: [5, Amount.of(debug: 300, release: 4_000)])
  func `who reads a relationship sees links that wait, and may change them`(ownerCount: Int) throws
  {
    try withTemporaryFolder { folder in
      let (old, new) = (folder.appending(path: "old.quire"), folder.appending(path: "new.quire"))
      try fill(old, ownerCount: ownerCount)
      let manager = MigrationManager(sourceModel: model, destinationModel: model)
      manager.usesStoreSpecificMigrationManager = false
      try MigrationBatch.$instanceCount.withValue(Amount.of(debug: 200, release: 1_000)) {
        try manager.migrateStore(from: old, mapping: mapping, to: new)
      }
      let names = try #require(manager.userInfo["names"] as? [String])
      #expect(names == (0..<ownerCount).map { "\($0)" })
      let counts = try #require(manager.userInfo["counts"] as? [Int])
      // The first owner looks before anything is changed, all others after it.
      #expect(counts.prefix(2) == [3, ownerCount])
      #expect(counts[2...].prefix(2) == [4, ownerCount - 2])
      let expected = [1, 4] + Array(repeating: 3, count: ownerCount - 2)
      #expect(manager.userInfo["after"] as? [Int] == expected)
      try withStore(new) { context in
        let owners = try context.fetch(FetchRequest<ManagedObject>(entityName: "Owner"))
        #expect(
          try owners.map { try ($0.value(forKey: "items") as? Set<ManagedObject>)?.count }
            == expected)
        for owner in owners {
          let items = try #require(try owner.value(forKey: "items") as? Set<ManagedObject>)
          #expect(
            try items.allSatisfy { try $0.value(forKey: "owner") as? ManagedObject === owner })
        }
        var friendCount = 0
        for item in try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")) {
          let friends = try #require(try item.value(forKey: "friends") as? Set<ManagedObject>)
          friendCount += friends.count
          for friend in friends {
            let back = try friend.value(forKey: "friendOf") as? Set<ManagedObject>
            #expect(back == [item])
          }
        }
        // One less for each side of the item that went.
        #expect(friendCount == 3 * ownerCount - 3)
      }
    }
  }
}
