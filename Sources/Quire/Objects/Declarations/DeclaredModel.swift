import QuireModel

/// The model that classes declare.
///
/// A class is an entity, its superclass the parent, its typed properties the properties; what these
/// say of themselves (``PropertyDeclaration``) and what the class says beside them
/// (``ManagedObject/entityDeclaration``) make the rest.
struct DeclaredModel {
  private struct DeclaredEntity {
    let type: ManagedObject.Type
    var entity: Entity
    /// What is known of the inverses of its relationships, in their order.
    var inverses: [PropertyDeclaration.Inverse] = []

    var className: String { ClassNames.name(of: type) }
  }

  private var entities: [DeclaredEntity] = []
  private var errors: [PersistenceError] = []

  /// - Parameter classes: with them come their superclasses, and all classes that relationships
  ///   refer to.
  /// - Throws: ``PersistenceError/Code/coreData`` (134060) with one error for each mistake in
  ///   ``PersistenceError/detailedErrors``.
  static func declaration(of classes: [ManagedObject.Type]) throws -> ModelDeclaration {
    var model = DeclaredModel()
    for type in self.classes(of: classes) { model.declare(type) }
    try model.throwErrors()
    try model.findInverses()
    try model.throwErrors()
    model.findMissingInverses(in: try ManagedObjectModel(model.declaration))
    try model.throwErrors()
    return model.declaration
  }

  private var declaration: ModelDeclaration {
    var declaration = ModelDeclaration()
    declaration.entities = entities.map(\.entity)
    return declaration
  }

  /// The classes, their superclasses, and those that relationships refer to.
  static func classes(of classes: [ManagedObject.Type]) -> [ManagedObject.Type] {
    var found: [ManagedObject.Type] = []
    var known: Set<ObjectIdentifier> = [ObjectIdentifier(ManagedObject.self)]
    var open = classes
    while !open.isEmpty {
      let type = open.removeFirst()
      guard known.insert(ObjectIdentifier(type)).inserted else { continue }
      found.append(type)
      let declared = DeclaredClass.of(type)
      if let superclass = declared.superclass { open.append(superclass) }
      for property in declared.ownProperties {
        if let destination = property.type.destination { open.append(destination) }
      }
    }
    return found
  }

  private static func ancestors(of type: ManagedObject.Type) -> [ManagedObject.Type] {
    guard let superclass = DeclaredClass.of(type).superclass else { return [] }
    return [superclass] + ancestors(of: superclass)
  }

  // MARK: Entities

  private mutating func declare(_ type: ManagedObject.Type) {
    let declared = DeclaredClass.of(type)
    var new = DeclaredEntity(type: type, entity: Entity(type.modelEntityName))
    if let own = type.entityDeclaration {
      if own.name == type.modelEntityName {
        new.entity = own
      } else if !Self.ancestors(of: type).contains(where: { $0.modelEntityName == own.name }) {
        fail(
          new, nil,
          "has an entityDeclaration of \(own.name), which is the entity neither of the class nor of "
            + "a superclass: name \(type.modelEntityName)")
      }
    }
    if let superclass = declared.superclass { new.entity.parent = superclass.modelEntityName }
    // What it says in its own words comes after what its properties say.
    var (attributes, relationships) = (new.entity.attributes, new.entity.relationships)
    (new.entity.attributes, new.entity.relationships) = ([], [])
    if declared.hidesProperties {
      fail(
        new, nil,
        "has a mirror of its own (CustomReflectable), in which its properties are not found: "
          + "describe objects by description")
    }
    for property in declared.ownProperties {
      if let index = attributes.firstIndex(where: { $0.name == property.name }) {
        add(property, as: attributes.remove(at: index), to: &new)
      } else if let index = relationships.firstIndex(where: { $0.name == property.name }) {
        add(property, as: relationships.remove(at: index), to: &new)
      } else {
        add(property, to: &new)
      }
    }
    new.entity.attributes += attributes
    for relationship in relationships {
      new.entity.relationships.append(relationship)
      new.inverses.append(relationship.inverse.map { .named($0) } ?? .unsaid)
    }
    entities.append(new)
  }

  private mutating func add(_ property: DeclaredClass.Property, to new: inout DeclaredEntity) {
    if let destination = property.type.destination {
      addRelationship(property, to: destination, of: &new)
    } else {
      addAttribute(property, to: &new)
    }
  }

  private mutating func addAttribute(
    _ property: DeclaredClass.Property, to new: inout DeclaredEntity
  ) {
    guard let type = property.type.attributeType else {
      return fail(
        new, property.name,
        "is declared as \(property.type.name), which says no type of attribute: conform it to "
          + "ManagedAttribute, with attributeTypes, or to TransformableValue")
    }
    var attribute = AttributeDescription(property.name, type)
    var options: AttributeOptions = []
    if case .attribute(let description, let declaredOptions)? = property.declaration?.kind {
      (attribute, options) = (description, declaredOptions)
      (attribute.name, attribute.type) = (property.name, type)
    }
    attribute.isOptional = property.type.isOptional
    switch property.defaultValue {
    case .constant(let value): attribute.defaultValue = value
    case .none, .computed: break
    case .failed(let error):
      fail(new, property.name, "has a default value that cannot be kept: \(error)")
    }
    new.entity.attributes.append(attribute)
    if options.contains(.unique) { new.entity.uniquenessConstraints.append([property.name]) }
    if options.contains(.indexed) {
      let name = property.name.prefix(1).uppercased() + property.name.dropFirst()
      new.entity.indexes.append(
        FetchIndexDescription("by\(name)", [FetchIndexDescription.Element(property.name)]))
    }
  }

  private mutating func addRelationship(
    _ property: DeclaredClass.Property, to destination: ManagedObject.Type,
    of new: inout DeclaredEntity
  ) {
    guard destination != ManagedObject.self else {
      return fail(
        new, property.name,
        "refers to ManagedObject, which is no entity's class: name the class of the destinations")
    }
    var relationship = RelationshipDescription(property.name, toMany: "")
    var inverse = PropertyDeclaration.Inverse.unsaid
    if case .relationship(let description, let declaredInverse)? = property.declaration?.kind {
      (relationship, inverse) = (description, declaredInverse)
      relationship.name = property.name
    }
    relationship.destination = destination.modelEntityName
    switch property.type.kind {
    case .array: relationship.isOrdered = true
    case .object:
      relationship.maxCount = 1
      relationship.isOptional = property.type.isOptional
    case .set, .attribute, .transformable, .unknown: break
    }
    if case .named(let name) = inverse { relationship.inverse = name }
    new.entity.relationships.append(relationship)
    new.inverses.append(inverse)
  }

  // MARK: Properties that are said in the words of models

  /// Adds a property of which the class says everything in ``ManagedObject/entityDeclaration``.
  private mutating func add(
    _ property: DeclaredClass.Property, as attribute: AttributeDescription,
    to new: inout DeclaredEntity
  ) {
    let isRight =
      switch property.type.kind {
      case .attribute(let types): types.isEmpty || types.contains(attribute.type)
      case .transformable: attribute.type == .transformable
      case .object, .set, .array: false
      case .unknown: true
      }
    if isRight {
      failIfSaidTwice(property, new)
    } else {
      fail(
        new, property.name,
        "is declared as \(property.type.name), and entityDeclaration has an attribute of the type "
          + "\(attribute.type)")
    }
    new.entity.attributes.append(attribute)
  }

  /// The same of a relationship. Without an inverse it has none.
  private mutating func add(
    _ property: DeclaredClass.Property, as relationship: RelationshipDescription,
    to new: inout DeclaredEntity
  ) {
    let isRight =
      switch property.type.kind {
      case .object: !relationship.isToMany
      case .set: relationship.isToMany && !relationship.isOrdered
      case .array: relationship.isToMany
      case .attribute, .transformable, .unknown: false
      }
    if isRight, property.type.destination?.modelEntityName == relationship.destination {
      failIfSaidTwice(property, new)
    } else {
      let order = relationship.isOrdered ? ", ordered" : ""
      fail(
        new, property.name,
        "is declared as \(property.type.name), and entityDeclaration has a relationship to "
          + (relationship.isToMany ? "many of" : "one") + " \(relationship.destination)\(order)")
    }
    new.entity.relationships.append(relationship)
    new.inverses.append(relationship.inverse.map { .named($0) } ?? .none)
  }

  private mutating func failIfSaidTwice(
    _ property: DeclaredClass.Property, _ entity: DeclaredEntity
  ) {
    guard property.declaration != nil else { return }
    fail(
      entity, property.name,
      "is said twice: write @Managed var alone, as entityDeclaration says everything of it")
  }

  // MARK: Inverses

  /// A model of classes in which relationships have no inverses, and mistakes are passed over: for
  /// what has to be known before there is a model.
  static func withoutInverses(
    of classes: [ManagedObject.Type]
  ) throws -> (ModelBinding, ObjectClasses) {
    var model = DeclaredModel()
    for type in self.classes(of: classes) { model.declare(type) }
    return try model.bindingWithoutInverses()
  }

  private func bindingWithoutInverses() throws -> (ModelBinding, ObjectClasses) {
    var declaration = declaration
    for index in declaration.entities.indices {
      for position in declaration.entities[index].relationships.indices {
        declaration.entities[index].relationships[position].inverse = nil
      }
    }
    let model = ModelBinding(try ManagedObjectModel(unchecked: declaration), [:])
    return (model, model.classes(entities.map(\.type)))
  }

  /// Finds the names of inverses that are said by key paths: by objects of a model that has none of
  /// them yet.
  private mutating func findInverses() throws {
    guard entities.contains(where: { $0.inverses.contains(where: \.isPath) }) else { return }
    let (model, objectClasses) = try bindingWithoutInverses()
    for index in entities.indices {
      for (position, inverse) in entities[index].inverses.enumerated() {
        guard case .path(let path) = inverse else { continue }
        let relationship = entities[index].entity.relationships[position]
        guard let destination = model.entity(named: relationship.destination) else { continue }
        do {
          let names = try path.names(destination, model, objectClasses)
          guard names.count == 1, destination.entity.relationship(named: names[0]) != nil else {
            fail(
              entities[index], relationship.name,
              "has the inverse \(names.joined(separator: ".")), which is no relationship of "
                + destination.entity.name)
            continue
          }
          entities[index].entity.relationships[position].inverse = names[0]
        } catch {
          fail(entities[index], relationship.name, "has an inverse that is not found: \(error)")
        }
      }
    }
  }

  /// Two relationships that refer to each other's entities, of which nothing says whether they are
  /// each other's inverse: one that changes without the other is seldom meant.
  ///
  /// - Parameter model: which has completed the inverses that one side says.
  private mutating func findMissingInverses(in model: ManagedObjectModel) {
    var open: [(entity: DeclaredEntity, relationship: RelationshipDescription)] = []
    for entity in entities {
      for (relationship, inverse) in zip(entity.entity.relationships, entity.inverses) {
        let resolved = model.entity(named: entity.entity.name)?
          .relationship(named: relationship.name)
        if case .unsaid = inverse, resolved?.inverse == nil { open.append((entity, relationship)) }
      }
    }
    for (index, one) in open.enumerated() {
      let other = open[(index + 1)...].first { other in
        one.relationship.destination == other.entity.entity.name
          && other.relationship.destination == one.entity.entity.name
      }
      guard let other else { continue }
      let path = "\(other.entity.className).\(other.relationship.name)"
      fail(
        one.entity, one.relationship.name,
        "and \(path) refer to each other's classes: write @Managed(inverse: \\\(path)) if they are "
          + "two sides of one relationship, @Managed(inverse: nil) if they are not")
    }
  }

  // MARK: Errors

  private mutating func fail(_ entity: DeclaredEntity, _ property: String?, _ words: String) {
    let subject = property.map { "\(entity.className).\($0)" } ?? entity.className
    var error = PersistenceError(.coreData, "\(subject) \(words)")
    error.entityName = entity.entity.name
    error.key = property
    errors.append(error)
  }

  private func throwErrors() throws(PersistenceError) {
    guard !errors.isEmpty else { return }
    var error = PersistenceError(
      .coreData,
      errors.count == 1
        ? "a class declares what cannot be a model"
        : "classes declare what cannot be a model, in \(errors.count) places")
    error.detailedErrors = errors
    throw error
  }
}
