/// Why a text is not the format of a predicate or an expression.
public struct PredicateFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  public var format: String
  /// Where it stopped making sense, counted in characters from 0.
  public var offset: Int
  /// What would have made sense there.
  public var expected: String
  /// What stands there.
  public var found: String

  public var description: String {
    "the format \(FormatLanguage.quoted(format)) cannot be read: expected \(expected) at "
      + "offset \(offset), but found \(found)"
  }
}
