import QuireModel

// The values of an object and the rules for them, one property at a time. What goes through whole
// objects is `Contexts/Validation.swift`.
extension ManagedObject {
  /// Whether the content of a slot may break a rule. What was valid when it was saved still is; but
  /// no store remembers transient values.
  final func mayBeInvalid(_ slot: Int) -> Bool {
    if ofArena({ $0.storage == nil || $0.binding.traits[slot].isTransient }) { return true }
    if !hasSlots { return false }
    if case .unchanged = slots[slot] { return false }
    return true
  }

  /// Asks ``validateValue(_:forKey:)`` about a property, and sets what it has put in the value's
  /// place. Nobody is told of a change again because of that.
  ///
  /// A class may override the function, and nobody can tell whether it does; so it is called for
  /// every property. What can be saved is all else: where the value arrives in the base class as it
  /// set out, the rule looks at the slot, and where it comes back so, it is not taken.
  ///
  /// - Parameter context: the object's own.
  final func validateContent(of slot: Int, in context: ManagedObjectContext) throws {
    if hasSlots, case .value(let attribute?) = slots[slot] {
      // What most values are needs no look at the attribute's type, and nothing to keep it.
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

  /// Asks about a value that is nothing but its bits.
  @inline(__always)
  private func askPlainly<Value>(
    about content: Value, _ slot: Int, _ context: ManagedObjectContext
  ) throws {
    // Known when this is compiled: costs nothing, and a larger value would lie elsewhere.
    precondition(MemoryLayout<Value>.size <= 3 * MemoryLayout<UInt>.size)
    try withUnsafeTemporaryAllocation(of: Any?.self, capacity: 1) { room in
      let value = room.baseAddress.unsafelyUnwrapped
      value.initialize(to: content)
      // Sound: as long as the variable has these bits, there is nothing in it that could end.
      var isUntouched = false
      defer { if !isUntouched { value.deinitialize(count: 1) } }
      isUntouched = try ask(
        about: &value.pointee, MemoryLayout<Value>.size, slot, context)
    }
  }

  /// Asks about a value that is, or has, references to objects.
  ///
  /// The value is kept meanwhile, so that nothing new can come to lie in its place and look like
  /// it.
  @inline(__always)
  private func askKeeping<Value>(
    _ content: Value, _ slot: Int, _ context: ManagedObjectContext
  ) throws {
    try withUnsafeTemporaryAllocation(of: Any?.self, capacity: 1) { room in
      let value = room.baseAddress.unsafelyUnwrapped
      value.initialize(to: content)
      // Sound: a variable that has the bits it was given holds a value of this very type, which
      // lies at its beginning, as it is no larger than three words. So it ends as one, which needs
      // no look at its type.
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

  /// - Parameter byteCount: how many bytes of the value lie in the variable.
  /// - Returns: whether the variable is as it was.
  private func ask(
    about value: inout Any?, _ byteCount: Int, _ slot: Int, _ context: ManagedObjectContext
  ) throws -> Bool {
    let key = ofArena { $0.binding.name(of: slot) }
    let bits = VariableBits(&value, byteCount)
    context.askedValue = AskedValue(
      object: ObjectIdentifier(self), slot: slot, byteCount: byteCount, value: bits,
      key: VariableBits(key))
    // Who is asked about another value meanwhile finds out about this one in the longer way.
    defer { context.askedValue.object = nil }
    try validateValue(&value, forKey: key)
    guard VariableBits(&value, byteCount).isSame(as: bits) else {
      try take(value, slot, key)
      return false
    }
    if ofArena({ $0.binding.traits[slot].hasWidth }) { try checkWidth(of: slot) }
    return true
  }

  /// The same for an object that has no context.
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

  /// Checks what a slot holds, when ``validateContent(of:in:)`` has asked about it and the value
  /// arrives as it was: nothing has to be found out about either then.
  ///
  /// - Returns: whether it was one.
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

  /// Holds what a slot has against the model's rule for it.
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

  /// Whether an attribute has got a value here; says nothing of what a row says.
  final func isSetToValue(_ slot: Int) -> Bool {
    guard hasSlots, case .value(.some) = slots[slot] else { return false }
    return true
  }

  /// Sets what has come back from ``validateValue(_:forKey:)``, unless it is what was there.
  private func take(_ value: Any?, _ slot: Int, _ key: String) throws {
    if try isContent(value, of: slot) { return try checkWidth(of: slot) }
    context?.preparation?.primitiveChangeCount += 1
    defer { context?.preparation?.primitiveChangeCount -= 1 }
    try setValue(value, forKey: key)
  }

  /// Refuses an integer that does not fit, whatever a class thinks of its model's rules.
  private func checkWidth(of slot: Int) throws {
    guard let range = binding.traits[slot].attributeType?.integerRange,
      case .integer(let number)? = try attribute(slot), !range.contains(number),
      case .attribute(let attribute) = binding.properties[slot],
      let error = rangeError(.integer(number), attribute)
    else { return }
    throw error
  }

  /// What ``validateValue(_:forKey:)`` is given: the value, but of a to-many relationship no more
  /// than a way to look at it.
  private func content(of slot: Int) throws -> Any? {
    let trait = binding.traits[slot]
    if trait.attributeType != nil { return try plainAttribute(attribute(slot), slot) }
    if !trait.isToMany { return try one(slot) }
    return trait.isOrdered ? MutableOrderedMembers(self, slot) : MutableMembers(self, slot)
  }

  /// Whether a value that came back says what the slot holds: setting it would tell of a change
  /// that is none.
  private func isContent(_ value: Any?, of slot: Int) throws -> Bool {
    let trait = binding.traits[slot]
    if trait.attributeType != nil {
      guard let value = try attributeValue(value, for: slot), let present = try attribute(slot)
      else { return try flattened(value) == nil && attribute(slot) == nil }
      return value.isIdentical(to: present)
    }
    // A way to look at the members is still one to look at them.
    if trait.isToMany { return value is MutableMembers || value is MutableOrderedMembers }
    return try (flattened(value) as? ManagedObject) === one(slot)
      && (flattened(value) == nil) == (one(slot) == nil)
  }

  /// The value as an attribute slot would keep it.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when it is of another type.
  final func attributeValue(_ value: Any?, for slot: Int) throws -> AttributeValue? {
    // What most attributes are: no description is copied, and a type is compared before it is cast.
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
