import QuireModel

/// A store's description of one concrete entity: its number, the layout of its rows, and its link
/// trees.
///
/// Numbers are never reused in a store, so that references stay valid when an entity is renamed or
/// another is removed.
final class StoredEntity: Sendable {
  /// A to-many relationship and the number in the name of its tree.
  struct Link: Hashable, Sendable {
    var relationship: String
    var number: UInt16
    var isOrdered: Bool
  }

  let number: UInt16
  let name: String
  /// The number of the counter from which the entity's keys are drawn, common to all entities with
  /// the same root.
  let keySpace: UInt16
  let layout: RowLayout
  let links: [Link]
  /// The rows that may have an older layout; `nil` if there are none.
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

  /// The same entity with other layouts of its rows.
  func with(_ layout: RowLayout, unfinished: UnfinishedRows?) -> StoredEntity {
    StoredEntity(
      number: number, name: name, keySpace: keySpace, layout: layout, links: links,
      unfinished: unfinished)
  }

  /// The name of the tree of the entity's rows, which is created with the first row.
  var rowTree: String { "rows/\(number)" }

  func link(named relationship: String) -> Link? { links.first { $0.relationship == relationship } }

  /// The stored to-many relationships of an entity, sorted by name.
  static func storedLinks(of entity: EntityDescription) -> [RelationshipDescription] {
    let all = entity.relationships
    // By index, as descriptions are large: a loop over them would copy each.
    return all.indices.filter { all[$0].isToMany && !all[$0].isTransient }
      .sorted { all[$0].name < all[$1].name }.map { all[$0] }
  }
}

extension StoredEntity.Link {
  /// The name of the tree of the links, which is created with the first link.
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
      // The order matters: the offsets of fields follow from it.
      if let last = fields.last?.kind, (last.fixedWidth ?? 0) < (kind.fixedWidth ?? 0) {
        throw reader.failure("fields by falling width")
      }
      fields.append(RowLayout.Field(name: name, kind: kind))
    }
    self.init(number: number, fields: fields)
  }
}
