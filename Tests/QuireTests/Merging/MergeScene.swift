import Quire
import Testing

/// Two contexts of one store that have read the same objects, to change them differently.
struct MergeScene {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show
  typealias Room = SmallGallery.Room

  /// Saves first, by the default policy.
  let there: ManagedObjectContext
  /// Saves second, by the policy of the test.
  let here: ManagedObjectContext

  init(_ context: ManagedObjectContext, _ policy: MergePolicy) throws {
    there = context
    here = GotchaHome.context(of: try #require(context.persistentStoreCoordinator))
    here.mergePolicy = policy
  }

  /// The object of the other context, its row read.
  func same<Object: ManagedObject>(_ object: Object) throws -> Object {
    try #require(try here.existingObject(with: object.objectID) as? Object)
  }

  /// Saves both. What holds after every save: the store is sound, and nothing is left to save.
  func save() throws {
    try there.save()
    try here.save()
    #expect(!here.hasChanges)
    #expect(try StoreFacts(here).findings == [])
  }

  /// A context that has just come.
  func fresh() throws -> ManagedObjectContext { SmallGallery.sibling(of: here) }

  /// What a property is in the store.
  func stored(_ object: ManagedObject, _ key: String) throws -> Any? {
    try fresh().existingObject(with: object.objectID).value(forKey: key)
  }

  /// The names of the members of a to-many relationship in the store, in their order.
  func storedNames(
    _ object: ManagedObject, _ relationship: String, _ key: String = "name"
  ) throws -> [String] {
    let context = try fresh()
    let value = try context.existingObject(with: object.objectID).value(forKey: relationship)
    let members = value as? [ManagedObject] ?? []
    let set = value as? Set<ManagedObject> ?? []
    return try members.map { "\(try $0.value(forKey: key) ?? "")" }
      + set.map { "\(try $0.value(forKey: key) ?? "")" }.sorted()
  }
}

/// The policies that resolve conflicts, with names for the log.
enum MergingPolicy: CaseIterable {
  case storeTrump, objectTrump, overwrite, rollback

  var policy: MergePolicy {
    switch self {
    case .storeTrump: .mergeByPropertyStoreTrump
    case .objectTrump: .mergeByPropertyObjectTrump
    case .overwrite: .overwrite
    case .rollback: .rollback
    }
  }

  /// Whether memory wins what both sides have changed.
  var isForMemory: Bool {
    switch self {
    case .objectTrump, .overwrite: true
    case .storeTrump, .rollback: false
    }
  }
}
