import QuireModel
import Synchronization

/// The names of properties that key paths of classes read, each found once in a process.
enum KeyPathNames {
  // Sound: a key path does not change, and is compared and hashed by any thread.
  private struct Path: Hashable, @unchecked Sendable {
    let path: AnyKeyPath
  }

  /// A class with its properties, and what they refer to, as a model.
  private final class Declared: Sendable {
    let model: ModelBinding
    let classes: ObjectClasses

    init(_ type: ManagedObject.Type) throws {
      (model, classes) = try DeclaredModel.withoutInverses(of: [type])
    }
  }

  private static let known = Mutex<[Path: [String]]>([:])
  private static let declared = Mutex<[ObjectIdentifier: Declared]>([:])

  /// The names along a key path that starts from a class: by what the class declares, for there is
  /// no context to ask for a model.
  ///
  /// - Returns: for a path that reads no property that a model can have, a name that no model has
  ///   (``QuireModel/UnfoundName``): the request that asks for it fails, and says why.
  /// - Complexity: O(1), but for the first use of a path, which makes a few objects.
  static func names<Object: ManagedObject, Value>(of property: KeyPath<Object, Value>) -> [String] {
    if Value.self == ManagedObjectID.self, property == \Object.objectID as AnyKeyPath {
      return [FetchExpression.objectIDName]
    }
    let path = Path(path: property)
    if let names = known.withLock({ $0[path] }) { return names }
    let names = foundNames(of: property)
    known.withLock { $0[path] = names }
    return names
  }

  private static func foundNames<Object: ManagedObject, Value>(
    of property: KeyPath<Object, Value>
  ) -> [String] {
    do {
      return try declaredNames(of: property)
    } catch {
      return [UnfoundName.name(because: (error as? PersistenceError)?.message ?? "\(error)")]
    }
  }

  private static func declaredNames<Object: ManagedObject, Value>(
    of property: KeyPath<Object, Value>
  ) throws -> [String] {
    let identifier = ObjectIdentifier(Object.self)
    let known = declared.withLock { $0[identifier] }
    let declared = try known ?? Declared(Object.self)
    if known == nil { self.declared.withLock { $0[identifier] = declared } }
    guard let entity = declared.classes.entity(of: Object.self) else {
      throw PersistenceError(.undefinedKey, "\(Object.self) declares no entity")
    }
    return try PropertyProbe.names(of: property, from: entity, in: declared.model, declared.classes)
  }
}
