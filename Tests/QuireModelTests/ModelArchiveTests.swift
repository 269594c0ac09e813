import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct ModelArchiveTests {
  /// A model in which no fact has the value it has when nobody says anything.
  private static func gallery() throws -> ManagedObjectModel {
    var title = Attribute(
      "title", .string, optional: false, default: "Ohne Titel ✎", renamedFrom: "name")
    title.versionHashModifier = "2"
    title.validation.minimum = "1"
    title.validation.maximum = "99"
    title.validation.earliestDate = Date(timeIntervalSinceReferenceDate: -1e300)
    title.validation.latestDate = Date(timeIntervalSinceReferenceDate: 0.1)
    title.validation.regularExpression = ".+"
    title.valueTransformerName = "T"
    title.valueClassName = "C"
    title.allowsExternalBinaryDataStorage = true
    title.derivationExpression = "now()"
    title.preservesValueInHistoryOnDeletion = true
    title.usesScalarValueType = true
    title.isIndexedBySpotlight = true
    title.allowsCloudEncryption = true
    title.isIndexed = true
    title.userInfo = ["b": "2", "a": "1", "": ""]
    var home = Attribute("home", .composite)
    home.elements = [Attribute("city", .string), Attribute("zip", .integer32, default: 0)]
    home.defaultValue = .composite(["city": "Köln", "zip": 50667])
    var artists = Relationship(
      "artists", toMany: "Artist", inverse: "works", ordered: true, count: 1...5,
      deleteRule: .deny, optional: false, renamedFrom: "makers")
    artists.isTransient = true
    artists.versionHashModifier = "m"
    artists.isIndexedBySpotlight = true
    artists.userInfo = ["k": "v"]
    var request = FetchRequestTemplate(
      name: "cheap", entityName: "Work", predicateFormat: "price < $PRICE")
    request.fetchLimit = 7
    request.fetchBatchSize = 20
    request.resultType = 2
    request.includesSubentities = false
    request.includesPropertyValues = false
    request.includesPendingChanges = false
    request.returnsObjectsAsFaults = false
    request.returnsDistinctResults = true
    request.userInfo = ["q": "r"]
    request.sortDescriptors = [
      FetchSortDescriptor(key: "home.city", ascending: false, options: [.caseInsensitive]),
      FetchSortDescriptor(keyPath: ["title"]),
    ]
    var fetched = FetchedPropertyDescription("similar", request: request)
    fetched.isOptional = false
    fetched.renamingIdentifier = "alike"
    fetched.versionHashModifier = "x"
    fetched.userInfo = ["f": "p"]
    var index = FetchIndexDescription("byTitle", on: "title")
    index.partialIndexPredicate = "title != nil"
    index.userInfo = ["i": "x"]
    var expression = FetchIndexDescription.Element(expression: "lowercase:(title)", type: "String")
    expression.kind = .rTree
    expression.isAscending = false
    index.elements.append(expression)
    var work = Entity("Work", parent: "Thing", abstract: true, renamedFrom: "Artwork") {
      title
      Attribute("price", .decimal)
      home
      Attribute("seen", .boolean, transient: true)
      artists
      fetched
      index
    }
    work.managedObjectClassName = ".Work"
    work.uniquenessConstraints = [["title"], ["title", "home.city"]]
    work.versionHashModifier = "v"
    work.coreSpotlightDisplayNameExpression = "title"
    work.userInfo = ["e": "n"]
    var model = ModelDeclaration()
    model.entities = [
      work, Entity("Thing"), Entity("Artist") { Relationship("works", toMany: "Work") },
    ]
    model.versionIdentifiers = ["1", "zwei"]
    model.configurations = ["Local": ["Work"], "Cloud": []]
    model.fetchRequestTemplates = [request]
    model.userInfo = ["m": "o"]
    model.localizationDictionary = ["Entity/Work": "Œuvre", "Property/title": "Titre"]
    return try ManagedObjectModel(model)
  }

  private func decode(_ bytes: [UInt8]) throws(ModelArchiveError) -> ManagedObjectModel {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(ModelArchiveError) in try ModelArchive.decode(bytes) }
    }
    return try result.get()
  }

  /// The bytes with a checksum that fits them, so that damage gets as far as the decoder.
  private func signed(_ content: some Sequence<UInt8>) -> [UInt8] {
    let checksum = content.reduce(0xCBF2_9CE4_8422_2325) { (hash: UInt64, byte) in
      (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return Array(content) + (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt64($0))) }
  }

  @Test func `every fact of a model survives`() throws {
    let model = try Self.gallery()
    let decoded = try decode(ModelArchive.encode(model))
    #expect(decoded.declaration == model.declaration)
    #expect(decoded.versionChecksum == model.versionChecksum)
  }

  // Guards the test above: a fact that was added to a declaration but not to it would go unnoticed.
  @Test func `the model of these tests sets every fact there is`() throws {
    let work = try #require(try Self.gallery().entity(named: "Work")).declaration
    func compare(_ left: Any, _ right: Any) {
      for (ours, plain) in zip(
        Mirror(reflecting: left).children, Mirror(reflecting: right).children)
      where ours.label != "type" {
        #expect(
          String(describing: ours.value) != String(describing: plain.value),
          "\(type(of: left)).\(ours.label ?? "")")
      }
    }
    compare(try Self.gallery().declaration, ModelDeclaration())
    compare(work, Entity(""))
    compare(work.indexes[0], FetchIndexDescription("", []))
    compare(work.fetchedProperties[0].request, FetchRequestTemplate(name: "", entityName: ""))
    compare(
      work.fetchedProperties[0],
      FetchedPropertyDescription("", request: FetchRequestTemplate(name: "", entityName: "")))
    compare(work.relationships[0], Relationship("", toOne: ""))
    compare(work.attributes[0].validation, AttributeValidation())
    var attribute = work.attributes[0]
    attribute.isTransient = work.attributes[3].isTransient
    attribute.elements = work.attributes[2].elements
    compare(attribute, Attribute("", .date))
    var element = work.indexes[0].elements[1]
    element.property = work.indexes[0].elements[0].property
    compare(element, FetchIndexDescription.Element(expression: "", type: nil))
  }

  @Test func `equal models have equal archives`() throws {
    let first = ModelArchive.encode(try Self.gallery())
    for _ in 0..<5 { #expect(ModelArchive.encode(try Self.gallery()) == first) }
    #expect(ModelArchive.encode(try decode(first)) == first)
  }

  // Archives are in stores for ever: this one was written by the first release.
  @Test func `an archive of the first release can be read`() throws {
    let model = try ManagedObjectModel {
      Entity("A") { Attribute("x", .integer16, optional: false, default: -3) }
    }
    let bytes: [UInt8] = [
      0x51, 0x4D, 0x44, 0x4C, 1, 0, 0, 0, 1, 1, 0x41, 0, 1, 1, 0x78, 100, 0x80, 2, 3, 5, 0, 0, 0, 0,
    ]
    #expect(ModelArchive.encode(model) == signed(bytes))
    #expect(
      try decode(signed(bytes)).entities.map(\.declaration) == model.entities.map(\.declaration))
  }

  // Index, template and no flags of the model, as the first releases wrote them.
  @Test func `indexes and templates of the first release can be read`() throws {
    let model = try ManagedObjectModel {
      Entity("A") {
        Attribute("x", .string)
        FetchIndex("i", on: "x", where: "x != nil")
      }
      FetchRequestTemplate("t", of: "A", where: "x == $X")
    }
    let bytes: [UInt8] =
      [0x51, 0x4D, 0x44, 0x4C, 1, 0, 0]
      + [1, 1, 0x74, 1, 0x41, 0b101111, 7] + Array("x == $X".utf8) + [0, 0, 0]
      + [1, 1, 0x41, 0, 1, 1, 0x78, 0xBC, 5, 1, 0, 0]
      + [1, 1, 0x69, 1, 8] + Array("x != nil".utf8) + [1, 5, 1, 0x78, 0]
    #expect(ModelArchive.encode(model) == signed(bytes))
    #expect(try decode(signed(bytes)).declaration == model.declaration)
  }

  // A store whose model an earlier release let through must open, and migrate, in this one.
  @Test func `names that only a new model must get right do not keep an old one from being read`()
    throws
  {
    let declaration = ModelDeclaration {
      Entity("A") {
        Attribute("x", .string, pattern: "(", derivedFrom: "y.@count")
        FetchIndex("i", on: "y")
        UniquenessConstraint("y")
      }
      FetchRequestTemplate("t", of: "B", where: "x ==")
      ModelConfiguration("c", "B")
    }
    #expect(throws: ModelError.self) { try ManagedObjectModel(declaration) }
    let model = try ManagedObjectModel(unchecked: declaration)
    #expect(try decode(ModelArchive.encode(model)).declaration == model.declaration)
  }

  @Test func `a newer format is told from damage`() throws {
    var bytes = ModelArchive.encode(try Self.gallery())
    bytes[4] = 3
    #expect(throws: ModelArchiveError.newerFormat(found: 3, supported: 2)) { try decode(bytes) }
    bytes[0] = 0
    #expect(throws: ModelArchiveError.notAnArchive) { try decode(bytes) }
  }

  @Test func `an archive cut short at any byte is an error`() throws {
    let bytes = ModelArchive.encode(try Self.gallery())
    for count in 0..<bytes.count {
      #expect(throws: ModelArchiveError.self) { try decode(Array(bytes.prefix(count))) }
      #expect(throws: ModelArchiveError.self) {
        try decode(signed(bytes.prefix(min(count, bytes.count - 9))))
      }
    }
    #expect(throws: ModelArchiveError.self) { try decode(signed(bytes.dropLast(8) + [0])) }
  }

  @Test func `any changed byte is an error`() throws {
    let bytes = ModelArchive.encode(try Self.gallery())
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0x20
      #expect(throws: ModelArchiveError.self) { try decode(damaged) }
    }
  }

  @Test func `decoding damaged bytes gives a model or an error`() throws {
    let content = Array(ModelArchive.encode(try Self.gallery()).dropLast(8))
    var random = SeededGenerator(seed: 20_240_601)
    var modelCount = 0
    for _ in 0..<Amount.of(debug: 800, release: 3_000) {
      var damaged = content
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = Int.random(in: 5..<damaged.count, using: &random)
        damaged[index] = .random(in: 0...255, using: &random)
      }
      if (try? decode(signed(damaged))) != nil { modelCount += 1 }
    }
    #expect(modelCount > 0)
  }

  @Test func `a huge count in few bytes is an error`() {
    let huge: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
    for prefix in [[], [0], [0, 0], [0, 0, 0]] as [[UInt8]] {
      #expect(throws: ModelArchiveError.self) {
        try decode(signed([0x51, 0x4D, 0x44, 0x4C, 1] + prefix + huge))
      }
    }
  }

  // MARK: Values

  private static let values: [AttributeValue?] = [
    nil, .boolean(false), .boolean(true), 0, -1, .integer(.max), .integer(.min), 0.1,
    .double(-.infinity), .double(-0.0), .float(1.33), .decimal(0), .decimal(.nan),
    .decimal(Decimal(string: "-99999999999999999999999999999999999999e-12")!),
    .decimal(.greatestFiniteMagnitude), .decimal(.leastNonzeroMagnitude), "", "é e\u{301} 👩‍👩‍👧\0",
    .date(Date(timeIntervalSinceReferenceDate: 0.1)), .binary(Data()), .binary(Data([0, 255])),
    .uuid(UUID()), .uri(URL(string: "https://a.example/ä?b=c#d")!), .transformed(Data([1])),
    .objectID(URL(string: "x-coredata://A/B/p1")!), .composite([:]),
    .composite(["a": 1, "b": .composite(["c": "d"])]),
  ]

  @Test func `every value survives, one after the other`() throws {
    var bytes: [UInt8] = [42]
    for value in Self.values { ModelArchive.append(value, to: &bytes) }
    var offset = 1
    for value in Self.values {
      let decoded = try bytes.withUnsafeBytes { try ModelArchive.decodeValue($0, at: &offset) }
      #expect(decoded == value)
      if case .double(let number)? = value, case .double(let other)? = decoded {
        #expect(number.bitPattern == other.bitPattern)
      }
    }
    #expect(offset == bytes.count)
  }

  @Test func `not a number survives bit by bit`() throws {
    let number = Double(nan: 5, signaling: false)
    var bytes: [UInt8] = []
    ModelArchive.append(.double(number), to: &bytes)
    var offset = 0
    let decoded = try bytes.withUnsafeBytes { try ModelArchive.decodeValue($0, at: &offset) }
    guard case .double(let other)? = decoded else { throw ModelArchiveError.notAnArchive }
    #expect(other.bitPattern == number.bitPattern)
  }

  @Test func `values from any bytes, or an error`() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<Amount.of(debug: 8_000, release: 20_000) {
      let count = Int.random(in: 0...40, using: &random)
      let bytes = (0..<count).map { _ in
        UInt8.random(in: 0...(Bool.random(using: &random) ? 255 : 16), using: &random)
      }
      var offset = Int.random(in: -1...2, using: &random)
      _ = bytes.withUnsafeBytes { try? ModelArchive.decodeValue($0, at: &offset) }
    }
    let nested = (0..<100_000).flatMap { _ in [16, 1, 0] as [UInt8] }
    var offset = 0
    #expect(throws: ModelArchiveError.self) {
      try nested.withUnsafeBytes { try ModelArchive.decodeValue($0, at: &offset) }
    }
  }
}
