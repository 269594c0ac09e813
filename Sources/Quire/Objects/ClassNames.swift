import Synchronization

/// The names of classes, each asked of the runtime once: that takes longer than finding an object.
///
/// A class is called the same for as long as the process runs, whoever uses it for what.
///
/// `String(describing:)` says the same, but asks first whether a type conforms to what could
/// describe it: 20 µs for each class, and 200 µs for the first in a process, where this is 1 and
/// 30.
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
