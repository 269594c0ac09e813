import Synchronization

/// The names of classes, each got from the runtime once, as that takes longer than a lookup here.
///
/// The names are shared by all contexts, as the name of a class never changes in a process.
///
/// `String(describing:)` gives the same name, but first checks the type for conformances that could
/// describe it: 20 µs for each class, and 200 µs for the first in a process, where this takes 1 µs
/// and 30 µs.
enum ClassNames {
  private static let names = Mutex<[ObjectIdentifier: String]>([:])

  static func name(of type: ManagedObject.Type) -> String {
    let identifier = ObjectIdentifier(type)
    if let name = names.withLock({ $0[identifier] }) { return name }
    let name = _typeName(type, qualified: false)
    names.withLock { $0[identifier] = name }
    return name
  }

  /// With its module, and the types it is in.
  static func fullName(of type: Any.Type) -> String { _typeName(type) }
}
