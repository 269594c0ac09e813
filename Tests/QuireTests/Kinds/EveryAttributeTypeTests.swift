import Quire
import QuireModel
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What holds of every type that a stored attribute can have.
///
/// The compiler asks for two values of a new type (`values(of:)`); what stores, queries, archives
/// and migrations do not know of the type yet is seen here.
@Suite struct EveryAttributeTypeTests {
  private static let types = AttributeType.allCases.filter { $0 != .undefined }

  /// Two values, the smaller one first where they have an order.
  private static func values(of type: AttributeType) -> [AttributeValue] {
    let uuid = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
    return switch type {
    case .undefined: []
    case .integer16: [.integer(-3), .integer(700)]
    case .integer32: [.integer(-3), .integer(70_000)]
    case .integer64: [.integer(-3), .integer(7_000_000_000)]
    case .decimal: [.decimal(Decimal(-5) / 100), .decimal(Decimal(1999) / 100)]
    case .double: [.double(-0.1), .double(1.5e300)]
    case .float: [.float(-0.1), .float(1.33)]
    case .string: [.string("größe"), .string("z")]
    case .boolean: [.boolean(false), .boolean(true)]
    case .date:
      [
        .date(Date(timeIntervalSinceReferenceDate: -0.5)),
        .date(Date(timeIntervalSinceReferenceDate: 700_000_000)),
      ]
    case .binaryData: [.binary(Data([1, 2])), .binary(Data([1, 3]))]
    case .uuid: [.uuid(uuid), .uuid(UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))]
    case .uri: [.uri(URL(string: "https://a.example/b")!), .uri(URL(string: "https://b.example")!)]
    case .transformable: [.transformed(Data([1, 2])), .transformed(Data([1, 3]))]
    case .objectID:
      [.objectID(URL(string: "x-quire://a/B/1")!), .objectID(URL(string: "x-quire://a/B/2")!)]
    case .composite: [.composite(["city": .string("Ede")]), .composite(["city": .string("Oss")])]
    }
  }

  /// Whether the second value is greater than the first.
  private static func hasOrder(_ type: AttributeType) -> Bool { type != .composite }

  private static func model(
    _ type: AttributeType, named name: String = "value", renamedFrom former: String? = nil,
    isIndexed: Bool = false
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Thing") {
        Attribute("number", .integer64, default: 0)
        Attribute(name, type, renamedFrom: former).with {
          if type == .composite { $0.elements = [Attribute("city", .string)] }
        }
        if former != nil { Attribute("added", .string, default: "new") }
        if isIndexed { FetchIndex("byValue", on: .ascending(name)) }
      }
    }
  }

  /// Three objects: with the first value, with the second, with none.
  private static func insert(_ type: AttributeType, into context: ManagedObjectContext) throws {
    for (number, value) in (values(of: type) + [nil]).enumerated() {
      let object = try EntityDescription.insertNewObject(forEntityName: "Thing", into: context)
      try object.setValue(number, forKey: "number")
      try object.setValue(value, forKey: "value")
    }
    try context.save()
    context.reset()
  }

  private static var byNumber: FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: "Thing")
    request.sortDescriptors = [FetchSortDescriptor(key: "number")]
    return request
  }

  /// The values of all objects, by their numbers.
  private static func stored(
    _ type: AttributeType, _ key: String = "value", in context: ManagedObjectContext
  ) throws -> [AttributeValue?] {
    try context.fetch(byNumber).map { object in
      let attribute = try #require(object.entity.attribute(named: key))
      return try object.value(forKey: key).flatMap { AttributeValue($0, for: attribute) }
    }
  }

  @Test(arguments: types)
  private func `values of each type are saved and read again`(_ type: AttributeType) throws {
    let context = try ManagedObjectContext.stubbed(Self.model(type))
    try Self.insert(type, into: context)
    #expect(try Self.stored(type, in: context) == Self.values(of: type) + [nil])
  }

  @Test(arguments: types)
  private func `values of each type are found, with an index and without`(
    _ type: AttributeType
  ) throws {
    let values = Self.values(of: type)
    let key = FetchExpression.keyPath(["value"])
    func numbers(_ predicate: FetchPredicate, _ context: ManagedObjectContext) throws -> [Int] {
      var request = Self.byNumber
      request.predicate = predicate
      let found = try context.fetch(request).map { try $0.value(forKey: "number") as? Int ?? -1 }
      // In memory the predicate is true of as many. Objects show these two as plain values (a URL,
      // what a transformer makes), which no constant that stands for their bytes is equal to.
      if type == .transformable || type == .objectID { return found }
      let held = try context.fetch(Self.byNumber).filter { try predicate.evaluate(with: $0) }
      #expect(held.count == found.count)
      return found
    }
    for isIndexed in [false, true] {
      let context = try ManagedObjectContext.stubbed(Self.model(type, isIndexed: isIndexed))
      try Self.insert(type, into: context)
      for (number, value) in values.enumerated() {
        let expression = FetchExpression(value)
        #expect(try numbers(.comparison(key, .equal, expression), context) == [number])
        #expect(try numbers(.comparison(key, .notEqual, expression), context) == [1 - number, 2])
        #expect(try numbers(.comparison(key, .in, .aggregate([expression])), context) == [number])
      }
      #expect(try numbers(.comparison(key, .equal, nil), context) == [2])
      if Self.hasOrder(type) {
        let second = FetchExpression(values[1])
        #expect(try numbers(.comparison(key, .lessThan, second), context) == [0])
        #expect(try numbers(.comparison(key, .greaterThanOrEqual, second), context) == [1])
        var request = FetchRequest<ManagedObject>(entityName: "Thing")
        request.sortDescriptors = [FetchSortDescriptor(key: "value", ascending: false)]
        let order = try context.fetch(request).map { try $0.value(forKey: "number") as? Int }
        #expect(order == [1, 0, 2])
      }
    }
  }

  @Test(arguments: types)
  private func `predicates print values of each type as a format that means the same`(
    _ type: AttributeType
  ) throws {
    for value in Self.values(of: type) {
      let predicate = FetchPredicate.comparison(
        .keyPath(["value"]), .equal, FetchExpression(value))
      #expect(try FetchPredicate(format: predicate.description) == predicate)
    }
  }

  @Test(arguments: types)
  private func `archives of models keep attributes and values of each type`(
    _ type: AttributeType
  ) throws {
    var declaration = try Self.model(type).declaration
    if type == .composite {
      declaration.entities[0].attributes[1].elements[0].defaultValue = "Ede"
    } else {
      declaration.entities[0].attributes[1].defaultValue = Self.values(of: type)[1]
    }
    let model = try ManagedObjectModel(declaration)
    let decoded = try ModelArchive.encode(model).withUnsafeBytes { try ModelArchive.decode($0) }
    #expect(decoded.declaration == model.declaration)
    for value in Self.values(of: type) {
      var bytes: [UInt8] = []
      ModelArchive.append(value, to: &bytes)
      var offset = 0
      #expect(
        try bytes.withUnsafeBytes { try ModelArchive.decodeValue($0, at: &offset) } == value)
      #expect(offset == bytes.count)
    }
  }

  @Test(arguments: types)
  private func `values of each type go along with a migration`(_ type: AttributeType) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      func with(
        _ model: ManagedObjectModel, _ options: PersistentStoreOptions = [:],
        _ body: (ManagedObjectContext) throws -> Void
      ) throws {
        let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
        let context = ManagedObjectContext()
        context.persistentStoreCoordinator = coordinator
        try body(context)
        try coordinator.remove(store)
      }
      try with(Self.model(type)) { try Self.insert(type, into: $0) }
      try with(Self.model(type, named: "worth", renamedFrom: "value"), .migrating) {
        let stored = try Self.stored(type, "worth", in: $0)
        #expect(stored == Self.values(of: type) + [nil])
      }
    }
  }

  @Test(arguments: types)
  private func `batches insert and change values of each type`(_ type: AttributeType) throws {
    let context = try ManagedObjectContext.stubbed(Self.model(type, isIndexed: true))
    let values = Self.values(of: type)
    _ = try context.execute(
      BatchInsertRequest(
        entityName: "Thing",
        objects: values.enumerated().map { ["number": $0.offset, "value": $0.element.plainValue] }))
    #expect(try Self.stored(type, in: context) == values)
    _ = try context.execute(
      BatchUpdateRequest(
        entityName: "Thing", predicate: Key("number") == 0,
        propertiesToUpdate: ["value": values[1].plainValue]))
    context.reset()
    #expect(try Self.stored(type, in: context) == [values[1], values[1]])
    var request = Self.byNumber
    request.predicate = .comparison(.keyPath(["value"]), .equal, FetchExpression(values[1]))
    #expect(try context.count(for: request) == 2)
  }
}
