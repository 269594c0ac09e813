/// Objects whose properties can be read by a call that throws: all managed objects.
///
/// A typed property cannot throw: where the store cannot be read it shows its empty value, and the
/// context keeps the error (``ManagedObjectContext/keptErrors``). A program that needs the error at
/// once calls ``value(of:)``.
///
/// What is declared in extensions of this protocol, a class may declare anew with other types,
/// which Swift does not allow of a member of its superclass. `QuireCoreData` does so with key-value
/// coding that does not throw, as Core Data's does not. Quire itself calls its own functions.
public protocol PropertyReading: ManagedObject, KeyValueCoding {}

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
  /// - Throws: `StorageError.damaged(page:reason:)` and other errors of the engine;
  ///   ``PersistenceError`` when the property is declared as something else than the model's. The
  ///   context does not keep what is thrown here.
  /// - Complexity: that of reading the properties.
  public func value<Value>(of property: KeyPath<Self, Value>) throws -> Value {
    guard let context = managedObjectContext else { return self[keyPath: property] }
    return try context.throwingKeptErrors { self[keyPath: property] }
  }
}
