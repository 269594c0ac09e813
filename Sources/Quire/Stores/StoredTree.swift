/// A tree of a store file and what the store keeps in it, for tools that explain files.
package struct StoredTree: Hashable, Sendable {
  /// What a tree holds.
  package enum Content: Hashable, Sendable {
    /// The rows of an entity, without those of its subentities.
    case rows(entity: String)
    /// The destinations of a to-many relationship, from the objects of one entity.
    case links(entity: String, relationship: String)
    /// A fetch index of the entity that declares it.
    case fetchIndex(entity: String, name: String)
    /// The values of a uniqueness constraint.
    case uniquenessConstraint(entity: String, properties: String)
    /// The model, the layouts of rows, metadata and the record of migrations.
    case schema
    /// The last key given to an object, by family of entities.
    case keys
    /// The transactions of the store's history.
    case history
    /// Large values, outside of rows.
    case values
  }

  /// The name in the catalog. A tree without entries need not be there.
  package let name: String
  /// What it holds.
  package let content: Content
}

extension StoredTree {
  /// All trees that a store with this schema may have.
  static func all(of schema: StoreSchema) -> [StoredTree] {
    var trees = [
      StoredTree(name: StoreSchema.tree, content: .schema),
      StoredTree(name: StoreSchema.keysTree, content: .keys),
    ]
    if schema.history != nil {
      trees.append(StoredTree(name: StoreSchema.historyTree, content: .history))
    }
    if schema.hasExternalData {
      trees.append(StoredTree(name: ExternalValue.tree, content: .values))
    }
    for entity in schema.entities {
      trees.append(StoredTree(name: entity.rowTree, content: .rows(entity: entity.name)))
      trees += entity.links.map {
        StoredTree(
          name: $0.tree, content: .links(entity: entity.name, relationship: $0.relationship))
      }
    }
    return trees
      + schema.indexes.map { index in
        StoredTree(
          name: index.tree,
          content: index.kind == .fetch
            ? .fetchIndex(entity: index.entityName, name: index.name)
            : .uniquenessConstraint(entity: index.entityName, properties: index.name))
      }
  }
}
