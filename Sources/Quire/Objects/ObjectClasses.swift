import QuireModel
import Synchronization

/// The classes of a model's objects.
///
/// Classes are registered with a coordinator, not in the process: two coordinators may use the same
/// class for different entities, and a test may load a model any number of times.
final class ObjectClasses: RegisteredClasses {
  private let entities: [EntityBinding]
  /// In the order of the model's entities.
  private let byIndex: [ManagedObject.Type]
  private let differences = Mutex<ClassDifferences?>(nil)
  /// By the index of the entity, as far as they were needed.
  private let defaults: Mutex<[ComputedDefaults??]>

  /// Finds the class of each entity among those given, in this order:
  ///
  /// 1. A class that overrides ``ManagedObject/modelEntityName`` with the entity's name.
  /// 2. One with the name that the model gives (``EntityDescription/managedObjectClassName``).
  ///    Where the model names a module too, that module's class is preferred; a class of the name
  ///    in another module is accepted, for code that moved.
  /// 3. One with the name of the entity.
  /// 4. The class of the nearest ancestor.
  ///
  /// An entity without any of these has objects of the default class.
  init(
    _ classes: [ManagedObject.Type], default defaultClass: ManagedObject.Type,
    for entities: [EntityBinding]
  ) {
    let names = RegisteredClassNames(classes)
    var byName: [String: ManagedObject.Type] = [:]
    for binding in entities {
      byName[binding.entity.name] = names.type(for: binding.entity)
    }
    self.entities = entities
    defaults = Mutex(Array(repeating: nil, count: entities.count))
    byIndex = entities.map { binding in
      var ancestor: EntityDescription? = binding.entity
      while let level = ancestor, byName[level.name] == nil { ancestor = level.parent }
      return ancestor.flatMap { byName[$0.name] } ?? defaultClass
    }
  }

  /// Compares the properties of the classes with the model, once.
  ///
  /// - Parameter leavesUses: as ``ClassDifferences/check(leavesUses:)``.
  /// - Throws: ``PersistenceError/Code/coreData`` (134060) with each difference as a detail.
  func check(leavesUses: Bool = false) throws(PersistenceError) {
    // Without the lock: making an object runs code of its class.
    if let known = differences.withLock({ $0 }) {
      return try known.check(leavesUses: leavesUses)
    }
    let found = ClassDifferences(entities, byIndex)
    differences.withLock { $0 = found }
    try found.check(leavesUses: leavesUses)
  }

  /// A new object of the entity, of its class.
  ///
  /// - Parameter reference: `nil` for one that no store has.
  func makeObject(_ arena: ObjectArena, at reference: Reference? = nil) -> ManagedObject {
    type(for: arena.binding).init(.init(arena, at: reference))
  }

  /// The default values that are made for each new object of an entity; `nil` where there are none.
  func computedDefaults(of binding: EntityBinding) -> ComputedDefaults? {
    if let known = defaults.withLock({ $0[binding.index] }) { return known }
    let made = ComputedDefaults(type(for: binding), binding)
    defaults.withLock { $0[binding.index] = .some(made) }
    return made
  }

  /// The class of an entity's objects.
  func type(for binding: EntityBinding) -> ManagedObject.Type { byIndex[binding.index] }

  /// The entity whose objects have exactly this class.
  func entity(of type: ManagedObject.Type) -> EntityBinding? {
    // Usually there is one.
    var first: EntityBinding?
    var isOnly = true
    for entity in entities where byIndex[entity.index] == type {
      if first != nil { isOnly = false }
      first = first ?? entity
    }
    if isOnly { return first }
    let candidates = entities.filter { byIndex[$0.index] == type }
    // Subentities without a class of their own share their ancestor's: the ancestor is taken.
    // Unrelated entities share a class when the model says so: the one with its name is taken.
    return candidates.first { candidate in
      candidates.allSatisfy { $0.entity.isKindOf(entity: candidate.entity) }
    } ?? candidates.first { $0.entity.name == type.modelEntityName }
  }
}

/// Classes by the names under which entities find them. Of two with one name, the later.
private struct RegisteredClassNames {
  private var byEntity: [String: ManagedObject.Type] = [:]
  private var byFullName: [String: ManagedObject.Type] = [:]
  private var byName: [String: ManagedObject.Type] = [:]

  init(_ classes: [ManagedObject.Type]) {
    for type in classes {
      let name = ClassNames.name(of: type)
      if type.modelEntityName != name { byEntity[type.modelEntityName] = type }
      byName[name] = type
      byFullName[ClassNames.fullName(of: type)] = type
    }
  }

  func type(for entity: EntityDescription) -> ManagedObject.Type? {
    if let type = byEntity[entity.name] { return type }
    if let type = entity.managedObjectClassName.flatMap(type(called:)) { return type }
    // A class that overrides its entity's name is not found by its own.
    guard let type = byName[entity.name], type.modelEntityName == entity.name else { return nil }
    return type
  }

  /// - Parameter name: `Artwork`, `Folio.Artwork`, or `.Artwork`, which means the current module.
  private func type(called name: String) -> ManagedObject.Type? {
    if let type = byFullName[name] { return type }
    return name.split(separator: ".").last.flatMap { byName[String($0)] }
  }
}

extension ModelBinding {
  /// The class of each entity, among these classes.
  func classes(
    _ types: [ManagedObject.Type], default defaultClass: ManagedObject.Type = ManagedObject.self
  ) -> ObjectClasses {
    attachment { LastClasses() }.classes(types + [defaultClass]) {
      ObjectClasses(types, default: defaultClass, for: entities)
    }
  }
}

/// The classes that were registered last for a model. Mostly a program registers the same for all
/// of its stacks.
private final class LastClasses: Sendable {
  private let last = Mutex<(types: [ObjectIdentifier], classes: ObjectClasses)?>(nil)

  /// - Parameter make: called where other classes were registered last.
  func classes(_ types: [ManagedObject.Type], _ make: () -> ObjectClasses) -> ObjectClasses {
    let types = types.map { ObjectIdentifier($0) }
    return last.withLock { last in
      if let last, last.types == types { return last.classes }
      let made = make()
      last = (types, made)
      return made
    }
  }
}

extension EntityBinding {
  /// A binding of an entity that no model has, so that an object of it can exist until the error
  /// about it is thrown.
  static func unknown(named name: String) -> EntityBinding {
    EntityBinding(EntityDescription(unresolved: name), index: 0)
  }
}
