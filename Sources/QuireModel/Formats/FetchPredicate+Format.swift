extension FetchPredicate {
  /// Creates a predicate from a format string in Core Data's language.
  ///
  /// ```swift
  /// try FetchPredicate(format: "%K == %@ AND ANY artists.slug IN %@", "status", "sold", slugs)
  /// try FetchPredicate(format: "name BEGINSWITH[cd] 'a' OR artworks.@count > 0")
  /// ```
  ///
  /// - Comparisons: `=` `==` `!=` `<>` `<` `<=` `>` `>=` `BETWEEN` `IN` `CONTAINS` `BEGINSWITH`
  ///   `ENDSWITH` `LIKE` `MATCHES`, each with `[c]`, `[d]`, `[l]`, `[n]` or several of them after
  ///   it, and `ANY`, `SOME`, `ALL` or `NONE` before its left side. `SELF isKindOfClass: 'Artist'`
  ///   is true of the objects of an entity and of its descendants, `entity == 'Artist'` of its own.
  /// - Between comparisons: `AND` `&&` `OR` `||` `NOT` `!` and parentheses. `TRUEPREDICATE` and
  ///   `FALSEPREDICATE` represent comparisons.
  /// - Values: `nil` `NULL` `YES` `NO` `TRUE` `FALSE`, numbers, texts in quotation marks, lists in
  ///   braces, `SELF`, key paths, and `CAST("0.5", "Date")` for values without a literal. Arrays,
  ///   ordered relationships among them, have members: `tags[FIRST]`, `tags[LAST]`, `tags[2]`, and
  ///   their number is `tags[SIZE]`. `home['city']` is `home.city`.
  /// - A name that is a word of the language is written after a `#`; a name with other characters
  ///   than letters, digits and underscores in quotation marks after a `#`.
  /// - Arguments: `%@` is any value, `%K` a key path, `%d` `%ld` `%u` an integer, `%f` a number.
  ///   Inside quotation marks a percent sign is just that.
  ///
  /// Words may be in any case.
  ///
  /// - Throws: ``PredicateFormatError`` if the text is not such a format, or if the arguments do
  ///   not fit it. Patterns of `MATCHES` are not checked here, but by ``PredicateEvaluator``.
  public init(
    format: String, _ arguments: (any PredicateConvertible)?...
  ) throws(PredicateFormatError) {
    try self.init(format: format, argumentArray: arguments)
  }

  /// A predicate whose numbers keep all digits that were written: they are decimals where a double
  /// would lose some. The caller knows what they are compared with.
  package init(exactFormat format: String) throws(PredicateFormatError) {
    var parser = try PredicateFormatParser(format, [])
    parser.keepsDigits = true
    self = try parser.parse()
  }

  /// The same where arguments that the format does not ask for are ignored, as in Core Data.
  package init(
    formatWithSurplus format: String, argumentArray: [(any PredicateConvertible)?]
  ) throws(PredicateFormatError) {
    do {
      try self.init(format: format, argumentArray: argumentArray)
    } catch {
      var parser = try PredicateFormatParser(format, argumentArray.map { $0?.predicateValue })
      parser.ignoresSurplus = true
      self = try parser.parse()
    }
  }

  /// A predicate written as a format string; see ``init(format:_:)``.
  public init(
    format: String, argumentArray: [(any PredicateConvertible)?]
  ) throws(PredicateFormatError) {
    // In most cases there is one, for which no array is made.
    if argumentArray.count == 1,
      let predicate = PredicateFormatMemory.predicate(
        format, CollectionOfOne(argumentArray[0]?.predicateValue))
    {
      self = predicate
      return
    }
    let arguments = argumentArray.map { $0?.predicateValue }
    if argumentArray.count != 1,
      let predicate = PredicateFormatMemory.predicate(format, arguments)
    {
      self = predicate
      return
    }
    var parser = try PredicateFormatParser(format, arguments)
    self = try parser.parse()
    PredicateFormatMemory.record(format, arguments, self)
  }
}
