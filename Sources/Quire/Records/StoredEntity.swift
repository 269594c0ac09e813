import QuireModel

/// What a store knows of one concrete entity: its number, how its rows lie, and its link trees.
///
/// Numbers are given once and never reused in a store, so that references stay true when an entity
/// is renamed or another is removed.
final class StoredEntity: Sendable {
  /// A to-many relationship and the number in the name of its tree.
  struct Link: Hashable, Sendable {
    var relationship: String
    var number: UInt16
    var isOrdered: Bool
  }

  let number: UInt16
  let name: String
  /// Entities with a common ancestor draw their keys from one counter, this one.
  let keySpace: UInt16
  let layout: RowLayout
  let links: [Link]
  /// The rows that may have one of the layout's older ones; `nil` when it has none.
  let unfinished: UnfinishedRows?

  init(
    number: UInt16, name: String, keySpace: UInt16, layout: RowLayout, links: [Link],
    unfinished: UnfinishedRows? = nil
  ) {
    self.number = number
    self.name = name
    self.keySpace = keySpace
    self.layout = layout
    self.links = links
    self.unfinished = unfinished
  }

  /// The same entity, its rows in other layouts.
  func with(_ layout: RowLayout, unfinished: UnfinishedRows?) -> StoredEntity {
    StoredEntity(
      number: number, name: name, keySpace: keySpace, layout: layout, links: links,
      unfinished: unfinished)
  }

  /// The tree of the entity's rows; made when the first row is.
  var rowTree: String { "rows/\(number)" }

  func link(named relationship: String) -> Link? { links.first { $0.relationship == relationship } }

  /// The to-many relationships of the entity that a store keeps, in the order of their names.
  static func storedLinks(of entity: EntityDescription) -> [RelationshipDescription] {
    let all = entity.relationships
    // By places, since descriptions are large: a loop over them would copy each.
    return all.indices.filter { all[$0].isToMany && !all[$0].isTransient }
      .sorted { all[$0].name < all[$1].name }.map { all[$0] }
  }
}

extension StoredEntity.Link {
  /// The tree of the links; made when the first link is.
  var tree: String { "links/\(number)" }
}

extension StoredEntity {
  func write(to writer: inout ByteWriter) {
    writer.append(number)
    writer.append(name)
    writer.append(keySpace)
    layout.write(to: &writer)
    writer.append(UInt32(links.count))
    for link in links {
      writer.append(link.relationship)
      writer.append(link.number)
      writer.append(link.isOrdered)
    }
  }

  convenience init(from reader: inout ByteReader) throws(ByteReaderError) {
    let number = try reader.read(UInt16.self)
    let name = try reader.readString()
    let keySpace = try reader.read(UInt16.self)
    let layout = try RowLayout(from: &reader)
    var links: [Link] = []
    for _ in 0..<(try reader.readCount(minimumWidth: 7)) {
      links.append(
        Link(
          relationship: try reader.readString(), number: try reader.read(),
          isOrdered: try reader.readBool()))
    }
    self.init(number: number, name: name, keySpace: keySpace, layout: layout, links: links)
  }
}

extension StoredEntity: Hashable {
  static func == (left: StoredEntity, right: StoredEntity) -> Bool {
    left === right
      || left.number == right.number && left.name == right.name
        && left.keySpace == right.keySpace && left.layout == right.layout
        && left.links == right.links && left.unfinished == right.unfinished
  }

  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension RowLayout {
  func write(to writer: inout ByteWriter) {
    writer.append(number)
    writer.append(UInt32(fields.count))
    for field in fields {
      writer.append(field.name)
      writer.append(field.kind.rawValue)
    }
  }

  convenience init(from reader: inout ByteReader) throws(ByteReaderError) {
    let number = try reader.read(UInt16.self)
    var fields: [RowLayout.Field] = []
    for _ in 0..<(try reader.readCount(minimumWidth: 5)) {
      let name = try reader.readString()
      guard let kind = FieldKind(rawValue: try reader.read()) else {
        throw reader.failure("a kind of field")
      }
      // The order matters: a row's places follow from it.
      if let last = fields.last?.kind, (last.fixedWidth ?? 0) < (kind.fixedWidth ?? 0) {
        throw reader.failure("fields by falling width")
      }
      fields.append(RowLayout.Field(name: name, kind: kind))
    }
    self.init(number: number, fields: fields)
  }
}
