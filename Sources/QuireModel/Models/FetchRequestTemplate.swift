/// A fetch request as a model keeps it: text that becomes a request when it is used.
///
/// ```swift
/// FetchRequestTemplate("cheap", of: "Artwork", where: "price < $PRICE", limit: 10)
/// ```
public struct FetchRequestTemplate: Hashable, Sendable {
  /// The name, unique in the model.
  public var name: String
  /// The name of the entity whose objects are found.
  public var entityName: String
  /// The format of a predicate; variables (`$PRICE`) are given when the template is used.
  public var predicateFormat: String?
  /// The order of what is found.
  public var sortDescriptors: [FetchSortDescriptor] = []
  /// The largest number of objects; 0 for no limit.
  public var fetchLimit = 0
  /// How many objects are read at a time; 0 for all at once.
  public var fetchBatchSize = 0
  /// Core Data's number: 0 objects, 1 object IDs, 2 dictionaries, 4 a count.
  public var resultType = 0
  /// Whether objects of subentities are found too.
  public var includesSubentities = true
  /// Whether rows are read together with the objects' identities.
  public var includesPropertyValues = true
  /// Whether unsaved changes of the context count.
  public var includesPendingChanges = true
  /// Whether objects are returned without their values being read.
  public var returnsObjectsAsFaults = true
  /// Whether equal dictionaries are returned once; only of requests for dictionaries.
  public var returnsDistinctResults = false
  /// Texts of the application's own by its own keys.
  public var userInfo: [String: String] = [:]

  /// A request for all objects of an entity of which a predicate is true.
  ///
  /// - Parameter predicateFormat: `nil` for all objects.
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
  /// The name, unique among the properties of the entity and its ancestors.
  public var name: String
  /// The request that finds the objects. In its predicate, `$FETCH_SOURCE` is the object that has
  /// the property, and `$FETCHED_PROPERTY` this description.
  public var request: FetchRequestTemplate
  /// Kept from the model: a fetched property may find nothing in any case.
  public var isOptional = true
  /// The name this property had in an earlier version, when it was renamed.
  public var renamingIdentifier: String?
  /// Kept from the model: nothing of a fetched property is stored, so it has no part in version
  /// hashes.
  public var versionHashModifier: String?
  /// Texts of the application's own by its own keys.
  public var userInfo: [String: String] = [:]

  /// A property that has what a request finds.
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

/// The short name of ``FetchedPropertyDescription`` for models written in code.
public typealias FetchedProperty = FetchedPropertyDescription
