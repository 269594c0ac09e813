import QuireModel

extension ManagedObjectContext: FetchedPropertySearch {
  final func objects(
    _ property: FetchedPropertyDescription, of object: ManagedObject
  ) throws -> [ManagedObject] {
    let request: FetchRequest<ManagedObject>
    do {
      request = try FetchRequest(
        property.request,
        substitutionVariables: [
          "FETCH_SOURCE": object, "FETCHED_PROPERTY": FetchedPropertyFacts(property),
        ])
    } catch var error as PersistenceError {
      error.message = "fetched property \(object.entity.name).\(property.name): \(error.message)"
      throw error
    }
    return try fetch(request)
  }
}

/// What `$FETCHED_PROPERTY` stands for in the predicate of a fetched property: its name, and what
/// else there is to know of it: `$FETCHED_PROPERTY.userInfo.limit`.
private final class FetchedPropertyFacts: KeyValueCoding, PredicateConvertible {
  private let property: FetchedPropertyDescription

  init(_ property: FetchedPropertyDescription) { self.property = property }

  var predicateValue: PredicateValue? { property.name.predicateValue }

  func value(forKey key: String) throws -> Any? {
    switch key {
    case "name": return property.name
    case "userInfo": return property.userInfo
    case "isOptional": return property.isOptional
    default:
      throw PersistenceError.undefinedKey(key, of: self, message: "has no property \(key)")
    }
  }
}
