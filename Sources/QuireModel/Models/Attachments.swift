import Synchronization

/// What upper floors keep with an object of a lower one, which knows none of them: one object for
/// each type that is asked for.
///
/// An attachment is made when it is first asked for, and is released with its owner, to which it
/// must not refer.
package struct Attachments: ~Copyable, Sendable {
  private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  package init() {}

  /// The attachment of a type.
  ///
  /// - Parameter make: called for the first access only. Must not ask for an attachment of the same
  ///   owner.
  package func object<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    objects.withLock { objects in
      let key = ObjectIdentifier(Object.self)
      if let object = objects[key] as? Object { return object }
      let made = make()
      objects[key] = made
      return made
    }
  }
}
