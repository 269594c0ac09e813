import QuireModel

/// A value to fetch instead of objects: a property, or the result of an expression.
///
/// ```swift
/// request.propertiesToFetch = ["title", "artist.name", .init("net", "price * 0.81")]
/// request.propertiesToGroupBy = ["artist"]
/// request.propertiesToFetch = ["artist", .init("total", .function(.sum, [.keyPath(["price"])]))]
/// ```
public struct ExpressionDescription: Hashable, Sendable {
  /// The name of the value in a result.
  public var name: String
  /// How the value is worked out.
  public var expression: FetchExpression

  /// A value that is worked out, and what it is called.
  public init(_ name: String, _ expression: FetchExpression) {
    self.name = name
    self.expression = expression
  }

  /// - Parameter format: see `FetchExpression.init(format:_:)`.
  public init(_ name: String, format: String, _ arguments: (any PredicateConvertible)?...)
    throws(PredicateFormatError)
  {
    self.init(name, try FetchExpression(format: format, argumentArray: arguments))
  }

  /// A property, or the value at a key path, with the key as its name.
  public init(_ key: String) {
    self.init(key, .keyPath(FetchExpression.names(in: key)))
  }
}

extension ExpressionDescription: ExpressibleByStringLiteral {
  public init(stringLiteral key: String) { self.init(key) }
}

/// The form of the result of `ManagedObjectContext.execute(_:)`.
///
/// The raw values are Core Data's, which models store.
public enum FetchRequestResultType: Int, Sendable, CaseIterable {
  /// The objects.
  case managedObjects = 0
  /// The IDs of the objects.
  case managedObjectIDs = 1
  /// Values by their names, for each object or group.
  case dictionaries = 2
  /// How many objects there are.
  case count = 4
}

/// The result of a request, in the form that the request asks for.
public enum FetchRequestResult<Result: ManagedObject> {
  /// The objects, in the order of the request.
  case managedObjects([Result])
  /// The IDs of the objects, in the order of the request.
  case managedObjectIDs([ManagedObjectID])
  /// Values by their names, for each object or group.
  case dictionaries([[String: Any]])
  /// How many objects there are.
  case count(Int)
}
