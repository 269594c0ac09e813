/// A typed property, as somebody sees it who looks at the object from outside.
private protocol TypedProperty {
  var slot: UInt8 { get }
}

extension Managed: TypedProperty {}

extension ManagedObject {
  /// Finds the slot of a typed property, and notes it in the property.
  ///
  /// Called for the first objects of a class; those that are made later know their slots.
  ///
  /// - Returns: -1 when the model has no such property; the context is told.
  /// - Parameter address: of the property, in this object.
  @usableFromInline final func findSlot(ofPropertyAt address: UInt) -> Int {
    let object = Unmanaged.passUnretained(self).toOpaque()
    let offset = Int(bitPattern: address) - Int(bitPattern: object)
    // A wrapper is its slot, and nothing else.
    let property = (object + offset).assumingMemoryBound(to: UInt8.self)
    // The object may be older than what is known of its class: then it learns all of it.
    if let slot = ofHome({ $0.fillProperties(of: object, type(of: self), askedAt: offset) }) {
      return slot
    }
    guard let slot = findSlot(named: name(of: property)) else { return -1 }
    binding.accessors.remember(slot, at: offset, in: type(of: self))
    property.pointee = SlotCache.note(of: slot)
    return slot
  }

  /// The name of a property of this object: the one that changes when the property does.
  private func name(of property: UnsafeMutablePointer<UInt8>) -> String? {
    property.pointee = SlotCache.mark
    defer { property.pointee = SlotCache.unknown }
    var mirror: Mirror? = Mirror(reflecting: self)
    while let level = mirror, level.subjectType != ManagedObject.self {
      for child in level.children {
        let other = child.value as? any TypedProperty
        if other?.slot == SlotCache.mark { return child.label }
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
