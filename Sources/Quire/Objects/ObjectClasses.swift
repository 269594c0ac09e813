import QuireModel

/// The classes of a model's objects.
///
/// Classes belong to a coordinator, never to the process: two coordinators may use the same class
/// for different entities, and a test may load a model as often as it likes.
final class ObjectClasses: Sendable {
  private let model: ModelBinding
  /// In the order of the model's entities.
  private let byIndex: [ManagedObject.Type]

  /// - Parameter classes: each names its entity. An entity without one takes its nearest
  ///   ancestor's, or has plain managed objects.
  init(_ classes: [ManagedObject.Type], for model: ModelBinding) {
    var byName: [String: ManagedObject.Type] = [:]
    for type in classes { byName[type.entityName] = type }
    self.model = model
    byIndex = model.entities.map { binding in
      var ancestor: EntityDescription? = binding.entity
      while let level = ancestor, byName[level.name] == nil { ancestor = level.parent }
      return ancestor.flatMap { byName[$0.name] } ?? ManagedObject.self
    }
  }

  /// A new object of the entity, of its class, without a context.
  func makeObject(_ binding: EntityBinding) -> ManagedObject {
    byIndex[binding.index].init(.init(binding: binding))
  }

  /// The entity whose objects have exactly this class.
  func entity(of type: ManagedObject.Type) -> EntityBinding? {
    let candidates = model.entities.filter { byIndex[$0.index] == type }
    // Subentities without a class of their own share their ancestor's: the ancestor is meant.
    return candidates.first { candidate in
      candidates.allSatisfy { $0.entity.isKindOf(entity: candidate.entity) }
    }
  }
}

extension EntityBinding {
  /// Stands for an entity that no model has, so that an object of it can exist until the error
  /// about it is thrown.
  static func unknown(named name: String) -> EntityBinding {
    EntityBinding(EntityDescription(unresolved: name), index: 0)
  }
}
