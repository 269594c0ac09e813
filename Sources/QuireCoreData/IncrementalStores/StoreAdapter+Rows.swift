import Foundation
import Quire
import QuireModel

// Nodes of Core Data's form as rows of Quire's.
extension StoreAdapter {
  /// A row of a node.
  ///
  /// - Parameter ask: asks for a relationship to one object of which the node says nothing.
  func node(
    _ node: NSIncrementalStoreNode, at key: IncrementalStoreKey,
    asking ask: (NSRelationshipDescription) throws -> Any
  ) throws -> IncrementalStoreNode {
    var row = IncrementalStoreNode(key: key, version: Self.rowVersion(node.version))
    guard let entity = model.entity(named: key.entityName) else { return row }
    for attribute in entity.attributes where !attribute.isTransient {
      guard let given = node.values[attribute.name] else { continue }
      row.values[attribute.name] = try value(given, attribute, key)
    }
    for relationship in entity.relationships where !relationship.isToMany {
      if relationship.isTransient { continue }
      let answer =
        try node.values[relationship.name]
        ?? ask(try descriptions.relationship(relationship.name, key.entityName))
      switch unwrapped(answer) {
      case nil, is NSNull, is NSIncrementalStore.NotAnswered: continue
      case let destination?:
        row.destinations[relationship.name] = try self.key(
          of: destination, in: "\(relationship.name) of \(key)")
      }
    }
    return row
  }

  private func value(
    _ given: Any, _ attribute: AttributeDescription, _ key: IncrementalStoreKey
  ) throws -> AttributeValue? {
    guard let plain = plainValue(given) else { return nil }
    if let value = try transformed(plain, attribute) ?? AttributeValue(plain, for: attribute) {
      return value
    }
    throw contradiction(
      "answered with \(given) for \(attribute.name) of \(key), which is not of its type")
  }

  /// The bytes of a transformable attribute's value, which may be bytes already.
  private func transformed(
    _ value: Any, _ attribute: AttributeDescription
  ) throws -> AttributeValue? {
    guard attribute.type == .transformable, let name = attribute.valueTransformerName else {
      return nil
    }
    let made = Result { try NamedTransformer(name: name).transformedValue(value) }
    if value is Data, (try? made.get()) == nil { return nil }
    return .transformed(try made.get())
  }

  /// A version as rows have it, from 1 to 2³²−1.
  ///
  /// Small versions stay as they are. Large ones, such as times, are folded: two versions that a
  /// row has one after the other differ then, but for one pair in 2³².
  static func rowVersion(_ version: UInt64) -> UInt32 {
    if version > 0, let small = UInt32(exactly: version) { return small }
    let folded = UInt32(truncatingIfNeeded: version ^ version >> 32)
    return folded == 0 ? .max : folded
  }
}

/// The keys of a store's metadata.
enum StoreMetadataKeys {
  /// Whether a key says what the store is, and is not the application's.
  static func areOfStore(_ key: String) -> Bool {
    key == NSStoreUUIDKey || key == NSStoreTypeKey || key.hasPrefix("NSStoreModelVersion")
      || key.hasPrefix("NSPersistence")
  }

  /// The application's part of metadata.
  static func ofUser(_ metadata: [String: Any]) -> [String: Any] {
    metadata.filter { !areOfStore($0.key) }.compactMapValues { plainValue($0) }
  }

  /// The application's part of metadata, without values that no store of Quire keeps.
  static func sendable(_ metadata: [String: Any]) -> [String: any Sendable] {
    ofUser(metadata).compactMapValues(sendable)
  }

  private static func sendable(_ value: Any) -> (any Sendable)? {
    switch value {
    case let text as String: text
    case let flag as Bool: flag
    case let number as Int: number
    case let number as Double: number
    case let date as Date: date
    case let data as Data: data
    case let list as [Any]: list.compactMap(sendable)
    case let members as [String: Any]: members.compactMapValues(sendable)
    default: nil
    }
  }
}
