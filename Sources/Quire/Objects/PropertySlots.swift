import Synchronization

/// A typed property, as somebody sees it who looks at the object from outside.
private protocol TypedProperty {
  var slot: Int32 { get }
}

extension Managed: TypedProperty {}

extension ManagedObject {
  /// Finds the slot of a typed property, and notes it in the property.
  ///
  /// - Returns: -1 when the model has no such property; the context is told.
  @usableFromInline final func findSlot<Value>(_ property: inout Managed<Value>) -> Int {
    let slot = withUnsafeMutablePointer(to: &property) { property in
      let object = Unmanaged.passUnretained(self).toOpaque()
      let offset = UnsafeRawPointer(property) - UnsafeRawPointer(object)
      let accessors = binding.accessors
      if let slot = accessors.slot(at: offset, in: type(of: self)) { return Int32(slot) }
      guard let slot = findSlot(named: name(of: property)) else { return Int32(-1) }
      accessors.remember(slot, at: offset, in: type(of: self))
      return Int32(slot)
    }
    property.slot = slot
    return Int(slot)
  }

  /// The name of a property of this object: the one that changes when the property does.
  private func name<Value>(of property: UnsafeMutablePointer<Managed<Value>>) -> String? {
    let mark = Int32.min
    property.pointee.slot = mark
    defer { property.pointee.slot = -1 }
    var mirror: Mirror? = Mirror(reflecting: self)
    while let level = mirror, level.subjectType != ManagedObject.self {
      for child in level.children {
        if let other = child.value as? any TypedProperty, other.slot == mark { return child.label }
      }
      mirror = level.superclassMirror
    }
    return nil
  }

  /// - Parameter label: of the wrapper: the property's name with an underscore before it.
  private func findSlot(named label: String?) -> Int? {
    guard let label else {
      keep(
        PersistenceError(
          .undefinedKey,
          "a @Managed property of \(type(of: self)) cannot be found by reflection: the class must "
            + "show its stored properties in its mirror"))
      return nil
    }
    do {
      return try slot(for: label.hasPrefix("_") ? String(label.dropFirst()) : label)
    } catch {
      keep(error)
      return nil
    }
  }

  /// Keeps an error that a property cannot throw, for the context's next fetch or save.
  @usableFromInline final func keep(_ error: any Error) { context?.report(error) }
}
