import Quire
import QuireSimulation
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A version of one entity, and what it makes of an object of the version before, in plain words.
private struct Version {
  /// Attribute, whether it is required, its default.
  typealias Attributes = [String: (kind: Kind, isRequired: Bool, value: Int?)]
  enum Kind: CaseIterable {
    case integer, string, double, decimal

    func value(_ number: Int) -> AttributeValue {
      switch self {
      case .integer: .integer(Int64(number))
      case .string: .string("\(number)")
      case .double: .double(Double(number))
      case .decimal: .decimal(Decimal(number))
      }
    }

    var type: AttributeType {
      switch self {
      case .integer: .integer32
      case .string: .string
      case .double: .double
      case .decimal: .decimal
      }
    }
  }

  var attributes: Attributes = [:]

  /// Another version, some attributes added, removed or made required.
  func next(_ number: Int, _ generator: inout SeededGenerator) -> Version {
    var next = self
    for name in attributes.keys.sorted() {
      switch generator.below(6) {
      case 0 where attributes.count > 1: next.attributes[name] = nil
      case 1:
        next.attributes[name]?.isRequired.toggle()
        // What is required has a default, or it could not be migrated.
        if next.attributes[name]?.value == nil { next.attributes[name]?.value = number }
      case 2 where attributes[name]?.kind != .string:
        // Every number in here is one of each of these types.
        next.attributes[name]?.kind = [.integer, .double, .decimal][generator.below(3)]
      default: break
      }
    }
    for index in 0..<1 + generator.below(2) {
      let isRequired = generator.below(2) == 0
      next.attributes["a\(number)x\(index)"] = (
        Kind.allCases[generator.below(Kind.allCases.count)], isRequired,
        isRequired || generator.below(2) == 0 ? number * 10 + index : nil
      )
    }
    return next
  }

  func migrated(_ object: [String: Int], from old: Version) -> [String: Int] {
    var new: [String: Int] = [:]
    for (name, attribute) in attributes {
      if let before = old.attributes[name] {
        new[name] = object[name]
        if !before.isRequired, attribute.isRequired, new[name] == nil {
          new[name] = attribute.value
        }
      } else {
        new[name] = attribute.value
      }
    }
    return new
  }

  func model() throws -> ManagedObjectModel {
    let list = attributes.sorted { $0.key < $1.key }
    return try ManagedObjectModel {
      Entity("Thing") {
        for (name, attribute) in list {
          Attribute(
            name, attribute.kind.type, optional: !attribute.isRequired,
            default: attribute.value.map(attribute.kind.value))
        }
      }
    }
  }
}

/// One store that is migrated again and again, mostly without ever being finished.
private struct Walk {
  private var generator: SeededGenerator
  private let url: URL
  private var versions: [(version: Version, model: ManagedObjectModel)] = []
  private var context: ManagedObjectContext
  private var oracle: [URL: [String: Int]] = [:]
  private(set) var deferrals = 0
  private(set) var slices = 0

  init(seed: UInt64, _ url: URL) throws {
    generator = SeededGenerator(seed: seed)
    self.url = url
    let first = Version().next(1, &generator)
    versions = [(first, try first.model())]
    context = ManagedObjectContext()
    try open([:])
  }

  private var version: Version { versions[versions.count - 1].version }

  private mutating func open(_ options: PersistentStoreOptions) throws {
    let list = versions.enumerated().map {
      VersionedModel.Version("\($0.offset)", $0.element.model)
    }
    let coordinator = PersistentStoreCoordinator(
      versionedModel: try #require(VersionedModel(versions: list)))
    try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
  }

  private func coordinator() throws -> PersistentStoreCoordinator {
    try #require(context.persistentStoreCoordinator)
  }

  private func close() throws {
    for store in try coordinator().persistentStores { try coordinator().remove(store) }
  }

  private func object(_ id: URL) throws -> ManagedObject {
    let objectID = try coordinator().managedObjectID(forURIRepresentation: id)
    return try context.existingObject(with: try #require(objectID))
  }

  mutating func run(_ steps: Int) throws {
    for _ in 0..<steps {
      switch generator.below(20) {
      case 0..<5: try insert()
      case 5..<9: try update()
      case 9: try delete()
      case 10..<14:
        slices += 1
        try coordinator().finishDeferredMigration(objectLimit: generator.below(8))
      case 14:
        try close()
        try open([:])
      case 15: try coordinator().finishDeferredLightweightMigration()
      case 16..<18: try migrate()
      default: try compare()
      }
    }
    try compare()
    try close()
    #expect(try StoreInspection(of: url).findings == [])
  }

  private mutating func change(_ object: ManagedObject, _ values: inout [String: Int]) throws {
    for (name, attribute) in version.attributes.sorted(by: { $0.key < $1.key })
    where generator.below(2) == 0 {
      let value = attribute.isRequired || generator.below(3) > 0 ? generator.below(1000) : nil
      values[name] = value
      try object.setValue(value.map(attribute.kind.value), forKey: name)
    }
  }

  private mutating func insert() throws {
    var made: [(ManagedObject, [String: Int])] = []
    for _ in 0..<1 + generator.below(6) {
      let object = try EntityDescription.insertNewObject(forEntityName: "Thing", into: context)
      var values = version.migrated([:], from: Version())
      try change(object, &values)
      made.append((object, values))
    }
    try context.save()
    for (object, values) in made { oracle[object.objectID.uriRepresentation()] = values }
  }

  private mutating func someID() -> URL? {
    oracle.keys.sorted { $0.absoluteString < $1.absoluteString }.randomElement(using: &generator)
  }

  private mutating func update() throws {
    guard let id = someID(), var values = oracle[id] else { return }
    try change(try object(id), &values)
    // A slice comes between reading and saving.
    if generator.below(2) == 0 { try coordinator().finishDeferredMigration(objectLimit: 3) }
    try context.save()
    oracle[id] = values
  }

  private mutating func delete() throws {
    guard let id = someID() else { return }
    context.delete(try object(id))
    try context.save()
    oracle[id] = nil
  }

  private mutating func migrate() throws {
    try close()
    let old = version
    let next = old.next(versions.count + 1, &generator)
    versions.append((next, try next.model()))
    oracle = oracle.mapValues { next.migrated($0, from: old) }
    let defers = generator.below(5) > 0
    try open(defers ? .deferring : .migrating)
    let store = try #require(try coordinator().persistentStores.first)
    if !defers { #expect(try store.deferredMigration() == nil) }
    if try store.deferredMigration() != nil { deferrals += 1 }
    #expect(try StoreInspection(of: store).findings == [])
  }

  /// Through a context of its own, so that rows are read anew.
  private func compare() throws {
    let reader = SmallGallery.sibling(of: context)
    var found: [URL: [String: Int]] = [:]
    for object in try reader.fetch(FetchRequest<ManagedObject>(entityName: "Thing")) {
      var values: [String: Int] = [:]
      for name in version.attributes.keys {
        switch try object.value(forKey: name) {
        case let number as Int: values[name] = number
        case let number as Double: values[name] = Int(number)
        case let number as Decimal: values[name] = Int("\(number)")
        case let text as String: values[name] = Int(text)
        default: break
        }
      }
      found[object.objectID.uriRepresentation()] = values
    }
    #expect(found == oracle)
  }
}

@Suite struct RandomDeferralsTests {
  @Test(arguments: 0..<Amount.of(debug: 2, release: 12, exhaustive: 200) as Range<UInt64>)
  func
    `whatever is deferred, saved and finished, in any order, reads as if it were rewritten`(
      seed: UInt64
    ) throws
  {
    try withTemporaryFolder { folder in
      var walk = try Walk(seed: seed, folder.appending(path: "store.quire"))
      try walk.run(120)
      #expect(walk.deferrals > 0 && walk.slices > 0)
    }
  }
}
