import Foundation
import QuireModel

/// An object of a Core Data store: its values, and the objects it refers to.
public struct CoreDataObject: Sendable {
  /// Names an object: the entity it is of, not an ancestor, and its key.
  public struct Reference: Hashable, Sendable {
    /// The name of the entity the object is of.
    public var entity: String
    /// Unique in the hierarchy the entity belongs to, and the number in Core Data's object IDs.
    public var key: Int64

    /// - Parameters:
    ///   - entity: the name of the entity the object is of, not of an ancestor.
    ///   - key: unique in the hierarchy of the entity.
    public init(entity: String, key: Int64) {
      self.entity = entity
      self.key = key
    }
  }

  /// The entity the object is of; never an abstract one.
  public var entity: EntityDescription
  /// The object's key, unique in the hierarchy the entity belongs to.
  public var primaryKey: Int64
  /// The number of times the row was written, for optimistic locking; Core Data counts from 1.
  public var version: Int64
  /// The values by attribute; an attribute without a value is not among them.
  public var attributes: [String: AttributeValue]
  /// The destinations by to-one relationship; a relationship to nothing is not among them.
  public var toOne: [String: Reference]
  /// The destinations by to-many relationship, in the order the store keeps or else by key; a
  /// relationship to nothing is not among them.
  public var toMany: [String: [Reference]]

  /// The name that other objects have for this one.
  public var reference: Reference { Reference(entity: entity.name, key: primaryKey) }
}
