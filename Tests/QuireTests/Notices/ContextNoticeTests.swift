import Quire
import Testing

@Suite struct ContextNoticeTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  @Test(arguments: GotchaHome.allCases)
  func `36 – changes are posted when they are processed, before the save that has them`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let book = NoticeBook(context)
      let artist = Artist(context: context)
      artist.name = "Hokusai"
      #expect(book.notices.isEmpty)
      context.processPendingChanges()
      var notices = book.take()
      #expect(notices.map(\.kind) == [.didChangeObjects])
      #expect(notices[0].insertedObjects == [artist] && notices[0].updatedObjects.isEmpty)
      #expect(notices[0].userInfo[.insertedObjects] as? Set<ManagedObject> == [artist])
      context.processPendingChanges()
      #expect(book.notices.isEmpty)
      artist.born = 1760
      let artwork = Artwork(context: context)
      try context.save()
      notices = book.take()
      #expect(
        notices.map(\.kind) == [
          .willSaveObjects, .didChangeObjects, .didSaveObjects, .didSaveObjectIDs,
        ])
      #expect(notices[0].insertedObjects == [artist, artwork])
      #expect(notices[1].insertedObjects == [artwork] && notices[1].updatedObjects == [artist])
      #expect(notices[2].insertedObjects == [artist, artwork])
      #expect(notices[3].objectIDs.insertedObjectIDs == [artist.objectID, artwork.objectID])
      #expect(notices[3].objectIDs.insertedObjectIDs.allSatisfy { !$0.isTemporaryID })
      #expect(notices[3].insertedObjects.isEmpty)
      try context.save()
      #expect(book.notices.isEmpty)
      book.close()
      artist.born = 1761
      try context.save()
      #expect(book.notices.isEmpty && context.observers.isEmpty)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `36 – what a merge brings to a clean object is a refresh, not an update`(_ home: GotchaHome)
    throws
  {
    try home.withTwoContexts { one, two in
      let artist = Artist(context: one)
      artist.name = "before"
      let dirty = Artist(context: one)
      try one.save()
      let same = try #require(try two.named("before"))
      let changed = try #require(two.object(with: dirty.objectID) as? Artist)
      changed.born = 1
      two.processPendingChanges()
      let sender = NoticeBook(one, .didSaveObjects)
      let receiver = NoticeBook(two)
      artist.name = "after"
      dirty.name = "dirty"
      let new = Artist(context: one)
      try one.save()
      #expect(same.name == "before")
      two.mergeChanges(fromContextDidSave: sender.notices[0].objectIDs)
      #expect(same.name == "after" && !same.hasChanges)
      #expect(changed.name == "dirty" && changed.born == 1 && changed.hasChanges)
      let notices = receiver.take()
      #expect(notices.map(\.kind) == [.didMergeChangesObjectIDs, .didChangeObjects])
      #expect(notices[0].objectIDs.updatedObjectIDs == [artist.objectID, dirty.objectID])
      #expect(notices[0].objectIDs.insertedObjectIDs == [new.objectID])
      #expect(notices[1].refreshedObjects == [same])
      #expect(notices[1].updatedObjects == [changed])
      #expect(notices[1].insertedObjects.map(\.objectID) == [new.objectID])
      try two.save()
      #expect(try StoreFacts(two).findings == [])
    }
  }

  @Test func `an object that comes and goes within one event is not in the notice`() throws {
    let context = try SmallGallery.context()
    let book = NoticeBook(context, .didChangeObjects)
    context.delete(Artist(context: context))
    context.processPendingChanges()
    #expect(book.notices.isEmpty)
    let artist = Artist(context: context)
    context.processPendingChanges()
    context.delete(artist)
    context.processPendingChanges()
    #expect(book.take().map(\.deletedObjects) == [[], [artist]])
    let saved = Artist(context: context)
    try context.save()
    _ = book.take()
    context.delete(saved)
    context.insert(saved)
    context.processPendingChanges()
    #expect(book.take().flatMap(\.deletedObjects).isEmpty)
  }

  @Test func `a deletion tells of what it cascades to, and of whom it nullifies`() throws {
    let context = try SmallGallery.context()
    let (artist, spouse) = (Artist(context: context), Artist(context: context))
    let artwork = Artwork(context: context)
    (artist.artworks, artist.spouse) = ([artwork], spouse)
    try context.save()
    let book = NoticeBook(context, .didChangeObjects, .didSaveObjects)
    context.delete(artist)
    try context.save()
    #expect(book.notices.map(\.deletedObjects) == [[artist, artwork], [artist, artwork]])
    #expect(book.notices.map(\.updatedObjects) == [[spouse], [spouse]])
    #expect(
      book.notices[0].objectIDs.changedProperties == [spouse.objectID: ["spouse"]])
  }

  @Test func `former values of the event are known until it is told, and while it is`() throws {
    let context = try SmallGallery.context()
    let artist = Artist(context: context)
    let (old, new) = (Artwork(context: context), Artwork(context: context))
    (artist.name, artist.artworks) = ("before", [old])
    try context.save()
    var former: [String: Any?] = [:]
    let observation = context.observe([.didChangeObjects]) { notice in
      if notice.updatedObjects.contains(artist) { former = artist.changedValuesForCurrentEvent() }
    }
    artist.name = "after"
    artist.name = "at last"
    artist.artworks = [new]
    #expect(artist.changedValuesForCurrentEvent()["name"] as? String == "before")
    context.processPendingChanges()
    #expect(former["name"] as? String == "before")
    #expect(former["artworks"] as? Set<ManagedObject> == [old])
    #expect(former.count == 2 && artist.changedValuesForCurrentEvent().isEmpty)
    #expect(artist.changedValues().count == 2)
    observation.cancel()
  }

  @Test func `a rollback tells what is back, gone and as it was`() throws {
    let context = try SmallGallery.context()
    let (changed, deleted) = (Artist(context: context), Artist(context: context))
    try context.save()
    let book = NoticeBook(context, .didChangeObjects)
    changed.name = "changed"
    context.delete(deleted)
    let new = Artist(context: context)
    context.processPendingChanges()
    _ = book.take()
    context.rollback()
    let notices = book.take()
    #expect(notices.count == 1)
    #expect(notices.first?.insertedObjects == [deleted])
    #expect(notices.first?.deletedObjects == [new])
    #expect(notices.first?.refreshedObjects == [changed])
  }

  @Test func `a reset invalidates all`() throws {
    let context = try SmallGallery.context()
    let artist = Artist(context: context)
    try context.save()
    let id = artist.objectID
    let book = NoticeBook(context)
    context.reset()
    #expect(book.notices.map(\.invalidatedAllObjects) == [true])
    #expect(book.notices.first?.objectIDs.invalidatedObjectIDs == [id])
    #expect(
      book.notices.first?.userInfo[.invalidatedAllObjects] as? [ManagedObjectID] == [id])
  }

  @Test func `a failed save has begun and is not done`() throws {
    let context = try SmallGallery.context()
    let book = NoticeBook(context)
    try context.insert("Tag")
    #expect(throws: PersistenceError.self) { try context.save() }
    #expect(book.notices.map(\.kind) == [.willSaveObjects, .didChangeObjects])
  }

  @Test func `a change that an observer makes is in the next notice`() throws {
    let context = try SmallGallery.context()
    var count = 0
    let observation = context.observe([.didChangeObjects]) { notice in
      count += 1
      for object in notice.updatedObjects { (object as? Artist)?.born = Int16(count) }
      _ = try? notice.context.all(Artist.self)
    }
    let artist = Artist(context: context)
    try context.save()
    artist.name = "changed"
    context.processPendingChanges()
    #expect(count == 2 && artist.born == 2)
    context.processPendingChanges()
    #expect(count == 3 && artist.born == 3)
    observation.cancel()
    context.processPendingChanges()
    #expect(count == 3 && context.observers.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a callback may be the last to hold its context, by the notices that it keeps`(
    _ isCancelled: Bool
  ) throws {
    final class Book { var notices: [ContextNotice] = [] }
    weak var former: ManagedObjectContext?
    var observation: ContextObservation?
    do {
      let context = try SmallGallery.context()
      let book = Book()
      former = context
      observation = context.observe { book.notices.append($0) }
      _ = Artist(context: context)
      try context.save()
    }
    #expect(former != nil)
    if isCancelled { observation?.cancel() }
    observation = nil
    #expect(former == nil)
  }

  @Test func `a registration may be cancelled once more by what its callback was the last to hold`()
    throws
  {
    final class Canceller {
      var observation: ContextObservation?
      deinit { observation?.cancel() }
    }
    // Its notices go first, and the context with them.
    final class Book {
      var notices: [ContextNotice] = []
      let canceller = Canceller()
    }
    weak var former: ManagedObjectContext?
    weak var canceller: Canceller?
    var observation: ContextObservation?
    do {
      let context = try SmallGallery.context()
      let book = Book()
      (former, canceller) = (context, book.canceller)
      observation = context.observe { book.notices.append($0) }
      book.canceller.observation = observation
      _ = Artist(context: context)
      try context.save()
    }
    observation?.cancel()
    observation = nil
    #expect(former == nil && canceller == nil)
  }

  @Test func `objects that hold a registration go with the context, and so does it`() throws {
    weak var former: ManagedObjectContext?
    var count = 0
    do {
      let context = try GotchaHome.context(of: Watchman.coordinator())
      former = context
      let watchman = Watchman(context: context)
      watchman.observation = context.observe { _ in count += 1 }
      watchman.rounds = 1
      context.processPendingChanges()
    }
    #expect(former == nil && count == 1)
  }

  @Test func `who comes or goes while a policy merges has come or gone`() throws {
    let coordinator = try Watchman.coordinator()
    let one = GotchaHome.context(of: coordinator)
    let two = GotchaHome.context(of: coordinator)
    two.mergePolicy = .rollback
    let theirs = Watchman(context: one)
    try one.save()
    let watchman = try #require(try two.existingObject(with: theirs.objectID) as? Watchman)
    var former = two.observe { _ in }
    var kinds: [ContextNotice.Kind] = []
    func conflict(_ body: @escaping () -> Void) throws {
      watchman.whenMerged = body
      theirs.rounds += 1
      try one.save()
      watchman.rounds = -1
      try two.save()
      #expect(watchman.whenMerged == nil)
    }
    try conflict { former.cancel() }
    #expect(two.observers.isEmpty)
    try conflict { former = two.observe { kinds.append($0.kind) } }
    #expect(two.observers.count == 1)
    kinds = []
    watchman.rounds += 1
    two.processPendingChanges()
    #expect(kinds == [.didChangeObjects])
  }

  @Test func `notices travel as values, and end with their context`() async throws {
    var context: ManagedObjectContext? = try SmallGallery.context()
    context?.name = "here"
    context?.transactionAuthor = "me"
    let stream = try #require(context?.notices([.didSaveObjectIDs]))
    let task = Task {
      var all: [ObjectIDNotice] = []
      for await notice in stream { all.append(notice) }
      return all
    }
    var artist = context.map { Artist(context: $0) }
    try context?.save()
    artist?.born = 1760
    try context?.save()
    let id = try #require(artist?.objectID)
    artist = nil
    context = nil
    let all = await task.value
    #expect(all.map(\.insertedObjectIDs) == [[id], []])
    #expect(all.map(\.changedProperties) == [[:], [id: ["born"]]])
    #expect(all.allSatisfy { $0.contextName == "here" && $0.transactionAuthor == "me" })
    #expect(all.compactMap(\.commitNumber).count == 2)
  }
}

private final class Watchman: ManagedObject {
  static func coordinator() throws -> PersistentStoreCoordinator {
    let model = try ManagedObjectModel {
      Entity("Watchman") { Attribute("rounds", .integer64, optional: false, default: 0) }
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, classes: [Watchman.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return coordinator
  }

  var observation: ContextObservation?
  var whenMerged: (() -> Void)?

  @Managed var rounds: Int

  override func awake(fromSnapshotEvents events: SnapshotEventType) {
    if events.contains(.mergePolicy) { whenMerged?() }
    whenMerged = nil
  }
}
