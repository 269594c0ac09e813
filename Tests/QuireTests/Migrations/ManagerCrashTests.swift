import Quire
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The disk dies, fails or is full before any operation of a migration by a mapping model, in place
/// and to another file.
@Suite struct `Migrations by a manager, on a disk that fails` {
  private static let source = "/folder/store.quire"
  private static let other = "/folder/other.quire"

  private let old = try! ManagedObjectModel {
    Entity("Country") {
      Attribute("name", .string)
      Relationship("cities", toMany: "City", inverse: "country")
    }
    Entity("City") {
      Attribute("name", .string)
      Relationship("country", toOne: "Country", inverse: "cities")
    }
  }
  private let new = try! ManagedObjectModel {
    Entity("Town") {
      Attribute("title", .string, optional: false)
      Relationship("neighbours", toMany: "Town", inverse: "neighbours")
    }
  }

  /// Countries go; cities of one country become neighbours.
  private var mapping: MappingModel {
    var town = EntityMapping(from: "City", to: "Town", .transformEntityMappingType)
    town.attributeMappings = [
      PropertyMapping("title") {
        "\(try $0.source?.value(forKeyPath: "country.name") ?? "-") "
          + "\(try $0.source?.value(forKey: "name") ?? "-")"
      }
    ]
    town.relationshipMappings = [
      PropertyMapping("neighbours", destinationsOf: "country.cities", in: "CityToTown")
    ]
    return MappingModel(entityMappings: [town])
  }

  private func open(
    _ disk: SimulatedDisk, _ path: String, _ model: ManagedObjectModel
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    var options: PersistentStoreOptions = [:]
    options.storeUUID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    try coordinator.addPersistentStore(
      type: .quire, at: URL(filePath: path), options: options, in: disk)
    return GotchaHome.context(of: coordinator)
  }

  /// A disk with a closed store of the old model on it.
  private func stage(_ names: [String] = ["A", "B"], cityCount: Int = 4) throws -> DiskState {
    let disk = SimulatedDisk()
    let context = try open(disk, Self.source, old)
    for name in names {
      let country = try EntityDescription.insertNewObject(forEntityName: "Country", into: context)
      try country.setValue(name, forKey: "name")
      for number in 0..<cityCount {
        let city = try EntityDescription.insertNewObject(forEntityName: "City", into: context)
        try city.setValue("\(number)", forKey: "name")
        try city.setValue(country, forKey: "country")
      }
    }
    try context.save()
    try TestStore.close(context)
    return SimulatedDisk(disk.files).state
  }

  private func migrate(_ disk: SimulatedDisk, to destination: String) throws {
    let manager = MigrationManager(sourceModel: old, destinationModel: new)
    try manager.migrateStore(
      from: Self.source, to: destination, mapping, uuid: nil, in: disk)
  }

  private enum Content: Equatable {
    case absent
    case old([String])
    case new([String: [String]])
  }

  /// What the store at a path holds, whichever version it has.
  private func content(_ disk: SimulatedDisk, _ path: String) throws -> Content {
    guard disk.files[path] != nil else { return .absent }
    do {
      let context = try open(disk, path, old)
      let cities = try context.fetch(FetchRequest<ManagedObject>(entityName: "City"))
      let names = try cities.map {
        "\(try $0.value(forKeyPath: "country.name") ?? "-") \(try $0.value(forKey: "name") ?? "-")"
      }
      try TestStore.close(context)
      return .old(names)
    } catch let error as PersistenceError
      where error.code == .persistentStoreIncompatibleVersionHash
    {
      let context = try open(disk, path, new)
      var towns: [String: [String]] = [:]
      for town in try context.fetch(FetchRequest<ManagedObject>(entityName: "Town")) {
        let neighbours = try town.value(forKey: "neighbours") as? Set<ManagedObject> ?? []
        let title = try town.value(forKey: "title") as? String ?? "-"
        towns[title] = try neighbours.map { try $0.value(forKey: "title") as? String ?? "-" }
          .sorted()
      }
      try TestStore.close(context)
      return .new(towns)
    }
  }

  private var before: Content {
    .old(["A", "B"].flatMap { name in (0..<4).map { "\(name) \($0)" } })
  }
  private var after: Content {
    .new(
      Dictionary(
        uniqueKeysWithValues: ["A", "B"].flatMap { name in
          let towns = (0..<4).map { "\(name) \($0)" }
          return towns.map { ($0, towns) }
        }))
  }

  /// Looks at what is left, and migrates it again if it was not.
  ///
  /// - Returns: whether it was migrated.
  private func expectWhole(
    _ disk: SimulatedDisk, to destination: String, _ place: @autoclosure () -> String
  ) -> Bool {
    do {
      if destination == Self.source {
        let found = try content(disk, Self.source)
        #expect(found == before || found == after, "\(place())")
        if found == before { try migrate(disk, to: destination) }
        #expect(try content(disk, Self.source) == after, "\(place())")
        expectNoLeftovers(disk, [Self.source], place())
        return found == after
      }
      #expect(try content(disk, Self.source) == before, "\(place())")
      let found = try content(disk, destination)
      #expect(found == .absent || found == after, "\(place())")
      if found == .absent { try migrate(disk, to: destination) }
      #expect(try content(disk, destination) == after, "\(place())")
      expectNoLeftovers(disk, [Self.source, destination], place())
      return found == after
    } catch {
      Issue.record("\(place()): \(error)")
      return false
    }
  }

  /// What the engine may leave: a note or an empty log whose removal failed. After power failures
  /// notes and unfinished files of parts stayed, with no name that was looked for.
  private func expectNoLeftovers(_ disk: SimulatedDisk, _ names: Set<String>, _ place: String) {
    let own = names.flatMap { [$0, $0 + "-log", $0 + "-owner"] }
    let left = disk.files.keys.filter { !own.contains($0) }
    #expect(left.isEmpty, "\(place): \(left)")
  }

  @Test(arguments: [source, other])
  func `a crash anywhere leaves the old store, or the new one, whole`(destination: String) throws {
    let disk = SimulatedDisk(try stage())
    let moments = Moments()
    disk.observe { state, operation in moments.add(state, operation) }
    try migrate(disk, to: destination)
    disk.observe(nil)
    let last = (state: disk.state, operation: disk.operationCount)
    let all = moments.all
    #expect(all.count > 20)
    var counts = [0, 0]
    let step = Amount.of(
      debug: 1 + all.count / 8, release: 1 + all.count / 24, exhaustive: 1)
    let some =
      stride(from: 0, to: all.count, by: step).map { all[$0] }
      + all.suffix(Amount.of(debug: 4, release: 6)) + [last]
    for (state, operation) in some {
      CrashImages(state, seed: UInt64(operation)).visit(
        limit: Amount.of(debug: 2, release: 5, exhaustive: nil)
      ) { image in
        let isNew = expectWhole(
          SimulatedDisk(image), to: destination, "crash before operation \(operation), \(image)")
        counts[isNew ? 1 : 0] += 1
        if operation == last.operation, !isNew {
          Issue.record("the migration returned and is gone: \(image)")
        }
        return true
      }
    }
    #expect(counts[0] > Amount.of(debug: 5, release: 10) && counts[1] > 2, "\(counts)")
  }

  /// Makes towns of the countries, too, in the destination that there is.
  private func add(_ disk: SimulatedDisk) throws {
    var town = EntityMapping(from: "Country", to: "Town", .transformEntityMappingType)
    town.attributeMappings = [PropertyMapping("title", source: "name")]
    let manager = MigrationManager(sourceModel: old, destinationModel: new)
    manager.addsToDestination = true
    try manager.migrateStore(
      from: Self.source, to: Self.other, MappingModel(entityMappings: [town]), uuid: nil, in: disk)
  }

  @Test func `a crash while a second mapping adds leaves what the first has made, or both`() throws
  {
    let disk = SimulatedDisk(try stage())
    try migrate(disk, to: Self.other)
    guard case .new(var both) = after else { return }
    both["A"] = []
    both["B"] = []
    let moments = Moments()
    disk.observe { state, operation in moments.add(state, operation) }
    try add(disk)
    disk.observe(nil)
    let last = (state: disk.state, operation: disk.operationCount)
    let all = moments.all
    var counts = [0, 0]
    let step = Amount.of(
      debug: 1 + all.count / 8, release: 1 + all.count / 24, exhaustive: 1)
    let some =
      stride(from: 0, to: all.count, by: step).map { all[$0] }
      + all.suffix(Amount.of(debug: 4, release: 6)) + [last]
    for (state, operation) in some {
      CrashImages(state, seed: UInt64(operation)).visit(
        limit: Amount.of(debug: 2, release: 5, exhaustive: nil)
      ) { image in
        let place = "crash before operation \(operation), \(image)"
        do {
          let disk = SimulatedDisk(image)
          let found = try content(disk, Self.other)
          #expect(found == after || found == .new(both), "\(place)")
          #expect(found == .new(both) || operation != last.operation, "\(place)")
          counts[found == after ? 0 : 1] += 1
          #expect(try content(disk, Self.source) == before, "\(place)")
          if found == after { try add(disk) }
          #expect(try content(disk, Self.other) == .new(both), "\(place)")
          expectNoLeftovers(disk, [Self.source, Self.other], place)
        } catch {
          Issue.record("\(place): \(error)")
        }
        return true
      }
    }
    #expect(counts[0] > Amount.of(debug: 5, release: 10) && counts[1] > 2, "\(counts)")
  }

  /// Of what is being made, a power failure may leave any file and no other, not even the note that
  /// the store was open.
  @Test func `each file of a migration that ended half-way is gone after the next opening`() throws
  {
    let files = SimulatedDisk(try stage()).files
    let unfinished = "-new-01234567-89AB-4DEF-8123-456789ABCDEF"
    for part in ["-migrating", "-part", "-migrating-migrating"] {
      for suffix in ["", "-log", "-pages", "-owner", "-log-new", "-pages-new", unfinished] {
        var files = files
        let name = Self.source + part + suffix
        files[name] = Array("half".utf8)
        let others = [Self.source + "-migratings", "/folder/other" + part + suffix]
        for other in others { files[other] = [1] }
        let disk = SimulatedDisk(files)
        try TestStore.close(try open(disk, Self.source, old))
        #expect(disk.files[name] == nil, "\(name)")
        for other in others { #expect(disk.files[other] == [1], "\(other)") }
      }
    }
  }

  @Test(arguments: [source, other])
  func `an error of the disk anywhere leaves the old store, or the new one`(destination: String)
    throws
  {
    let state = try stage()
    let clean = SimulatedDisk(state)
    try migrate(clean, to: destination)
    var failed = 0
    let step = Amount.of(debug: 9, release: 4, exhaustive: 1)
    for fault in [SimulatedDisk.Fault.ioError, .noSpace, .shortWrite] {
      for operation in stride(from: 1, through: clean.operationCount, by: step) {
        let disk = SimulatedDisk(state)
        disk.fail(at: operation, with: fault)
        do {
          try migrate(disk, to: destination)
        } catch {
          failed += 1
          #expect((error as? PersistenceError)?.underlying != nil, "\(error)")
        }
        disk.heal()
        _ = expectWhole(disk, to: destination, "\(fault) at operation \(operation)")
      }
    }
    #expect(failed > Amount.of(debug: 5, release: 10))
  }
}

/// What an observer collects; the disk calls it with its lock held.
private final class Moments: @unchecked Sendable {
  private(set) var all: [(state: DiskState, operation: Int)] = []
  func add(_ state: DiskState, _ operation: Int) { all.append((state, operation)) }
}
