import Quire
import QuireSimulation
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds an author among the objects of the destination context, or makes one: as books show it.
private class AuthorPolicy: EntityMigrationPolicy {
  func candidates(_ context: ManagedObjectContext) throws -> [ManagedObject] { [] }

  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let book = try #require(
      try manager.destinationInstances(
        forEntityMappingName: mapping.name, sourceInstances: [sInstance]
      ).first)
    let name = try sInstance.value(forKey: "authorName") as? String
    let found = try candidates(manager.destinationContext).first {
      guard $0.entity.name == "Author" else { return false }
      return try $0.value(forKey: "name") as? String == name
    }
    if let found { return try book.setValue(found, forKey: "author") }
    let author = try EntityDescription.insertNewObject(
      forEntityName: "Author", into: manager.destinationContext)
    try author.setValue(name, forKey: "name")
    try book.setValue(author, forKey: "author")
  }
}

private final class RegisteredPolicy: AuthorPolicy {
  override func candidates(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    Array(context.registeredObjects)
  }
}

/// The well-known look-up of what was made before.
private final class UnfaultedPolicy: AuthorPolicy {
  override func candidates(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    context.registeredObjects.filter { !$0.isFault && $0.isInserted }
  }
}

private final class InsertedPolicy: AuthorPolicy {
  override func candidates(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    Array(context.insertedObjects)
  }
}

private final class FetchingPolicy: AuthorPolicy {
  override func candidates(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Author"))
  }
}

/// Looks at the destination context at each step of the migration, and deletes what is to go.
private final class CountingPolicy: EntityMigrationPolicy {
  private func note(_ manager: MigrationManager) {
    let counts = manager.userInfo["counts"] as? [Int] ?? []
    let context = manager.destinationContext
    manager.userInfo["counts"] = counts + [context.registeredObjects.count]
    manager.userInfo["inserted"] = context.insertedObjects.count
    let faults = context.registeredObjects.filter { $0.isFault || !$0.isInserted }.count
    manager.userInfo["faults"] = faults
  }
  override func endInstanceCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { note(manager) }
  override func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {
    note(manager)
    let deleted = manager.destinationContext.registeredObjects.first { $0.entity.name == "Book" }
    if mapping.name == "MagazineToBook", let deleted {
      manager.destinationContext.delete(deleted)
    }
  }
  override func end(_ mapping: EntityMapping, manager: MigrationManager) throws { note(manager) }
}

/// Objects that pass 1 had made were registered in the destination context until a thousand of them
/// were written, or the next mapping began. A policy that looked there for one that it had made
/// found none then, and made another without a word.
@Suite struct `Objects that a migration has made` {
  private let books = try! ManagedObjectModel {
    Entity("Book") {
      Attribute("title", .string)
      Attribute("authorName", .string)
    }
    Entity("Magazine") {
      Attribute("title", .string)
      Attribute("authorName", .string)
    }
  }
  private let authors = try! ManagedObjectModel {
    Entity("Book") {
      Attribute("title", .string)
      Attribute("mood", .string, transient: true)
      Relationship("author", toOne: "Author", inverse: "books")
    }
    Entity("Author") {
      Attribute("name", .string)
      Relationship("books", toMany: "Book", inverse: "author")
    }
  }

  private func mapping(_ policy: EntityMigrationPolicy.Type?) -> MappingModel {
    MappingModel(
      entityMappings: ["Book", "Magazine"].map { name in
        var mapping = EntityMapping(from: name, to: "Book", .customEntityMappingType)
        mapping.attributeMappings = [PropertyMapping("title", source: "title")]
        mapping.entityMigrationPolicy = policy
        return mapping
      })
  }

  private func fill(_ url: URL, count: Int) throws {
    try withStore(books, url) { context in
      for name in ["Book", "Magazine"] {
        for number in 0..<count {
          let book = try EntityDescription.insertNewObject(forEntityName: name, into: context)
          try book.setValue("\(name) \(number)", forKey: "title")
          try book.setValue("Author \(number % 5)", forKey: "authorName")
        }
      }
      try context.save()
    }
  }

  @Test(arguments: [
    RegisteredPolicy.self, UnfaultedPolicy.self, InsertedPolicy.self, FetchingPolicy.self,
  ])
  func `an object that a policy has made before is found, wherever books look for it`(
    _ policy: EntityMigrationPolicy.Type
  ) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "books.quire")
      // Two batches of each entity.
      let count = Amount.of(debug: 110, release: 1_100)
      try fill(url, count: count)
      let manager = MigrationManager(sourceModel: books, destinationModel: authors)
      try MigrationBatch.$instanceCount.withValue(Amount.of(debug: 100, release: 1_000)) {
        try manager.migrateStore(from: url, mapping: mapping(policy), to: url)
      }
      try withStore(authors, url) { context in
        let found = try context.fetch(FetchRequest<ManagedObject>(entityName: "Author"))
        #expect(found.count == 5)
        for author in found {
          #expect(
            (try author.value(forKey: "books") as? Set<ManagedObject>)?.count == 2 * count / 5)
        }
      }
    }
  }

  @Test func `they stay registered and inserted to the end, and a deleted one goes`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "books.quire")
      try fill(url, count: 1_500)
      let manager = MigrationManager(sourceModel: books, destinationModel: authors)
      try manager.migrateStore(from: url, mapping: mapping(CountingPolicy.self), to: url)
      #expect(
        manager.userInfo["counts"] as? [Int] == [1_500, 3_000, 3_000, 3_000, 2_999, 2_999])
      #expect(manager.userInfo["inserted"] as? Int == 2_999)
      #expect(manager.userInfo["faults"] as? Int == 0)
      #expect(manager.destinationContext.registeredObjects.isEmpty)
      #expect(manager.destinationContext.insertedObjects.isEmpty)
    }
  }

  @Test func `a manager that is told not to keep them keeps none`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "books.quire")
      try fill(url, count: 1_500)
      let manager = MigrationManager(sourceModel: books, destinationModel: authors)
      manager.keepsDestinationObjects = false
      try manager.migrateStore(from: url, mapping: mapping(CountingPolicy.self), to: url)
      let counts = try #require(manager.userInfo["counts"] as? [Int])
      #expect(counts[0] < 1_500 && counts[5] < 1_500, "\(counts)")
    }
  }

  @Test func `a transient value that a policy has set is there until the end`() throws {
    final class MoodPolicy: EntityMigrationPolicy {
      override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
      ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        try manager.destinationInstances(
          forEntityMappingName: mapping.name, sourceInstances: [sInstance]
        ).first?.setValue("merry", forKey: "mood")
      }
      override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
        let books = try manager.destinationInstances(
          forEntityMappingName: mapping.name, sourceInstances: nil)
        #expect(books.count == 1_200)
        #expect(try books.allSatisfy { try $0.value(forKey: "mood") as? String == "merry" })
      }
    }
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "books.quire")
      try fill(url, count: 1_200)
      let manager = MigrationManager(sourceModel: books, destinationModel: authors)
      try manager.migrateStore(from: url, mapping: mapping(MoodPolicy.self), to: url)
    }
  }
}
