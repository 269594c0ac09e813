/// A receiver of functions by name: `FUNCTION($policy, "ageFrom:", $source.born)` calls it.
///
/// ```swift
/// final class PersonPolicy: FunctionReceiver {
///   func call(_ selector: String, _ arguments: [Any?]) throws -> Any? {
///     switch selector {
///     case "ageFrom:": age(from: arguments[0] as? Date)
///     default: throw PersistenceError.unrecognizedSelector(selector, of: self)
///     }
///   }
/// }
/// ```
public protocol FunctionReceiver {
  /// The result of a function; `nil` for none.
  ///
  /// - Parameters:
  ///   - selector: the name, with a colon for each argument.
  ///   - arguments: as many as the selector has colons.
  /// - Throws: ``PersistenceError/unrecognizedSelector(_:of:)`` for an unknown selector, and what
  ///   the function throws.
  func call(_ selector: String, _ arguments: [Any?]) throws -> Any?
}

/// A receiver that runs fetch requests: `FETCH(request, context, NO)` calls it.
public protocol FetchReceiver {
  /// The objects that the request finds.
  ///
  /// - Parameter request: the value of the expression's first operand, of a type that the receiver
  ///   supports.
  /// - Throws: ``PersistenceError`` for a request of another type, and what the fetch throws.
  func results(ofFetch request: Any) throws -> [Any]

  /// The number of objects that the request finds.
  func count(ofFetch request: Any) throws -> Int
}

extension PersistenceError {
  /// The error of a receiver for an unknown function.
  public static func unrecognizedSelector(
    _ selector: String, of receiver: Any
  ) -> PersistenceError {
    PersistenceError(
      .unrecognizedSelector,
      "\(briefDescription(of: receiver)) of type \(type(of: receiver)) has no function \(selector)")
  }
}
