/// Somebody who answers functions by name: what `FUNCTION($policy, "ageFrom:", $source.born)` asks.
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
  /// The answer to a function, or `nil` for none.
  ///
  /// - Parameters:
  ///   - selector: the name, with a colon for each argument.
  ///   - arguments: as many as the selector has colons.
  /// - Throws: ``PersistenceError/unrecognizedSelector(_:of:)`` for a selector it does not know,
  ///   and what the function throws.
  func call(_ selector: String, _ arguments: [Any?]) throws -> Any?
}

/// Somebody who runs requests: what `FETCH(request, context, NO)` asks.
public protocol FetchReceiver {
  /// What the request finds.
  ///
  /// - Parameter request: what the expression's first operand stands for; the receiver knows which
  ///   types it takes.
  /// - Throws: ``PersistenceError`` for a request of another type, and what the fetch throws.
  func results(ofFetch request: Any) throws -> [Any]

  /// How many the request finds.
  func count(ofFetch request: Any) throws -> Int
}

extension PersistenceError {
  /// The error of a receiver that does not know a function.
  public static func unrecognizedSelector(
    _ selector: String, of receiver: Any
  ) -> PersistenceError {
    PersistenceError(
      .unrecognizedSelector,
      "\(briefDescription(of: receiver)) of type \(type(of: receiver)) has no function \(selector)")
  }
}
