import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Fills a store with the content of an art gallery, in the model of any of the gallery's versions.
///
/// Values follow from the names and types of the attributes, links from the relationships, all from
/// a seed: a fixture can be made again, bit for bit.
package struct GalleryGenerator {
  /// The number of objects of each entity in the fixture of each version that has the entity.
  package static let objectCounts: [String: [String: Int]] = [
    "Gallery 1.3": [
      "Artist": 4, "Artwork": 24, "Collection": 5, "Image": 20, "ArtistDocument": 4, "Partner": 1,
      "User": 2,
    ],
    "Gallery 1.3.5": [
      "Artist": 4, "Artwork": 63, "Collection": 13, "Image": 72, "ArtistDocument": 15, "Note": 6,
      "Partner": 1, "User": 1,
    ],
    "Gallery 1.4": [
      "Artist": 4, "Artwork": 68, "Album": 10, "Image": 76, "ArtistDocument": 12,
      "ShowDocument": 6, "Location": 2, "Partner": 1, "Show": 11, "User": 100, "Note": 5,
      "SyncLog": 3,
    ],
    "Gallery 1.6": [
      "Artist": 8, "Artwork": 60, "Album": 9, "Image": 60, "ArtistDocument": 9, "ShowDocument": 7,
      "Location": 3, "Show": 9, "Partner": 1, "User": 12, "Note": 10, "SyncLog": 4,
    ],
    "Gallery 2.0": [
      "Artist": 9, "Artwork": 52, "Album": 8, "Image": 48, "InstallShotImage": 14,
      "ArtistDocument": 8, "ShowDocument": 6, "Location": 3, "Show": 8, "Partner": 1,
      "PartnerOption": 4, "User": 6, "Note": 8,
    ],
    "Gallery 2.7": [
      "Artist": 6, "Artwork": 27, "Album": 4, "Image": 40, "InstallShotImage": 8,
      "ArtistDocument": 4, "ShowDocument": 1, "Location": 2, "Show": 7, "Partner": 1,
      "PartnerOption": 2, "User": 1, "Note": 3, "Edition": 9,
    ],
  ]

  private let version: VersionedModel.Version
  private var random: SeededRandom
  private var objects: [String: [ManagedObject]] = [:]

  init(_ version: VersionedModel.Version, seed: UInt64) {
    self.version = version
    random = SeededRandom(seed: seed, stream: version.name)
  }

  /// Makes a new store file with the gallery's content in this version of the model.
  ///
  /// - Throws: when there is a file already, or it cannot be written.
  mutating func write(to url: URL) throws {
    guard !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) else {
      throw GalleryError.fileExists(url.path(percentEncoded: false))
    }
    guard let model = VersionedModel(name: "Gallery", versions: [version]) else {
      throw GalleryError.noSuchVersion(version.name)
    }
    var options = PersistentStoreOptions()
    options.storeUUID = storeUUID()
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    try fill(context)
    try context.save()
    try coordinator.remove(store)
  }

  /// Inserts the content of the version into a context; the caller saves.
  mutating func fill(_ context: ManagedObjectContext) throws {
    guard let counts = Self.objectCounts[version.name] else {
      throw GalleryError.noSuchVersion(version.name)
    }
    for (entity, count) in counts.sorted(by: { $0.key < $1.key }) {
      for number in 1...count {
        let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
        for attribute in object.entity.attributes {
          if let value = value(of: attribute, number, entity) {
            try object.setValue(value, forKey: attribute.name)
          }
        }
        objects[entity, default: []].append(object)
      }
    }
    for entity in version.model.entities {
      for relationship in entity.declaration.relationships { try link(entity, relationship) }
    }
  }

  private mutating func storeUUID() -> UUID {
    let bytes = (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    // Version 4, variant 1 (RFC 9562).
    return UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6] & 0x0F | 0x40,
        bytes[7], bytes[8] & 0x3F | 0x80, bytes[9], bytes[10], bytes[11], bytes[12], bytes[13],
        bytes[14], bytes[15]
      ))
  }

  // MARK: Values

  private mutating func value(
    of attribute: AttributeDescription, _ number: Int, _ entity: String
  ) -> Any? {
    if attribute.isOptional, random.chance(15) { return nil }
    switch attribute.type {
    case .string: return text(attribute.name, number, entity)
    case .integer16, .integer32, .integer64: return integer(attribute.name, number)
    case .boolean: return random.chance(40)
    case .double: return Double(random.below(36_000_000)) / 100_000 - 180
    case .float: return Float(random.below(3000)) / 1000 + 0.25
    case .decimal: return Decimal(random.below(9_999_999)) / 100
    case .date:
      // 2010 to 2014, to the half second.
      let halfSeconds = random.below(315_000_000)
      return Date(timeIntervalSinceReferenceDate: 283_996_800 + Double(halfSeconds) / 2)
    case .uuid: return storeUUID()
    case .uri: return URL(string: "https://gallery.example/\(entity.lowercased())/\(number)")
    case .binaryData:
      let byteCount = 24 + random.below(600)
      return Data((0..<byteCount).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    // The gallery has none of these.
    case .undefined, .transformable, .objectID, .composite: return nil
    }
  }

  private mutating func integer(_ name: String, _ number: Int) -> Int {
    switch name {
    case "birthYear": 1860 + random.below(130)
    case "rating": 1 + random.below(5)
    case "position", "sortKey", "number", "version": number
    case "adminID": 1 << 40 | random.below(1 << 30)
    default: random.below(20_000)
    }
  }

  private static let firstNames = [
    "Ana", "Björk", "Chidi", "Dóra", "Émile", "Fumiko", "Gerrit", "Hana", "İnci", "Jorge",
  ]
  private static let lastNames = [
    "Okonkwo", "Lindqvist", "Sørensen", "Nakagawa", "Ferreira", "Kowalski", "Moreau", "Szabó",
  ]
  private static let subjects = [
    "Harbour", "Still life", "Self-portrait", "Field", "Staircase", "Window", "Letter", "Tide",
  ]
  private static let moods = ["at dusk", "in blue", "after rain", "unfinished", "no. 7", "(study)"]
  private static let media = ["oil on canvas", "ink on paper", "bronze", "gouache", "silver print"]

  private mutating func text(_ name: String, _ number: Int, _ entity: String) -> String {
    switch name {
    case "slug": "\(entity.lowercased())-\(number)"
    case "name" where entity == "Artist" || entity == "User", "displayName":
      "\(random.pick(Self.firstNames) ?? "") \(random.pick(Self.lastNames) ?? "")"
    case "title", "name": "\(random.pick(Self.subjects) ?? "") \(random.pick(Self.moods) ?? "")"
    case "medium": random.pick(Self.media) ?? ""
    case "category": random.pick(["Painting", "Sculpture", "Work on paper", "Photography"]) ?? ""
    case "email": "\(entity.lowercased())\(number)@gallery.example"
    case "role", "userRole": random.pick(["admin", "staff", "viewer"]) ?? ""
    case "status", "type": random.pick(["open", "upcoming", "closed"]) ?? ""
    case "filename": "\(entity)-\(number).pdf"
    case "date", "dateText": "c. \(1900 + random.below(120))"
    case "biography", "body", "summary", "confidentialNotes":
      (0...random.below(6)).map { _ in
        "\(random.pick(Self.subjects) ?? "") \(random.pick(Self.moods) ?? "")."
      }.joined(separator: " ")
    default: "\(name) \(number)"
    }
  }

  // MARK: Links

  private mutating func link(
    _ entity: EntityDescription, _ relationship: RelationshipDescription
  ) throws {
    let inverse = version.model.inverse(of: relationship)?.relationship
    // A one-to-many is decided by its members, a many-to-many by the side whose name comes first.
    if relationship.isToMany, let inverse {
      if !inverse.isToMany || inverse.name < relationship.name { return }
    }
    let owners = family(of: entity.name)
    var candidates = family(of: relationship.destination)
    guard !candidates.isEmpty else { return }
    for owner in owners {
      if relationship.isToMany {
        let members = (0..<random.below(4)).compactMap { _ in random.pick(candidates) }
        try owner.setValue(unique(members), forKey: relationship.name)
      } else if !relationship.isOptional || random.chance(80) {
        let index = random.below(candidates.count)
        try owner.setValue(candidates[index], forKey: relationship.name)
        // In a one-to-one each destination is taken once.
        if let inverse, !inverse.isToMany { candidates.remove(at: index) }
        if candidates.isEmpty { return }
      }
    }
  }

  private func family(of name: String) -> [ManagedObject] {
    guard let entity = version.model.entity(named: name) else { return [] }
    return version.model.family(of: entity).flatMap { objects[$0.name] ?? [] }
  }

  private func unique(_ objects: [ManagedObject]) -> [ManagedObject] {
    var seen: Set<ManagedObject> = []
    return objects.filter { seen.insert($0).inserted }
  }
}

enum GalleryError: Error, CustomStringConvertible {
  case fileExists(String)
  case noSuchVersion(String)

  var description: String {
    switch self {
    case .fileExists(let path): "there is a file already: \(path)"
    case .noSuchVersion(let name): "the gallery's generator knows no version called \(name)"
    }
  }
}
