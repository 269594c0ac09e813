extension FetchExpression {
  /// An expression written as a format string, in Core Data's language.
  ///
  /// ```swift
  /// try FetchExpression(format: "%K * 1.19", "price")
  /// try FetchExpression(format: "SUBQUERY(artworks, $x, $x.price > %@).@count", 100)
  /// ```
  ///
  /// Besides the values, key paths and arguments of ``FetchPredicate/init(format:_:)``:
  ///
  /// - Arithmetic: `**` before `*` `/` before `+` `-` before `UNION` `INTERSECT` `MINUS`, each from
  ///   left to right. A minus before an operand binds closest of all: `-2 ** 2` is 4.
  /// - Variables: `$name`, or `$"any text"`. Key paths go on after anything: `$source.a.b`,
  ///   `FUNCTION(…).c`, `(a UNION b).@count`. They may have collection operators.
  /// - Functions: `sum:(a, b)`, `uppercase(name)`, `now()` and the others of ``Function``,
  ///   `CAST(a, "NSDate")`, `FUNCTION(receiver, "selector:", argument)`, `TERNARY(predicate, a,
  ///   b)`, `SUBQUERY(collection, $x, predicate)` and `FETCH(request, context, NO)`.
  ///
  /// - Throws: ``PredicateFormatError`` if the text is not such a format or is nested too deep, or
  ///   if the arguments do not fit it.
  public init(
    format: String, _ arguments: (any PredicateConvertible)?...
  ) throws(PredicateFormatError) {
    try self.init(format: format, argumentArray: arguments)
  }

  /// The same where arguments that the format does not ask for are ignored, as in Core Data.
  package init(
    formatWithSurplus format: String, argumentArray: [(any PredicateConvertible)?]
  ) throws(PredicateFormatError) {
    var parser = try PredicateFormatParser(format, argumentArray.map { $0?.predicateValue })
    parser.ignoresSurplus = true
    self = try parser.parseExpression()
  }

  /// An expression written as a format string; see ``init(format:_:)``.
  public init(
    format: String, argumentArray: [(any PredicateConvertible)?]
  ) throws(PredicateFormatError) {
    var parser = try PredicateFormatParser(format, argumentArray.map { $0?.predicateValue })
    self = try parser.parseExpression()
  }
}
