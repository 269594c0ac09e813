import Foundation
import Quire
import QuireModel
import QuireTesting
import Testing

private final class Track: ManagedObject {
  @Managed var title: String = ""
  @Managed var genre: String = ""
  @Managed var plays: Int = 0
}

@Suite struct LiveResultsTests {
  @MainActor private func container() throws -> PersistentContainer {
    let container = try PersistentContainer(name: "Live", for: Track.self)
    try container.loadPersistentStore(at: nil)
    container.viewContext.automaticallyMergesChangesFromParent = true
    return container
  }

  @MainActor @discardableResult
  private func add(_ title: String, _ genre: String = "", to context: ManagedObjectContext) -> Track
  {
    let track = Track(context: context)
    (track.title, track.genre) = (title, genre)
    return track
  }

  // Such a query was empty, with its error where nobody looks for one; a loop threw.
  @Test @MainActor func `without an order objects come by their IDs`() async throws {
    let context = try container().viewContext
    for (title, genre) in [("Storm", "b"), ("Calm", "a"), ("Rain", "b")] {
      add(title, genre, to: context)
    }
    try context.save()
    let request = Track.where { $0.plays == 0 }
    let query = LiveQuery(request, in: context)
    #expect(query.objects.map(\.title) == ["Storm", "Calm", "Rain"] && query.error == nil)
    add("Wind", to: context)
    context.processPendingChanges()
    #expect(query.objects.map(\.title) == ["Storm", "Calm", "Rain", "Wind"])
    var loop = context.results(of: request, sectionedBy: \.genre).makeAsyncIterator()
    let result = try #require(try await loop.next(isolation: #isolation))
    #expect(result.sections.map(\.name) == ["", "a", "b"])
    #expect(result.map(\.title) == ["Wind", "Calm", "Storm", "Rain"])
  }

  @Test @MainActor func `a loop gets the present result, and each that follows`() async throws {
    let container = try container()
    let context = container.viewContext
    let storm = add("Storm", to: context)
    try context.save()
    var iterator = context.results(of: Track.sorted(by: \.title)).makeAsyncIterator()
    let first = try #require(try await iterator.next(isolation: #isolation))
    #expect(first.map(\.title) == ["Storm"])
    #expect(first.difference.insertions.count == 1)

    let calm = add("Calm", to: context)
    try context.save()
    let second = try #require(try await iterator.next(isolation: #isolation))
    #expect(second.map(\.title) == ["Calm", "Storm"])
    #expect(second.updatedIDs.isEmpty)
    let change = try #require(second.difference.first)
    guard case .insert(offset: 0, element: calm.objectID, associatedWith: nil) = change else {
      Issue.record("\(change)")
      return
    }
    #expect(first.map(\.title) == ["Storm"])

    // Two changes while the loop is elsewhere are one result.
    storm.plays = 7
    context.processPendingChanges()
    context.delete(calm)
    context.processPendingChanges()
    let third = try #require(try await iterator.next(isolation: #isolation))
    #expect(Array(third) == [storm])
    #expect(third.updatedIDs == [storm.objectID])
    #expect(third.difference.removals.count == 1 && third.difference.insertions.isEmpty)

    // Another context's save.
    try context.save()
    try await container.write { context in Track(context: context).title = "Rain" }
    let fourth = try #require(try await iterator.next(isolation: #isolation))
    #expect(fourth.map(\.title) == ["Rain", "Storm"])

    // What moves shows another value, too.
    storm.title = "Breeze"
    context.processPendingChanges()
    let fifth = try #require(try await iterator.next(isolation: #isolation))
    #expect(fifth.map(\.title) == ["Breeze", "Rain"])
    #expect(fifth.updatedIDs == [storm.objectID])
  }

  @Test @MainActor func `a loop waits until something changes`() async throws {
    let container = try container()
    let context = container.viewContext
    let loop = Task { @MainActor in
      var titles: [[String]] = []
      for try await tracks in context.results(of: Track.sorted(by: \.title)) {
        titles.append(tracks.map(\.title))
        if tracks.count == 3 { break }
        add("\(tracks.count)", to: context)
        Task { @MainActor in context.processPendingChanges() }
      }
      return titles
    }
    #expect(try await loop.value == [[], ["0"], ["0", "1"], ["0", "1", "2"]])
  }

  // The loop waited for ever, as the objects of its result had left the context. The time is that
  // of all tests: they begin together, and a busy machine takes minutes for them.
  @Test(.timeLimit(.minutes(10)))
  @MainActor func `a loop gets the result anew after a reset`() async throws {
    let context = try container().viewContext
    let new = add("Storm", to: context)
    add("Rain", to: context)
    try context.save()
    let storm = new.objectID
    var loop = context.results(of: Track.sorted(by: \.title)).makeAsyncIterator()
    let first = try #require(try await loop.next(isolation: #isolation))
    let known = Set(first.map(\.objectID))
    add("Lost", to: context)

    context.reset()
    context.reset()
    let second = try #require(try await loop.next(isolation: #isolation))
    #expect(second.map(\.title) == ["Rain", "Storm"])
    #expect(second.allSatisfy { $0.managedObjectContext === context })
    #expect(second.difference.isEmpty && second.updatedIDs == known)

    // A deletion before the reset is in the difference, and what follows is told as ever.
    context.delete(try context.existingObject(with: storm))
    try context.save()
    context.reset()
    let third = try #require(try await loop.next(isolation: #isolation))
    #expect(third.map(\.title) == ["Rain"] && third.difference.removals.count == 1)
    #expect(third.updatedIDs == known.subtracting([storm]))
    add("Calm", to: context)
    context.processPendingChanges()
    let fourth = try #require(try await loop.next(isolation: #isolation))
    #expect(fourth.map(\.title) == ["Calm", "Rain"] && fourth.updatedIDs.isEmpty)
  }

  @Test @MainActor func `a loop ends with its task`() async throws {
    let container = try container()
    let context = container.viewContext
    let (results, continuation) = AsyncStream.makeStream(of: Int.self)
    let loop = Task { @MainActor in
      for try await tracks in context.results(of: Track.sorted(by: \.title)) {
        continuation.yield(tracks.count)
      }
      return "ended"
    }
    for await count in results {
      #expect(count == 0)
      break
    }
    loop.cancel()
    #expect(try await loop.value == "ended")
  }

  @Test @MainActor func `results come in sections`() async throws {
    let container = try container()
    let context = container.viewContext
    for (title, genre) in [("a", "Jazz"), ("b", "Rock"), ("c", "Jazz")] {
      add(title, genre, to: context)
    }
    let request = Track.sorted(by: \.genre).sorted(by: \.title)
    for try await tracks in context.results(of: request, sectionedBy: \.genre) {
      #expect(tracks.sections.map(\.name) == ["Jazz", "Rock"])
      #expect(tracks.map(\.title) == ["a", "c", "b"])
      break
    }
  }

  /// It waited for ever.
  @Test(.timeLimit(.minutes(1))) @MainActor func `a loop ends when the stores are closed`()
    async throws
  {
    let container = try container()
    let context = container.viewContext
    add("Storm", to: context)
    try context.save()
    var counts: [Int] = []
    for try await result in context.results(of: Track.sorted(by: \.title)) {
      counts.append(result.count)
      // In a task of its own, so that the loop waits by then.
      Task { @MainActor in try container.close() }
    }
    #expect(counts == [1])
    // One that begins afterwards says that there is no store.
    await #expect(throws: PersistenceError.self) {
      for try await _ in context.results(of: Track.sorted(by: \.title)) {}
    }
  }
}

@Suite struct ContainerWritingTests {
  private struct Refused: Error {}

  @Test func `a write saves at its end, and drops everything when it throws`() async throws {
    let container = try PersistentContainer(name: "Live", for: Track.self)
    try container.loadPersistentStore(at: nil)
    let count: @Sendable () throws -> Int = {
      try container.readAndWait { try $0.count(for: Track.fetchRequest()) }
    }
    try await container.write { Track(context: $0).title = "a" }
    try container.writeAndWait { Track(context: $0).title = "b" }
    #expect(try count() == 2)
    await #expect(throws: Refused.self) {
      try await container.write { context in
        Track(context: context).title = "c"
        throw Refused()
      }
    }
    #expect(throws: Refused.self) {
      try container.writeAndWait { context in
        Track(context: context).title = "c"
        throw Refused()
      }
    }
    #expect(try count() == 2)
    let titles = try await container.read { context in
      try context.fetch(Track.sorted(by: \.title)).map(\.title)
    }
    #expect(titles == ["a", "b"])
  }

  @Test func `a read that changes objects is an error`() async throws {
    let container = try PersistentContainer(name: "Live", for: Track.self)
    try container.loadPersistentStore(at: nil)
    let error = #expect(throws: PersistenceError.self) {
      try container.readAndWait { _ = Track(context: $0) }
    }
    #expect(error?.code == .persistentStoreOperation)
    await #expect(throws: PersistenceError.self) {
      try await container.read { _ = Track(context: $0) }
    }
    #expect(try container.readAndWait { try $0.count(for: Track.fetchRequest()) } == 0)
  }
}
