import QuireModel

/// The ID of an object whose class the compiler knows, so that what it leads to needs no cast.
///
/// ```swift
/// let id = artwork.typedID
/// let title = try await container.read { context in
///   try context.existingObject(with: id).title
/// }
/// ```
///
/// It is `Sendable`, and encoded as the ``ManagedObjectID`` that it has.
public struct TypedObjectID<Object: ManagedObject>: Hashable, Sendable {
  /// The ID without the class.
  public let objectID: ManagedObjectID

  /// - Parameter objectID: of an object of the class. Another one is an error where the object is
  ///   asked for.
  public init(_ objectID: ManagedObjectID) { self.objectID = objectID }
}

extension TypedObjectID: Codable {
  /// - Throws: what decoding a ``ManagedObjectID`` throws.
  public init(from decoder: any Decoder) throws { objectID = try ManagedObjectID(from: decoder) }

  /// - Throws: what encoding a ``ManagedObjectID`` throws.
  public func encode(to encoder: any Encoder) throws { try objectID.encode(to: encoder) }
}

extension TypedObjectID: CustomStringConvertible {
  /// That of the ID.
  public var description: String { "\(objectID)" }
}

extension PropertyReading {
  /// The object's ID with its class; as ``ManagedObject/objectID``, another one after the first
  /// save.
  public var typedID: TypedObjectID<Self> { TypedObjectID(objectID) }
}

extension ManagedObjectContext {
  /// The object with this ID, read from the store if it is not here; see
  /// ``existingObject(with:)``.
  ///
  /// - Throws: what ``existingObject(with:as:)`` throws.
  public final func existingObject<Object: ManagedObject>(
    with id: TypedObjectID<Object>
  ) throws -> Object { try existingObject(with: id.objectID, as: Object.self) }

  /// The object with this ID, as a fault if it is not here; see ``object(with:)``.
  ///
  /// - Returns: `nil` for an ID of another store, and for an object of another class.
  public final func object<Object: ManagedObject>(
    with id: TypedObjectID<Object>
  ) -> Object? { object(with: id.objectID) as? Object }
}
