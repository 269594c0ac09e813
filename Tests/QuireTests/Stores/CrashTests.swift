import Quire
import QuireSimulation
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The process or the machine dies after every single operation on the disk, and the disk keeps
/// whatever it might keep. What is found afterwards is whole.
@Suite struct CrashTests {
  private static let url = URL(filePath: "/store.quire")

  private static let old = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string)
      Relationship("works", toMany: "Work", inverse: "artist")
    }
    Entity("Work") {
      Attribute("title", .string)
      Relationship("artist", toOne: "Artist", inverse: "works")
    }
    Entity("Gone") { Attribute("x", .string) }
  }

  private static let new = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string)
      Relationship("works", toMany: "Artwork", inverse: "artists")
    }
    Entity("Artwork", renamedFrom: "Work") {
      Attribute("title", .string)
      Attribute("rating", .integer16, optional: false, default: 3)
      Relationship("artists", toMany: "Artist", inverse: "works", renamedFrom: "artist")
    }
  }

  private static func versions() throws -> VersionedModel {
    try #require(VersionedModel(versions: [.init("old", old), .init("new", new)]))
  }

  private func open(
    _ disk: SimulatedDisk, _ model: VersionedModel, _ options: PersistentStoreOptions
  ) throws -> ManagedObjectContext {
    try TestStore.open(model, options, at: Self.url, in: disk)
  }

  /// How many migrations the context's store remembers.
  private func historyCount(_ context: ManagedObjectContext) -> Int? {
    context.persistentStoreCoordinator?.persistentStores.first?.migrationHistory.count
  }

  /// Every object as a line.
  private func content(_ context: ManagedObjectContext) throws -> [String] {
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    return try model.entities.flatMap { entity in
      try context.fetch(FetchRequest<ManagedObject>(entityName: entity.name)).map { object in
        let values = try (entity.attributes.map(\.name) + entity.relationships.map(\.name)).map {
          let value = try object.value(forKey: $0)
          if let set = value as? Set<ManagedObject> {
            return "\($0) \(set.map(\.objectID.description).sorted())"
          }
          let plain = (value as? ManagedObject)?.objectID.description ?? value.map { "\($0)" }
          return "\($0) \(plain ?? "nil")"
        }
        return "\(object.objectID) \(values)"
      }
    }
  }

  /// A closed store of the old version.
  private func fixture() throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    let context = try open(disk, try #require(Self.versions().endingAt("old")), [:])
    try fill(context, count: 12)
    try context.save()
    try TestStore.close(context)
    return disk.files
  }

  private func fill(_ context: ManagedObjectContext, count: Int) throws {
    for number in 0..<count {
      let artist = try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
      try artist.setValue(String(repeating: "name \(number) ", count: 40), forKey: "name")
      let work = try EntityDescription.insertNewObject(forEntityName: "Work", into: context)
      try work.setValue(artist, forKey: "artist")
      try EntityDescription.insertNewObject(forEntityName: "Gone", into: context)
    }
  }

  /// Some of many images, always with the first and the last.
  private func sample(_ images: [[String: [UInt8]]], seed: Int) -> [[String: [UInt8]]] {
    let limit = Amount.of(debug: 4, release: 8)
    guard !isExhaustive, images.count > limit, let first = images.first, let last = images.last
    else { return images }
    var generator = SeededGenerator(seed: UInt64(seed))
    return [first, last] + images.shuffled(using: &generator).prefix(limit - 2)
  }

  @Test func `a migration that dies anywhere has happened or has not, and can be started again`()
    throws
  {
    let files = try fixture()
    let versions = try Self.versions()
    let oldVersions = try #require(versions.endingAt("old"))
    let oldContent = try content(try open(SimulatedDisk(files), oldVersions, [:]))
    let whole = SimulatedDisk(files)
    let newContent = try content(try open(whole, versions, .migrating))
    let total = whole.operationCount
    #expect(total > 5)
    var found: (old: Int, new: Int) = (0, 0)
    for operation in 0...total {
      let disk = SimulatedDisk(files)
      disk.crash(after: operation)
      _ = try? open(disk, versions, .migrating)
      for image in sample(disk.crashImages(), seed: operation) {
        // Without the option to migrate the store says which version it has.
        do {
          let context = try open(SimulatedDisk(image), oldVersions, [:])
          #expect(try content(context) == oldContent, "crash after \(operation)")
          #expect(historyCount(context) == 0)
          found.old += 1
        } catch let error as PersistenceError {
          #expect(error.code == .persistentStoreIncompatibleVersionHash, "\(error)")
          found.new += 1
        }
        let again = try open(SimulatedDisk(image), versions, .migrating)
        #expect(try content(again) == newContent, "crash after \(operation)")
        #expect(historyCount(again) == 1, "what happened once is remembered once")
        #expect(try StoreFacts(again).findings == [])
      }
    }
    print("migration: \(found.old) images of the old version, \(found.new) of the new")
    #expect(found.old > 0 && found.new > 0)
  }

  @Test func `a migration that meets an error leaves the old version, and can be started again`()
    throws
  {
    let files = try fixture()
    let versions = try Self.versions()
    let whole = SimulatedDisk(files)
    let newContent = try content(try open(whole, versions, .migrating))
    for fault in SimulatedDisk.Fault.allCases {
      for operation in 1...whole.operationCount {
        let disk = SimulatedDisk(files)
        disk.fail(at: operation, with: fault)
        // Some faults are in the way of the migration, some come after its commit.
        if let context = try? open(disk, versions, .migrating) {
          #expect(try content(context) == newContent)
          try? TestStore.close(context)
        }
        let again = try open(SimulatedDisk(disk.files), versions, .migrating)
        #expect(try content(again) == newContent, "\(fault) at \(operation)")
        #expect(try StoreFacts(again).findings == [])
      }
    }
  }

  @Test func `a save that returned is there, and one that did not is there whole or not at all`()
    throws
  {
    let oldVersions = try #require(try Self.versions().endingAt("old"))
    /// Creates a store and saves twice; returns the content after the last save that returned.
    func run(_ disk: SimulatedDisk) -> (acknowledged: Int, contents: [[String]]) {
      var acknowledged = 0
      var contents: [[String]] = []
      do {
        let context = try open(disk, oldVersions, [:])
        for round in 1...3 {
          if round == 3,
            let first = try context.fetch(
              FetchRequest<ManagedObject>(entityName: "Artist")
            ).first
          {
            context.delete(first)
          }
          try fill(context, count: 2)
          try context.save()
          acknowledged = round
          contents.append(try content(context))
        }
        try TestStore.close(context)
      } catch {}
      return (acknowledged, contents)
    }
    let whole = SimulatedDisk()
    let states = [[]] + run(whole).contents
    #expect(states.count == 4)
    for operation in 0...whole.operationCount {
      let disk = SimulatedDisk()
      disk.crash(after: operation)
      let acknowledged = run(disk).acknowledged
      for image in sample(disk.crashImages(), seed: operation) {
        let context = try open(SimulatedDisk(image), oldVersions, [:])
        let index = try #require(states.firstIndex(of: try content(context)))
        #expect(index >= acknowledged, "crash after \(operation)")
        #expect(try StoreFacts(context).findings == [])
      }
    }
  }
}
