import Foundation
import Quire
import QuireModel

/// The objects of an entity for the page of a store, without those of its subentities.
///
/// An object is a list: its key, its attributes, its relationships. Most values represent
/// themselves. Others are objects: `{"t": start, "n": length}` is a long text, `{"b": length, "h":
/// start}` bytes in hexadecimal digits, `{"c": …}` a composite value, `{"e": message}` what could
/// not be read. A relationship is `null`, `[entity, key]`, or a count and its members:
/// `{"n": count, "r": [entity, key, …]}`.
struct EntityListing {
  private static let byteLimit = 64

  let store: URL
  /// The positions of entities in the model.
  let numbers: [String: Int]
  /// The largest number of objects.
  let limit: Int
  /// The bytes that texts and members of relationships may take of the page before they are cut
  /// shorter.
  private var room = 16 << 20

  private var textLimit: Int { room > 0 ? 2_000 : 80 }
  private var memberLimit: Int { room > 0 ? 500 : 10 }

  init(store: URL, numbers: [String: Int], limit: Int) {
    self.store = store
    self.numbers = numbers
    self.limit = limit
  }

  /// What is listed, and what is missing.
  struct Result {
    var objects: [JSONValue] = []
    /// What could not be read, in sentences.
    var failures: [String] = []
    /// The number of objects that are lost; `nil` if that is not known.
    var lostCount: Int? = 0

    init() {}

    /// Of objects that cannot be listed at all.
    init(failure: String) {
      failures = [failure]
      lostCount = nil
    }
  }

  static func attributes(of entity: EntityDescription) -> [AttributeDescription] {
    entity.attributes.filter { !$0.isTransient }
  }

  static func relationships(of entity: EntityDescription) -> [RelationshipDescription] {
    entity.relationships.filter { !$0.isTransient }
  }

  /// Objects in the order of their keys; none if one of their rows cannot be read.
  mutating func objects(
    of entity: EntityDescription, in context: ManagedObjectContext
  ) -> Result {
    var request = FetchRequest<ManagedObject>(entityName: entity.name)
    request.includesSubentities = false
    request.fetchLimit = limit
    var result = Result()
    // No limit is 0, too.
    guard limit > 0 else { return result }
    do {
      for object in try context.fetch(request) {
        result.objects.append(.array(members(of: object, entity)))
      }
    } catch {
      return Result(failure: StorePageContent.message(of: error, in: store))
    }
    return result
  }

  private mutating func members(of object: ManagedObject, _ entity: EntityDescription)
    -> [JSONValue]
  {
    var members = [JSONValue(object.objectID.key)]
    for attribute in Self.attributes(of: entity) {
      members.append(Self.attempt(in: store) { try value(of: attribute, of: object) })
    }
    for relationship in Self.relationships(of: entity) {
      members.append(Self.attempt(in: store) { try destinations(of: relationship, of: object) })
    }
    return members
  }

  private static func attempt(
    in store: URL, _ read: () throws -> JSONValue
  ) -> JSONValue {
    do {
      return try read()
    } catch {
      return ["e": .string(StorePageContent.message(of: error, in: store))]
    }
  }

  private mutating func value(
    of attribute: AttributeDescription, of object: ManagedObject
  ) throws -> JSONValue {
    guard let value = try object.value(forKey: attribute.name) else { return .null }
    guard let stored = AttributeValue(value, for: attribute) else {
      return ["e": "the value has another type than the attribute"]
    }
    return json(stored)
  }

  private mutating func json(_ value: AttributeValue) -> JSONValue {
    switch value {
    case .integer(let number) where number.magnitude >= 1 << 53: return .string("\(number)")
    case .string(let text): return json(text)
    case .uri(let url), .objectID(let url): return json(url.absoluteString)
    case .binary(let data), .transformed(let data): return json(data)
    case .composite(let values):
      var members: [(key: String, value: JSONValue)] = []
      for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        members.append((key, json(value)))
      }
      return ["c": .object(members)]
    default: return JSONValue(value)
    }
  }

  private mutating func json(_ text: String) -> JSONValue {
    let textLimit = textLimit
    room -= min(text.utf8.count, textLimit)
    guard text.utf8.count > textLimit, text.count > textLimit else { return .string(text) }
    return ["t": .string(String(text.prefix(textLimit))), "n": JSONValue(text.count)]
  }

  private func json(_ data: Data) -> JSONValue {
    let digits = data.prefix(Self.byteLimit).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    return ["b": JSONValue(data.count), "h": .string(digits.joined())]
  }

  private mutating func destinations(
    of relationship: RelationshipDescription, of object: ManagedObject
  ) throws -> JSONValue {
    var identities = try object.objectIDs(forRelationshipNamed: relationship.name)
    func pair(_ identity: ManagedObjectID) -> [JSONValue] {
      [JSONValue(numbers[identity.entity.name] ?? -1), JSONValue(identity.key)]
    }
    guard relationship.isToMany else {
      return identities.first.map { .array(pair($0)) } ?? .null
    }
    if !relationship.isOrdered {
      identities.sort { ($0.entity.name, $0.key) < ($1.entity.name, $1.key) }
    }
    let shown = identities.prefix(memberLimit)
    room -= 8 * shown.count
    return ["n": JSONValue(identities.count), "r": .array(shown.flatMap(pair))]
  }
}
