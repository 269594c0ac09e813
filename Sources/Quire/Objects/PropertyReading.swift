/// Objects whose properties can be read by a call that throws: all managed objects.
///
/// A typed property cannot throw: where the store cannot be read it shows its empty value, and the
/// context keeps the error (``ManagedObjectContext/keptErrors``). A program that needs the error at
/// once calls ``value(of:)``.
public protocol PropertyReading: ManagedObject {}

extension ManagedObject: PropertyReading {}

extension PropertyReading {
  /// The value of a property, or of a path over several, or the error that keeps it from being
  /// read.
  ///
  /// ```swift
  /// let name = try artwork.value(of: \.artist?.name)
  /// let count = try artist.value(of: \.artworks.count)
  /// ```
  ///
  /// - Throws: ``StorageError/damaged(page:reason:)`` and other errors of the engine;
  ///   ``PersistenceError`` when the property is declared as something else than the model's. The
  ///   context does not keep what is thrown here.
  /// - Complexity: that of reading the properties.
  public func value<Value>(of property: KeyPath<Self, Value>) throws -> Value {
    guard let context = managedObjectContext else { return self[keyPath: property] }
    return try context.throwingKeptErrors { self[keyPath: property] }
  }
}
