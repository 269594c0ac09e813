import QuireModel

// Fetched properties: links in one direction, found by a request instead of being stored. Key-value
// coding gives an array, which stays the same until the object is refreshed.

/// What the fetched properties of a context's objects have found.
struct FetchedLists {
  /// Objects are not held: two that find each other would never go.
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

  mutating func forgetAll() { byObject = [:] }

  /// - Returns: `false` when the request that is to find them is running already.
  mutating func begin(_ name: String, of object: ManagedObject) -> Bool {
    if case .none? = byObject[ObjectIdentifier(object)]?[name] { return false }
    byObject[ObjectIdentifier(object), default: [:]][name] = Content.none
    return true
  }

  /// - Parameter found: `nil` when the request has failed.
  mutating func end(_ name: String, of object: ManagedObject, _ found: [ManagedObject]?) {
    byObject[ObjectIdentifier(object), default: [:]][name] = found.map { found in
      .list(found.map { Member(reference: $0.reference, session: $0.session, object: $0) })
    }
  }

  /// - Returns: `nil` when the property was not asked for yet, or was saved since by an object that
  ///   nobody holds any more: then nobody knows its place.
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

/// Finds the objects of fetched properties: every context does, by a request.
protocol FetchedPropertySearch {
  func objects(
    _ property: FetchedPropertyDescription, of object: ManagedObject
  ) throws -> [ManagedObject]
}

extension ManagedObject {
  /// The objects that a fetched property finds.
  final func fetchedObjects(_ property: FetchedPropertyDescription) throws -> [ManagedObject] {
    // One that has lost its context shows no other objects.
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

  /// The error of somebody who takes a fetched property for one that the object keeps.
  final func fetchedPropertyError(_ key: String) -> PersistenceError {
    var error = PersistenceError(
      .unacceptableValue,
      "\(entity.name).\(key) is a fetched property: value(forKey:) reads it, and it cannot be set")
    error.entityName = entity.name
    error.key = key
    return error
  }
}
