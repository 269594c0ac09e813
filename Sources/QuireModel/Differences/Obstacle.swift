/// A change between two models that no mapping can be inferred for.
///
/// Entities without objects of their own, the abstract ones, have no obstacles; their subentities
/// do.
public struct Obstacle: Hashable, Sendable {
  /// What changed in a way that no mapping is inferred for.
  public enum Reason: Hashable, Sendable {
    /// An attribute has another type, and not both are types of numbers.
    case typeChanged(from: AttributeType, to: AttributeType)
    /// A relationship that referred to many objects refers to one.
    case toManyToToOne
    /// A required attribute without a default is new, or was not stored before.
    case requiredWithoutDefault
    /// An optional attribute became required without a default for the objects that lack a value.
    case becameRequiredWithoutDefault
    /// An entity that had objects may have none any more.
    case becameAbstract
  }

  /// The entity of the source whose objects are in the way.
  public let sourceEntity: String
  /// The entity of the destination that the objects belong to.
  public let destinationEntity: String
  /// The property of the destination, if the obstacle is one; an element of a composite with its
  /// path.
  public let property: String?
  /// What changed.
  public let reason: Reason

  /// The change to the model or the mapping that makes the store migratable.
  public var remedy: String {
    switch reason {
    case .typeChanged(_, let type):
      "keep the type and add an attribute of type \(type) under another name, or write a mapping that "
        + "converts the values"
    case .toManyToToOne: "write a mapping that chooses one of the objects"
    case .requiredWithoutDefault:
      "give it a default value that is the same for all of them (UUID() or Date() is made for each "
        + "new object alone), make it optional, or write a mapping that computes it for each: the "
        + "guide to migration shows how, under “A value for each object”"
    case .becameRequiredWithoutDefault:
      "give it a default value, which objects without a value get (UUID() or Date() is made for "
        + "each new object alone), keep it optional, or write a mapping that computes it for each: "
        + "the guide to migration shows how, under “A value for each object”"
    case .becameAbstract: "write a mapping that makes its objects objects of a subentity"
    }
  }
}

extension Obstacle: CustomStringConvertible {
  /// The change of the property or the entity, as the rest of a sentence that begins with its name.
  public var explanation: String {
    switch reason {
    case .typeChanged(let from, let to): "changed its type from \(from) to \(to)"
    case .toManyToToOne: "referred to many objects and now refers to one"
    case .requiredWithoutDefault:
      "is new and required, and the model has no default value for the objects that are there"
    case .becameRequiredWithoutDefault:
      "became required, and the model has no default value for the objects without one"
    case .becameAbstract: "became abstract"
    }
  }

  public var description: String {
    let subject = property.map { "\(destinationEntity).\($0)" } ?? destinationEntity
    return "\(subject) \(explanation): \(remedy)"
  }
}

extension Obstacle {
  static func certain(in change: EntityChange) -> [Obstacle] {
    // Kept entities need no mapping, so they are never an obstacle.
    guard change.kind != .kept, let source = change.source,
      let destination = change.destination, !source.isAbstract, !destination.isAbstract
    else { return [] }
    func obstacle(_ property: String, _ reason: Reason) -> Obstacle {
      Obstacle(
        sourceEntity: source.name, destinationEntity: destination.name, property: property,
        reason: reason)
    }
    let attributes = change.attributes.flatMap { attribute in
      typeChanges(in: attribute, path: attribute.name).map {
        obstacle($0.path, .typeChanged(from: $0.from, to: $0.to))
      }
    }
    let relationships = change.relationships
      .filter { $0.facets.contains(.toManyToToOne) && $0.keepsValues }
      .map { obstacle($0.name, .toManyToToOne) }
    return attributes + relationships
  }

  /// The attribute, or the elements within it, whose stored values would have to be converted.
  private static func typeChanges(
    in change: AttributeChange, path: String
  ) -> [(path: String, from: AttributeType, to: AttributeType)] {
    // Attributes that are not stored on both sides need no conversion.
    guard let old = change.source, let new = change.destination, !old.isTransient,
      !new.isTransient
    else { return [] }
    if old.type != new.type {
      // A number can become another number; each value is checked when the rows are read.
      return change.numberConversion == nil ? [(path, old.type, new.type)] : []
    }
    return change.elements.flatMap { typeChanges(in: $0, path: "\(path).\($0.name)") }
  }

  static func conditional(in change: EntityChange) -> [Obstacle] {
    guard change.kind != .kept, let source = change.source,
      let destination = change.destination, !source.isAbstract
    else { return [] }
    func obstacle(_ property: String?, _ reason: Reason) -> Obstacle {
      Obstacle(
        sourceEntity: source.name, destinationEntity: destination.name, property: property,
        reason: reason)
    }
    if destination.isAbstract { return [obstacle(nil, .becameAbstract)] }
    return change.attributes.compactMap { attribute in
      guard let new = attribute.destination, !new.isOptional, !new.isTransient,
        new.defaultValue == nil, new.derivationExpression == nil
      else { return nil }
      guard let old = attribute.source, !old.isTransient else {
        return obstacle(new.name, .requiredWithoutDefault)
      }
      return old.isOptional ? obstacle(new.name, .becameRequiredWithoutDefault) : nil
    }
  }
}
