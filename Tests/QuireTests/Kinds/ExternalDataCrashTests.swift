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

/// The machine dies after every operation on the disk while large values, which lie outside of
/// their rows, come, are replaced and go.
@Suite struct ExternalDataCrashTests {
  private static let url = URL(filePath: "/store.quire")

  private static func model(rating: Bool = false, photo: Bool = true) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Image") {
        Attribute("name", .string)
        if rating { Attribute("rating", .integer16) }
        if photo { Attribute("photo", .binaryData, storedExternally: true) }
        Attribute("preview", .binaryData, storedExternally: true)
      }
    }
  }

  private func open(
    _ disk: SimulatedDisk, _ model: VersionedModel, _ options: PersistentStoreOptions = [:]
  ) throws -> ManagedObjectContext {
    try TestStore.open(model, options, at: Self.url, in: disk)
  }

  /// 100 KiB and more are kept outside; each is told by its first byte, its last, and its length.
  private func large(_ byte: UInt8) -> Data {
    Data(repeating: byte, count: 102_400 + 5_000 * Int(byte))
  }

  /// Every object as a line, and how many values lie outside.
  private func content(_ context: ManagedObjectContext) throws -> [String] {
    var lines = try context.fetch(FetchRequest<ManagedObject>(entityName: "Image")).map { image in
      let values = try ["photo", "preview"].filter { image.entity.attributesByName[$0] != nil }.map
      {
        let data = try image.value(forKey: $0) as? Data
        let isWhole = data.map { data in data.allSatisfy { $0 == data[data.startIndex] } } ?? true
        return data.map { "\($0.first ?? 0)×\($0.count)\(isWhole ? "" : " broken")" } ?? "nil"
      }
      return "\(try image.value(forKey: "name") ?? "nil"): \(values)"
    }.sorted()
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    try store.withSnapshot { snapshot in
      lines.append("\(try snapshot.recordTree("blobs")?.count ?? 0) outside")
    }
    return lines
  }

  private func findings(_ context: ManagedObjectContext) throws -> [String] {
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    return try StoreInspection(of: store).findings
  }

  /// Some of many images, always with the first and the last: each is as long as the store.
  private func sample(_ images: [[String: [UInt8]]], seed: Int) -> [[String: [UInt8]]] {
    let limit = Amount.of(debug: 2, release: 4, exhaustive: 64)
    guard images.count > limit, let first = images.first, let last = images.last else {
      return images
    }
    var generator = SeededGenerator(seed: UInt64(seed))
    return [first, last] + images.shuffled(using: &generator).prefix(limit - 2)
  }

  private func image(_ name: String, in context: ManagedObjectContext) throws -> ManagedObject {
    var request = FetchRequest<ManagedObject>(entityName: "Image")
    request.predicate = Key("name") == name
    return try #require(try context.fetch(request).first)
  }

  /// What each save does to the values.
  private func change(_ round: Int, _ context: ManagedObjectContext) throws {
    switch round {
    case 1:
      try context.insert("Image", ["name": "a", "photo": large(1), "preview": large(2)])
      try context.insert("Image", ["name": "b", "photo": large(3)])
    case 2:
      try image("a", in: context).setValue(large(4), forKey: "photo")
      context.delete(try image("b", in: context))
    case 3:
      // One goes, one moves into its row, one comes.
      try image("a", in: context).setValue(nil, forKey: "photo")
      try image("a", in: context).setValue(Data([5]), forKey: "preview")
      try context.insert("Image", ["name": "c", "preview": large(6)])
    default: context.delete(try image("c", in: context))
    }
  }

  @Test func `a crash leaves each large value with its row, whole, and none without one`() throws {
    let model = VersionedModel(try Self.model())
    func run(_ disk: SimulatedDisk) -> (acknowledged: Int, contents: [[String]]) {
      var contents: [[String]] = []
      do {
        let context = try open(disk, model)
        for round in 1...4 {
          try change(round, context)
          try context.save()
          contents.append(try content(context))
        }
        try TestStore.close(context)
      } catch {}
      return (contents.count, contents)
    }
    let whole = SimulatedDisk()
    let states = [["0 outside"]] + run(whole).contents
    #expect(
      states.map(\.last) == ["0 outside", "3 outside", "2 outside", "1 outside", "0 outside"])
    var (found, count): (Set<Int>, Int) = ([], 0)
    let step = Amount.of(debug: 3, release: 1)
    for operation in stride(from: 0, through: whole.operationCount, by: step) {
      let disk = SimulatedDisk()
      disk.crash(after: operation)
      let acknowledged = run(disk).acknowledged
      for image in sample(disk.crashImages(), seed: operation) {
        let disk = SimulatedDisk(image)
        let context = try open(disk, model)
        let state = try #require(states.firstIndex(of: try content(context)), "\(operation)")
        #expect(state >= acknowledged, "crash after \(operation)")
        #expect(try findings(context) == [], "crash after \(operation)")
        // What comes next finds its place, and all goes with the objects.
        try context.insert("Image", ["name": "next", "photo": large(7)])
        try context.save()
        #expect(try findings(context) == [], "crash after \(operation)")
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Image")).forEach(context.delete)
        try context.save()
        #expect(try content(context) == ["0 outside"] && findings(context) == [])
        try TestStore.close(context)
        found.insert(state)
        count += 1
      }
    }
    print("external values: \(count) images")
    #expect(found == [0, 1, 2, 3, 4])
  }

  /// Rows are written anew, and the values stay where they are or go with their attribute.
  @Test(arguments: [false, true])
  func `a crash in a migration loses no large value, and leaves none behind`(
    _ isDropped: Bool
  ) throws {
    let versions = try #require(
      VersionedModel(versions: [
        .init("old", try Self.model()),
        .init("new", try Self.model(rating: true, photo: !isDropped)),
      ]))
    let old = try #require(versions.endingAt("old"))
    let first = SimulatedDisk()
    let context = try open(first, old)
    try change(1, context)
    try context.save()
    let oldContent = try content(context)
    try TestStore.close(context)
    let files = first.files
    let whole = SimulatedDisk(files)
    let newContent = try content(try open(whole, versions, .migrating))
    try #require(oldContent.last == "3 outside" && (newContent == oldContent) == !isDropped)
    #expect(newContent.last == (isDropped ? "1 outside" : "3 outside"))
    var (oldCount, newCount) = (0, 0)
    let step = Amount.of(debug: 3, release: 1)
    for operation in stride(from: 0, through: whole.operationCount, by: step) {
      let disk = SimulatedDisk(files)
      disk.crash(after: operation)
      _ = try? open(disk, versions, .migrating)
      for image in sample(disk.crashImages(), seed: operation) {
        if let context = try? open(SimulatedDisk(image), old) {
          #expect(try content(context) == oldContent, "crash after \(operation)")
          #expect(try findings(context) == [], "crash after \(operation)")
          oldCount += 1
        } else {
          newCount += 1
        }
        let again = try open(SimulatedDisk(image), versions, .migrating)
        #expect(try content(again) == newContent, "crash after \(operation)")
        #expect(try findings(again) == [], "crash after \(operation)")
      }
    }
    #expect(oldCount > 0 && newCount > 0)
  }
}
