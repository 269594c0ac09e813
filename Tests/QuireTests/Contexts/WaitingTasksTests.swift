import Dispatch
import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import QuireTesting
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Two tasks that read without a pause, on two processors, left a task that wanted to run every
// 10 ms 1 of 490 turns: `await` never suspended, and the threads of Swift's pool were blocked.

/// Tasks that wait for a store, and what other tasks do meanwhile.
///
/// Where a thread waits for what a task does, the test has a process of its own: here that task
/// would wait behind all other tests.
@Suite struct WaitingTasksTests {
  typealias Artist = SmallGallery.Artist

  /// A door that keeps whole threads waiting.
  private final class Door: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let arrivals = Mutex(0)

    /// - Returns: whether it was opened; `false` when nobody did for a minute.
    func wait() -> Bool {
      arrivals.withLock { $0 += 1 }
      defer { semaphore.signal() }
      return semaphore.wait(timeout: .now() + 60) == .success
    }

    func open() { semaphore.signal() }
    var arrivalCount: Int { arrivals.withLock { $0 } }

    /// Waits without keeping a thread.
    func awaitArrivals(_ count: Int) async throws {
      while arrivalCount < count { try await Task.sleep(for: .milliseconds(1)) }
    }
  }

  /// A number that several tasks count.
  private final class Count: Sendable {
    private let number = Mutex(0)
    var value: Int { number.withLock { $0 } }
    @discardableResult func add(_ count: Int = 1) -> Int {
      number.withLock { number in
        number += count
        return number
      }
    }
  }

  private static func container(at url: URL? = nil) throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try container.loadPersistentStore(at: url)
    return container
  }

  /// Keeps the turn to write, on a thread of its own, until the door is opened.
  private static func keepTurn(of container: PersistentContainer, until door: Door) {
    DispatchQueue.global().async {
      let context = container.newBackgroundContext()
      let request = BatchInsertRequest(entityName: "Tag") { (values: inout [String: Any]) in
        #expect(door.wait())
        return true
      }
      do { _ = try context.execute(request) } catch { Issue.record("\(error)") }
    }
  }

  /// More than there are threads for all tasks of the program.
  private static let crowd = ProcessInfo.processInfo.activeProcessorCount * 2

  struct Work: Sendable {
    let name: String
    let run: @Sendable (PersistentContainer, @Sendable @escaping () -> Void) async throws -> Void
  }

  static let works: [Work] = [
    Work(name: "read") { container, block in try await container.read { _ in block() } },
    Work(name: "write") { container, block in
      try await container.write { context in
        _ = context.insert(Artist.self)
        block()
      }
    },
    Work(name: "performBackgroundTask") { container, block in
      await container.performBackgroundTask { _ in block() }
    },
    Work(name: "objectIDs(for:)") { container, block in
      _ = try await container.objectIDs(for: FetchRequest<Artist>()) { _ in block() }
    },
    Work(name: "backUp(to:)") { container, block in
      let folder = try TemporaryFolder()
      let calls = Count()
      try await container.backUp(to: folder.url.appending(path: "copy.quire")) { _ in
        if calls.add() == 1 { block() }
      }
      withExtendedLifetime(folder) {}
    },
  ]

  /// All threads of Swift's pool would be blocked, and the task that opens the door not run.
  @Test func `tasks that block keep no thread from other tasks`() async {
    await #expect(processExitsWith: .success) {
      for work in WaitingTasksTests.works {
        let (container, door) = (try WaitingTasksTests.container(), Door())
        try await container.write { _ = $0.insert(Artist.self) }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<WaitingTasksTests.crowd {
            group.addTask {
              try await work.run(container) {
                #expect(WorkerThreads.areRunning)
                #expect(door.wait(), "\(work.name)")
              }
            }
          }
          group.addTask {
            try await door.awaitArrivals(WaitingTasksTests.crowd)
            door.open()
          }
          try await group.waitForAll()
        }
      }
    }
  }

  @Test func `stores are opened, inspected and compacted on threads of their own`() async throws {
    final class Library: PersistentContainer, @unchecked Sendable {
      override class func defaultDirectoryURL() -> URL {
        #expect(WorkerThreads.areRunning)
        return URL(filePath: "/nowhere")
      }
    }
    let folder = try TemporaryFolder()
    let container = Library(
      name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    let url = folder.url.appending(path: "store.quire")
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
    // Opening compares the folder with the default one.
    try await container.loadPersistentStores()
    try await container.write { context in
      for _ in 0..<3_000 { context.insert(Artist.self) }
    }
    let calls = Count()
    try await container.compact { _ in
      #expect(WorkerThreads.areRunning)
      calls.add()
    }
    #expect(calls.value > 0)
    #expect(try await container.check().allSatisfy(\.isSound))
    try container.close()

    let description = PersistentStoreDescription(url: url)
    description.shouldAddStoreAsynchronously = true
    container.persistentStoreDescriptions = [description]
    await withCheckedContinuation { continuation in
      container.loadPersistentStores { _, error in
        #expect(error == nil && WorkerThreads.areRunning)
        continuation.resume()
      }
    }
    try container.close()
  }

  // MARK: Writers

  /// More of them than threads that may ever be made.
  @Test func `a thousand writers wait without a thread, and all of them write`() async {
    await #expect(processExitsWith: .success) {
      let (container, door) = (try WaitingTasksTests.container(), Door())
      WaitingTasksTests.keepTurn(of: container, until: door)
      try await door.awaitArrivals(1)
      let count = 1_000
      let written = Count()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<count {
          group.addTask {
            try await container.write { context in
              context.insert(Artist.self)
              written.add()
            }
          }
        }
        group.addTask {
          while written.value < count { try await Task.sleep(for: .milliseconds(1)) }
          // There is a thread for readers, too.
          let found = try await container.read { try $0.count(Artist.self) }
          #expect(found == 0)
          door.open()
        }
        try await group.waitForAll()
      }
      #expect(try await container.read { try $0.count(Artist.self) } == count)
    }
  }

  @Test func `a writer that is cancelled while it waits ends at once and writes nothing`() async {
    await #expect(processExitsWith: .success) {
      let (container, door) = (try WaitingTasksTests.container(), Door())
      WaitingTasksTests.keepTurn(of: container, until: door)
      try await door.awaitArrivals(1)
      let waiting = Count()
      let writers = (0..<3).map { number in
        Task {
          try await container.write { context in
            context.insert(Artist.self).name = "\(number)"
            waiting.add()
          }
        }
      }
      while waiting.value < 3 { try await Task.sleep(for: .milliseconds(1)) }
      writers[0].cancel()
      writers[2].cancel()
      // The turn is kept still.
      await #expect(throws: CancellationError.self) { try await writers[0].value }
      await #expect(throws: CancellationError.self) { try await writers[2].value }
      #expect(try await container.read { try $0.count(Artist.self) } == 0)
      door.open()
      try await writers[1].value
      let names = try await container.read { try $0.fetch(FetchRequest<Artist>()).map(\.name) }
      #expect(names == ["1"])
      try await container.write { _ = $0.insert(Artist.self) }
    }
  }

  @Test func `a task that was cancelled neither reads nor writes`() async throws {
    let container = try WaitingTasksTests.container()
    let calls = Count()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) {
        try await container.read { _ in _ = calls.add() }
      }
      await #expect(throws: CancellationError.self) {
        try await container.write { _ in _ = calls.add() }
      }
      // Ends by its own account: it may be what cleans up.
      await container.performBackgroundTask { _ in _ = calls.add(10) }
    }
    await task.value
    #expect(calls.value == 10)
  }

  @Test func `a writer that is cancelled by its own work writes nothing`() async throws {
    let container = try WaitingTasksTests.container()
    let task = Task {
      try await container.write { context in
        context.insert(Artist.self)
        withUnsafeCurrentTask { $0?.cancel() }
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await container.read { try $0.count(Artist.self) } == 0)
  }

  /// Writers with and without a thread, on disk: commits share syncs, and none is lost.
  @Test func `tasks and threads write beside each other`() async throws {
    let folder = try TemporaryFolder()
    let container = try WaitingTasksTests.container(at: folder.url.appending(path: "store.quire"))
    let (taskCount, writeCount) = (12, 20)
    async let threads: Void = withCheckedContinuation { continuation in
      let group = DispatchGroup()
      for _ in 0..<4 {
        group.enter()
        DispatchQueue.global().async {
          for _ in 0..<writeCount {
            do {
              try container.writeAndWait { $0.insert(Artist.self).name = "thread" }
            } catch {
              Issue.record("\(error)")
            }
          }
          group.leave()
        }
      }
      group.notify(queue: .global()) { continuation.resume() }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<taskCount {
        group.addTask {
          for write in 0..<writeCount {
            try await container.write { $0.insert(Artist.self).name = "task \(number)" }
            // What is written can be read at once.
            let own = try await container.read { context in
              try context.count(Artist.self) { $0.name == "task \(number)" }
            }
            #expect(own == write + 1)
          }
        }
      }
      try await group.waitForAll()
    }
    await threads
    let count = (taskCount + 4) * writeCount
    #expect(try await container.read { try $0.count(Artist.self) } == count)
    try container.close()
    let again = try WaitingTasksTests.container(at: folder.url.appending(path: "store.quire"))
    #expect(try again.readAndWait { try $0.count(Artist.self) } == count)
    try again.close()
  }

  // MARK: What stays as it was

  @Test func `closures read and write within each other`() async throws {
    let container = try WaitingTasksTests.container()
    try await container.write { outer in
      outer.insert(Artist.self).name = "outer"
      #expect(try await container.read { try $0.count(Artist.self) } == 0)
      try await container.write { inner in
        inner.insert(Artist.self).name = "inner"
        #expect(try container.readAndWait { try $0.count(Artist.self) } == 0)
        try container.writeAndWait { $0.insert(Artist.self).name = "innermost" }
      }
      #expect(try await container.read { try $0.count(Artist.self) } == 2)
      #expect(WorkerThreads.areRunning)
    }
    let names = try await container.read { context in
      try await container.write { $0.insert(Artist.self).name = "within a read" }
      return try context.fetch(FetchRequest<Artist>()).map(\.name).sorted()
    }
    #expect(names == ["inner", "innermost", "outer", "within a read"])
  }

  @Test func `errors keep their types`() async throws {
    struct Refusal: Error {}
    let container = try WaitingTasksTests.container()
    await #expect(throws: Refusal.self) {
      try await container.write { context in
        _ = context.insert(Artist.self)
        throw Refusal()
      }
    }
    let error = await #expect(throws: PersistenceError.self) {
      try await container.write { context in _ = Room(context: context) }
    }
    #expect(error?.code == .validationMissingMandatoryProperty)
    #expect(error?.conflicts.isEmpty == true)
    let change = await #expect(throws: PersistenceError.self) {
      try await container.read { $0.insert(Artist.self).name = "x" }
    }
    #expect(change?.code == .persistentStoreOperation)
    #expect(try await container.read { try $0.count(Artist.self) } == 0)
  }

  typealias Room = SmallGallery.Room

  @Test func `a conflict is found, and resolved by another attempt`() async throws {
    let container = try WaitingTasksTests.container()
    try await container.write { $0.insert(Artist.self).name = "first" }
    let attempts = Count()
    @Sendable func change(_ context: ManagedObjectContext) async throws {
      let artist = try #require(try context.fetch(FetchRequest<Artist>()).first)
      artist.name += "+"
      let attempt = attempts.add()
      if attempt < 3 {
        try container.writeAndWait { other in
          try other.fetch(FetchRequest<Artist>()).first?.name = "other \(attempt)"
        }
      }
    }
    let error = await #expect(throws: PersistenceError.self) { try await container.write(change) }
    #expect(error?.code == .managedObjectMerge)
    try await container.write(attempts: 2, change)
    #expect(attempts.value == 3)
    let names = try await container.read { try $0.fetch(FetchRequest<Artist>()).map(\.name) }
    #expect(names == ["other 2+"])
  }

  /// The save of a subclass is its own.
  @Test func `a context that overrides save() has it called`() async throws {
    let container = CountingLibrary(
      name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try container.loadPersistentStore(at: nil)
    try await container.write { _ = $0.insert(Artist.self) }
    #expect(container.saves.withLock { $0 } == 1)
    #expect(try await container.read { try $0.count(Artist.self) } == 1)
  }

  private final class CountingLibrary: PersistentContainer, @unchecked Sendable {
    final class Context: ManagedObjectContext {
      var didSave: () -> Void = {}
      override func save() throws {
        try super.save()
        didSave()
      }
    }

    let saves = Mutex(0)

    override func newBackgroundContext() -> sending ManagedObjectContext {
      let context = Context(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = persistentStoreCoordinator
      context.didSave = { self.saves.withLock { $0 += 1 } }
      return context
    }
  }

  // MARK: Isolation

  @MainActor private static var calls = 0

  @MainActor private static func call() { calls += 1 }

  @Test func `actor calls in a write block run on the actor, the rest on a worker`() async throws {
    let container = try WaitingTasksTests.container()
    let callsBefore = await WaitingTasksTests.calls
    try await container.write { context in
      #expect(WorkerThreads.areRunning)
      await WaitingTasksTests.call()
      await MainActor.run {
        #expect(!WorkerThreads.areRunning)
        MainActor.assertIsolated()
      }
      #expect(WorkerThreads.areRunning)
      context.insert(Artist.self)
    }
    #expect(!WorkerThreads.areRunning)
    #expect(await WaitingTasksTests.calls == callsBefore + 1)
  }

  @MainActor @Test func `a caller on the main actor goes on there`() async throws {
    let container = try WaitingTasksTests.container()
    try await container.write { _ = $0.insert(Artist.self) }
    MainActor.assertIsolated()
    #expect(try container.viewContext.count(Artist.self) == 1)
    #expect(try await container.read { _ in WorkerThreads.areRunning })
  }
}

extension ManagedObjectContext {
  @discardableResult
  fileprivate func insert<Object: ManagedObject>(_ type: Object.Type) -> Object {
    type.init(context: self)
  }
}
