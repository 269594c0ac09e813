import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A model with every shape a relationship can have, indexes, derived and external attributes.
enum BatchScene {
  static let model = try! ManagedObjectModel {
    Entity("Thing") {
      Attribute("number", .integer32).with { $0.preservesValueInHistoryOnDeletion = true }
      Attribute("weight", .integer64, default: 0)
      Attribute("title", .string)
      Attribute("photo", .binaryData, storedExternally: true)
      Attribute("doubled", .integer64, derivedFrom: "weight * 2")
      Attribute("load", .integer64, derivedFrom: "children.@sum.weight")
      Attribute("friendCount", .integer64, derivedFrom: "friends.@count")
      Attribute("parentWeight", .integer64, derivedFrom: "parent.weight")
      Attribute("twinWeight", .integer64, derivedFrom: "twin.weight")
      Attribute("coverWeight", .integer64, derivedFrom: "cover.doubled")
      Relationship("parent", toOne: "Thing", inverse: "children")
      Relationship("children", toMany: "Thing", inverse: "parent", deleteRule: .cascade)
      Relationship("twin", toOne: "Thing", inverse: "twin")
      Relationship("cover", toOne: "Thing", inverse: "covered")
      Relationship("covered", toOne: "Thing", inverse: "cover")
      Relationship("friends", toMany: "Thing", inverse: "friends")
      Relationship("tags", toMany: "Tag", inverse: "things")
      Relationship("ranks", toMany: "Thing", inverse: "rankedBy", ordered: true)
      Relationship("rankedBy", toMany: "Thing", inverse: "ranks")
      Relationship("parts", toMany: "Part", inverse: "owner", ordered: true, deleteRule: .cascade)
      Relationship("lock", toOne: "Lock", inverse: "thing")
      Relationship("pointer", toOne: "Thing")
      Relationship("bag", toMany: "Tag")
      Relationship("shelf", toOne: "Shelf", inverse: "things", deleteRule: .noAction)
      FetchIndex("byWeight", on: "weight")
      FetchIndex("byTitle", on: "title")
    }
    Entity("SpecialThing", parent: "Thing") {
      Attribute("rarity", .integer16)
      Relationship("rival", toOne: "SpecialThing", inverse: "rivals")
      Relationship("rivals", toMany: "SpecialThing", inverse: "rival")
    }
    Entity("Tag") {
      Attribute("number", .integer32)
      Attribute("code", .string)
      Attribute("note", .string, default: "none")
      Relationship("things", toMany: "Thing", inverse: "tags")
      Relationship("home", toOne: "Shelf", inverse: "tags")
      UniquenessConstraint("number")
      UniquenessConstraint("code")
    }
    Entity("SpecialTag", parent: "Tag") { Attribute("rarity", .integer16) }
    Entity("Part") {
      Attribute("number", .integer32)
      // What is changed where it lies.
      Attribute("small", .integer16)
      Attribute("large", .integer64, default: 1)
      Attribute("size", .double)
      Attribute("share", .float)
      Attribute("isLoose", .boolean)
      Attribute("made", .date)
      Attribute("limited", .integer32, range: 0...40)
      Relationship("owner", toOne: "Thing", inverse: "parts", optional: false)
    }
    Entity("Lock") {
      Attribute("number", .integer32)
      Relationship("thing", toOne: "Thing", inverse: "lock", deleteRule: .deny)
    }
    Entity("Shelf") {
      Attribute("number", .integer32)
      Relationship("things", toMany: "Thing", inverse: "shelf", count: 0...4)
      Relationship("sign", toOne: "Sign", inverse: "shelf")
      Relationship("tags", toMany: "Tag", inverse: "home", ordered: true)
      Attribute("signNumber", .integer32, derivedFrom: "sign.number")
      Attribute("tagCount", .integer64, derivedFrom: "tags.@count")
    }
    Entity("Sign") {
      Attribute("number", .integer32)
      Relationship("shelf", toOne: "Shelf", inverse: "sign", optional: false)
    }
    Entity("Plain") {
      Attribute("number", .integer64)
      Attribute("title", .string)
      FetchIndex("byNumber", on: "number")
    }
  }

  /// A model whose rows, links and indexes can be built.
  static let library = try! ManagedObjectModel {
    Entity("Author") {
      Attribute("name", .string)
      Relationship("books", toMany: "Book", inverse: "author")
    }
    Entity("Book") {
      Attribute("number", .integer64)
      Attribute("title", .string)
      Relationship("author", toOne: "Author", inverse: "books")
      FetchIndex("byNumber", on: "number")
      FetchIndex("byTitle", on: "title")
    }
  }

  /// A context of an empty store that keeps a history.
  static func context(
    _ home: GotchaHome, _ folder: URL, _ name: String, _ model: ManagedObjectModel = model
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      type: home == .memory ? .inMemory : .quire,
      at: home == .memory ? nil : folder.appending(path: "\(name).quire"),
      options: [PersistentHistoryTrackingKey: true])
    return GotchaHome.context(of: coordinator)
  }

  /// Calls `body` with a context of an empty store, which is sound afterwards.
  static func with(
    _ home: GotchaHome = .memory, _ model: ManagedObjectModel = model,
    _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let context = try context(home, folder, "batch", model)
      try body(context)
      #expect(try StoreFacts(context).findings == [])
      try context.closeStores()
    }
  }

  static func request(_ entity: String, _ predicate: FetchPredicate? = nil) -> FetchRequest<
    ManagedObject
  > {
    var request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = predicate
    return request
  }

  /// What a store holds, with the versions of rows.
  static func lines(_ context: ManagedObjectContext) throws -> [String] {
    let fresh = SmallGallery.sibling(of: context)
    var versions: [String] = []
    for entity in try #require(context.persistentStoreCoordinator?.managedObjectModel).entities {
      var all = request(entity.name)
      all.includesSubentities = false
      for (place, object) in try fresh.fetch(all).enumerated() {
        versions.append("\(entity.name)#\(place) version \(object.version)")
      }
    }
    return try StoreLines.lines(fresh) + versions
  }

  /// The last transaction of a history.
  static func lastTransaction(_ context: ManagedObjectContext) throws -> [String] {
    try context.history().last?.changes?.map(\.text).sorted() ?? []
  }
}

/// Two stores that were filled in the same way, one to be changed by batch requests and one by
/// objects.
struct BatchTwins {
  var random: SeededGenerator
  let batch: ManagedObjectContext
  let objects: ManagedObjectContext
  /// Whether the objects of both have the same keys, so that their histories can be compared.
  var haveSameKeys = true

  static func with(
    seed: UInt64, _ home: GotchaHome, _ body: (inout BatchTwins) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      var twins = BatchTwins(
        random: SeededGenerator(seed: seed),
        batch: try BatchScene.context(home, folder, "batch"),
        objects: try BatchScene.context(home, folder, "objects"))
      try body(&twins)
      try twins.batch.closeStores()
      try twins.objects.closeStores()
    }
  }

  /// Fills both stores with the same objects.
  mutating func fill(_ count: Int) throws {
    let seed = random.next()
    for context in [batch, objects] {
      var random = SeededGenerator(seed: seed)
      try Self.fill(context, count, &random)
      try context.save()
    }
  }

  private static func fill(
    _ context: ManagedObjectContext, _ count: Int, _ random: inout SeededGenerator
  ) throws {
    var all: [String: [ManagedObject]] = [:]
    let names = [
      "Thing", "SpecialThing", "Tag", "SpecialTag", "Part", "Lock", "Shelf", "Sign", "Plain",
    ]
    for number in 0..<count {
      // No part without an owner.
      let name = number == 0 ? "Thing" : names[random.below(names.count)]
      if name == "Sign", all["Shelf"] == nil { continue }
      let object = try context.insert(name, ["number": number])
      all[name, default: []].append(object)
      if name == "SpecialThing" { all["Thing", default: []].append(object) }
      if name == "SpecialTag" { all["Tag", default: []].append(object) }
      if name == "Part" {
        try object.setValue(all["Thing"]![random.below(all["Thing"]!.count)], forKey: "owner")
      }
      if name == "Sign" {
        let shelf = all["Shelf"]![random.below(all["Shelf"]!.count)]
        // It had one, which has to lead somewhere.
        if let old = try shelf.value(forKey: "sign") as? ManagedObject {
          context.delete(old)
          all["Sign"]?.removeAll { $0 === old }
        }
        try object.setValue(shelf, forKey: "shelf")
      }
      guard object.entity.attribute(named: "weight") != nil else { continue }
      try object.setValue(random.below(20), forKey: "weight")
      try object.setValue("title \(random.below(9))", forKey: "title")
      if random.below(6) == 0 {
        try object.setValue(Data(repeating: UInt8(number & 255), count: 150_000), forKey: "photo")
      }
    }
    for object in all["Thing"] ?? [] {
      for relationship in object.entity.relationships where random.below(3) == 0 {
        let candidates = all[relationship.destination] ?? []
        if candidates.isEmpty || relationship.name == "parts" { continue }
        func any() -> ManagedObject { candidates[random.below(candidates.count)] }
        if relationship.name == "shelf" {
          let shelf = any()
          let members = try shelf.value(forKey: "things") as? Set<ManagedObject>
          if (members?.count ?? 0) < 4 { try object.setValue(shelf, forKey: "shelf") }
        } else if !relationship.isToMany {
          try object.setValue(any(), forKey: relationship.name)
        } else {
          let members = (0..<3).map { _ in any() }
          let distinct = members.enumerated().filter { !members[..<$0].contains($1) }.map(\.element)
          try object.setValue(
            relationship.isOrdered ? distinct as Any : Set(distinct) as Any,
            forKey: relationship.name)
        }
      }
    }
  }

  /// Does the same to both stores: what one refuses the other refuses, and what one does the other
  /// does.
  ///
  /// - Returns: whether it was done.
  func change(
    _ label: String,
    batch change: (ManagedObjectContext) throws -> Void,
    objects other: (ManagedObjectContext) throws -> Void
  ) throws -> Bool {
    func refusal(_ body: () throws -> Void) throws -> Set<Int>? {
      do {
        try body()
        return nil
      } catch let error as PersistenceError {
        let errors = error.detailedErrors.isEmpty ? [error] : error.detailedErrors
        return Set(errors.map(\.code.rawValue))
      }
    }
    let before = try BatchScene.lines(batch)
    let token = batch.historyToken
    let expected = try refusal {
      try other(objects)
      try objects.save()
    }
    let found = try refusal { try change(batch) }
    try #require(found == expected, "\(label)")
    objects.rollback()
    #expect(try StoreFacts(batch).findings == [], "\(label)")
    if found != nil {
      #expect(try BatchScene.lines(batch) == before, "\(label)")
      #expect(batch.historyToken == token, "\(label)")
      return false
    }
    let (lines, wanted) = (try BatchScene.lines(batch), try BatchScene.lines(objects))
    // What comes later would differ as well.
    try #require(lines == wanted, "\(label): \(lines.difference(from: wanted))")
    if haveSameKeys, batch.historyToken != token {
      #expect(
        try BatchScene.lastTransaction(batch) == BatchScene.lastTransaction(objects), "\(label)")
    }
    return true
  }

  static func seeds(_ count: UInt64) -> ClosedRange<UInt64> {
    Seeds.upTo(Amount.of(debug: count / 2, release: count, exhaustive: 60 * count))
  }
}
