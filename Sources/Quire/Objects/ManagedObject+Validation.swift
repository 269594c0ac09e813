import QuireModel

/// The value of an attribute that a class was asked about, to be known again where it comes back.
struct AskedValue {
  let object: ObjectIdentifier
  let slot: Int
  let bits: SIMD4<UInt>
}

extension AttributeType {
  /// Whether people are given what a slot holds, and not something that is made of it.
  fileprivate var isPlain: Bool {
    switch self {
    case .undefined, .transformable, .composite, .objectID: false
    default: true
    }
  }
}

// The values of an object and the rules for them, one property at a time. What goes through whole
// objects is `Contexts/Validation.swift`.
extension ManagedObject {
  /// Whether the content of a slot may break a rule. What was valid when it was saved still is; but
  /// no store remembers transient values.
  final func mayBeInvalid(_ slot: Int) -> Bool {
    if !isPersistent || binding.traits[slot].isTransient { return true }
    if slots.isEmpty { return false }
    if case .unchanged = slots[slot] { return false }
    return true
  }

  /// Asks ``validateValue(_:forKey:)`` about a property, and sets what it has put in the value's
  /// place. Nobody is told of a change again because of that.
  final func validateContent(of slot: Int) throws {
    let key = binding.name(of: slot)
    if let context, binding.traits[slot].attributeType?.isPlain == true {
      let attribute = try attribute(slot)
      var value = attribute?.plainValue
      let bits = ManagedObject.bits(of: &value)
      let former = context.askedValue
      context.askedValue = AskedValue(object: ObjectIdentifier(self), slot: slot, bits: bits)
      defer { context.askedValue = former }
      try validateValue(&value, forKey: key)
      let isUntouched = ManagedObject.bits(of: &value) == bits
      // As below: it shares with the value whatever that leads to.
      withExtendedLifetime(attribute) {}
      return try take(value, isUntouched: isUntouched, slot, key)
    }
    var value = try content(of: slot)
    // Kept, so that nothing new can come to lie in its place and look like it.
    let before = value
    let bits = ManagedObject.bits(of: &value)
    try validateValue(&value, forKey: key)
    let isUntouched = ManagedObject.bits(of: &value) == bits
    withExtendedLifetime(before) {}
    try take(value, isUntouched: isUntouched, slot, key)
  }

  /// Checks what a slot holds, when ``validateContent(of:)`` has asked about it and the value
  /// arrives as it was: nothing has to be found out about either then.
  ///
  /// - Returns: whether it was one.
  final func checkAsked(_ value: inout Any?, _ key: String) throws -> Bool {
    guard let asked = context?.askedValue, asked.object == ObjectIdentifier(self),
      binding.name(of: asked.slot) == key, ManagedObject.bits(of: &value) == asked.bits
    else { return false }
    guard let rule = binding.rules[asked.slot] else { return true }
    try rule.check(self, asked.slot)
    return true
  }

  /// Sets what has come back from ``validateValue(_:forKey:)``, unless it is what was there.
  private func take(_ value: Any?, isUntouched: Bool, _ slot: Int, _ key: String) throws {
    if try isUntouched || isContent(value, of: slot) { return try checkWidth(of: slot) }
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

  /// What lies in a variable, up to the last bit: while that stays as it is, nobody has written
  /// there. Says so without a look at the value's type.
  private static func bits(of value: inout Any?) -> SIMD4<UInt> {
    withUnsafeBytes(of: &value) { bytes in
      var bits = SIMD4<UInt>()
      for word in 0..<min(bytes.count / MemoryLayout<UInt>.stride, bits.scalarCount) {
        bits[word] = bytes.load(fromByteOffset: word * MemoryLayout<UInt>.stride, as: UInt.self)
      }
      return bits
    }
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
      let converted = AttributeValue(value, for: attribute)
    else { throw unacceptable(value, for: binding.name(of: slot)) }
    return converted
  }
}
