import QuireModel

// Fetched properties: links in one direction, found by a request instead of being stored. Key-value
// coding gives an array, which stays the same until the object is refreshed.

/// The results of the fetched properties of a context's objects.
struct FetchedLists {
  /// A reference to an object, which is not retained: two that find each other would never end.
  private struct Member {
    let reference: Reference
    /// Of which store the reference is; `nil` when the object was not saved.
    let session: StoreSession?
    weak var object: ManagedObject?
  }

  private enum Content {
    /// The request is running.
    case none
    case list([Member])
  }

  private var byObject: [ObjectIdentifier: [String: Content]] = [:]

  var isEmpty: Bool { byObject.isEmpty }

  mutating func forget(_ object: ManagedObject) {
    if !byObject.isEmpty { byObject[ObjectIdentifier(object)] = nil }
  }

  /// Marks that the request of a fetched property is running.
  ///
  /// - Returns: `false` when it was running already.
  mutating func begin(_ name: String, of object: ManagedObject) -> Bool {
    if case .none? = byObject[ObjectIdentifier(object)]?[name] { return false }
    byObject[ObjectIdentifier(object), default: [:]][name] = Content.none
    return true
  }

  /// Stores the result of a fetched property.
  ///
  /// - Parameter found: `nil` when the request has failed.
  mutating func end(_ name: String, of object: ManagedObject, _ found: [ManagedObject]?) {
    byObject[ObjectIdentifier(object), default: [:]][name] = found.map { found in
      .list(found.map { Member(reference: $0.reference, session: $0.session, object: $0) })
    }
  }

  /// The stored result of a fetched property.
  ///
  /// - Returns: `nil` when there is none. Also when it has a new object that was released since: if
  ///   it was saved before that, its reference is not known.
  func objects(
    _ name: String, of object: ManagedObject, in context: ManagedObjectContext
  ) throws -> [ManagedObject]? {
    guard case .list(let members)? = byObject[ObjectIdentifier(object)]?[name] else { return nil }
    var objects: [ManagedObject] = []
    for member in members {
      if let object = member.object, object.context === context {
        objects.append(object)
      } else if !member.reference.isTemporary, let session = member.session {
        objects.append(try session.object(at: member.reference))
      } else {
        return nil
      }
    }
    return objects
  }
}

/// Finds the objects of fetched properties by a request. Every context conforms.
protocol FetchedPropertySearch {
  func objects(
    _ property: FetchedPropertyDescription, of object: ManagedObject
  ) throws -> [ManagedObject]
}

extension ManagedObject {
  /// The objects that a fetched property finds.
  final func fetchedObjects(_ property: FetchedPropertyDescription) throws -> [ManagedObject] {
    // An object without a context shows no other objects.
    guard let context else { return [] }
    let name = property.name
    if let known = try context.fetchedLists.objects(name, of: self, in: context) { return known }
    guard context.fetchedLists.begin(name, of: self) else {
      throw PersistenceError(
        .invalidExpression,
        "the fetched property \(entity.name).\(name) asks for itself: its predicate must not read it"
      )
    }
    var found: [ManagedObject]?
    defer { context.fetchedLists.end(name, of: self, found) }
    let search: any FetchedPropertySearch = context
    let objects = try search.objects(property, of: self)
    found = objects
    return objects
  }

  /// The error for a fetched property that is used as one that the object stores.
  final func fetchedPropertyError(_ key: String) -> PersistenceError {
    var error = PersistenceError(
      .unacceptableValue,
      "\(entity.name).\(key) is a fetched property: value(forKey:) reads it, and it cannot be set")
    error.entityName = entity.name
    error.key = key
    return error
  }
}
