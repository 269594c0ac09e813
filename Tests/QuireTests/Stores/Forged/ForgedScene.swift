import Quire
import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Stores with one of everything that a store of objects can hold, for changing their entries.
enum ForgedScene {
  static let url = URL(filePath: "/forged.quire")

  enum Version: String, CaseIterable { case old, current, next }

  static func model(_ version: Version) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Thing", abstract: true) {
        Attribute("name", .string).with { $0.preservesValueInHistoryOnDeletion = true }
        Attribute("mark", .uuid).with { $0.preservesValueInHistoryOnDeletion = true }
        Relationship("tags", toMany: "Tag", inverse: "things")
        UniquenessConstraint("mark")
      }
      Entity("Artist", parent: "Thing") {
        Attribute("born", .integer16, range: 0...3000)
        if version == .old { Attribute("shoe", .integer32) }
        Attribute("home", .composite) {
          Attribute("city", .string)
          Attribute("place", .composite) { Attribute("height", .integer16) }
        }
        if version != .next {
          Attribute("total", .double, derivedFrom: "works.price.@sum")
          Attribute("count", .integer64, derivedFrom: "works.@count")
          Relationship("best", toOne: "Artwork")
        }
        Relationship("works", toMany: "Artwork", inverse: "artist", deleteRule: .cascade)
        Relationship("list", toMany: "Artwork", inverse: "listers", ordered: true)
        FetchIndex("byCity", on: "home.city", .descending("born"))
      }
      Entity("Artwork", parent: "Thing") {
        Attribute("title", .string, length: 0...400)
        Attribute("price", version == .next ? .decimal : .double)
        Attribute("cost", .decimal)
        Attribute("made", .date)
        Attribute("page", .uri)
        Attribute("elsewhere", .objectID)
        Attribute("isSold", .boolean, optional: version == .old, default: false)
        Attribute("views", .integer64)
        Attribute("stars", .integer32)
        Attribute("weight", .float)
        Attribute("scan", .binaryData, storedExternally: true)
        Attribute("words", .transformable, transformer: "Words", storedExternally: true)
        Attribute("key", .string, derivedFrom: "canonical:(title)")
        if version != .old { Attribute("added", .string, optional: false, default: "new") }
        Relationship("artist", toOne: "Artist", inverse: "works")
        Relationship("listers", toMany: "Artist", inverse: "list", ordered: version != .next)
        Relationship("frame", toOne: "Frame", inverse: "work", deleteRule: .cascade)
        UniquenessConstraint("title", "artist")
        FetchIndex("byPrice", on: "price", .descending("title"))
        FetchIndex("sold", on: "cost", where: "isSold == YES AND views > 3")
        FetchedProperty("namesakes", of: "Artwork", where: "title == $FETCH_SOURCE.title")
      }
      Entity("Print", parent: "Artwork") { Attribute("edition", .integer64) }
      Entity("Frame") {
        Attribute("wood", .string)
        Relationship("work", toOne: "Artwork", inverse: "frame", deleteRule: .deny)
        Relationship("maker", toOne: "Artist")
      }
      Entity("Tag") {
        Attribute("word", .string, optional: false, default: "")
        Relationship("things", toMany: "Thing", inverse: "tags")
        Relationship("former", toMany: "Tag", deleteRule: .noAction)
        UniquenessConstraint("word")
      }
      if version == .old { Entity("Gone") { Attribute("x", .string) } }
    }
  }

  class Thing: ManagedObject {
    @Managed var name: String?
    @Managed var mark: UUID?
    @Managed var tags: Set<Tag>
  }

  final class Artist: Thing {
    @Managed var born: Int16?
    @Managed var total: Double?
    @Managed var count: Int64?
    @Managed var best: Artwork?
    @Managed var works: Set<Artwork>
    @Managed var list: [Artwork]
  }

  class Artwork: Thing {
    @Managed var title: String?
    @Managed var price: Double?
    @Managed var cost: Decimal?
    @Managed var made: Date?
    @Managed var page: URL?
    @Managed var isSold: Bool
    @Managed var views: Int64?
    @Managed var stars: Int32?
    @Managed var weight: Float?
    @Managed var scan: Data?
    @Managed var words: [String]?
    @Managed var artist: Artist?
    @Managed var listers: [Artist]
    @Managed var frame: Frame?
  }

  final class Print: Artwork {
    @Managed var edition: Int64?
  }

  final class Frame: ManagedObject {
    @Managed var wood: String?
    @Managed var work: Artwork?
    @Managed var maker: Artist?
  }

  final class Tag: ManagedObject {
    @Managed var word: String
    @Managed var things: Set<Thing>
    @Managed var former: Set<Tag>
  }

  static let classes: [ManagedObject.Type] = [
    Artist.self, Artwork.self, Print.self, Frame.self, Tag.self, Thing.self,
  ]

  static let tracking: PersistentStoreOptions = {
    var options = PersistentStoreOptions.migrating
    options.tracksHistory = true
    return options
  }()

  // MARK: Stores

  /// The files of a closed store of the current version.
  ///
  /// - Parameter isDeferred: whether the migration to it is not finished.
  static func files(isDeferred: Bool) throws -> [String: [UInt8]] {
    let files = MemoryFileSystem()
    try with(.old, tracking, files) { context in
      try fill(context, 0..<6)
      try EntityDescription.insertNewObject(forEntityName: "Gone", into: context)
      try context.save()
    }
    var options = tracking
    options.defersLightweightMigration = isDeferred
    try with(.current, options, files) { context in
      try fill(context, 6..<9)
      try context.save()
      let artist = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artist")).first
      try artist?.setValue(1900, forKey: "born")
      let gone = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
      try gone.setValue("gone", forKey: "name")
      try gone.setValue(UUID(), forKey: "mark")
      try context.save()
      context.delete(gone)
      context.transactionAuthor = "somebody"
      guard let coordinator = context.persistentStoreCoordinator,
        let store = coordinator.persistentStores.first
      else { return }
      var metadata = coordinator.metadata(for: store)
      metadata["list"] = ["a", 7, ["b": 1.5]] as [Any]
      try coordinator.setMetadata(metadata, for: store)
      try context.save()
    }
    return content(of: files)
  }

  static func content(of files: MemoryFileSystem) -> [String: [UInt8]] {
    var content: [String: [UInt8]] = [:]
    for path in files.paths { content[path] = files.bytes(of: path) }
    return content
  }

  /// Calls `body` with a context of a store that is open meanwhile.
  static func with<Result>(
    _ version: Version, _ options: PersistentStoreOptions, _ files: MemoryFileSystem,
    _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let coordinator = PersistentStoreCoordinator(
      versionedModel: try versions[version]!.get(),
      classes: version == .current ? classes : [],
      transformers: ["Words": CodableTransformer([String].self)])
    try coordinator.addPersistentStore(type: .quire, at: url, options: options, in: files)
    defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
    // Not by the tests' own way: a fuzzer compiles this file without the rest of them.
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return try body(context)
  }

  /// The model with all its versions, by the one that is opened.
  private static let versions: [Version: Swift.Result<VersionedModel, any Error>] = {
    let all = Swift.Result<[VersionedModel.Version], any Error> {
      try Version.allCases.map { VersionedModel.Version($0.rawValue, try model($0)) }
    }
    let pairs = Version.allCases.map { version in
      (version, all.map { VersionedModel(versions: $0, current: version.rawValue)! })
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }()

  private static func fill(_ context: ManagedObjectContext, _ numbers: Range<Int>) throws {
    func make(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
      let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
      for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        try object.setValue(value, forKey: key)
      }
      return object
    }
    var artists: [ManagedObject] = []
    var works: [ManagedObject] = []
    for number in numbers {
      let artist = try make(
        "Artist", ["name": "artist \(number)", "mark": UUID(), "born": 1800 + number])
      try artist.setValue("city \(number % 3)", forKeyPath: "home.city")
      try artist.setValue(number, forKeyPath: "home.place.height")
      artists.append(artist)
      for part in 0..<2 {
        let work = try make(
          part == 1 ? "Print" : "Artwork",
          [
            "name": "work \(number)", "mark": UUID(), "title": "title \(number) \(part)",
            "price": 10.5 * Double(number), "cost": Decimal(number) / 4,
            "made": Date(timeIntervalSinceReferenceDate: 1e6 * Double(number)),
            "page": URL(string: "https://example.com/\(number)")!, "isSold": number % 2 == 0,
            "views": number, "stars": number % 5, "weight": Float(number) / 3,
            "scan": Data(repeating: 7, count: number % 4 == 1 ? 103_000 : 20 * number),
            "words": ["a", "b \(number)"], "artist": artist,
          ])
        let frame = try make("Frame", ["wood": "oak", "work": work])
        if part == 0 { try frame.setValue(artist, forKey: "maker") }
        works.append(work)
      }
      let tag = try make("Tag", ["word": "tag \(number)"])
      try tag.setValue(Set(works.suffix(3) + [artist]), forKey: "things")
      try tag.setValue(Set([tag]), forKey: "former")
    }
    for (place, artist) in artists.enumerated() {
      try artist.setValue(works[place % works.count], forKey: "best")
      try artist.setValue(Array(works.reversed().prefix(4)), forKey: "list")
    }
  }
}
