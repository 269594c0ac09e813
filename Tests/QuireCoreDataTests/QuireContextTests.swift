import Foundation
import Quire
import QuireCoreData
import Testing

/// Contexts of Quire's own, with a coordinator and objects of Core Data's names.
@Suite struct QuireContextTests {
  @Test func `a context of Quire's uses a store of the program's own`() throws {
    let server = DictionaryStore.Server()
    let coordinator = try server.coordinator()
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator.quireCoordinator
    Artist(context: context).name = "Hokusai"
    try context.save()
    let found = try context.fetch(FetchRequest<Artist>())
    #expect(found.map(\.name) == ["Hokusai"] && server.rows["Artist"]?.count == 1)
    server.failures = ["fetch": CocoaError(.userCancelled)]
    let error = #expect(throws: PersistenceError.self) {
      try context.fetch(FetchRequest<Artist>())
    }
    #expect(error?.code == .persistentStoreOperation && error?.underlying != nil)
  }

  @Test func `a context that an object is asked for keeps what its owner has set up`() throws {
    let server = DictionaryStore.Server()
    let coordinator = try server.coordinator()
    let context = ManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator.quireCoordinator
    var kinds: [ContextNotice.Kind] = []
    let observation = context.observe { kinds.append($0.kind) }
    context.requestEndOfEvent = { context.endEvent() }
    let first = Artist(context: context)
    #expect(kinds == [.didChangeObjects])
    #expect(first.managedObjectContext?.quireContext === context)
    _ = Artist(context: context)
    #expect(kinds == [.didChangeObjects, .didChangeObjects])
    context.requestEndOfEvent = nil
    withExtendedLifetime(observation) {}
  }
}
