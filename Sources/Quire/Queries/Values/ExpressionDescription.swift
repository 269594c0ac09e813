import QuireModel

/// A value that is fetched in the place of objects: a property, or something that is worked out.
///
/// ```swift
/// request.propertiesToFetch = ["title", "artist.name", .init("net", "price * 0.81")]
/// request.propertiesToGroupBy = ["artist"]
/// request.propertiesToFetch = ["artist", .init("total", .function(.sum, [.keyPath(["price"])]))]
/// ```
public struct ExpressionDescription: Hashable, Sendable {
  /// What the value is called in a result.
  public var name: String
  public var expression: FetchExpression

  public init(_ name: String, _ expression: FetchExpression) {
    self.name = name
    self.expression = expression
  }

  /// - Parameter format: see ``QuireModel/FetchExpression/init(format:_:)``.
  public init(_ name: String, format: String, _ arguments: (any PredicateConvertible)?...)
    throws(PredicateFormatError)
  {
    self.init(name, try FetchExpression(format: format, argumentArray: arguments))
  }

  /// A property, or what a path leads to, called like it.
  public init(_ key: String) {
    self.init(key, .keyPath(FetchExpression.names(in: key)))
  }
}

extension ExpressionDescription: ExpressibleByStringLiteral {
  public init(stringLiteral key: String) { self.init(key) }
}

/// What comes back from ``ManagedObjectContext/execute(_:)-fetch``.
///
/// The raw values are Core Data's, as models keep them.
public enum FetchRequestResultType: Int, Sendable, CaseIterable {
  case managedObjects = 0
  case managedObjectIDs = 1
  case dictionaries = 2
  case count = 4
}

/// The result of a request, of the type that the request asks for.
public enum FetchRequestResult<Result: ManagedObject> {
  case managedObjects([Result])
  case managedObjectIDs([ManagedObjectID])
  case dictionaries([[String: Any]])
  case count(Int)
}
