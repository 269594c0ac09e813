import Foundation
import QuireCoreData
import QuireSimulation
import Testing

/// What `docs/core-data-names.md` shows stands in this module, word for word, and is compiled and
/// run.
@Suite @MainActor struct CoreDataNamesPageTests {
  /// The class of the example. The program that runs has one of this name with more properties.
  private enum Example {
    class Trip: NSManagedObject {
      @Managed var name: String?
    }
  }

  /// A container whose stores lie in a folder of this test.
  private class NSPersistentContainer: QuireCoreData.NSPersistentContainer, @unchecked Sendable {
    // Sound: the one test that uses it sets it, before it makes a container.
    nonisolated(unsafe) static var folder: URL?
    override class func defaultDirectoryURL() -> URL { folder ?? super.defaultDirectoryURL() }
  }

  @Test func `the first example finds what was saved`() throws {
    let folder = try TemporaryFolder()
    NSPersistentContainer.folder = folder.url
    let container = NSPersistentContainer(name: "Trips")
    container.loadPersistentStores { _, error in
      if let error = error as NSError? { fatalError("\(error), \(error.userInfo)") }
    }
    defer {
      for store in container.persistentStoreCoordinator.persistentStores {
        try? container.persistentStoreCoordinator.remove(store)
      }
      withExtendedLifetime(folder) {}
    }
    for name in ["Oslo", "Lissabon", "Lisbon"] {
      let trip = Trip(context: container.viewContext)
      trip.name = name
      trip.startDate = Date()
      trip.endDate = Date()
    }

    let request = NSFetchRequest<Trip>(entityName: "Trip")
    request.predicate = NSPredicate(format: "name BEGINSWITH[cd] %@", "lis")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    for trip in try container.viewContext.fetch(request) { print(trip.name ?? "") }

    let found = try container.viewContext.fetch(request).map(\.name)
    #expect(found == ["Lisbon", "Lissabon"])
  }

  @Test func `classes are named once`() {
    NSManagedObject.register(Trip.self, Place.self)
  }

  // MARK: The page

  private func lines(of file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  @Test func `every block of code stands in a test`() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let sources = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "swift" }
    let tested = try sources.flatMap { try lines(of: $0) }
    let page = folder.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("docs/core-data-names.md")
    var blocks: [[String]] = []
    var isInside = false
    for line in try lines(of: page) {
      if line == "```swift" { blocks.append([]) }
      if line.hasPrefix("```") {
        isInside.toggle()
      } else if isInside {
        blocks[blocks.count - 1].append(line)
      }
    }
    #expect(blocks.count >= 4)
    for paragraph in blocks.flatMap({ $0.split(separator: "") }) {
      let code = paragraph.filter { !$0.hasPrefix("import ") }
      guard let first = code.first else { continue }
      #expect(
        tested.indices.contains { tested[$0] == first && tested[$0...].starts(with: code) },
        "\(code)")
    }
  }
}
