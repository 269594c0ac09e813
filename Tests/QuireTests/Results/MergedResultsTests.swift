import Quire
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Lists of objects after what nobody has told one by one: what a merge policy has made of them,
/// and what others have saved where, or more than, a context keeps.
@Suite struct MergedResultsTests {
  private final class Silent: FetchedResultsControllerDelegate {
    typealias Result = ManagedObject
  }

  private static let model = try! ManagedObjectModel {
    Entity("Book") {
      Attribute("slug", .string)
      Attribute("rank", .integer32, default: 0)
      Relationship("sequel", toOne: "Book")
      Relationship("cited", toMany: "Book")
      UniquenessConstraint("slug")
    }
  }

  private static func controller(
    _ context: ManagedObjectContext, _ delegate: Silent
  ) throws -> FetchedResultsController<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: "Book")
    request.sortDescriptors = [FetchSortDescriptor(key: "rank"), FetchSortDescriptor(key: "slug")]
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil)
    controller.delegate = delegate
    try controller.performFetch()
    return controller
  }

  private static func slugs(_ controller: FetchedResultsController<ManagedObject>) throws
    -> [String]
  {
    try #require(controller.fetchedObjects).map {
      try $0.value(forKey: "slug") as? String ?? "nil"
    }
  }

  @Test(arguments: GotchaHome.own, MergingPolicy.allCases)
  func `a list shows what is left when values have to be unique`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext(Self.model, classes: []) { context in
      let stored = try context.insert("Book", ["slug": "a", "rank": 5])
      try context.insert("Book", ["slug": "b", "rank": 1])
      try context.save()
      let delegate = Silent()
      let controller = try Self.controller(context, delegate)
      context.mergePolicy = policy.policy
      var notices: [ContextNotice] = []
      let observation = context.observe([.didChangeObjects]) { notices.append($0) }
      let new = try context.insert("Book", ["slug": "a", "rank": 9])
      context.processPendingChanges()
      #expect(try Self.slugs(controller) == ["b", "a", "a"])
      notices = []
      try context.save()
      #expect(try Self.slugs(controller) == ["b", "a"])
      let isReplaced = policy == .overwrite
      #expect(controller.fetchedObjects?.last === (isReplaced ? new : stored))
      let told = notices.reduce(into: Set<ManagedObject>()) { $0.formUnion($1.deletedObjects) }
      #expect(told == [isReplaced ? stored : new])
      let refreshed = notices.reduce(into: Set<ManagedObject>()) {
        $0.formUnion($1.refreshedObjects)
      }
      #expect(refreshed == (policy == .objectTrump ? [stored] : []))
      withExtendedLifetime((delegate, observation)) {}
    }
  }

  @Test(arguments: GotchaHome.own, MergingPolicy.allCases)
  func `a list shows what a merge has made of its objects`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    for isDeleted in [false, true] {
      try home.withContext(Self.model, classes: []) { context in
        let mine = try context.insert("Book", ["slug": "a", "rank": 1])
        try context.insert("Book", ["slug": "b", "rank": 2])
        try context.save()
        let delegate = Silent()
        let controller = try Self.controller(context, delegate)
        let child = context.newChildContext()
        child.automaticallyMergesChangesFromParent = true
        let childs = try child.existingObject(with: mine.objectID)
        #expect(try childs.value(forKey: "rank") as? Int == 1)
        let there = SmallGallery.sibling(of: context)
        let theirs = try there.existingObject(with: mine.objectID)
        if isDeleted { there.delete(theirs) } else { try theirs.setValue(7, forKey: "rank") }
        try there.save()
        try mine.setValue(9, forKey: "rank")
        context.processPendingChanges()
        #expect(try Self.slugs(controller) == ["b", "a"])
        context.mergePolicy = policy.policy
        try context.save()
        #expect(try Self.slugs(controller) == (isDeleted ? ["b"] : ["b", "a"]))
        if !isDeleted {
          let rank = policy.isForMemory ? 9 : 7
          #expect(try controller.fetchedObjects?.last?.value(forKey: "rank") as? Int == rank)
          #expect(try childs.value(forKey: "rank") as? Int == rank)
        }
        withExtendedLifetime(delegate) {}
      }
    }
  }

  /// What a policy brings back was told as deleted.
  @Test(arguments: GotchaHome.own)
  func `a list shows again what a policy has not let be deleted`(_ home: GotchaHome) throws {
    try home.withContext(Self.model, classes: []) { context in
      let mine = try context.insert("Book", ["slug": "a", "rank": 1])
      try context.save()
      let delegate = Silent()
      let controller = try Self.controller(context, delegate)
      let there = SmallGallery.sibling(of: context)
      try there.existingObject(with: mine.objectID).setValue(7, forKey: "rank")
      try there.save()
      context.delete(mine)
      context.processPendingChanges()
      #expect(try Self.slugs(controller) == [])
      context.mergePolicy = .mergeByPropertyStoreTrump
      try context.save()
      #expect(try Self.slugs(controller) == ["a"])
      withExtendedLifetime(delegate) {}
    }
  }

  /// What waited was thrown away, and what was saved at the new place before the context looked
  /// again was told to nobody.
  @Test(arguments: GotchaHome.own)
  func `saves of other contexts are merged although the store has moved meanwhile`(
    _ home: GotchaHome
  ) throws {
    try withTemporaryFolder { folder in
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model, classes: [])
      let store = try coordinator.addPersistentStore(
        type: home == .file ? .quire : .inMemory,
        at: home == .file ? folder.appending(path: "here.quire") : nil)
      let (context, there) = (
        GotchaHome.context(of: coordinator), GotchaHome.context(of: coordinator)
      )
      context.automaticallyMergesChangesFromParent = true
      let book = try context.insert("Book", ["slug": "a"])
      try context.save()
      let child = context.newChildContext()
      child.automaticallyMergesChangesFromParent = true
      let delegates = [Silent(), Silent()]
      let controllers = [
        try Self.controller(context, delegates[0]), try Self.controller(child, delegates[1]),
      ]
      let theirs = try there.existingObject(with: book.objectID)
      try theirs.setValue("before", forKey: "slug")
      try there.save()
      let moved = try coordinator.migratePersistentStore(
        store, to: folder.appending(path: "there.quire"), type: .quire)
      try there.insert("Book", ["slug": "after"])
      try there.save()
      for each in [context, child] { each.processPendingChanges() }
      #expect(try book.value(forKey: "slug") as? String == "before")
      for controller in controllers {
        #expect(try Self.slugs(controller) == ["after", "before"])
      }
      try there.insert("Book", ["slug": "later"])
      try there.save()
      for each in [context, child] { each.processPendingChanges() }
      for controller in controllers {
        #expect(try Self.slugs(controller) == ["after", "before", "later"])
      }
      try book.setValue("mine", forKey: "slug")
      try context.save()
      withExtendedLifetime(delegates) {}
      try coordinator.remove(moved)
    }
  }

  /// Beyond 100,000 places nothing waits one by one.
  @Test(.enabled(if: isExhaustive), arguments: GotchaHome.own)
  func `a list shows what is inserted beyond what waits one by one`(_ home: GotchaHome) throws {
    try home.withContext(Self.model, classes: []) { context in
      context.automaticallyMergesChangesFromParent = true
      let delegate = Silent()
      let controller = try Self.controller(context, delegate)
      let there = SmallGallery.sibling(of: context)
      for number in 0...100_000 { try there.insert("Book", ["slug": "\(number)"]) }
      try there.save()
      context.processPendingChanges()
      #expect(controller.fetchedObjects?.count == 100_001)
      withExtendedLifetime(delegate) {}
    }
  }

  /// Each new object was looked for among all changed ones.
  @Test(arguments: GotchaHome.own)
  func `new objects that lead to each other are written over stored ones`(_ home: GotchaHome)
    throws
  {
    try home.withContext(Self.model, classes: []) { context in
      let count = Amount.of(sampled: 200, exhaustive: 20_000)
      for number in 0..<count { try context.insert("Book", ["slug": "\(number)"]) }
      try context.save()
      context.reset()
      context.mergePolicy = .mergeByPropertyObjectTrump
      let new = try (0..<count).map { try context.insert("Book", ["slug": "\($0)", "rank": $0]) }
      for number in new.indices {
        try new[number].setValue(new[(number + 1) % count], forKey: "sequel")
        let cited = [new[(number + 2) % count], new[(number + 3) % count]]
        try new[number].setValue(Set(cited), forKey: "cited")
      }
      try context.save()
      context.reset()
      var request = FetchRequest<ManagedObject>(entityName: "Book")
      request.sortDescriptors = [FetchSortDescriptor(key: "rank")]
      let books = try context.fetch(request)
      try #require(books.count == count)
      for (number, book) in books.enumerated() {
        #expect(try book.value(forKey: "slug") as? String == "\(number)")
        #expect(try book.value(forKey: "sequel") as? ManagedObject === books[(number + 1) % count])
        #expect(
          try book.value(forKey: "cited") as? Set<ManagedObject>
            == [books[(number + 2) % count], books[(number + 3) % count]])
      }
      #expect(try StoreFacts(context).findings == [])
    }
  }
}
