import Quire
import QuireModel

/// What a context is about to save, property by property.
///
/// It is made before the save, which forgets what there was before, and written after it, when new
/// objects have their IDs.
struct EditReport {
  struct Change {
    let key: String
    let former: JSONValue
    /// Read late, since it may be a new object.
    let present: () -> JSONValue
  }

  private enum Kind {
    case inserted([Change])
    case updated([Change])
    /// - isAsked: whether a statement says so; else a delete rule does.
    case deleted(isAsked: Bool)
  }

  private var entries: [(object: ManagedObject, kind: Kind)] = []

  /// - Parameter deleted: the objects that statements delete.
  init(of context: ManagedObjectContext, deleted: Set<ManagedObject>) throws {
    func sorted(_ objects: Set<ManagedObject>) -> [ManagedObject] {
      objects.sorted {
        ($0.entity.name, $0.objectID.key) < ($1.entity.name, $1.objectID.key)
      }
    }
    for object in sorted(context.insertedObjects) {
      entries.append((object, .inserted(try Self.changes(of: object))))
    }
    for object in sorted(context.updatedObjects.subtracting(context.deletedObjects)) {
      let changes = try Self.changes(of: object)
      if !changes.isEmpty { entries.append((object, .updated(changes))) }
    }
    for object in sorted(context.deletedObjects) {
      entries.append((object, .deleted(isAsked: deleted.contains(object))))
    }
  }

  var isEmpty: Bool { entries.isEmpty }

  private static func changes(of object: ManagedObject) throws -> [Change] {
    let changed = object.changedValues()
    let former = try object.committedValues(forKeys: Array(changed.keys))
    return changed.sorted { $0.key < $1.key }.compactMap { key, value in
      let attribute = object.entity.attribute(named: key)
      // A value that a new object does not have is no change.
      if value == nil, former[key] == nil { return nil }
      if let members = value as? Set<ManagedObject>, members.isEmpty, former[key] == nil {
        return nil
      }
      return Change(key: key, former: json(former[key], attribute)) { json(value, attribute) }
    }
  }

  private static func json(_ value: Any?, _ attribute: AttributeDescription?) -> JSONValue {
    switch value {
    case nil: .null
    case let object as ManagedObject: .string("\(object.objectID)")
    case let members as [ManagedObject]: JSONValue(members.map { "\($0.objectID)" })
    case let members as Set<ManagedObject>:
      JSONValue(
        members.map { ($0.entity.name, $0.objectID) }
          .sorted { ($0.0, $0.1.key) < ($1.0, $1.1.key) }.map { "\($0.1)" })
    case let value?:
      attribute.flatMap { AttributeValue(value, for: $0) }.map { JSONValue($0) } ?? .null
    }
  }

  // MARK: Text

  /// A line for each object; below a changed one, a line for each property.
  var text: String {
    entries.map { object, kind in
      switch kind {
      case .inserted(let changes):
        (["+ \(name(of: object))"] + changes.map { "    \($0.key): \(Self.text($0.present()))" })
          .joined(separator: "\n")
      case .updated(let changes):
        (["~ \(name(of: object))"] + changes.map { "    \(Self.text(of: $0))" })
          .joined(separator: "\n")
      case .deleted(let isAsked):
        "- \(name(of: object))\(isAsked ? "" : ", by a delete rule")"
      }
    }.joined(separator: "\n")
  }

  /// A temporary ID means nothing outside of this process.
  private func name(of object: ManagedObject) -> String {
    object.objectID.isTemporaryID ? "\(object.entity.name), new" : "\(object.objectID)"
  }

  private static func text(of change: Change) -> String {
    let present = change.present()
    guard case .array(let members) = present else {
      return "\(change.key): \(text(change.former)) → \(text(present))"
    }
    var former: [String] = []
    if case .array(let members) = change.former { former = members.map(text) }
    let now = members.map(text)
    let news =
      now.filter { !former.contains($0) }.map { "+ \($0)" }
      + former.filter { !now.contains($0) }.map { "- \($0)" }
    return "\(change.key): \(news.isEmpty ? "in another order" : news.joined(separator: ", "))"
  }

  private static func text(_ value: JSONValue) -> String {
    switch value {
    case .null: "nil"
    // An object's ID is no text.
    case .string(let text) where text.wholeMatch(of: /\w+\/[pt][0-9]+/) != nil: text
    case .array(let members): members.map(text).joined(separator: ", ")
    default: value.lineText
    }
  }

  /// “1 object inserted, 2 changed, 1 deleted”.
  var summary: String {
    var counts = (inserted: 0, updated: 0, deleted: 0)
    for (_, kind) in entries {
      switch kind {
      case .inserted: counts.inserted += 1
      case .updated: counts.updated += 1
      case .deleted: counts.deleted += 1
      }
    }
    return "\(counts.inserted.grouped) inserted, \(counts.updated.grouped) changed, "
      + "\(counts.deleted.grouped) deleted"
  }

  // MARK: JSON

  var members: [(key: String, value: JSONValue)] {
    var (inserted, updated, deleted): ([JSONValue], [JSONValue], [JSONValue]) = ([], [], [])
    for (object, kind) in entries {
      let id = JSONValue.string("\(object.objectID)")
      switch kind {
      case .inserted(let changes):
        inserted.append([
          "id": id, "values": .object(changes.map { ($0.key, $0.present()) }),
        ])
      case .updated(let changes):
        updated.append([
          "id": id,
          "changes": .object(
            changes.map { ($0.key, ["from": $0.former, "to": $0.present()] as JSONValue) }),
        ])
      case .deleted(let isAsked): deleted.append(["id": id, "byRule": JSONValue(!isAsked)])
      }
    }
    return [
      ("inserted", .array(inserted)), ("updated", .array(updated)), ("deleted", .array(deleted)),
    ]
  }
}
