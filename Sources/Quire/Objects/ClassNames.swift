import Synchronization

/// The names of classes, each asked of the runtime once: that takes longer than finding an object.
///
/// A class is called the same for as long as the process runs, whoever uses it for what.
enum ClassNames {
  private static let names = Mutex<[ObjectIdentifier: String]>([:])

  static func name(of type: ManagedObject.Type) -> String {
    let identifier = ObjectIdentifier(type)
    if let name = names.withLock({ $0[identifier] }) { return name }
    let name = String(describing: type)
    names.withLock { $0[identifier] = name }
    return name
  }
}
