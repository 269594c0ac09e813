import QuireModel

/// The derivation of one derived attribute of an entity.
struct Derivation: Sendable {
  let slot: Int
  let attribute: AttributeDescription
  let expression: FetchExpression
  /// The key paths that the expression reads from the object, without collection operators.
  let paths: [[String]]
  /// The slots of other derived attributes of the object that the expression reads.
  private(set) var derivedSlots: Set<Int> = []
  /// Whether the expression reads only attributes of the object itself, and derived ones among them
  /// only if that holds for them too.
  private(set) var isOwn: Bool

  /// - Returns: `nil` for an attribute that is not derived. A model with an expression that cannot
  ///   be parsed is rejected earlier.
  private init?(_ attribute: AttributeDescription, slot: Int, of entity: EntityDescription) {
    guard !attribute.isTransient, let text = attribute.derivationExpression,
      let expression = try? FetchExpression(format: text)
    else { return nil }
    self.slot = slot
    self.attribute = attribute
    self.expression = expression
    let all = expression.readPaths
    paths = all.map { path in path.filter { CollectionOperator(rawValue: $0) == nil } }
    isOwn = all.allSatisfy { path in path.first.flatMap(entity.attribute(named:)) != nil }
  }

  /// The derivations of an entity, each after those whose values it reads.
  ///
  /// - Parameter attributes: the derived attributes and their slots, in the order of the slots.
  static func ordered(
    _ attributes: [(slot: Int, attribute: AttributeDescription)], of entity: EntityDescription
  ) -> [Derivation] {
    let slots = Dictionary(
      attributes.map { ($0.attribute.name, $0.slot) }, uniquingKeysWith: { first, _ in first })
    var waiting = attributes.compactMap { Derivation($0.attribute, slot: $0.slot, of: entity) }
    for index in waiting.indices {
      waiting[index].derivedSlots = Set(
        waiting[index].paths.compactMap { $0.first.flatMap { slots[$0] } })
    }
    var sorted: [Derivation] = []
    var elsewhere: Set<Int> = []
    while !waiting.isEmpty {
      let open = Set(waiting.map(\.slot))
      // New models with circular derivations are rejected, but a model stored earlier may have one:
      // then each reads the last value of the other.
      var next = waiting.remove(
        at: waiting.firstIndex { $0.derivedSlots.isDisjoint(with: open) } ?? 0)
      next.isOwn = next.isOwn && next.derivedSlots.isDisjoint(with: elsewhere)
      if !next.isOwn { elsewhere.insert(next.slot) }
      sorted.append(next)
    }
    return sorted
  }

  /// The relationship whose links `rel.@count` counts, without reading the destinations; `nil` for
  /// any other expression.
  var countedRelationship: String? {
    guard case .keyPath(let names) = expression, names.count == 2,
      names[1] == FetchExpression.countOperator
    else { return nil }
    return names[0]
  }

  /// The attribute's value for an object.
  ///
  /// - Throws: what evaluating the expression throws; ``PersistenceError/Code/invalidExpression``
  ///   if the result is not a value of the attribute's type.
  func value(for object: any KeyValueCoding) throws -> AttributeValue? {
    try value(from: expression.expressionValue(with: object))
  }

  /// The result of the expression as a value of the attribute.
  func value(from result: Any?) throws -> AttributeValue? {
    guard let result = flattened(result) else {
      return attribute.isOptional ? nil : attribute.defaultValue
    }
    // What is computed may be rounded, as doubles are; what a program sets may not.
    let isRounded = attribute.type == .double || attribute.type == .float
    let whole = isRounded ? (result as? any BinaryInteger).map { Double($0) } : nil
    if let value = AttributeValue(whole ?? result, for: attribute) {
      guard case .integer(let number) = value, let range = attribute.type.integerRange,
        !range.contains(number)
      else { return value }
    }
    throw PersistenceError(
      .invalidExpression,
      "\(attribute.name) is derived from \(expression), which makes "
        + "\(PersistenceError.briefDescription(of: result)): no value of type \(attribute.type)")
  }
}

extension EntityDescription {
  var hasDerivedAttributes: Bool {
    let attributes = attributes
    // By index, as descriptions are large: a loop over them would copy each.
    return attributes.indices.contains { attributes[$0].derivationExpression != nil }
  }
}

/// The dependencies of derived attributes on other objects of the model.
struct DerivationPlan: Sendable {
  /// A dependency of a derived attribute on objects of another entity.
  struct Dependency: Sendable {
    /// The names of properties whose changes affect the value: the inverse that leads back to the
    /// owners, unless it mirrors a foreign key of theirs, and the next property of the path.
    let triggers: Set<String>
    /// The relationships that lead back to the owners, in this order.
    let wayBack: [String]
    let owner: EntityDescription
    let attributeName: String
  }

  /// The dependencies on objects of each entity, by the entity's index.
  let dependencies: [[Dependency]]

  /// - Returns: `nil` when the model has no derived attributes.
  init?(_ bindings: [EntityBinding], _ model: ManagedObjectModel) {
    guard bindings.contains(where: { !$0.derivations.isEmpty }) else { return nil }
    var byName: [String: [Dependency]] = [:]
    for binding in bindings {
      for derivation in binding.derivations
      // Dependencies of the declaring entity include those of its descendants.
      where binding.entity.parent?.attribute(named: derivation.attribute.name) == nil {
        for path in derivation.paths {
          DerivationPlan.follow(path, of: binding.entity, derivation.attribute.name, model) {
            byName[$0, default: []].append($1)
          }
        }
      }
    }
    dependencies = bindings.map { binding in
      var found: [Dependency] = []
      var level: EntityDescription? = binding.entity
      while let entity = level {
        found += byName[entity.name] ?? []
        level = entity.parent
      }
      return found
    }
  }

  /// Whether a change of some slots of an object may change derived values of any object.
  func dependsOn(_ slots: SlotSet, _ binding: EntityBinding) -> Bool {
    if !binding.derivations.isEmpty { return true }
    let names = Set(slots.map(binding.name(of:)))
    return dependencies[binding.index].contains { !names.isDisjoint(with: $0.triggers) }
  }

  /// Whether a new object of an entity may change derived values of any object.
  func readsObjects(of binding: EntityBinding) -> Bool {
    !binding.derivations.isEmpty || !dependencies[binding.index].isEmpty
  }

  /// - Parameter record: called with the entity on whose objects the value depends, and the
  ///   dependency.
  private static func follow(
    _ path: [String], of owner: EntityDescription, _ attributeName: String,
    _ model: ManagedObjectModel, _ record: (String, Dependency) -> Void
  ) {
    var entity = owner
    var wayBack: [String] = []
    for (index, name) in path.enumerated() {
      guard let relationship = entity.relationship(named: name),
        let destination = model.entity(named: relationship.destination),
        // Without an inverse, the owner of the value cannot be found.
        let inverse = relationship.inverse
      else { return }
      wayBack.insert(inverse, at: 0)
      // A link by a foreign key is a change of the row that has it. The inverse is no trigger then:
      // otherwise each row that joins or leaves would affect all rows that refer to the same
      // object, and a save would cost as much as there are of them.
      let isForeignKey = !relationship.isToMany && !relationship.isTransient
      var triggers: Set<String> = isForeignKey ? [] : [inverse]
      if index + 1 < path.count { triggers.insert(path[index + 1]) }
      record(
        destination.name,
        Dependency(
          triggers: triggers, wayBack: wayBack, owner: owner,
          attributeName: attributeName))
      entity = destination
    }
  }
}
