import Foundation
import Quire

/// The values of one row of an ``NSIncrementalStore``.
open class NSIncrementalStoreNode: NSObject {
  /// The ID of the row.
  public let objectID: NSManagedObjectID
  /// Another number after each change of the row, so that saves notice conflicts.
  open private(set) var version: UInt64
  private(set) var values: [String: Any]

  /// The values of a row.
  ///
  /// - Parameters:
  ///   - values: by name: of attributes a value or `NSNull`, of relationships to one object an ID
  ///     or `NSNull`. The store is asked for such a relationship that is left out.
  ///   - version: of the row.
  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    self.objectID = objectID
    self.values = values
    self.version = version
  }

  /// Replaces all values, for a store that keeps its nodes.
  open func update(withValues values: [String: Any], version: UInt64) {
    self.values = values
    self.version = version
  }

  /// The value of an attribute or of a relationship to one object; `nil` for one that is left out.
  open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
