import Foundation
import Quire
import QuireSimulation
import QuireTesting
import Testing

/// Changes between numeric types, which Core Data infers and which were refused.
@Suite struct NumberMigrationTests {
  private static let types: [AttributeType] = [
    .boolean, .integer16, .integer32, .integer64, .float, .double, .decimal,
  ]

  /// Each type with each other; in debug with one in so many of them.
  private static func pairs(oneIn share: Int) -> [(AttributeType, AttributeType)] {
    types.enumerated().flatMap { place, type in
      Amount.some(of: types, oneIn: share, at: place).filter { $0 != type }.map { (type, $0) }
    }
  }

  private static func model(
    _ type: AttributeType, optional: Bool = true, default value: AttributeValue? = nil
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Item") {
        Attribute("name", .string)
        Attribute("count", type, optional: optional, default: value)
        Attribute("rank", .integer16)
      }
    }
  }

  /// A closed store of the old model on a disk.
  private static func store(
    _ old: ManagedObjectModel, _ values: [AttributeValue?]
  ) throws -> IndexScene {
    let scene = IndexScene()
    let context = try scene.open(VersionedModel(versions: [.init("old", old)])!)
    for (number, value) in values.enumerated() {
      let item = try context.insert("Item", ["name": "\(number)", "rank": number])
      try item.setValue(value, forKey: "count")
    }
    try context.save()
    try scene.close(context)
    return scene
  }

  private static func counts(_ context: ManagedObjectContext) throws -> [AttributeValue?] {
    var request = FetchRequest<ManagedObject>(entityName: "Item")
    request.sortDescriptors = [FetchSortDescriptor(key: "rank", ascending: true)]
    let attribute = try #require(
      context.persistentStoreCoordinator?.managedObjectModel.entity(named: "Item")?
        .attribute(named: "count"))
    return try context.fetch(request).map { item in
      try item.value(forKey: "count").flatMap { AttributeValue($0, for: attribute) }
    }
  }

  /// 0 and 1 as each type has them.
  private static func plain(_ type: AttributeType) -> [AttributeValue] {
    switch type {
    case .boolean: [.boolean(false), .boolean(true)]
    case .float: [.float(0), .float(1)]
    case .double: [.double(0), .double(1)]
    case .decimal: [.decimal(0), .decimal(1)]
    default: [.integer(0), .integer(1)]
    }
  }

  @Test(arguments: pairs(oneIn: 4))
  func `a number is the same number in any other type`(
    _ source: AttributeType, _ destination: AttributeType
  ) throws {
    let (old, new) = (try Self.model(source), try Self.model(destination))
    let numbers = Self.plain(source)
    let count = Amount.of(debug: 6, release: 30)
    try MigrationTrial.run(from: old, to: new) { context in
      for number in 0..<count {
        let item = try context.insert("Item", ["rank": number, "name": "text \(number)"])
        if number % 3 < 2 { try item.setValue(numbers[number % 3], forKey: "count") }
      }
    } then: { trial in
      let wanted = Self.plain(destination)
      #expect(
        try Self.counts(trial.context) == (0..<count).map { $0 % 3 < 2 ? wanted[$0 % 3] : nil })
      #expect(trial.action("Item") == .rewritten)
      let step = try #require(trial.check.plan?.numbers.first)
      let isWidening =
        NumberConversion(from: source, to: destination)?.direction == .widening
      #expect(step.entityName == "Item" && step.propertyName == "count")
      #expect(step.sourceType == "\(source)" && step.destinationType == "\(destination)")
      #expect(step.direction == (isWidening ? .widening : .narrowing))
      #expect(step.checkedObjectCount == (isWidening ? 0 : count))
    }
  }

  private static let misfits: [(AttributeType, AttributeType, AttributeValue, String)] = [
    (.integer32, .integer16, .integer(70_000), "is 70000, which is beyond integer16"),
    (.integer16, .boolean, .integer(2), "is 2, and only 0 and 1 are Booleans"),
    (.double, .integer32, .double(0.5), "is 0.5, and integer32 has no fractions"),
    (.double, .integer64, .double(.nan), "is nan, which no integer64 is"),
    (.double, .float, .double(0.1), "is 0.1, which has more digits than float keeps"),
    (.double, .decimal, .double(.infinity), "is inf, which no decimal is"),
    (.integer64, .double, .integer(1 << 53 + 1), "more digits than double keeps"),
    (.decimal, .double, .decimal(Decimal(string: "1.23456789012345678901")!), "more digits"),
  ]

  @Test(arguments: misfits.indices, [false, true])
  func `a number that does not fit is refused with object and value before any write`(
    _ index: Int, _ defers: Bool
  ) throws {
    let (source, destination, value, words) = Self.misfits[index]
    let old = try Self.model(source)
    let scene = try Self.store(old, [nil, value, Self.plain(source)[1]])
    let versions = try MigrationTrial.versioned(old, try Self.model(destination))
    let files = scene.disk.files
    var options: PersistentStoreOptions = defers ? .deferring : .migrating
    options.migrationBackup = .beside
    let error = #expect(throws: PersistenceError.self) { try scene.open(versions, options) }
    #expect(error?.code == .migration)
    let details = try #require(error?.detailedErrors)
    #expect(details.count == 1 && error?.message.hasPrefix("1 number ") == true)
    #expect(details[0].message.hasPrefix("Item.count of Item/p2 is "))
    #expect(details[0].message.contains(words) && error?.message.contains(words) == true)
    #expect(details[0].objectID?.key == 2 && details[0].entityName == "Item")
    #expect(details[0].key == "count")
    #expect(scene.disk.files == files, "not even a backup was made")
    let context = try scene.open(try #require(versions.endingAt("old")))
    let found = try Self.counts(context)
    // What is not a number is not equal to itself.
    #expect("\(found)" == "\([nil, value, Self.plain(source)[1]])")
    try scene.close(context)
  }

  @Test func `all numbers that do not fit are counted, and the first are told`() throws {
    let old = try Self.model(.integer32)
    let scene = try Self.store(old, (0..<50).map { .integer($0 % 2 == 0 ? 1 : 100_000 + $0) })
    let versions = try MigrationTrial.versioned(old, try Self.model(.integer16))
    let error = #expect(throws: PersistenceError.self) { try scene.open(versions, .migrating) }
    #expect(error?.message.hasPrefix("25 numbers in the store are none of the type") == true)
    #expect(error?.message.hasSuffix("and 5 more") == true)
    #expect(error?.detailedErrors.map { $0.objectID?.key } == (1...20).map { 2 * $0 })
    // A person reads each of them once.
    let lines = error?.description.split(separator: "\n") ?? []
    #expect(lines.count == 22 && Set(lines).count == 22)
  }

  @Test func `a plan says which way it goes and what has to be looked at, and looks at nothing`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let (old, new) = (try Self.model(.double), try Self.model(.integer16))
      let coordinator = PersistentStoreCoordinator(
        versionedModel: try #require(VersionedModel(versions: [.init("old", old)])))
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      let context = GotchaHome.context(of: coordinator)
      for _ in 0..<3 { try context.insert("Item", ["count": 0.5]) }
      try context.save()
      try coordinator.remove(store)
      let versions = try MigrationTrial.versioned(old, new)
      let plan = try #require(try MigrationPlan.plan(forStoreAt: url, to: versions))
      #expect(plan.obstacles.isEmpty && plan.numbers.map(\.checkedObjectCount) == [3])
      #expect(
        plan.description.contains(
          "  Item.count: double → integer16, narrowing: 3 rows to look at before"))
      let decoded = try JSONDecoder().decode(
        MigrationPlan.self, from: try JSONEncoder().encode(plan))
      #expect(decoded == plan)
      // A plan that an earlier release has written says nothing of numbers.
      var object = try #require(
        try JSONSerialization.jsonObject(with: JSONEncoder().encode(plan)) as? [String: Any])
      object["numbers"] = nil
      let earlier = try JSONDecoder().decode(
        MigrationPlan.self, from: try JSONSerialization.data(withJSONObject: object))
      #expect(earlier.numbers.isEmpty && earlier.entities == plan.entities)
      let back = try MigrationTrial.versioned(old, try Self.model(.float))
      #expect(
        try MigrationPlan.plan(forStoreAt: url, to: back)?.numbers.first?.direction == .narrowing)
    }
  }

  @Test func `a default stands for no value where the attribute became required`() throws {
    let old = try Self.model(.boolean)
    for (type, value) in [(AttributeType.integer32, AttributeValue.integer(7)), (.decimal, 7)] {
      let new = try Self.model(type, optional: false, default: value)
      let scene = try Self.store(old, [nil, .boolean(true), nil])
      let context = try scene.open(try MigrationTrial.versioned(old, new), .migrating)
      let (seven, one) = (type == .decimal ? .decimal(7) : value, Self.plain(type)[1])
      #expect(try Self.counts(context) == [seven, one, seven])
      try scene.close(context)
    }
  }

  @Test(arguments: pairs(oneIn: 3))
  func `a nil number becomes the default where a value is required, and stays nil elsewhere`(
    _ source: AttributeType, _ destination: AttributeType
  ) throws {
    let (zero, one) = (Self.plain(destination)[0], Self.plain(destination)[1])
    for (isOptional, options) in [
      (false, PersistentStoreOptions.migrating), (false, .deferring), (true, .migrating),
    ] {
      let scene = try Self.store(try Self.model(source), [nil, Self.plain(source)[0], nil])
      let new = try Self.model(destination, optional: isOptional, default: one)
      let versions = try MigrationTrial.versioned(try Self.model(source), new)
      let context = try scene.open(versions, options)
      #expect(try Self.counts(context) == (isOptional ? [nil, zero, nil] : [one, zero, one]))
      #expect(try StoreFacts(context).findings == [])
      try scene.close(context)
    }
  }

  @Test func `elements of composites are converted, and told with their paths`() throws {
    func model(_ type: AttributeType, _ other: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Item") {
          Attribute("place", .composite) {
            Attribute("floor", type)
            Attribute("name", .string)
            Attribute("point", .composite) { Attribute("x", other) }
          }
        }
      }
    }
    let (old, new) = (try model(.integer16, .double), try model(.decimal, .integer32))
    func insert(_ x: Double) -> (ManagedObjectContext) throws -> Void {
      {
        let place: [String: Any] = ["floor": 3, "name": "a", "point": ["x": x] as [String: Any]]
        try $0.insert("Item", ["place": place])
        try $0.insert("Item")
      }
    }
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      for (x, fits) in [(2.0, true), (2.5, false)] {
        let coordinator = PersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(type: .quire, at: url)
        try insert(x)(GotchaHome.context(of: coordinator))
        let context = GotchaHome.context(of: coordinator)
        try insert(x)(context)
        try context.save()
        try coordinator.remove(store)
        let next = PersistentStoreCoordinator(
          versionedModel: try MigrationTrial.versioned(old, new))
        if fits {
          let migrated = try next.addPersistentStore(type: .quire, at: url, options: .migrating)
          let steps = try #require(migrated.migrationReport?.plan.numbers)
          #expect(steps.map(\.propertyName) == ["place.floor", "place.point.x"])
          #expect(steps.map(\.checkedObjectCount) == [0, 2])
          let item = try #require(
            try GotchaHome.context(of: next)
              .fetch(FetchRequest<ManagedObject>(entityName: "Item")).first)
          let place = try #require(try item.value(forKey: "place") as? [String: Any])
          #expect(place["floor"] as? Decimal == 3 && place["name"] as? String == "a")
          #expect((place["point"] as? [String: Any])?["x"] as? Int == 2)
          try next.remove(migrated)
        } else {
          let error = #expect(throws: PersistenceError.self) {
            try next.addPersistentStore(type: .quire, at: url, options: .migrating)
          }
          #expect(
            error?.detailedErrors.map(\.message) == [
              "Item.place.point.x of Item/p1 is 2.5, and integer32 has no fractions"
            ])
        }
        try PersistentStoreCoordinator(managedObjectModel: old)
          .destroyPersistentStore(at: url, type: .quire)
      }
    }
  }

  @Test func `indexes, constraints and derived attributes go with the new type`() throws {
    func model(_ type: AttributeType, _ sum: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Item") {
          UniquenessConstraint("count")
          Attribute("count", type)
          Attribute("rank", .integer16)
          Attribute("doubled", sum, derivedFrom: "count")
          FetchIndex("byCount", on: "count", where: "count > 2")
        }
      }
    }
    let (old, new) = (try model(.double, .double), try model(.integer16, .decimal))
    let scene = IndexScene()
    var context = try scene.open(old)
    for number in 0..<40 {
      try context.insert("Item", ["count": Double(39 - number), "rank": number])
    }
    try context.save()
    try scene.close(context)
    context = try scene.open(try MigrationTrial.versioned(old, new), .migrating)
    #expect(try context.values(of: "rank", "Item", "count == 30") == ["9"])
    #expect(
      try context.values(of: "rank", "Item", "count > 36", sortedBy: "count") == ["2", "1", "0"])
    #expect(try context.values(of: "doubled", "Item", "count == 30") == ["30"])
    try context.insert("Item", ["count": 30])
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .managedObjectConstraintMerge)
    context.rollback()
    #expect(try StoreFacts(context).findings == [])
    try scene.close(context)
  }

  /// A row that a deferred migration has left in an older layout is looked at as what it became.
  @Test func `rows that were left for later are converted too`() throws {
    let first = try Self.model(.integer32)
    let second = try ManagedObjectModel {
      Entity("Item") {
        Attribute("count", .integer32, optional: false, default: 9)
        Attribute("rank", .integer16)
        Attribute("note", .string, default: "new")
      }
    }
    func third(_ type: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Item") {
          Attribute("amount", type, optional: false, default: 9, renamedFrom: "count")
          Attribute("rank", .integer16)
          Attribute("note", .string, default: "new")
        }
      }
    }
    for (type, defers) in [(AttributeType.double, true), (.integer16, true), (.integer16, false)] {
      let scene = try Self.store(first, [nil, .integer(4), nil])
      let versions = try #require(
        VersionedModel(versions: [
          .init("old", first), .init("second", second), .init("third", try third(type)),
        ]))
      var context = try scene.open(try #require(versions.endingAt("second")), .deferring)
      try scene.close(context)
      context = try scene.open(versions, defers ? .deferring : .migrating)
      let plan = context.persistentStoreCoordinator?.persistentStores.first?.migrationReport?.plan
      #expect(plan?.entities.first?.action == .rewritten)
      #expect(
        try context.values(of: "amount", "Item", sortedBy: "rank").map { Double($0) } == [9, 4, 9])
      #expect(try context.values(of: "note", "Item") == ["new", "new", "new"])
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      #expect(try store.deferredMigration() == nil)
      #expect(try StoreFacts(context).findings == [])
      try scene.close(context)
    }
  }

  @Test func `an inferred mapping that was edited converts in the same way`() throws {
    let (old, new) = (try Self.model(.double), try Self.model(.integer16))
    for (value, fits) in [(3.0, true), (3.5, false)] {
      try withTemporaryFolder { folder in
        let (source, target) = (folder.appending(path: "old"), folder.appending(path: "new"))
        let coordinator = PersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(type: .quire, at: source)
        let context = GotchaHome.context(of: coordinator)
        try context.insert("Item", ["count": value])
        try context.save()
        try coordinator.remove(store)
        var mapping = try MappingModel.inferredMappingModel(
          forSourceModel: old, destinationModel: new)
        mapping.entityMappings[0].userInfo["edited"] = "yes"
        let manager = MigrationManager(sourceModel: old, destinationModel: new)
        if fits {
          try manager.migrateStore(from: source, mapping: mapping, to: target)
          let next = PersistentStoreCoordinator(managedObjectModel: new)
          try next.addPersistentStore(type: .quire, at: target)
          #expect(try Self.counts(GotchaHome.context(of: next)) == [.integer(3)])
        } else {
          let error = #expect(throws: PersistenceError.self) {
            try manager.migrateStore(from: source, mapping: mapping, to: target)
          }
          #expect(
            "\(error.map { "\($0)" } ?? "")".contains("is 3.5, and integer16 has no fractions"))
        }
      }
    }
  }

  @Test func `a history goes on, and what it keeps of the deleted is what it was`() throws {
    func model(_ type: AttributeType) throws -> ManagedObjectModel {
      var count = Attribute("count", type)
      count.preservesValueInHistoryOnDeletion = true
      return try ManagedObjectModel {
        Entity("Item") { count }
      }
    }
    let (old, new) = (try model(.integer32), try model(.double))
    let scene = IndexScene()
    var tracking = PersistentStoreOptions()
    tracking.tracksHistory = true
    var context = try scene.open(old, tracking)
    let item = try context.insert("Item", ["count": 5])
    try context.insert("Item", ["count": 6])
    try context.save()
    context.delete(item)
    try context.save()
    try scene.close(context)
    context = try scene.open(try MigrationTrial.versioned(old, new), .migrating)
    let kept = try #require(
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")).first)
    context.delete(kept)
    try context.save()
    let transactions = try context.execute(
      PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    ).transactions
    let tombstones = transactions.flatMap { $0.changes ?? [] }.compactMap(\.tombstone)
    #expect(tombstones.map { "\($0["count"] ?? "none")" } == ["5", "6.0"])
    try scene.close(context)
  }
}
