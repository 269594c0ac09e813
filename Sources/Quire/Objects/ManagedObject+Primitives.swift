// Primitive accessors: the value itself, past any accessor of a subclass.
extension ManagedObject {
  /// The value of a property, without what a subclass does when it is read.
  ///
  /// - Throws: what ``value(forKey:)`` throws.
  public final func primitiveValue(forKey key: String) throws -> Any? { try value(forKey: key) }

  /// Sets a property, without what a subclass does when it is set. In ``willSave()`` it
  /// is the way to set a value and not be asked again.
  ///
  /// - Throws: what ``setValue(_:forKey:)`` throws.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) throws {
    guard let context else { return try setValue(value, forKey: key) }
    context.preparation?.primitiveChangeCount += 1
    defer { context.preparation?.primitiveChangeCount -= 1 }
    try setValue(value, forKey: key)
  }
}
