/// Why a text is not the format of a predicate or an expression.
public struct PredicateFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The whole text.
  public var format: String
  /// The position at which the format could not be read on, counted in characters from 0.
  public var offset: Int
  /// A description of what could be read there.
  public var expected: String
  /// A description of what is there.
  public var found: String

  public var description: String {
    "the format \(FormatLanguage.quoted(format)) cannot be read: expected \(expected) at "
      + "offset \(offset), but found \(found)"
  }
}
