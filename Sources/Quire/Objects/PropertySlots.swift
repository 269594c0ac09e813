/// How the names of all types of typed properties begin: `Quire.Managed<`.
private let typedPropertyPrefix = _typeName(Managed<Int>.self).prefix { $0 != "<" } + "<"

/// The byte that a typed property has, as a mirror of the object shows it; `nil` for another
/// property.
///
/// Its type is known by its name: whether it conforms to a protocol takes much longer to find out,
/// the first time.
func propertyByte(of property: Any) -> UInt8? {
  func look<Property>(_ property: Property) -> UInt8? {
    guard MemoryLayout<Property>.size == MemoryLayout<UInt8>.size,
      _typeName(Property.self).hasPrefix(typedPropertyPrefix)
    else { return nil }
    return withUnsafeBytes(of: property) { $0.first }
  }
  return look(property)
}

extension ManagedObject {
  /// Finds the slot of a typed property, and stores it in the property.
  ///
  /// Called for the first objects of a class; those that are made later know their slots, and so do
  /// others that a fetch has made (``learnProperties()``).
  ///
  /// - Returns: -1 when the model has no such property; the context keeps an error.
  /// - Parameter address: the address of the property in this object.
  @usableFromInline final func findSlot(ofPropertyAt address: UInt) -> Int {
    let object = Unmanaged.passUnretained(self).toOpaque()
    let offset = Int(bitPattern: address) - Int(bitPattern: object)
    // Of an object that is made to be looked at, no property has a slot.
    if DeclarationRecorder.isLooking { return -1 }
    // A wrapper is its slot, and nothing else.
    let property = (object + offset).assumingMemoryBound(to: UInt8.self)
    learnProperties()
    // The class may have become known after the object was made: then all properties are filled.
    if let slot = ofArena({ $0.fillProperties(of: object, type(of: self), askedAt: offset) }) {
      PropertyProbe.record(slot, of: self)
      return slot
    }
    guard let slot = findSlot(named: name(of: property)) else { return -1 }
    PropertyProbe.record(slot, of: self)
    binding.accessors.remember(slot, at: offset, in: type(of: self))
    property.pointee = SlotCache.marker(of: slot)
    return slot
  }

  /// Finds the slots of the typed properties with which the class begins, all at once: for the
  /// objects of its class that are made from now on.
  ///
  /// They follow the stored properties of ``ManagedObject`` in the order of their declaration, a
  /// byte each. That is verified: each must show the number that is written at its offset.
  final func learnProperties() {
    let (object, type) = (Unmanaged.passUnretained(self).toOpaque(), type(of: self))
    guard type != ManagedObject.self, !binding.accessors.knows(type), !hasOwnMirror else { return }
    let start = endOfState - UInt(bitPattern: object)
    let properties = object + Int(start)
    let count = firstProperties.prefix(Int(SlotCache.mark)).count
    guard count > 0, (0..<count).allSatisfy({ isUnknown(properties + $0) }) else { return }
    for index in 0..<count {
      properties.storeBytes(of: UInt8(index), toByteOffset: index, as: UInt8.self)
    }
    let labels = firstProperties.enumerated().map { $1.slot == $0 ? $1.label : nil }
    for index in 0..<count {
      properties.storeBytes(of: SlotCache.unknown, toByteOffset: index, as: UInt8.self)
    }
    let found = labels.prefix(count).prefix { $0 != nil }
    // From the last one to the first, as remembering one includes those before it.
    for (index, label) in found.enumerated().reversed() {
      // A property that the model does not have is an error when it is used.
      if let label, let slot = binding.slot(named: Self.name(ofWrapper: label)) {
        binding.accessors.remember(slot, at: Int(start) + index, in: type)
      }
    }
    ofArena { $0.fillProperties(of: object, type) }
  }

  /// Clears the slots of the typed properties, which look them up when they are next used.
  final func forgetProperties() {
    binding.accessors.clear(Unmanaged.passUnretained(self).toOpaque(), of: type(of: self))
  }

  private func isUnknown(_ property: UnsafeMutableRawPointer) -> Bool {
    property.load(as: UInt8.self) == SlotCache.unknown
  }

  /// The typed properties of the class, from the first class below ``ManagedObject`` down, until
  /// there is another stored property.
  private var firstProperties: [(label: String?, slot: UInt8)] {
    var levels: [Mirror] = []
    var mirror: Mirror? = Mirror(reflecting: self)
    while let level = mirror, level.subjectType != ManagedObject.self {
      levels.append(level)
      mirror = level.superclassMirror
    }
    var properties: [(String?, UInt8)] = []
    guard mirror != nil else { return [] }
    for level in levels.reversed() {
      for child in level.children {
        guard let slot = propertyByte(of: child.value) else { return properties }
        properties.append((child.label, slot))
      }
    }
    return properties
  }

  /// Whether the class has a mirror of its own (`CustomReflectable`). Usually that has no stored
  /// properties, and making it may read the properties that are looked for.
  private var hasOwnMirror: Bool { self is any CustomReflectable }

  /// The name of a property of this object: of the one in the mirror that changes with it.
  private func name(of property: UnsafeMutablePointer<UInt8>) -> String? {
    if hasOwnMirror { return nil }
    property.pointee = SlotCache.mark
    defer { property.pointee = SlotCache.unknown }
    var mirror: Mirror? = Mirror(reflecting: self)
    while let level = mirror, level.subjectType != ManagedObject.self {
      for child in level.children {
        if propertyByte(of: child.value) == SlotCache.mark { return child.label }
      }
      mirror = level.superclassMirror
    }
    return nil
  }

  /// The slot of a property; where there is none, the context keeps an error.
  ///
  /// - Parameter label: the wrapper's: the property's name with an underscore before it.
  private func findSlot(named label: String?) -> Int? {
    guard let label else {
      keep(
        PersistenceError(
          .undefinedKey,
          "the @Managed properties of \(type(of: self)) are found by reflection, and a mirror of "
            + "its own (CustomReflectable) hides them: describe objects by description, or "
            + "read them by key"))
      return nil
    }
    do {
      return try slot(for: Self.name(ofWrapper: label))
    } catch {
      keep(error)
      return nil
    }
  }

  private static func name(ofWrapper label: String) -> String {
    label.hasPrefix("_") ? String(label.dropFirst()) : label
  }

  /// Calls `body`, which sets a relationship. An error is thrown, and also kept by the context of a
  /// destination where the object itself has no context to keep it.
  final func reportingElsewhere(
    _ destinations: @autoclosure () -> [ManagedObject?], _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch {
      if context == nil {
        destinations().lazy.compactMap { $0?.context }.first?.report(error)
      }
      throw error
    }
  }

  /// Keeps an error that a property cannot throw, for the context's next fetch or save.
  @usableFromInline final func keep(_ error: any Error) { context?.report(error) }
}
