import QuireModel

// Validation of an object's values, one property at a time. Whole objects are validated by
// `Contexts/Saving/Validation.swift`.
extension ManagedObject {
  /// Whether the content of a slot may break a rule. A stored value without a change was validated
  /// when it was saved; transient values are not stored.
  final func mayBeInvalid(_ slot: Int) -> Bool {
    if ofArena({ $0.storage == nil || $0.binding.traits[slot].isTransient }) { return true }
    if !hasSlots { return false }
    if case .unchanged = slots[slot] { return false }
    return true
  }

  /// Calls ``validateValue(_:forKey:)`` for a property, and sets the value that it returns if that
  /// is another. A value that is set so does not make the save call ``willSave()`` again.
  ///
  /// A class may override the function, and that cannot be found out; so it is called for every
  /// property. The rest can be saved: a value that arrives in the base class unchanged is checked
  /// where it is, in the slot, and one that is returned unchanged is not set.
  ///
  /// - Parameter context: the object's own.
  final func validateContent(of slot: Int, in context: ManagedObjectContext) throws {
    if hasSlots, case .value(let attribute?) = slots[slot] {
      // The most common types, without a look at the attribute's type.
      switch attribute {
      case .string(let text): return try askKeeping(text, slot, context)
      case .double(let number): return try askPlainly(about: number, slot, context)
      case .boolean(let flag): return try askPlainly(about: flag, slot, context)
      case .date(let date): return try askPlainly(about: date, slot, context)
      default: break
      }
    }
    let trait = ofArena { $0.binding.traits[slot] }
    if trait.attributeType == nil, !trait.isToMany {
      if let destination = try one(slot) { return try askKeeping(destination, slot, context) }
      var nothing: Any?
      _ = try ask(about: &nothing, 0, slot, context)
      return
    }
    if trait.attributeType == nil, !trait.isOrdered {
      return try askKeeping(MutableMembers(self, slot), slot, context)
    }
    var value = try content(of: slot)
    let before = value
    _ = try ask(about: &value, VariableBits.byteCount(of: value), slot, context)
    withExtendedLifetime(before) {}
  }

  /// Calls ``validateValue(_:forKey:)`` with a value that has no references.
  @inline(__always)
  private func askPlainly<Value>(
    about content: Value, _ slot: Int, _ context: ManagedObjectContext
  ) throws {
    // Evaluated by the compiler, so it costs nothing. A larger value would be stored in a box.
    precondition(MemoryLayout<Value>.size <= 3 * MemoryLayout<UInt>.size)
    try withUnsafeTemporaryAllocation(of: Any?.self, capacity: 1) { room in
      let value = room.baseAddress.unsafelyUnwrapped
      value.initialize(to: content)
      // Sound: as long as the variable has these bits, it has nothing to deinitialise.
      var isUntouched = false
      defer { if !isUntouched { value.deinitialize(count: 1) } }
      isUntouched = try ask(
        about: &value.pointee, MemoryLayout<Value>.size, slot, context)
    }
  }

  /// Calls ``validateValue(_:forKey:)`` with a value that is, or has, references to objects.
  ///
  /// The value is retained meanwhile, so that no new object can get its address and look like it.
  @inline(__always)
  private func askKeeping<Value>(
    _ content: Value, _ slot: Int, _ context: ManagedObjectContext
  ) throws {
    try withUnsafeTemporaryAllocation(of: Any?.self, capacity: 1) { room in
      let value = room.baseAddress.unsafelyUnwrapped
      value.initialize(to: content)
      // Sound: a variable that has the bits it was given holds a value of exactly this type, stored
      // at its beginning, as it is no larger than three words. So it is deinitialised as that type,
      // without a look at its metadata.
      var isUntouched = false
      defer {
        if isUntouched {
          UnsafeMutableRawPointer(value).assumingMemoryBound(to: Value.self)
            .deinitialize(count: 1)
        } else {
          value.deinitialize(count: 1)
        }
      }
      isUntouched = try ask(about: &value.pointee, MemoryLayout<Value>.size, slot, context)
      withExtendedLifetime(content) {}
    }
  }

  /// - Parameter byteCount: the number of bytes of the value that are in the variable.
  /// - Returns: whether the variable is unchanged.
  private func ask(
    about value: inout Any?, _ byteCount: Int, _ slot: Int, _ context: ManagedObjectContext
  ) throws -> Bool {
    let key = ofArena { $0.binding.name(of: slot) }
    let bits = VariableBits(&value, byteCount)
    context.askedValue = AskedValue(
      object: ObjectIdentifier(self), slot: slot, byteCount: byteCount, value: bits,
      key: VariableBits(key))
    // If the class validates another value meanwhile, this one is checked in the general way.
    defer { context.askedValue.object = nil }
    try validateValue(&value, forKey: key)
    guard VariableBits(&value, byteCount).isSame(as: bits) else {
      try take(value, slot, key)
      return false
    }
    if ofArena({ $0.binding.traits[slot].hasWidth }) { try checkWidth(of: slot) }
    return true
  }

  /// Calls ``validateValue(_:forKey:)`` for a property of an object that has no context.
  final func validateContent(of slot: Int) throws {
    var value = try content(of: slot)
    let before = value
    let byteCount = VariableBits.byteCount(of: value)
    let bits = VariableBits(&value, byteCount)
    let key = binding.name(of: slot)
    try validateValue(&value, forKey: key)
    let isUntouched = VariableBits(&value, byteCount).isSame(as: bits)
    withExtendedLifetime(before) {}
    if isUntouched { try checkWidth(of: slot) } else { try take(value, slot, key) }
  }

  /// Checks the content of a slot, when ``validateContent(of:in:)`` has passed it and it arrives
  /// unchanged: then neither key nor value has to be looked up or converted.
  ///
  /// - Returns: whether that was so, and the value has been checked.
  @inline(__always)
  final func checkAsked(_ value: inout Any?, _ key: String) throws -> Bool {
    let keyBits = VariableBits(key)
    let slot = ofArena { $0.askedSlot(ObjectIdentifier(self), &value, keyBits) }
    guard slot >= 0 else { return false }
    switch ofArena({ $0.binding.traits[slot].check }) {
    case .nothing: return true
    case .presence where isSetToValue(slot): return true
    case .presence, .rule:
      try checkContent(of: slot)
      return true
    }
  }

  /// Checks the content of a slot by the model's rule for it.
  private func checkContent(of slot: Int) throws {
    if binding.traits[slot].attributeType != nil {
      try binding.rules[slot]?.check(self, slot)
      return
    }
    var validation = Validation()
    if isToMany(slot) {
      validation.checkCount(self, slot, of: try members(slot))
    } else {
      validation.checkDestination(self, slot, try one(slot))
    }
    try validation.finish()
  }

  /// Whether an attribute was set to a value other than nil; the row's value does not count.
  final func isSetToValue(_ slot: Int) -> Bool {
    guard hasSlots, case .value(.some) = slots[slot] else { return false }
    return true
  }

  /// Sets the value that ``validateValue(_:forKey:)`` has returned, unless the slot has it already.
  private func take(_ value: Any?, _ slot: Int, _ key: String) throws {
    if try isContent(value, of: slot) { return try checkWidth(of: slot) }
    context?.preparation?.primitiveChangeCount += 1
    defer { context?.preparation?.primitiveChangeCount -= 1 }
    try setValue(value, forKey: key)
  }

  /// Refuses an integer that does not fit its attribute's type, even if an override did not call
  /// `super`.
  private func checkWidth(of slot: Int) throws {
    guard let range = binding.traits[slot].attributeType?.integerRange,
      case .integer(let number)? = try attribute(slot), !range.contains(number),
      case .attribute(let attribute) = binding.properties[slot],
      let error = rangeError(.integer(number), attribute)
    else { return }
    throw error
  }

  /// The argument for ``validateValue(_:forKey:)``: the value, or a view of a to-many relationship.
  private func content(of slot: Int) throws -> Any? {
    let trait = binding.traits[slot]
    if trait.attributeType != nil { return try plainAttribute(attribute(slot), slot) }
    if !trait.isToMany { return try one(slot) }
    return trait.isOrdered ? MutableOrderedMembers(self, slot) : MutableMembers(self, slot)
  }

  /// Whether a value that was returned equals the slot's content: setting it would report a change
  /// that is none.
  private func isContent(_ value: Any?, of slot: Int) throws -> Bool {
    let trait = binding.traits[slot]
    if trait.attributeType != nil {
      guard let value = try attributeValue(value, for: slot), let present = try attribute(slot)
      else { return try flattened(value) == nil && attribute(slot) == nil }
      return value.isIdentical(to: present)
    }
    // A view of the members was returned.
    if trait.isToMany { return value is MutableMembers || value is MutableOrderedMembers }
    return try (flattened(value) as? ManagedObject) === one(slot)
      && (flattened(value) == nil) == (one(slot) == nil)
  }

  /// The value as an attribute slot would keep it.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when it is of another type.
  final func attributeValue(_ value: Any?, for slot: Int) throws -> AttributeValue? {
    // The most common type, without copying a description; comparing types is faster than a cast.
    let type = binding.traits[slot].attributeType
    if let value, type == .string, Swift.type(of: value) == String.self,
      let text = value as? String
    {
      return .string(text)
    }
    guard let value = flattened(value) else { return nil }
    switch type {
    case .string?: if let text = value as? String { return .string(text) }
    case .integer16?, .integer32?, .integer64?:
      if let number = value as? Int { return .integer(Int64(number)) }
    case .double?: if let number = value as? Double { return .double(number) }
    case .boolean?: if let flag = value as? Bool { return .boolean(flag) }
    case .transformable?: return try transformedAttribute(value, slot)
    default: break
    }
    guard case .attribute(let attribute) = binding.properties[slot],
      let converted = AttributeValue.converted(value, for: attribute)
    else { throw unacceptable(value, for: binding.name(of: slot)) }
    return converted
  }
}
