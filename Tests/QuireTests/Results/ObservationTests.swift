import Foundation
import Observation
import Quire
import QuireModel
import QuireTesting
import Synchronization
import Testing

private final class Band: ManagedObject, Identifiable {
  @Managed var name: String = ""
  @Managed(inverse: \Record.band) var records: Set<Record>
  // No object changes at this end when what it leads to is deleted.
  @Managed var favourite: Record?
}

private class Record: ManagedObject {
  @Managed var title: String = ""
  @Managed var plays: Int = 0
  @Managed var issued: Date?
  @Managed var labels: Set<Label>
  @Managed var band: Band?
}

private final class Single: Record {}

private final class Label: ManagedObject {
  @Managed var id: String = ""
  @Managed(derivedFrom: "canonical:(id)") var key: String?
  @Managed(inverse: \Record.labels) var records: Set<Record>
}

extension Label: Identifiable {}

/// What Observation is told of the objects of a context, and of a query.
@Suite @MainActor struct ObservationTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(
      name: "Records", for: Band.self, Record.self, Single.self, Label.self)
    try container.loadPersistentStore(at: nil)
    context = container.viewContext
    context.automaticallyMergesChangesFromParent = true
    context.tracksPropertyAccess = true
  }

  /// Whether Observation calls what was read changed.
  private final class Watch: Sendable {
    private let calls = Mutex(0)
    var isChanged: Bool { calls.withLock { $0 > 0 } }

    init(_ read: () -> Void) {
      withObservationTracking(read) { [self] in calls.withLock { $0 += 1 } }
    }
  }

  private func record(_ title: String) throws -> Record {
    let record = Record(context: context)
    record.title = title
    try context.save()
    return record
  }

  @Test func `who reads a property is told before it changes, and of no other`() throws {
    let record = try record("Blue")
    for isFault in [false, true] {
      if isFault { context.refresh(record, mergeChanges: false) }
      context.processPendingChanges()
      let title = Watch { _ = record.title }
      let plays = Watch { _ = record.plays }
      let issued = Watch { _ = record.issued }
      record.plays += 1
      #expect(plays.isChanged && !title.isChanged && !issued.isChanged)
      record.title = "Hejira"
      #expect(title.isChanged && !issued.isChanged)
      try context.save()
      #expect(!issued.isChanged)
    }
  }

  // Where the model had any derived attribute, each save made all that was read count as changed.
  @Test func `a save notifies observers of the derived values it changes, and no others`() throws {
    let record = try record("Blue")
    let (label, other) = (Label(context: context), Label(context: context))
    (label.id, other.id) = ("Asylum", "Reprise")
    try context.save()
    #expect(label.key == "asylum")
    let (id, key) = (Watch { _ = label.id }, Watch { _ = label.key })
    let (others, title) = (Watch { _ = other.key }, Watch { _ = record.title })
    label.id = "Nonesuch"
    context.processPendingChanges()
    #expect(id.isChanged && !key.isChanged)
    try context.save()
    #expect(key.isChanged && label.key == "nonesuch")
    #expect(!others.isChanged && !title.isChanged)
  }

  @Test func `a property that is read by its name is followed as well`() throws {
    let record = try record("Blue")
    let title = Watch { _ = try? record.value(forKey: "title") }
    let primitive = Watch { _ = try? record.primitiveValue(forKey: "plays") }
    try record.setValue("Hejira", forKey: "title")
    #expect(title.isChanged && !primitive.isChanged)
    record.willChangeValue(forKey: "plays")
    try record.setPrimitiveValue(3, forKey: "plays")
    record.didChangeValue(forKey: "plays")
    #expect(primitive.isChanged)
  }

  @Test func `a change of one side of a relationship is one of the other`() throws {
    let record = try record("Blue")
    let band = Band(context: context)
    try context.save()
    let one = Watch { _ = record.band }
    let identifier = Watch { _ = record.$band.objectID }
    let many = Watch { _ = band.records }
    let count = Watch { _ = band.$records.count }
    let members = Watch { _ = try? band.mutableSetValue(forKey: "records").count }
    let name = Watch { _ = band.name }
    record.band = band
    for watch in [one, identifier, many, count, members] { #expect(watch.isChanged) }
    #expect(!name.isChanged)
    try context.save()

    let back = Watch { _ = record.band }
    band.records = []
    #expect(back.isChanged)
  }

  @Test func `a relationship changes by the deletion of an object that it leads to`() throws {
    let record = try record("Blue")
    let other = try self.record("Hejira")
    let band = Band(context: context)
    band.records = [record, other]
    try context.save()
    let records = Watch { _ = band.records }
    let title = Watch { _ = other.title }
    let gone = Watch { _ = record.title }
    context.delete(record)
    context.processPendingChanges()
    #expect(records.isChanged && gone.isChanged && !title.isChanged)
    let shown = Watch { #expect(band.records == [other]) }
    context.rollback()
    #expect(shown.isChanged && band.records.count == 2)
  }

  @Test func `a relationship changes by a deletion of which its object knows nothing`() throws {
    for record in [Record(context: context), Single(context: context)] {
      let band = Band(context: context)
      band.favourite = record
      try context.save()
      let favourite = Watch { _ = band.favourite }
      let name = Watch { _ = band.name }
      context.delete(record)
      context.processPendingChanges()
      #expect(favourite.isChanged && !name.isChanged)
      try context.save()
      #expect(band.favourite == nil)
    }
  }

  @Test func `a refresh, a rollback, undo and redo are changes`() throws {
    let record = try record("Blue")
    context.undoManager = UndoManager()
    record.title = "Hejira"
    context.processPendingChanges()
    let undone = Watch { _ = record.title }
    context.undo()
    #expect(undone.isChanged && record.title == "Blue")
    let redone = Watch { _ = record.title }
    context.redo()
    #expect(redone.isChanged && record.title == "Hejira")
    let rolledBack = Watch { _ = record.title }
    context.rollback()
    #expect(rolledBack.isChanged && record.title == "Blue")
    let refreshed = Watch { _ = record.title }
    context.refresh(record, mergeChanges: false)
    context.processPendingChanges()
    #expect(refreshed.isChanged)
    let reset = Watch { _ = record.title }
    context.reset()
    #expect(reset.isChanged)
  }

  @Test func `a new object changes when it is set, and not by being inserted`() throws {
    let record = Record(context: context)
    record.title = "Blue"
    let title = Watch { _ = record.title }
    context.processPendingChanges()
    try context.save()
    #expect(!title.isChanged)
    record.title = "Hejira"
    #expect(title.isChanged)
  }

  @Test func `undo of a deletion brings an object back into relationships`() throws {
    let record = try record("Blue")
    let band = Band(context: context)
    band.records = [record]
    try context.save()
    context.undoManager = UndoManager()
    context.delete(record)
    context.processPendingChanges()
    let records = Watch { #expect(band.records.isEmpty) }
    let title = Watch { _ = record.title }
    context.undo()
    #expect(records.isChanged && title.isChanged && band.records == [record])
    let again = Watch { _ = band.records }
    context.redo()
    context.processPendingChanges()
    #expect(again.isChanged && band.records.isEmpty)
  }

  @Test func `a save of another context notifies observers when it is merged`() async throws {
    let record = try record("Blue")
    let other = try self.record("Hejira")
    let band = Band(context: context)
    try context.save()
    let title = Watch { _ = record.title }
    let elsewhere = Watch { _ = other.title }
    let records = Watch { _ = band.records }
    let (recordID, bandID) = (record.objectID, band.objectID)
    try await container.write { context in
      let record = try #require(try context.existingObject(with: recordID) as? Record)
      record.title = "Court and Spark"
      record.band = try context.existingObject(with: bandID) as? Band
    }
    await context.perform {}
    #expect(title.isChanged && records.isChanged && !elsewhere.isChanged)
    #expect(record.title == "Court and Spark" && band.records == [record])

    let again = Watch { _ = band.records }
    try await container.write { context in
      context.delete(try context.existingObject(with: recordID))
    }
    await context.perform {}
    #expect(again.isChanged && band.records.isEmpty)
  }

  /// Whoever passes changes on may leave out the other ends of relationships.
  @Test func `a new object that is merged alone changes what leads to it`() throws {
    let band = Band(context: context)
    try context.save()
    let follower = container.newBackgroundContext()
    follower.automaticallyMergesChangesFromParent = false
    follower.tracksPropertyAccess = true
    let same = try #require(try follower.existingObject(with: band.objectID) as? Band)
    let records = Watch { #expect(same.records.isEmpty) }
    let name = Watch { _ = same.name }
    let single = Single(context: context)
    single.band = band
    try context.save()
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [
        ManagedObjectContext.NotificationKey.insertedObjectIDs: [single.objectID]
      ], into: [follower])
    #expect(records.isChanged && !name.isChanged && same.records.count == 1)
  }

  @Test func `a child's save is a change of its parent`() throws {
    let record = try record("Blue")
    let title = Watch { _ = record.title }
    let child = ManagedObjectContext(parent: context)
    let copy = try #require(try child.existingObject(with: record.objectID) as? Record)
    copy.title = "Hejira"
    #expect(!title.isChanged)
    try child.save()
    context.processPendingChanges()
    #expect(title.isChanged && record.title == "Hejira")
  }

  @Test func `many objects that are refreshed together are changes all the same`() throws {
    for number in 0..<300 { Record(context: context).title = "\(number)" }
    try context.save()
    let records = try context.fetch(Record.sorted(by: \.title))
    let watches = records.map { record in Watch { _ = record.title } }
    context.refreshAllObjects()
    context.processPendingChanges()
    #expect(watches.filter(\.isChanged).count == 300)
    // Objects that nobody holds are not refreshed.
    withExtendedLifetime(records) {}
  }

  @Test func `a property stays observed after thousands of others were read`() throws {
    for number in 0..<2_100 { Record(context: context).title = "\(number)" }
    try context.save()
    let records = try context.fetch(Record.sorted(by: \.title))
    let first = Watch { _ = records[0].title }
    for record in records { _ = (record.title, record.plays) }
    let last = Watch { _ = records[0].plays }
    records[0].title = "another"
    #expect(first.isChanged && !last.isChanged)
  }

  @Test func `a closure that is told within a change finds the context busy`() throws {
    let record = try record("Blue")
    let refusals = Mutex<[PersistenceError.Code]>([])
    nonisolated(unsafe) let context = context
    withObservationTracking {
      _ = record.title
    } onChange: {
      do {
        try context.save()
      } catch {
        refusals.withLock { $0.append((error as? PersistenceError)?.code ?? .coreData) }
      }
    }
    record.title = "Hejira"
    #expect(refusals.withLock { $0 } == [.managedObjectContextBusy])
    try context.save()
    #expect(record.title == "Hejira")
  }

  @Test func `nothing is followed in a context that does not track`() throws {
    let record = try record("Blue")
    context.tracksPropertyAccess = false
    let title = Watch { _ = record.title }
    record.title = "Hejira"
    #expect(!title.isChanged)
    context.tracksPropertyAccess = true
    let again = Watch { _ = record.title }
    record.title = "Blue"
    #expect(again.isChanged)
  }

  // MARK: Queries

  @Test func `a query's objects change with the result, and its sections`() throws {
    let query = LiveQuery(Record.sorted(by: \.title), in: context, sectionedBy: \.title)
    #expect(query.objects.isEmpty && query.error == nil)
    let watch = Watch { _ = query.objects }
    let first = try record("Blue")
    #expect(watch.isChanged && Array(query.objects) == [first])
    #expect(query.objects.sections.map(\.name) == ["Blue"])

    let updated = Watch { _ = query.objects }
    first.plays = 7
    context.processPendingChanges()
    #expect(updated.isChanged && query.objects.updatedIDs == [first.objectID])

    let idle = Watch { _ = query.objects }
    _ = Band(context: context)
    try context.save()
    #expect(!idle.isChanged)
  }

  @Test func `a query is fetched anew after a reset`() throws {
    let blue = try record("Blue")
    let query = LiveQuery(Record.sorted(by: \.title), in: context)
    #expect(Array(query.objects) == [blue])
    let watch = Watch { _ = query.objects }
    context.reset()
    #expect(watch.isChanged && query.objects.map(\.title) == ["Blue"])
    #expect(query.objects.allSatisfy { $0.managedObjectContext === context })
  }

  @Test func `another request is another result`() throws {
    let blue = try record("Blue")
    let hejira = try record("Hejira")
    let query = LiveQuery(Record.sorted(by: \.title), in: context)
    #expect(Array(query.objects) == [blue, hejira])
    let watch = Watch { _ = query.objects }
    query.request = Record.where { $0.title == "Hejira" }.sorted(by: \.title)
    #expect(watch.isChanged && Array(query.objects) == [hejira])
    let excluded = Watch { _ = query.objects }
    _ = try record("For the Roses")
    #expect(!excluded.isChanged)
  }

  @Test func `a query that cannot be fetched has no objects, and says why`() throws {
    var request = Record.fetchRequest()
    request.predicate = try FetchPredicate(format: "titel == 'Blue'")
    let query = LiveQuery(request, in: context)
    let watch = Watch { _ = query.error }
    // Also where nothing has asked for the objects yet.
    #expect((query.error as? PersistenceError)?.code == .undefinedKey)
    #expect(query.objects.isEmpty)
    let blue = try record("Blue")
    query.request = Record.sorted(by: \.title)
    #expect(watch.isChanged && query.error == nil && Array(query.objects) == [blue])
  }

  @Test func `a query ends when it is released, and keeps no context alive`() throws {
    weak var ended: LiveQuery<Record>?
    weak var context: ManagedObjectContext?
    do {
      let inner = container.newBackgroundContext()
      context = inner
      let query = LiveQuery(Record.sorted(by: \.title), in: inner)
      ended = query
      #expect(query.objects.isEmpty)
    }
    #expect(ended == nil && context == nil)
  }

  @Test func `a class is identifiable by its ID, or by an attribute of that name`() throws {
    let band = Band(context: context)
    let label = Label(context: context)
    label.id = "reprise"
    try context.save()
    func identity<Value: Identifiable>(of value: Value) -> Value.ID { value.id }
    #expect(identity(of: band) == band.objectID)
    #expect(identity(of: label) == "reprise")
  }
}
