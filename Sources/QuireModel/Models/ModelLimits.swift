extension ManagedObjectModel {
  /// The largest number of ancestors of an entity.
  public static let maximumAncestorCount = 200
  /// The deepest nesting of composite attributes, and of default values for them.
  public static var maximumCompositeDepth: Int { ModelArchiveFormat.maximumDepth }
  /// The largest number of properties, indexes and constraints of all entities of a model together.
  /// Inherited ones count for each entity that has them, and elements of composites count.
  public static let maximumPropertyCount = 250_000
}

/// Keeps models in bounds within which resolving one takes time proportional to its properties, and
/// within which code may call itself for each parent or element.
///
/// A few kilobytes of text can describe a model that has more properties than memory holds, since
/// each entity has those of its ancestors.
struct ModelLimits {
  private let declarations: [Entity]
  private let parents: [Int?]

  /// - Parameter parents: the positions of parents among the declarations.
  init(_ declarations: [Entity], parents: [Int?]) {
    self.declarations = declarations
    self.parents = parents
  }

  /// - Throws: ``ModelError`` with ``ModelError/Reason/limit(_:)`` or, when an entity is among its
  ///   own ancestors, ``ModelError/Reason/parentCycle``.
  func check() throws(ModelError) {
    var ownCounts: [Int] = []
    for entity in declarations { ownCounts.append(try count(entity)) }
    let most = ManagedObjectModel.maximumPropertyCount
    var sum = 0
    for (index, entity) in declarations.enumerated() {
      for level in try lineage(of: index) { sum += ownCounts[level] }
      if sum > most {
        throw ModelError(
          entity: entity.name,
          reason: .limit(
            "brings the model over \(most) properties, indexes and constraints, of which inherited "
              + "ones and elements of composites count"))
      }
    }
  }

  private func lineage(of index: Int) throws(ModelError) -> [Int] {
    let most = ManagedObjectModel.maximumAncestorCount
    var result = [index]
    var seen: Set<Int> = [index]
    while let parent = parents[result[result.count - 1]] {
      let name = declarations[index].name
      if !seen.insert(parent).inserted { throw ModelError(entity: name, reason: .parentCycle) }
      if result.count > most {
        throw ModelError(entity: name, reason: .limit("has more than \(most) ancestors"))
      }
      result.append(parent)
    }
    return result
  }

  /// The number of an entity's own properties, indexes and constraints.
  private func count(_ entity: Entity) throws(ModelError) -> Int {
    let most = ManagedObjectModel.maximumCompositeDepth
    var count = entity.relationships.count + entity.fetchedProperties.count
    count += entity.indexes.reduce(0) { $0 + 1 + $1.elements.count }
    count += entity.uniquenessConstraints.reduce(0) { $0 + 1 + $1.count }
    // Level by level rather than recursively: how deep elements go is what is found out.
    var level = entity.attributes
    var depth = 0
    while !level.isEmpty {
      count += level.count
      // An outermost attribute is no element, and so at no depth.
      if depth > most || level.contains(where: { $0.defaultValue?.isNested(over: most) == true }) {
        throw ModelError(
          entity: entity.name,
          reason: .limit("has composites that are nested more than \(most) deep"))
      }
      if count > ManagedObjectModel.maximumPropertyCount { break }
      level = level.flatMap(\.elements)
      depth += 1
    }
    return count
  }
}

extension AttributeValue {
  /// Whether composites are nested in the value deeper than that.
  package func isNested(over most: Int) -> Bool {
    var level = [self]
    var depth = 0
    while depth <= most {
      level = level.flatMap { value -> [AttributeValue] in
        if case .composite(let elements) = value { Array(elements.values) } else { [] }
      }
      if level.isEmpty { return false }
      depth += 1
    }
    return true
  }
}
