/// A fetch request as a model keeps it: text that becomes a request when it is used.
///
/// ```swift
/// FetchRequestTemplate("cheap", of: "Artwork", where: "price < $PRICE", limit: 10)
/// ```
public struct FetchRequestTemplate: Hashable, Sendable {
  public var name: String
  public var entityName: String
  /// The format of a predicate; variables (`$PRICE`) are given when the template is used.
  public var predicateFormat: String?
  /// The order of what is found.
  public var sortDescriptors: [FetchSortDescriptor] = []
  public var fetchLimit = 0
  public var fetchBatchSize = 0
  /// Core Data's number: 0 objects, 1 object IDs, 2 dictionaries, 4 a count.
  public var resultType = 0
  public var includesSubentities = true
  public var includesPropertyValues = true
  public var includesPendingChanges = true
  public var returnsObjectsAsFaults = true
  public var returnsDistinctResults = false
  public var userInfo: [String: String] = [:]

  public init(name: String, entityName: String, predicateFormat: String? = nil) {
    self.name = name
    self.entityName = entityName
    self.predicateFormat = predicateFormat
  }

  /// - Parameters:
  ///   - sortDescriptors: the order of what is found.
  ///   - limit: the largest number of objects; 0 is no limit.
  public init(
    _ name: String, of entityName: String, where predicateFormat: String? = nil,
    sortedBy sortDescriptors: [FetchSortDescriptor] = [], limit: Int = 0,
    includesSubentities: Bool = true, userInfo: [String: String] = [:]
  ) {
    self.init(name: name, entityName: entityName, predicateFormat: predicateFormat)
    self.sortDescriptors = sortDescriptors
    fetchLimit = limit
    self.includesSubentities = includesSubentities
    self.userInfo = userInfo
  }
}

/// A one-way link computed by a fetch request.
public struct FetchedPropertyDescription: Hashable, Sendable {
  public var name: String
  public var request: FetchRequestTemplate
  public var isOptional = true
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
  public var userInfo: [String: String] = [:]

  public init(_ name: String, request: FetchRequestTemplate) {
    self.name = name
    self.request = request
  }

  /// - Parameters:
  ///   - entityName: the entity whose objects are found.
  ///   - predicateFormat: in it `$FETCH_SOURCE` is the object that has the property.
  ///   - sortDescriptors: the order of the objects.
  ///   - limit: the largest number of objects; 0 is no limit.
  public init(
    _ name: String, of entityName: String, where predicateFormat: String? = nil,
    sortedBy sortDescriptors: [FetchSortDescriptor] = [], limit: Int = 0,
    renamedFrom renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.init(
      name,
      request: FetchRequestTemplate(
        name, of: entityName, where: predicateFormat, sortedBy: sortDescriptors, limit: limit))
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
  }
}

public typealias FetchedProperty = FetchedPropertyDescription
