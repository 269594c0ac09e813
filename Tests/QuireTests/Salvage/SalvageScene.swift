import Quire
import QuireSimulation
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A closed store with small pages, what is in it, and what must be left of it when a page is lost.
struct SalvageScene {
  static let pageSize = 512
  let model: ManagedObjectModel
  let bytes: [UInt8]
  let content: StoreContent
  let anatomy: StoreAnatomy
  private let path = "/folder/store.quire"

  /// Every shape of relationship, an ancestor, indexes, long and external values, derived ones.
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Thing") {
        FetchIndex("byNumber", on: "number")
        Attribute("number", .integer32)
        Attribute("name", .string)
        Attribute("text", .string)
        Attribute("picture", .binaryData, storedExternally: true)
        Attribute("partCount", .integer64, derivedFrom: "parts.@count")
        Relationship("parent", toOne: "Thing", inverse: "children")
        Relationship("children", toMany: "Thing", inverse: "parent", deleteRule: .cascade)
        Relationship("twin", toOne: "Thing", inverse: "twin")
        Relationship("friends", toMany: "Thing", inverse: "friends")
        Relationship("tags", toMany: "Tag", inverse: "things")
        Relationship("ranks", toMany: "Thing", inverse: "rankedBy", ordered: true)
        Relationship("rankedBy", toMany: "Thing", inverse: "ranks")
        Relationship("parts", toMany: "Part", inverse: "owner", ordered: true)
        Relationship("pointer", toOne: "Tag")
        Relationship("bag", toMany: "Tag")
      }
      Entity("SpecialThing", parent: "Thing") {
        Attribute("price", .decimal)
        Relationship("rival", toOne: "SpecialThing", inverse: "rivals")
        Relationship("rivals", toMany: "SpecialThing", inverse: "rival")
      }
      Entity("Tag") {
        Attribute("word", .string)
        Relationship("things", toMany: "Thing", inverse: "tags")
      }
      Entity("Part") {
        Attribute("weight", .double)
        Relationship("owner", toOne: "Thing", inverse: "parts")
      }
    }
  }

  init(thingCount: Int, seed: UInt64 = 1) throws {
    let model = try SalvageScene.model()
    self.model = model
    let files = MemoryFileSystem()
    var options = PageStoreOptions()
    options.pageSize = SalvageScene.pageSize
    try PageStore.open(path, options: options, in: files).close()
    let version = VersionedModel(model)
    var context = try TestStore.open(version, at: URL(filePath: path), in: files)
    try SalvageScene.fill(context, thingCount, SeededGenerator(seed: seed))
    try TestStore.close(context)
    context = try TestStore.open(version, at: URL(filePath: path), in: files)
    content = try StoreContent(context, model)
    try TestStore.close(context)
    bytes = try #require(files.bytes(of: path))
    anatomy = try StoreAnatomy(of: path, in: files)
  }

  private static func fill(
    _ context: ManagedObjectContext, _ count: Int, _ generator: SeededGenerator
  ) throws {
    var random = generator
    let tags = try (0..<count / 4).map { try context.insert("Tag", ["word": "tag \($0)"]) }
    var things: [ManagedObject] = []
    for number in 0..<count {
      let isSpecial = number % 3 == 0
      let thing = try context.insert(
        isSpecial ? "SpecialThing" : "Thing",
        [
          "number": number, "name": "thing \(number)",
          "text": String(repeating: "long ", count: number % 7 == 0 ? 150 : 1),
          "tags": Set((0..<2).compactMap { _ in tags.randomElement(using: &random) }),
          "bag": Set(tags.prefix(1)), "pointer": tags[number % tags.count],
          "friends": Set(things.suffix(2)), "ranks": Array(things.suffix(3).reversed()),
          "parts": try (0..<number % 4).map {
            try context.insert("Part", ["weight": Double($0) / 4])
          },
        ])
      if let parent = things.randomElement(using: &random) {
        try thing.setValue(parent, forKey: "parent")
      }
      if number == 1 || number == 53 {
        try thing.setValue(Data(repeating: UInt8(number % 256), count: 110_000), forKey: "picture")
      }
      if number % 5 == 4 { try thing.setValue(things.last, forKey: "twin") }
      if isSpecial {
        try thing.setValue(Decimal(number) / 8, forKey: "price")
        try thing.setValue(
          things.last { $0.entity.name == "SpecialThing" }, forKey: "rival")
      }
      things.append(thing)
    }
    try context.save()
    for thing in things where Int.random(in: 0..<4, using: &random) == 0 {
      try thing.setValue("changed", forKey: "name")
    }
    try context.save()
  }

  var pageCount: Int { bytes.count / SalvageScene.pageSize }

  /// The store with a page replaced by others' bytes.
  func damaged(_ page: Int, _ how: Damage, of former: [UInt8]? = nil) -> [UInt8] {
    var bytes = former ?? self.bytes
    let start = page * SalvageScene.pageSize
    let range = start..<start + SalvageScene.pageSize
    switch how {
    case .zeros: bytes.replaceSubrange(range, with: repeatElement(0, count: range.count))
    case .noise:
      var random = SeededGenerator(seed: UInt64(page))
      bytes.replaceSubrange(
        range, with: (0..<range.count).map { _ in UInt8.random(in: 0...255, using: &random) })
    case .bit: bytes[start + 40] ^= 4
    }
    return bytes
  }

  enum Damage: CaseIterable { case zeros, noise, bit }

  /// The objects whose rows are on a page, wholly or in part, and the values outside of rows.
  func lost(with page: Int) throws -> (objects: Set<ObjectName>, values: Set<Int64>) {
    let summary = try anatomy.summary(of: page)
    guard let tree = summary.tree, tree.hasPrefix("rows/") || tree == "blobs" else {
      return ([], [])
    }
    var keys: [Int64] = []
    if summary.type == "overflow" {
      for leaf in 0..<pageCount where try anatomy.summary(of: leaf).tree == tree {
        for entry in try anatomy.content(of: leaf).entries {
          guard case .long(let byteCount, let first) = entry.value,
            case .number(let key) = entry.key,
            runPages(first, byteCount).contains(page)
          else { continue }
          keys.append(key)
        }
      }
    } else if summary.type == "record leaf" {
      for entry in try anatomy.content(of: page).entries {
        if case .number(let key) = entry.key { keys.append(key) }
      }
    }
    if tree == "blobs" { return ([], Set(keys)) }
    let number = Int(tree.dropFirst("rows/".count))
    let concrete = model.entities.filter { !$0.isAbstract }
    let entity = try #require(number.map { concrete[$0 - 1] })
    return (Set(keys.map { ObjectName(entity.name, $0) }), [])
  }

  private func runPages(_ first: PageID, _ byteCount: UInt64) -> [Int] {
    let capacity = SalvageScene.pageSize - 24
    var rest = Int(byteCount)
    var page = Int(first.rawValue)
    var pages: [Int] = []
    // With pages of 512 bytes a map speaks for 118.
    while rest > 0 {
      if page % 118 == 3 { page += 1 }
      pages.append(page)
      rest -= capacity
      page += 1
    }
    return pages
  }

  /// A link on a page, of which there is no other half elsewhere.
  struct Link: Hashable {
    var relationship: String
    var owner: ObjectName
    var member: ObjectName
  }

  /// The links that only this page tells of: those without an inverse, and those whose two halves
  /// are both on it.
  func lostLinks(with page: Int) throws -> [Link] {
    let summary = try anatomy.summary(of: page)
    guard let tree = summary.tree, tree.hasPrefix("links/"), summary.type == "index leaf" else {
      return []
    }
    let concrete = model.entities.filter { !$0.isAbstract }
    let all = concrete.flatMap { entity in
      entity.relationships.filter(\.isToMany).sorted { $0.name < $1.name }.map { (entity, $0) }
    }
    let number = try #require(Int(tree.dropFirst("links/".count)))
    let (entity, relationship) = all[number - 1]
    let links = try anatomy.content(of: page).entries.map { entry in
      guard case .bytes(let bytes) = entry.key else { throw Unexpected.key }
      func word(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
      }
      let member = word(bytes.suffix(8))
      return Link(
        relationship: relationship.name,
        owner: ObjectName(entity.name, Int64(word(bytes.prefix(8)))),
        member: ObjectName(
          concrete[Int(member >> 48) - 1].name, Int64(member & 0xFFFF_FFFF_FFFF)))
    }
    guard let inverse = relationship.inverse else { return links }
    let known = Set(links)
    return links.filter {
      known.contains(Link(relationship: inverse, owner: $0.member, member: $0.owner))
    }
  }

  enum Unexpected: Error { case key }

  /// What must be left without some objects and links.
  func content(without lost: Set<ObjectName>, _ links: [Link] = []) -> StoreContent {
    var content = self.content
    for link in links {
      content.objects[link.owner]?.links[link.relationship]?.removeAll { $0 == link.member }
    }
    for name in lost { content.objects[name] = nil }
    for (name, var node) in content.objects {
      for (key, members) in node.links {
        node.links[key] = members.filter { !lost.contains($0) }
      }
      if node.values["partCount"] != nil {
        node.values["partCount"] = .integer(Int64(node.links["parts"]?.count ?? 0))
      }
      content.objects[name] = node
    }
    return content
  }

  /// Salvages a damaged store.
  ///
  /// - Parameter body: called at the end with a context of the new store.
  func salvage(
    _ bytes: [UInt8], model: ManagedObjectModel? = nil,
    _ body: (ManagedObjectContext) throws -> Void = { _ in }
  ) throws -> (report: SalvageReport, content: StoreContent, findings: [String]) {
    let files = MemoryFileSystem()
    let file = try files.open(path, .create)
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    let new = "/folder/new.quire"
    let report = try StoreSalvage(of: URL(filePath: path), model: model, in: files)
      .write(to: URL(filePath: new), in: files)
    #expect(files.bytes(of: path) == bytes, "the damaged file was written to")
    let context = try TestStore.open(VersionedModel(self.model), at: URL(filePath: new), in: files)
    defer { try? TestStore.close(context) }
    let found = (report, try StoreContent(context, self.model), try StoreFacts(context).findings)
    try body(context)
    return found
  }
}
