import QuireModel

/// The tables in which a store would keep the objects of a model, with columns for attributes and
/// to-one relationships.
///
/// A table is named `Z` and the name of its root entity in capitals; a column `Z` and the
/// property's name. Where entities of one hierarchy have properties of the same name, later ones,
/// in the order of entity numbers, get a number after it.
struct CoreDataLayout {
  /// A property as an entity declares it; the path of an element of a composite attribute has
  /// several names.
  struct Property: Hashable {
    var entity: String
    var path: [String]
  }

  struct Column {
    var property: Property
    /// The possible names of the column, the likeliest first.
    var names: [String]
    /// The declared type, where it is certain.
    var type: String?
  }

  struct Table {
    var name: String
    var root: EntityDescription
    /// The root and all its descendants.
    var family: [EntityDescription]
    var columns: [Column]
  }

  let model: ManagedObjectModel
  let tables: [Table]

  /// - Parameters:
  ///   - entities: the store's, by the model's names.
  ///   - tables: the store's: that of a renamed entity may have the former name.
  init(
    of model: ManagedObjectModel, _ entities: CoreDataEntityTable, tables: [String: SQLiteTable]
  ) {
    self.model = model
    let numbers = entities.numbers
    self.tables = model.entities.filter { $0.parent == nil }.map { root in
      let family = model.family(of: root)
      let byNumber = family.sorted { numbers[$0.name] ?? .max < numbers[$1.name] ?? .max }
      let names = [root.name, entities.formerNames[root.name] ?? root.name]
        .map { "Z" + $0.sqlName }
      return Table(
        name: names.first { tables[$0] != nil } ?? names[0], root: root, family: family,
        columns: Self.columns(of: byNumber))
    }
  }

  private static func columns(of family: [EntityDescription]) -> [Column] {
    var result: [Column] = []
    var taken: Set<String> = []
    func add(_ entity: EntityDescription, _ path: [String], type: String?) {
      var names = [path.map(\.sqlName).joined(separator: "_")]
      if path.count > 1 { names.append(path.map(\.sqlName).joined()) }
      var name = "Z" + names[0]
      var suffix = 0
      while !taken.insert(name).inserted {
        suffix += 1
        name = "Z\(names[0])\(suffix)"
      }
      names = [name] + names.dropFirst().map { "Z" + $0 }
      result.append(
        Column(property: Property(entity: entity.name, path: path), names: names, type: type))
    }
    func add(_ entity: EntityDescription, _ attribute: AttributeDescription, in path: [String]) {
      let path = path + [attribute.name]
      if attribute.type == .composite {
        for element in attribute.elements { add(entity, element, in: path) }
      } else {
        add(entity, path, type: attribute.type.coreDataColumnType)
      }
    }
    for entity in family {
      for attribute in entity.declaration.attributes where !attribute.isTransient {
        add(entity, attribute, in: [])
      }
      for relationship in entity.declaration.relationships
      where !relationship.isToMany && !relationship.isTransient {
        add(entity, [relationship.name], type: "INTEGER")
      }
    }
    return result
  }
}

extension AttributeType {
  /// The type with which Core Data declares a column, where real stores show it.
  fileprivate var coreDataColumnType: String? {
    switch self {
    case .integer16, .integer32, .integer64, .boolean: "INTEGER"
    case .decimal: "DECIMAL"
    case .double, .float: "FLOAT"
    case .string: "VARCHAR"
    case .date: "TIMESTAMP"
    case .binaryData: "BLOB"
    case .undefined, .uuid, .uri, .transformable, .objectID, .composite: nil
    }
  }
}

extension EntityDescription {
  /// The entity and its ancestors, nearest first.
  var lineage: [EntityDescription] {
    var result = [self]
    while let parent = result[result.count - 1].parent { result.append(parent) }
    return result
  }

  /// The entity, this one or an ancestor, that declares a relationship.
  func declarer(ofRelationship name: String) -> EntityDescription? {
    lineage.first { $0.declaration.relationships.contains { $0.name == name } }
  }
}
