/// Checks the names and texts in a model that the storage of objects does not depend on: limits,
/// derivations, uniqueness constraints, indexes, fetched properties, configurations, templates.
///
/// A model that is declared in a program or read from a file has to pass. A model that a store has
/// kept need not: an earlier release wrote it, and may have checked less.
struct ModelReferences {
  let entities: [String: EntityDescription]

  init(_ entities: [EntityDescription]) {
    self.entities = .init(uniqueKeysWithValues: entities.map { ($0.name, $0) })
  }

  func check(_ model: ModelDeclaration) throws(ModelError) {
    for name in entities.keys.sorted() {
      if let entity = entities[name] { try check(entity) }
    }
    for (name, members) in model.configurations.sorted(by: { $0.key < $1.key }) {
      for member in members where entities[member] == nil {
        throw unknownEntity(member, in: .configuration(name))
      }
    }
    var names: Set<String> = []
    for template in model.fetchRequestTemplates {
      let place = ModelError.Place.template(template.name)
      if !names.insert(template.name).inserted {
        throw ModelError(entity: "", reason: .duplicate(place))
      }
      guard let entity = entities[template.entityName] else {
        throw unknownEntity(template.entityName, in: place)
      }
      try check(template, of: entity, in: place, ownedBy: nil)
    }
  }

  private func unknownEntity(_ name: String, in place: ModelError.Place) -> ModelError {
    ModelError(
      entity: "", reason: .unknownEntity(name, in: place), candidates: entities.keys.sorted())
  }

  private func check(_ entity: EntityDescription) throws(ModelError) {
    for attribute in entity.declaration.attributes { try check(attribute, of: entity) }
    if let (attribute, way) = DerivationCircle(entity).find() {
      let rest = way.isEmpty ? "" : ", by way of \(way.joined(separator: ", "))"
      throw ModelError(
        entity: entity.name,
        reason: .invalid(
          .derivation(attribute: attribute), "\(attribute) is derived from itself\(rest)"))
    }
    for constraint in entity.declaration.uniquenessConstraints {
      if constraint.isEmpty {
        throw ModelError(
          entity: entity.name,
          reason: .empty(.uniquenessConstraint, wanted: "one or more names of properties"))
      }
      for path in constraint { try checkStored(path, of: entity, in: .uniquenessConstraint) }
    }
    var names: Set<String> = []
    for index in entity.declaration.indexes {
      let place = ModelError.Place.index(index.name)
      if !names.insert(index.name).inserted {
        throw ModelError(entity: entity.name, reason: .duplicate(place))
      }
      try check(index, of: entity, in: place)
    }
    for property in entity.declaration.fetchedProperties {
      let place = ModelError.Place.fetchedProperty(property.name)
      guard let destination = entities[property.request.entityName] else {
        var error = unknownEntity(property.request.entityName, in: place)
        error.entity = entity.name
        throw error
      }
      try check(property.request, of: destination, in: place, ownedBy: entity)
    }
  }

  private func check(
    _ index: FetchIndexDescription, of entity: EntityDescription, in place: ModelError.Place
  ) throws(ModelError) {
    if index.elements.isEmpty {
      throw ModelError(
        entity: entity.name, reason: .empty(place, wanted: "one or more names of properties"))
    }
    for element in index.elements {
      if let property = element.property {
        try checkStored(property, of: entity, in: place)
      } else if let text = element.expression {
        try check(expression: text, of: entity, in: place)
      } else {
        throw ModelError(
          entity: entity.name,
          reason: .empty(place, wanted: "elements that have a property or an expression"))
      }
    }
    try check(index.partialIndexPredicate, of: entity, in: place)
  }

  // MARK: Attributes

  private func check(
    _ attribute: AttributeDescription, of entity: EntityDescription
  ) throws(ModelError) {
    func fail(_ place: ModelError.Place, _ message: String) throws(ModelError) {
      throw ModelError(entity: entity.name, reason: .invalid(place, message))
    }
    let validation = attribute.validation
    let limits = ModelError.Place.limits(attribute: attribute.name)
    for text in [validation.minimum, validation.maximum].compactMap({ $0 }) {
      let parts = DecimalParts(text: text)
      if parts == nil { try fail(limits, "“\(text)” is no number") }
      // For these types the limit is a `Double` as well.
      if attribute.type == .double || attribute.type == .float { continue }
      if parts?.decimal == nil {
        try fail(limits, "no decimal number is as large or small as \(text)")
      }
    }
    if let minimum = validation.minimumNumber, let maximum = validation.maximumNumber,
      minimum > maximum
    {
      try fail(limits, "the smallest is \(minimum) and the largest \(maximum): exchange them")
    }
    if let earliest = validation.earliestDate, let latest = validation.latestDate,
      earliest > latest
    {
      try fail(limits, "the earliest date is after the latest: exchange them")
    }
    if let pattern = validation.regularExpression {
      let match = FetchPredicate.comparison(
        .keyPath([attribute.name]), .matches, FetchExpression(pattern))
      do {
        _ = try PredicateEvaluator(match)
      } catch {
        try fail(.pattern(attribute: attribute.name), error.description)
      }
    }
    if let text = attribute.derivationExpression {
      let place = ModelError.Place.derivation(attribute: attribute.name)
      try check(expression: text, of: entity, in: place)
    }
  }

  // MARK: Texts

  /// - Parameter owner: the entity of a fetched property.
  private func check(
    _ request: FetchRequestTemplate, of entity: EntityDescription, in place: ModelError.Place,
    ownedBy owner: EntityDescription?
  ) throws(ModelError) {
    try check(request.predicateFormat, of: entity, in: place, ownedBy: owner)
    for descriptor in request.sortDescriptors {
      try check(descriptor.keyPath, of: entity, in: place, ownedBy: owner ?? entity)
    }
  }

  /// - Parameter owner: the entity of a fetched property, for which `$FETCH_SOURCE` stands.
  private func check(
    _ format: String?, of entity: EntityDescription, in place: ModelError.Place,
    ownedBy owner: EntityDescription? = nil
  ) throws(ModelError) {
    guard let format else { return }
    let predicate: FetchPredicate
    do {
      predicate = try FetchPredicate(format: format)
    } catch {
      throw ModelError(
        entity: (owner ?? entity).name, reason: .invalid(place, error.description))
    }
    for path in predicate.keyPaths {
      try check(path, of: entity, in: place, ownedBy: owner ?? entity)
    }
    guard let owner else { return }
    for path in predicate.paths(ofVariable: "FETCH_SOURCE") {
      try check(path, of: owner, in: place, ownedBy: owner)
    }
  }

  private func check(
    expression text: String, of entity: EntityDescription, in place: ModelError.Place
  ) throws(ModelError) {
    let expression: FetchExpression
    do {
      expression = try FetchExpression(format: text)
    } catch {
      throw ModelError(entity: entity.name, reason: .invalid(place, error.description))
    }
    for path in expression.keyPaths { try check(path, of: entity, in: place, ownedBy: entity) }
  }

  // MARK: Paths

  /// Follows a path as far as the model knows it: through relationships and composite attributes.
  private func check(
    _ path: [String], of entity: EntityDescription, in place: ModelError.Place,
    ownedBy owner: EntityDescription
  ) throws(ModelError) {
    var entity = entity
    for (index, name) in path.enumerated() where CollectionOperator(rawValue: name) == nil {
      if let attribute = entity.attribute(named: name) {
        return try check(path, from: index + 1, inside: attribute, in: place, ownedBy: owner)
      }
      let relationship = entity.relationship(named: name)
      let fetched = entity.fetchedProperty(named: name)
      guard let name = relationship?.destination ?? fetched?.request.entityName,
        let destination = entities[name]
      else {
        throw unknown(
          path, at: index, in: place, ownedBy: owner,
          candidates: entity.propertiesByName.keys.sorted())
      }
      entity = destination
    }
  }

  private func check(
    _ path: [String], from start: Int, inside attribute: AttributeDescription,
    in place: ModelError.Place, ownedBy owner: EntityDescription
  ) throws(ModelError) {
    var attribute = attribute
    for index in start..<path.count where CollectionOperator(rawValue: path[index]) == nil {
      // Properties of values themselves, such as a length, are not in the model.
      if ValueProperty.type(of: path[index], in: ExpressionType(attribute.type)) != nil { return }
      guard let element = attribute.elements.first(where: { $0.name == path[index] }) else {
        throw unknown(
          path, at: index, in: place, ownedBy: owner,
          candidates: attribute.elements.map(\.name).sorted())
      }
      attribute = element
    }
  }

  /// - Parameter candidates: what could stand at the end instead.
  private func unknown(
    _ path: [String], at index: Int, in place: ModelError.Place,
    ownedBy owner: EntityDescription, candidates: [String]
  ) -> ModelError {
    func joined(_ last: String) -> String {
      (path[..<index] + [last]).joined(separator: ".")
    }
    return ModelError(
      entity: owner.name, reason: .unknownProperty(joined(path[index]), in: place),
      candidates: candidates.map(joined))
  }

  /// Checks that the property of an index or a constraint is in the object's own row.
  private func checkStored(
    _ path: String, of entity: EntityDescription, in place: ModelError.Place
  ) throws(ModelError) {
    func unsuitable(_ wanted: String) -> ModelError {
      ModelError(
        entity: entity.name, reason: .unsuitableProperty(path, in: place, wanted: wanted))
    }
    let names = FetchExpression.names(in: path)
    let first = names.first ?? ""
    if let attribute = entity.attribute(named: first) {
      if attribute.isTransient { throw unsuitable("stored attributes, and this is transient") }
      return try check(names, from: 1, inside: attribute, in: place, ownedBy: entity)
    }
    guard let relationship = entity.relationship(named: first) else {
      throw unknown(
        names, at: 0, in: place, ownedBy: entity,
        candidates: (entity.attributes.map(\.name) + entity.relationships.map(\.name)).sorted())
    }
    if relationship.isToMany { throw unsuitable("attributes and to-one relationships") }
    if relationship.isTransient {
      throw unsuitable("stored relationships, and this is transient")
    }
    if names.count > 1 { throw unsuitable("properties of \(entity.name) itself") }
  }
}
