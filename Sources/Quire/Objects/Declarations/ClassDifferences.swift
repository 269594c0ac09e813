import QuireModel

/// What classes declare otherwise than the model of their entities.
///
/// A typed property cannot throw. One that the model does not have, or has of another type, would
/// read as empty, and the error would come with the next fetch or save; so all of them are looked
/// at before there is a store.
struct ClassDifferences {
  /// Names and types. A use of such a property would be an error, too.
  private(set) var errors: [PersistenceError] = []
  /// What a property says beyond its name and type, such as a default. No use of it would fail.
  private(set) var declarationErrors: [PersistenceError] = []
  /// Subentities without a class of their own share one; a property differs once.
  private var seen: Set<[String]> = []

  /// - Parameter types: of the entities, in their order.
  init(_ entities: [EntityBinding], _ types: [ManagedObject.Type]) {
    for (binding, type) in zip(entities, types) where type != ManagedObject.self {
      for property in DeclaredClass.of(type).properties {
        let slot = binding.slot(named: property.name)
        let typeWords = difference(property, binding, entities, types)
          .map { "is declared as \(property.type.name), " + $0 }
        guard
          let words = typeWords
            ?? slot.flatMap({ property.declarationDifference($0, of: binding) }),
          seen.insert([ClassNames.fullName(of: type), property.name]).inserted
        else { continue }
        var error = PersistenceError(
          slot == nil ? .undefinedKey : .unacceptableValue,
          "\(ClassNames.name(of: type)).\(property.name) \(words)")
        error.entityName = binding.entity.name
        error.key = property.name
        if typeWords == nil {
          declarationErrors.append(error)
        } else {
          errors.append(error)
        }
      }
    }
  }

  /// - Parameter leavesUses: whether differences that a use of the property reports are left to it.
  /// - Throws: one error with all differences.
  func check(leavesUses: Bool) throws(PersistenceError) {
    let errors = leavesUses ? declarationErrors : errors + declarationErrors
    guard !errors.isEmpty else { return }
    var error = PersistenceError(
      .coreData,
      errors.count == 1
        ? "a class contradicts the model" : "classes contradict the model in \(errors.count) places"
    )
    error.detailedErrors = errors
    throw error
  }

  private func difference(
    _ property: DeclaredClass.Property, _ binding: EntityBinding, _ entities: [EntityBinding],
    _ types: [ManagedObject.Type]
  ) -> String? {
    let entity = binding.entity.name
    guard let slot = binding.slot(named: property.name) else {
      if binding.entity.fetchedProperty(named: property.name) != nil {
        return "and \(entity) has a fetched property of this name: read it by value(forKey:)"
      }
      return "and the entity \(entity) has no such property; it has "
        + binding.properties.map(\.name).sorted().joined(separator: ", ")
    }
    switch binding.properties[slot] {
    case .attribute(let attribute):
      return difference(property.type, attribute.type, of: entity)
    case .relationship(let relationship):
      let destinations = entities.indices.filter {
        entities[$0].entity.isKind(ofEntityNamed: relationship.destination)
      }
      return difference(
        property.type, relationship, of: entity, destinations.map { (entities[$0], types[$0]) })
    }
  }

  private func difference(
    _ declared: DeclaredType, _ type: AttributeType, of entity: String
  ) -> String? {
    if type == .undefined { return nil }
    let what = "and the model of \(entity) has an attribute of the type \(type)"
    switch declared.kind {
    case .unknown: return nil
    case .attribute(let types):
      if types.isEmpty || types.contains(type) { return nil }
      let wide = types.compactMap(\.integerRange?.upperBound).max()
      if let wide, let width = type.integerRange, width.upperBound > wide {
        return what + ", which may have values that do not fit"
      }
      return what
    case .transformable: return type == .transformable ? nil : what
    case .object, .set, .array: return what
    }
  }

  private func difference(
    _ declared: DeclaredType, _ relationship: RelationshipDescription, of entity: String,
    _ destinations: [(binding: EntityBinding, type: ManagedObject.Type)]
  ) -> String? {
    let destination = relationship.destination
    let what: String
    let element: ManagedObject.Type
    switch declared.kind {
    case .unknown: return nil
    case .object(let type) where !relationship.isToMany: element = type
    case .set(let type) where relationship.isToMany && !relationship.isOrdered: element = type
    case .array(let type) where relationship.isToMany: element = type
    default:
      what =
        !relationship.isToMany
        ? "a relationship to one \(destination): declare it as \(destination)?"
        : relationship.isOrdered
          ? "an ordered relationship to many: declare it as [\(destination)]"
          : "a relationship to many without an order: declare it as Set<\(destination)>"
      return "and the model of \(entity) has \(what)"
    }
    if element == ManagedObject.self { return nil }
    let elementName = ClassNames.fullName(of: element)
    for (binding, type) in destinations where !binding.entity.isAbstract {
      if type != ManagedObject.self,
        DeclaredClass.of(type).ancestry.contains(elementName)
      {
        continue
      }
      let name = ClassNames.name(of: type)
      return type == ManagedObject.self
        ? "and no class is registered for \(binding.entity.name), where it leads: pass it to the "
          + "coordinator's classes"
        : "and objects of \(binding.entity.name), where it leads, are of the class \(name)"
    }
    return nil
  }
}
