import Foundation
import Quire
import QuireModel
import Synchronization

// Classes by the names that models have.
//
// A model names a class, often without its module. Foundation finds a class by its name and module:
// the module is that of the source file that makes the container, the coordinator or the model,
// which the compiler passes along (`#fileID`), or that of the program.

extension NSManagedObject {
  /// Makes classes known by their names, for models that name them.
  ///
  /// Needed for classes of another module than the code that makes the container, and for classes
  /// whose name in the model is not their name in Swift: such a class overrides `modelEntityName`.
  ///
  /// ```swift
  /// NSManagedObject.register(Trip.self, Place.self)
  /// ```
  public static func register(_ classes: NSManagedObject.Type...) {
    ClassLookup.registered.withLock { known in
      for type in classes {
        known[String(describing: type)] = type
        known[type.modelEntityName] = type
      }
    }
  }
}

enum ClassLookup {
  fileprivate static let registered = Mutex<[String: NSManagedObject.Type]>([:])
  private static let modules = Mutex<[String]>([])

  /// Remembers the module of a source file.
  static func addModule(of fileID: String) {
    guard let module = fileID.split(separator: "/").first.map(String.init) else { return }
    modules.withLock { if !$0.contains(module) { $0.insert(module, at: 0) } }
  }

  /// The class of a name, with or without its module.
  static func type(named name: String) -> AnyClass? {
    if name.split(separator: ".").count == 2, !name.hasPrefix("."),
      let type = NSClassFromString(name)
    {
      return type
    }
    guard let last = name.split(separator: ".").last.map(String.init) else { return nil }
    if let type = registered.withLock({ $0[last] }) { return type }
    let program = ProcessInfo.processInfo.processName.replacing("-", with: "_")
    for module in modules.withLock({ $0 }) + [program] {
      if let type = NSClassFromString("\(module).\(last)") { return type }
    }
    return nil
  }

  /// The classes of a model's entities, as far as there are any.
  static func classes(of model: ManagedObjectModel) -> [ManagedObject.Type] {
    let found = model.entities.compactMap { entity -> ManagedObject.Type? in
      guard let name = entity.managedObjectClassName, name != "NSManagedObject" else {
        return registered.withLock { $0[entity.name] }
      }
      return type(named: name) as? NSManagedObject.Type
    }
    var known: Set<ObjectIdentifier> = []
    return found.filter { known.insert(ObjectIdentifier($0)).inserted }
  }
}
