/// Follows key paths through a model to find the type of the value at their end.
package struct PathCheck {
  /// Finds the entities of the model by their names.
  let entities: (String) -> EntityDescription?

  package init(entities: @escaping (String) -> EntityDescription?) { self.entities = entities }

  /// - Throws: ``PredicateMistake`` where a name does not exist, or is that of a transient
  ///   property.
  package func type(
    of names: [String], from start: ExpressionType
  ) throws(PredicateMistake) -> ExpressionType {
    guard !names.isEmpty else { return start }
    var owner: String?
    if case .object(let entity) = start.element { owner = entity }
    return try Walk(names: names, owner: owner, entities: entities).type(from: start, at: 0)
  }

  /// The first name of a path after which members have no order; `nil` if they have one, or are
  /// not known.
  func unorderedName(in names: [String], from start: ExpressionType) -> String? {
    guard case .object(var entityName?) = start.element else { return nil }
    for name in names {
      guard let relationship = entities(entityName)?.relationship(named: name) else { return nil }
      if relationship.isToMany, !relationship.isOrdered { return name }
      entityName = relationship.destination
    }
    return nil
  }
}

/// One key path.
private struct Walk {
  let names: [String]
  /// The name of the entity that it begins at.
  let owner: String?
  let entities: (String) -> EntityDescription?

  private var path: String { names.joined(separator: ".") }

  func type(
    from start: ExpressionType, at index: Int
  ) throws(PredicateMistake) -> ExpressionType {
    var type = start
    var index = index
    while index < names.count {
      let name = names[index]
      if case .unknown = type { return .unknown }
      if let operation = CollectionOperator(rawValue: name) {
        return try result(of: operation, on: type, at: index)
      }
      if name == "self" {
        index += 1
        continue
      }
      let isCollection = type.isCollection
      let next: ExpressionType
      switch type.element {
      case .object(let entity?):
        // The names inside of an attribute are taken in the same step.
        (next, index) = try property(of: entity, at: index)
      case .object(nil), .unknown, .absent: return .unknown
      case let value:
        guard let property = ValueProperty.type(of: name, in: value) else {
          throw unknown(
            "\(path) asks \(value) for \(name), which it does not have", name,
            ValueProperty.names(of: value))
        }
        (next, index) = (property, index + 1)
      }
      type = isCollection ? .collection(next.element) : next
      // `@count` counts the members of each, where relationships follow each other.
      if isCollection, next.isCollection, index == names.count - 1,
        names[index] == FetchExpression.countOperator
      {
        return .collection(.number)
      }
      if isCollection, !next.isCollection, index < names.count,
        names[index] == FetchExpression.countOperator
      {
        throw mistake(
          "counts \(names[index - 1]), which is no to-many relationship: put @count after the "
            + "relationship itself")
      }
    }
    return type
  }

  /// - Returns: the type of a property of an entity, and the index of the next name of the path.
  private func property(
    of entityName: String, at index: Int
  ) throws(PredicateMistake) -> (ExpressionType, Int) {
    let name = names[index]
    guard let entity = entities(entityName) else { return (.unknown, names.count) }
    if let attribute = entity.attribute(named: name) {
      if attribute.isTransient { throw transient(name, in: entity) }
      return try type(inside: attribute, of: entity, at: index + 1)
    }
    if let relationship = entity.relationship(named: name) {
      if relationship.isTransient { throw transient(name, in: entity) }
      let type = ExpressionType.object(entity: relationship.destination)
      return (relationship.isToMany ? .collection(type) : type, index + 1)
    }
    if name == FetchExpression.objectIDName { return (.object(entity: entity.name), index + 1) }
    if name == FetchExpression.entityName {
      // An entity is its name.
      let hasName = index + 1 < names.count && names[index + 1] == "name"
      return (.text, index + (hasName ? 2 : 1))
    }
    if entity.fetchedProperty(named: name) != nil {
      throw PredicateMistake(
        .transient,
        "\(path) refers to the fetched property \(entity.name).\(name), which no store has: write "
          + "its predicate here, or ask the objects by evaluate(with:)",
        entityName: entity.name, key: name)
    }
    throw unknown(
      "the key path \(path) asks \(entity.name) for \(name), which it does not have", name,
      entity.attributes.map(\.name) + entity.relationships.map(\.name), entity.name)
  }

  /// Elements of composite attributes, as deep as they go.
  private func type(
    inside attribute: AttributeDescription, of entity: EntityDescription, at index: Int
  ) throws(PredicateMistake) -> (ExpressionType, Int) {
    var (attribute, index) = (attribute, index)
    while attribute.type == .composite, index < names.count {
      let name = names[index]
      guard let element = attribute.elements.first(where: { $0.name == name }) else {
        throw unknown(
          "the key path \(path) asks \(entity.name).\(attribute.name) for \(name), which it does not "
            + "have", name, attribute.elements.map(\.name), entity.name)
      }
      (attribute, index) = (element, index + 1)
    }
    let isOpaque = attribute.type == .transformable && attribute.valueTransformerName == nil
    return (isOpaque ? .transformed : ExpressionType(attribute.type), index)
  }

  // MARK: Operators

  private func result(
    of operation: CollectionOperator, on type: ExpressionType, at index: Int
  ) throws(PredicateMistake) -> ExpressionType {
    guard case .collection(let element) = type else {
      if type == .absent { return .unknown }
      throw mistake(
        "has \(operation.rawValue), which needs a to-many relationship or another collection before it, "
          + "but there is \(type)")
    }
    if operation == .count {
      if index + 1 == names.count { return .number }
      throw mistake("asks a number for \(names[index + 1]): nothing follows @count")
    }
    let value = try self.type(from: element, at: index + 1).element
    switch operation {
    case .count: return .number
    case .sum, .average:
      guard value.may(be: .number) else {
        throw mistake("has \(operation.rawValue), which adds numbers, but finds \(value)")
      }
      return .number
    case .minimum, .maximum:
      if case .object = value {
        throw mistake("has \(operation.rawValue), and objects have no order")
      }
      return value
    case .unionOfObjects, .distinctUnionOfObjects, .unionOfArrays, .distinctUnionOfArrays,
      .unionOfSets, .distinctUnionOfSets:
      return .collection(value)
    }
  }

  // MARK: Mistakes

  private func mistake(_ message: String) -> PredicateMistake {
    PredicateMistake(
      .type, "\(path)\(owner.map { " of \($0)" } ?? "") \(message)", entityName: owner, key: path)
  }

  private func transient(_ name: String, in entity: EntityDescription) -> PredicateMistake {
    PredicateMistake(
      .transient,
      "the key path \(path) of a fetch refers to \(entity.name).\(name), which is transient: no "
        + "store has it. Fetch without it, and ask the objects by evaluate(with:)",
      entityName: entity.name, key: name)
  }

  private func unknown(
    _ message: String, _ name: String, _ candidates: [String], _ entityName: String? = nil
  ) -> PredicateMistake {
    if let reason = UnfoundName.reason(in: name) {
      return PredicateMistake(.name, reason, entityName: entityName, key: nil)
    }
    let near = NearMisses.of(name, among: candidates)
    let hint = near.isEmpty ? "" : "; is \(near.joined(separator: " or ")) meant?"
    return PredicateMistake(.name, message + hint, entityName: entityName, key: name)
  }
}
