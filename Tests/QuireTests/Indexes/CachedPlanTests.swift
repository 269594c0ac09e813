import Quire
import QuireModel
import QuireSimulation
import Testing

/// Requests whose predicate is a conjunction of comparisons with constants, for which a plan is
/// kept: the answer is that of a predicate that no index can be searched for.
struct CachedPlanTests {
  private static let types = IndexValues.types
  // As often an equality as all others.
  private static let operators: [FetchPredicate.Operator] = [
    .equal, .equal, .equal, .equal, .equal, .equal, .lessThan, .lessThanOrEqual, .greaterThan,
    .greaterThanOrEqual, .beginsWith, .beginsWith,
  ]

  private static func name(_ type: AttributeType) -> String { "a\(type.rawValue)" }

  private func context(_ seed: UInt64) throws -> ManagedObjectContext {
    var generator = SeededGenerator(seed: seed)
    var thing = Entity("Thing")
    thing.attributes = Self.types.map { AttributeDescription(Self.name($0), $0) }
    thing.indexes = Self.types.map { type in
      let others = generator.below(2) == 0 ? [] : [Self.types[generator.below(Self.types.count)]]
      return FetchIndexDescription(
        "by\(type.rawValue)",
        ([type] + others.filter { $0 != type }).map {
          .init(Self.name($0), ascending: generator.below(4) > 0)
        })
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(entities: [thing]))
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    try add(200, to: context, &generator)
    try context.save()
    return context
  }

  private func add(
    _ count: Int, to context: ManagedObjectContext, _ generator: inout SeededGenerator
  ) throws {
    for _ in 0..<count {
      let object = try context.add("Thing", [:])
      for type in Self.types {
        try object.setValue(
          IndexValues.random(type, using: &generator), forKey: Self.name(type))
      }
    }
  }

  /// Up to four comparisons, most of which are true of an object.
  private func conjunction(
    like object: ManagedObject, _ type: AttributeType, _ generator: inout SeededGenerator
  ) throws -> FetchPredicate {
    let orders: [FetchPredicate.Operator] = [
      .equal, .equal, .equal, .lessThanOrEqual, .greaterThanOrEqual, .notEqual, .lessThan,
      .greaterThan, .beginsWith,
    ]
    var parts: [FetchPredicate] = []
    for number in 0..<1 + generator.below(4) {
      let type = number == 0 ? type : Self.types[generator.below(Self.types.count)]
      var constant = IndexValues.constant(for: type, using: &generator)
      let own = try object.value(forKey: Self.name(type)) as? any PredicateConvertible
      if generator.below(6) > 0, case .value(let value)? = own?.predicateValue { constant = value }
      let order = orders[generator.below(orders.count)]
      parts.append(
        .comparison(
          .keyPath([Self.name(type)]), order, .constant(constant.map(PredicateValue.value))))
    }
    return .and(parts)
  }

  /// One or two sort keys, by which many objects are equal.
  private static func order(_ generator: inout SeededGenerator) -> [FetchSortDescriptor] {
    (0...generator.below(2)).map { _ in
      FetchSortDescriptor(
        key: name(types[generator.below(types.count)]), ascending: generator.below(2) == 0,
        options: generator.below(4) == 0 ? [.caseInsensitive] : [],
        absentValues: .allCases[generator.below(3)])
    }
  }

  /// - Returns: how many objects were found altogether.
  private func compare(
    _ context: ManagedObjectContext, _ generator: inout SeededGenerator, _ label: String
  ) throws -> Int {
    var count = 0
    let all = try context.found("Thing").objects.filter { !$0.isDeleted }
    for type in Self.types {
      for _ in 0..<12 {
        var request = FetchRequest<ManagedObject>(entityName: "Thing")
        request.includesPendingChanges = generator.below(4) > 0
        let constant = IndexValues.constant(for: type, using: &generator)
        let order = Self.operators[generator.below(Self.operators.count)]
        var predicate = FetchPredicate.comparison(
          .keyPath([Self.name(type)]), order, .constant(constant.map(PredicateValue.value)))
        if generator.below(3) > 0 {
          predicate = try conjunction(like: all[generator.below(all.count)], type, &generator)
        }
        if generator.below(2) == 0 { request.sortDescriptors = Self.order(&generator) }
        request.predicate = .not(.not(predicate))
        var expected: [ManagedObject]
        do {
          expected = try context.fetch(request)
        } catch {
          request.predicate = predicate
          #expect(throws: PersistenceError.self, "\(label): \(request)") {
            try context.fetch(request)
          }
          continue
        }
        request.predicate = predicate
        if generator.below(3) == 0 {
          request.fetchLimit = 1 + generator.below(3)
          expected = Array(expected.prefix(request.fetchLimit))
        }
        #expect(try context.count(for: request) == expected.count, "\(label): \(request)")
        let found = try context.fetch(request)
        #expect(
          found.map(ObjectIdentifier.init) == expected.map(ObjectIdentifier.init),
          "\(label): \(request)")
        #expect(found.allSatisfy { !$0.isFault || $0.isInserted }, "\(label): \(request)")
        count += found.count
      }
    }
    return count
  }

  @Test(arguments: 1...Amount.of(debug: 1, release: 8) as ClosedRange<UInt64>)
  func `a fetch by an index finds what a fetch by all rows finds`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let context = try context(seed)
    let other = SmallGallery.sibling(of: context)
    var count = try compare(other, &generator, "fresh")
    try add(20, to: context, &generator)
    for object in try context.found("Thing").objects.prefix(10) { context.delete(object) }
    count += try compare(context, &generator, "unsaved")
    try context.save()
    count += try compare(context, &generator, "saved")
    count += try compare(other, &generator, "saved by another")
    let child = ManagedObjectContext()
    child.parent = context
    try add(5, to: child, &generator)
    count += try compare(child, &generator, "child")
    #expect(count > 100)
  }

  @Test func `comparisons that contradict each other find nothing, and count nothing`() throws {
    let model = try ManagedObjectModel {
      Entity("Thing") {
        Attribute("number", .integer32)
        Attribute("name", .string)
        FetchIndex("byNumber", on: "number")
        FetchIndex("byNameAndNumber", on: "name", .descending("number"))
      }
    }
    let context = try ManagedObjectContext.stubbed(model)
    for number in 0..<40 { try context.add("Thing", ["number": number, "name": "n\(number % 2)"]) }
    try context.save()
    for (low, high, expected) in [(5, 3, 0), (5, 5, 0), (5, 6, 0), (5, 7, 1), (3, 20, 16)] {
      var request = FetchRequest<ManagedObject>(entityName: "Thing")
      request.predicate = Key("number") > low && Key("number") < high
      #expect(try context.count(for: request) == expected, "\(request)")
      #expect(try context.fetch(request).count == expected, "\(request)")
      request.predicate = Key("name") == "n0" && Key("number") > low && Key("number") < high
      let even = (low + 1..<max(low + 1, high)).count { $0 % 2 == 0 }
      #expect(try context.count(for: request) == even, "\(request)")
      #expect(try context.fetch(request).count == even, "\(request)")
      request.predicate = Key("number") == low && Key("number") == high
      #expect(try context.count(for: request) == (low == high ? 1 : 0), "\(request)")
    }
  }

  @Test func `an index of some objects does not answer for the others`() throws {
    let model = try ManagedObjectModel {
      Entity("Thing") {
        Attribute("number", .integer32)
        FetchIndex("byNumber", on: "number", where: "number > 10")
      }
    }
    let context = try ManagedObjectContext.stubbed(model)
    for number in [5, 5, 15] { try context.add("Thing", ["number": number]) }
    try context.save()
    for number in [5, 15] {
      var request = FetchRequest<ManagedObject>(entityName: "Thing")
      request.predicate = Key("number") == number
      #expect(try context.fetch(request).count == (number == 5 ? 2 : 1))
      #expect(try context.count(for: request) == (number == 5 ? 2 : 1))
    }
  }

  private static func owners(isIndexed: Bool) throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      Entity("Person") {
        Attribute("name", .string)
        Relationship("things", toMany: "Thing", inverse: "owner")
      }
      Entity("Boss", parent: "Person") {}
      Entity("Thing") {
        Attribute("number", .integer32)
        Relationship("owner", toOne: "Person", inverse: "things")
        if isIndexed { FetchIndex("byOwner", on: "owner") }
      }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    let people = try (0..<9).map { try context.add($0 % 3 == 0 ? "Boss" : "Person", [:]) }
    for number in 0..<200 {
      let owner = number % 7 == 0 ? nil : people[number % 11 % people.count]
      _ = try context.add("Thing", ["number": number, "owner": owner as Any])
    }
    try context.save()
    return context
  }

  /// By the bytes of rows, or by an index; an object that the store does not have owns nothing.
  @Test(arguments: [false, true])
  func `objects that refer to an object are those that say so themselves`(
    isIndexed: Bool
  ) throws {
    let context = try Self.owners(isIndexed: isIndexed)
    let elsewhere = try Self.owners(isIndexed: isIndexed)
    let people = try context.found("Person").objects
    let removed = try context.add("Person", [:])
    try context.save()
    context.delete(removed)
    try context.save()
    let ids =
      people.map(\.objectID) + [removed.objectID, try context.add("Person", [:]).objectID]
      + (try elsewhere.found("Person").objects.prefix(3).map(\.objectID))
    let some = PredicateValue.value(.integer(90))
    var predicates: [FetchPredicate] = [Key("owner") == nil, Key("owner") != nil]
    for id in ids {
      predicates += [
        Key("owner") == id, Key("owner") != id, !(Key("owner") == id),
        Key("owner") == id
          && .comparison(.keyPath(["number"]), .greaterThan, .constant(some)),
        Key("owner") == id || Key("owner") == nil,
      ]
    }
    for start in ids.indices.dropLast(2) {
      predicates.append(try FetchPredicate(format: "owner IN %@", Array(ids[start...].prefix(3))))
    }
    let saved = SmallGallery.sibling(of: context)
    for context in [context, saved] {
      let things = try context.found("Thing").objects
      for predicate in predicates {
        var request = FetchRequest<ManagedObject>(entityName: "Thing")
        request.predicate = predicate
        let expected = Set(try things.filtered(using: predicate))
        #expect(Set(try context.fetch(request)) == expected, "\(predicate)")
        #expect(try context.count(for: request) == expected.count, "\(predicate)")
        request.fetchLimit = 2
        #expect(try context.fetch(request).count == min(2, expected.count), "\(predicate)")
      }
    }
  }

  /// Two adjacent doubles with an integer between them, and doubles that are rounded to floats.
  @Test(arguments: [false, true])
  func `an integer is compared exactly with doubles, and a double with floats as a float`(
    isIndexed: Bool
  ) throws {
    var thing = Entity("Thing")
    thing.attributes = [
      AttributeDescription("double", .double), AttributeDescription("float", .float),
    ]
    if isIndexed {
      thing.indexes = thing.attributes.map {
        FetchIndexDescription("by-\($0.name)", [.init($0.name, ascending: true)])
      }
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(entities: [thing]))
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    let values: [(double: Double, float: Float)] = [(0x1p53, 1.33), (0x1p53 + 2, 2.5)]
    for value in values {
      try context.add("Thing", ["double": value.double, "float": value.float])
    }
    try context.save()
    context.reset()
    let cases:
      [(name: String, constant: AttributeValue, equal: [Double], less: [Double], more: [Double])] =
        [
          ("double", .integer(1 << 53 + 1), [], [0x1p53], [0x1p53 + 2]),
          ("double", .integer(1 << 53), [0x1p53], [], [0x1p53 + 2]),
          ("float", .double(1.33), [0x1p53], [], [0x1p53 + 2]),
          ("float", .double(2.5), [0x1p53 + 2], [0x1p53], []),
        ]
    for (name, constant, equal, less, more) in cases {
      func expect(_ order: FetchPredicate.Operator, _ expected: [Double]) throws {
        var request = FetchRequest<ManagedObject>(entityName: "Thing")
        request.predicate = .comparison(
          .keyPath([name]), order, .constant(PredicateValue.value(constant)))
        let found = try context.fetch(request).compactMap {
          try $0.value(forKey: "double") as? Double
        }
        #expect(found.sorted() == expected, "\(request)")
        #expect(try context.count(for: request) == expected.count, "\(request)")
      }
      try expect(.equal, equal)
      try expect(.lessThan, less)
      try expect(.lessThanOrEqual, (less + equal).sorted())
      try expect(.greaterThan, more)
      try expect(.greaterThanOrEqual, (equal + more).sorted())
    }
  }

  @Test func `a count of references to an object is the same by keys as by rows`() throws {
    let model = try ManagedObjectModel {
      Entity("Artist") { Relationship("works", toMany: "Work", inverse: "artist") }
      Entity("Painter", parent: "Artist") {}
      Entity("Work") {
        Relationship("artist", toOne: "Artist", inverse: "works")
        // Nobody is told when it is deleted.
        Relationship("owner", toOne: "Artist")
        FetchIndex("byArtist", on: "artist")
        FetchIndex("byOwner", on: "owner")
      }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    var artists = try (0..<6).map { try context.add($0 < 3 ? "Artist" : "Painter", [:]) }
    for number in 0..<100 {
      try context.add(
        "Work", ["artist": artists[number * number % 6], "owner": artists[number % 6]])
    }
    try context.save()
    context.delete(artists[5])
    try context.save()
    artists.append(try context.add("Artist", [:]))
    let works = try context.found("Work").objects
    func compare(_ label: String) throws {
      for name in ["artist", "owner"] {
        for object in artists as [ManagedObject?] + [nil] {
          let constant = FetchExpression.constant(
            object.map { .object(OpaqueIdentity($0.objectID)) })
          var request = FetchRequest<ManagedObject>(entityName: "Work")
          request.predicate = .not(.not(.comparison(.keyPath([name]), .equal, constant)))
          for (limit, offset) in [(0, 0), (3, 0), (0, 10), (7, 15)] {
            (request.fetchLimit, request.fetchOffset) = (limit, offset)
            let expected = try context.fetch(request).count
            var exact = request
            exact.predicate = .comparison(.keyPath([name]), .equal, constant)
            #expect(try context.count(for: exact) == expected, "\(label): \(exact)")
          }
        }
      }
    }
    try compare("saved")
    try works[0].setValue(artists[2], forKey: "artist")
    try works[1].setValue(artists[6], forKey: "artist")
    try compare("unsaved")
    try context.save()
    try compare("saved again")
    var request = FetchRequest<ManagedObject>(entityName: "Work")
    request.predicate = Key("artist") == works[0]
    #expect(try context.count(for: request) == 0)
    request.predicate = Key("artist") == artists[0]
    request.fetchOffset = -1
    #expect(throws: PersistenceError.self) { try context.count(for: request) }
  }

  @Test func `an object that is there keeps its values, unless it is to be refreshed`() throws {
    let context = try SmallGalleryBySlug.context()
    let other = SmallGallery.sibling(of: context)
    var request = FetchRequest<ManagedObject>(entityName: "Artwork")
    request.predicate = Key("slug") == "one"
    let artwork = try #require(try other.fetch(request).first)
    #expect(try artwork.value(forKey: "price") as? Double == 1)
    try #require(try context.fetch(request).first).setValue(2.0, forKey: "price")
    try context.save()
    #expect(try other.fetch(request) == [artwork])
    #expect(try artwork.value(forKey: "price") as? Double == 1)
    request.shouldRefreshRefetchedObjects = true
    #expect(try other.fetch(request) == [artwork])
    #expect(try artwork.value(forKey: "price") as? Double == 2)
  }

  @Test func `an object of another class than the request's is refused`() throws {
    let context = try SmallGalleryBySlug.context()
    var request = FetchRequest<SmallGalleryBySlug.Other>(entityName: "Artwork")
    request.predicate = Key("slug") == "one"
    let error = #expect(throws: PersistenceError.self) { try context.fetch(request) }
    #expect(error?.code == .unacceptableValue)
    request.predicate = Key("slug") == "none"
    #expect(try context.fetch(request).isEmpty)
  }

  @Test func `a name that the model lacks is an error all the same`() throws {
    let context = try SmallGalleryBySlug.context()
    var request = FetchRequest<ManagedObject>(entityName: "Artwork")
    request.predicate = Key("slag") == "one"
    #expect(throws: PersistenceError.self) { try context.fetch(request) }
    request = FetchRequest(entityName: "Artwark")
    request.predicate = Key("slug") == "one"
    #expect(throws: PersistenceError.self) { try context.fetch(request) }
  }
}

/// Two artworks with an index of slugs.
private enum SmallGalleryBySlug {
  final class Other: ManagedObject {}

  static func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      Entity("Artwork") {
        Attribute("slug", .string)
        Attribute("price", .double)
        FetchIndexDescription("bySlug", on: "slug")
      }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    for (slug, price) in [("one", 1.0), ("two", 2.0)] {
      _ = try context.add("Artwork", ["slug": slug, "price": price])
    }
    try context.save()
    return context
  }
}
