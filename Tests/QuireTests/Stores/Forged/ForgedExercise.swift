import Quire
import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Everything that is done with a store of objects, done with one of which nothing is known. Errors
/// are fine; traps and endless loops are not.
final class ForgedExercise {
  /// What an inspection has found before anything was done; `nil` where it could not look.
  private(set) var findings: [String]?
  /// What went wrong, by what was done.
  private(set) var errors: [String] = []

  /// Those that a store in which nothing is wrong does not give.
  var unexpectedErrors: [String] {
    // What a program's own transformer makes of bytes no inspection knows.
    errors.filter { !$0.contains("of which its transformer cannot make a value") }
  }

  private let files: [String: [UInt8]]
  /// Told of each step before it is done, for whoever looks for a trap.
  private let tell: (String) -> Void

  init(_ files: [String: [UInt8]], telling tell: @escaping (String) -> Void = { _ in }) {
    self.files = files
    self.tell = tell
  }

  func run() {
    let untouched = copy()
    step("inspect") { findings = try StoreInspection(of: ForgedScene.url, in: untouched).findings }
    step("summary") { _ = try StoreSummary(of: ForgedScene.url, in: untouched) }
    step("metadata") {
      _ = try PersistentStoreCoordinator.metadataForPersistentStore(
        type: .quire, at: ForgedScene.url, options: [:], in: untouched)
    }
    use(copy())
    migrate(copy())
  }

  private func copy() -> MemoryFileSystem {
    let copy = MemoryFileSystem()
    for (path, bytes) in files { copy.setBytes(bytes, of: path) }
    return copy
  }

  private func step(_ name: String, _ body: () throws -> Void) {
    tell(name)
    do { try body() } catch { errors.append("\(name): \(error)") }
  }

  // MARK: The version that it has

  private func use(_ files: MemoryFileSystem) {
    step("read only") {
      var options = PersistentStoreOptions()
      options.isReadOnly = true
      try ForgedScene.with(.current, options, files) { try readAll($0) }
    }
    for (name, body) in steps {
      step(name) { try ForgedScene.with(.current, [:], files, body) }
    }
    step("inspect again") { _ = try StoreInspection(of: ForgedScene.url, in: files) }
    step("move") {
      try ForgedScene.with(.current, [:], files) { context in
        guard let coordinator = context.persistentStoreCoordinator,
          let store = coordinator.persistentStores.first
        else { return }
        try coordinator.migratePersistentStore(
          store, to: URL(filePath: "/moved.quire"), options: nil, type: .quire, in: files)
      }
    }
  }

  private var steps: [(String, (ManagedObjectContext) throws -> Void)] {
    [
      ("read", readAll), ("typed", readTyped), ("search", search), ("history", readHistory),
      ("insert", insert), ("update", update), ("relate", relate), ("relate again", relate),
      ("finish", { try $0.persistentStoreCoordinator?.finishDeferredLightweightMigration() }),
      ("delete", delete), ("purge", purge),
    ]
  }

  private func objects(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    var objects: [ManagedObject] = []
    var failure: (any Error)?
    for entity in ["Artist", "Artwork", "Frame", "Tag"] {
      do {
        objects += try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
      } catch {
        failure = failure ?? error
      }
    }
    if objects.isEmpty, let failure { throw failure }
    return objects
  }

  /// Each property of each object; the first error is told in the end.
  private func readAll(_ context: ManagedObjectContext) throws {
    var failure: (any Error)?
    func attempt(_ body: () throws -> Void) {
      do { try body() } catch { failure = failure ?? error }
    }
    var objects: [ManagedObject] = []
    attempt { objects = try self.objects(context) }
    for object in objects {
      let entity = object.entity
      for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
        attempt {
          switch try object.value(forKey: name) {
          case let other as ManagedObject: _ = try other.value(forKey: other.entity.firstName)
          case let others as Set<ManagedObject>: for other in others { _ = other.objectID }
          case let others as [ManagedObject]: for other in others { _ = other.objectID }
          case let value?: _ = "\(value)"
          case nil: break
          }
        }
      }
      for property in entity.fetchedProperties {
        attempt { _ = try object.value(forKey: property.name) }
      }
      _ = "\(object)"
    }
    if let failure { throw failure }
  }

  private func readTyped(_ context: ManagedObjectContext) throws {
    for artist in try context.fetch(FetchRequest<ForgedScene.Artist>(entityName: "Artist")) {
      _ = (artist.name?.count, artist.mark, artist.born, artist.total, artist.count)
      _ = (artist.best?.title?.count, artist.works.map(\.title), artist.tags.map(\.word))
      _ = artist.list.map { ($0.artist?.name, $0.listers.count, $0.scan?.count) }
      _ = (artist.$best.objectID, artist.value(forKeyPathOrNil: "home.place.height"))
    }
    for work in try context.fetch(FetchRequest<ForgedScene.Artwork>(entityName: "Artwork")) {
      _ = (work.title, work.price, work.cost, work.made, work.page, work.isSold, work.views)
      _ = (work.stars, work.weight, work.scan?.count, work.words, work.frame?.maker?.born)
      _ = (work.frame?.work?.artist?.works.count, (work as? ForgedScene.Print)?.edition)
    }
    for tag in try context.fetch(FetchRequest<ForgedScene.Tag>(entityName: "Tag")) {
      _ = (tag.word, tag.things.map(\.name), tag.former.map(\.word))
    }
    try context.save()
  }

  private static let predicates: [(entity: String, format: String)] = [
    ("Thing", "name BEGINSWITH 'w'"), ("Artwork", "price > 20 AND title CONTAINS '1'"),
    ("Artwork", "title == 'title 4 0'"), ("Artwork", "isSold == YES AND views > 3 AND cost > 1"),
    ("Artist", "home.city == 'city 1' AND born < 1900"), ("Artist", "ANY works.price > 30"),
    ("Artist", "works.@count > 1"), ("Artwork", "artist.best.frame.wood == 'oak'"),
    ("Artist", "SUBQUERY(list, $x, $x.views > 2).@count > 0"), ("Tag", "word LIKE 't*'"),
    ("Artwork", "artist.name == 'artist 2'"), ("Frame", "work.artist.born > 10"),
    ("Tag", "ANY things.name == 'artist 1'"), ("Artwork", "key == 'title 1 0'"),
  ]

  private func search(_ context: ManagedObjectContext) throws {
    var failure: (any Error)?
    for (entity, format) in Self.predicates {
      do {
        var request = FetchRequest<ManagedObject>(entityName: entity)
        request.predicate = try FetchPredicate(format: format)
        _ = try context.fetch(request).map { try $0.value(forKey: $0.entity.firstName) }
        _ = try context.count(for: request)
        request.sortDescriptors = [FetchSortDescriptor(key: entity == "Tag" ? "word" : "name")]
        if entity == "Artwork" {
          request.sortDescriptors = [
            FetchSortDescriptor(key: "price"), FetchSortDescriptor(key: "title", ascending: false),
          ]
          request.fetchBatchSize = 3
        }
        request.fetchLimit = 7
        if entity != "Frame" { _ = try context.fetch(request).map(\.objectID) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func readHistory(_ context: ManagedObjectContext) throws {
    let result = try context.execute(
      PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?))
    for transaction in result.transactions {
      _ = "\(transaction)"
      for change in transaction.changes ?? [] { _ = "\(change)" }
      _ = try? context.execute(
        PersistentHistoryChangeRequest.fetchHistory(after: transaction.token))
    }
    _ = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
  }

  // MARK: Changes

  /// Saves, and takes back what cannot be saved.
  private func save(_ context: ManagedObjectContext, _ failure: inout (any Error)?) {
    do { try context.save() } catch {
      failure = failure ?? error
      context.rollback()
    }
  }

  private func insert(_ context: ManagedObjectContext) throws {
    var failure: (any Error)?
    for entity in ["Artist", "Artwork", "Print", "Frame", "Tag"] {
      do {
        let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
        try object.setValue("inserted \(entity)", forKey: object.entity.firstName)
        if entity == "Print" {
          try object.setValue(Data(repeating: 1, count: 120_000), forKey: "scan")
        }
        try context.save()
      } catch {
        failure = failure ?? error
        context.rollback()
      }
    }
    if let failure { throw failure }
  }

  private func update(_ context: ManagedObjectContext) throws {
    var failure: (any Error)?
    for object in try objects(context) {
      do {
        let name = object.entity.firstName
        let old = try object.value(forKey: name) as? String
        try object.setValue((old ?? "") + "!", forKey: name)
        if object.entity.attribute(named: "price") != nil {
          try object.setValue(1.25, forKey: "price")
          try object.setValue(Data([1]), forKey: "scan")
        }
      } catch {
        failure = failure ?? error
      }
    }
    do { try context.save() } catch {
      failure = failure ?? error
      context.rollback()
      // One by one, so that the first that is damaged does not hide the others.
      for object in try objects(context) {
        try? object.setValue("again", forKey: object.entity.firstName)
        save(context, &failure)
      }
    }
    if let failure { throw failure }
  }

  private func relate(_ context: ManagedObjectContext) throws {
    var failure: (any Error)?
    let artists = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artist"))
    let works = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artwork"))
    for (place, artist) in artists.enumerated() where !works.isEmpty {
      do {
        let work = works[place % works.count]
        try work.setValue(artist, forKey: "artist")
        let list = try artist.value(forKey: "list") as? [ManagedObject] ?? []
        try artist.setValue(list.contains(work) ? [] : list + [work], forKey: "list")
        try artist.setValue(work, forKey: "best")
        let listers = try work.value(forKey: "listers") as? [ManagedObject] ?? []
        try work.setValue(Array(listers.reversed()), forKey: "listers")
        try work.setValue(Set<ManagedObject>(), forKey: "tags")
      } catch {
        failure = failure ?? error
      }
      save(context, &failure)
    }
    if let failure { throw failure }
  }

  private func delete(_ context: ManagedObjectContext) throws {
    var failure: (any Error)?
    for (place, object) in try objects(context).enumerated() where !object.isDeleted {
      if object.managedObjectContext == nil { continue }
      context.delete(object)
      if place % 3 == 0 { save(context, &failure) }
    }
    save(context, &failure)
    if let failure { throw failure }
  }

  private func purge(_ context: ManagedObjectContext) throws {
    let history = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    let transactions = try context.execute(history).transactions
    if let middle = transactions.dropFirst(transactions.count / 2).first {
      _ = try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: middle))
    }
    _ = try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: Date()))
    try insert(context)
  }

  // MARK: Other versions

  private func migrate(_ files: MemoryFileSystem) {
    let content = ForgedScene.content(of: files)
    func again() -> MemoryFileSystem {
      let copy = MemoryFileSystem()
      for (path, bytes) in content { copy.setBytes(bytes, of: path) }
      return copy
    }
    step("migrate") {
      let files = again()
      try ForgedScene.with(.next, .migrating, files) { try readAll($0) }
      _ = try StoreInspection(of: ForgedScene.url, in: files)
    }
    step("migrate back, deferring") {
      let files = again()
      try ForgedScene.with(.old, .deferring, files) { context in
        try readAll(context)
        while try context.persistentStoreCoordinator?.finishDeferredMigration(objectLimit: 5)
          ?? false
        {}
      }
      _ = try StoreInspection(of: ForgedScene.url, in: files)
    }
    step("map") {
      let files = again()
      var options = PersistentStoreOptions.migrating
      options.infersMappingModel = false
      var mapping = try MappingModel.inferredMappingModel(
        forSourceModel: ForgedScene.model(.current), destinationModel: ForgedScene.model(.next))
      // No longer what would be inferred: it is carried out object by object.
      mapping.entityMappings.removeAll { $0.sourceEntityName == "Frame" }
      mapping.entityMappings.append(EntityMapping(from: "Frame", .removeEntityMappingType))
      options.mappingModels = [mapping]
      try ForgedScene.with(.next, options, files) { try readAll($0) }
    }
  }
}

extension EntityDescription {
  /// The attribute that each object here has a text in.
  fileprivate var firstName: String {
    ["name", "word", "wood"].first { attribute(named: $0) != nil } ?? "x"
  }
}

extension ManagedObject {
  fileprivate func value(forKeyPathOrNil path: String) -> Any? { try? value(forKeyPath: path) }
}
