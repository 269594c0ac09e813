import QuireModel

/// How one derived attribute of an entity is worked out.
struct Derivation: Sendable {
  let slot: Int
  let attribute: AttributeDescription
  let expression: FetchExpression
  /// What the expression reads, from the object on, without collection operators.
  let paths: [[String]]
  /// The slots of other derived attributes of the object that it reads.
  private(set) var derivedSlots: Set<Int> = []
  /// Whether it reads nothing but attributes of the object itself that come of nothing else.
  private(set) var isOwn: Bool

  /// - Returns: `nil` for an attribute that is not derived. A model does not come into being with
  ///   an expression that cannot be read.
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

  /// The derivations of an entity, each behind those whose values it reads.
  ///
  /// - Parameter attributes: the derived ones with their slots, in the order of these.
  static func ordered(
    _ attributes: [(slot: Int, attribute: AttributeDescription)], of entity: EntityDescription
  ) -> [Derivation] {
    let slots = Dictionary(
      attributes.map { ($0.attribute.name, $0.slot) }, uniquingKeysWith: { first, _ in first })
    var waiting = attributes.compactMap { Derivation($0.attribute, slot: $0.slot, of: entity) }
    for place in waiting.indices {
      waiting[place].derivedSlots = Set(
        waiting[place].paths.compactMap { $0.first.flatMap { slots[$0] } })
    }
    var placed: [Derivation] = []
    var elsewhere: Set<Int> = []
    while !waiting.isEmpty {
      let open = Set(waiting.map(\.slot))
      // Circles are refused when a model is made, but one that a store has kept may have some:
      // there each reads what the one before has left.
      var next = waiting.remove(
        at: waiting.firstIndex { $0.derivedSlots.isDisjoint(with: open) } ?? 0)
      next.isOwn = next.isOwn && next.derivedSlots.isDisjoint(with: elsewhere)
      if !next.isOwn { elsewhere.insert(next.slot) }
      placed.append(next)
    }
    return placed
  }

  /// Of `rel.@count` the relationship: its links are counted, and nobody reads what they lead to.
  var countedRelationship: String? {
    guard case .keyPath(let names) = expression, names.count == 2,
      names[1] == FetchExpression.countOperator
    else { return nil }
    return names[0]
  }

  /// The attribute's value for an object.
  ///
  /// - Throws: what evaluating the expression throws;
  ///   ``PersistenceError/Code/invalidExpression`` when what comes out is no value of the
  ///   attribute's type.
  func value(for object: any KeyValueCoding) throws -> AttributeValue? {
    try value(from: expression.expressionValue(with: object))
  }

  /// What came out of the expression, as the attribute's value.
  func value(from result: Any?) throws -> AttributeValue? {
    guard let result = flattened(result) else {
      return attribute.isOptional ? nil : attribute.defaultValue
    }
    if let value = AttributeValue(result, for: attribute) {
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
    // By places, since descriptions are large: a loop over them would copy each.
    return attributes.indices.contains { attributes[$0].derivationExpression != nil }
  }
}

/// All that has to be known of derived attributes to keep them right: whose values depend on what.
struct DerivationPlan: Sendable {
  /// Something that derived values of other objects are made of.
  struct Dependency: Sendable {
    /// The properties that matter when they change, by name: the way back to the owners, unless
    /// their foreign keys say the same, and what comes next on the way there.
    let triggers: Set<String>
    /// The relationships that lead back to the owners, one after the other.
    let wayBack: [String]
    let owner: EntityDescription
    let attributeName: String
  }

  /// By the index of the entity whose objects others depend on.
  let dependencies: [[Dependency]]

  /// - Returns: `nil` when the model has no derived attributes.
  init?(_ bindings: [EntityBinding], _ model: ManagedObjectModel) {
    guard bindings.contains(where: { !$0.derivations.isEmpty }) else { return nil }
    var byName: [String: [Dependency]] = [:]
    for binding in bindings {
      for derivation in binding.derivations
      // Where it is declared: that goes for descendants, too.
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

  /// Whether derived values, of whatever objects, may be others when some slots of an object are.
  func dependsOn(_ slots: SlotSet, _ binding: EntityBinding) -> Bool {
    if !binding.derivations.isEmpty { return true }
    let names = Set(slots.map(binding.name(of:)))
    return dependencies[binding.index].contains { !names.isDisjoint(with: $0.triggers) }
  }

  /// Whether derived values, of whatever objects, may be others when there is one more object of an
  /// entity.
  func readsObjects(of binding: EntityBinding) -> Bool {
    !binding.derivations.isEmpty || !dependencies[binding.index].isEmpty
  }

  /// - Parameter note: is told the entity that something depends on, and how.
  private static func follow(
    _ path: [String], of owner: EntityDescription, _ attributeName: String,
    _ model: ManagedObjectModel, _ note: (String, Dependency) -> Void
  ) {
    var entity = owner
    var wayBack: [String] = []
    for (index, name) in path.enumerated() {
      guard let relationship = entity.relationship(named: name),
        let destination = model.entity(named: relationship.destination),
        // Without a way back nobody can tell whose value it is.
        let inverse = relationship.inverse
      else { return }
      wayBack.insert(inverse, at: 0)
      // Who is led here by a foreign key of its own is changed when that is. To ask all who are
      // for whoever comes or goes would make a save cost what the owner has.
      let isForeignKey = !relationship.isToMany && !relationship.isTransient
      var triggers: Set<String> = isForeignKey ? [] : [inverse]
      if index + 1 < path.count { triggers.insert(path[index + 1]) }
      note(
        destination.name,
        Dependency(
          triggers: triggers, wayBack: wayBack, owner: owner,
          attributeName: attributeName))
      entity = destination
    }
  }
}
