extension FetchExpression {
  /// A built-in function, which no object or context has to compute.
  ///
  /// The raw value is Core Data's selector, which a format may write before arguments in
  /// parentheses: `lowercase:(name)`, `modulus:by:(a, b)`. With one argument or none the colon may
  /// be left out. Operators have their signs.
  ///
  /// If an argument of arithmetic or of a function of a number or a text is absent, the result is
  /// absent. Arithmetic depends on the types of its numbers, as in Core Data:
  ///
  /// - Two integers make an integer: `7 / 2` is 3. A result that 64 bits do not hold, a division by
  ///   zero and a negative power of zero are errors. A negative power of another integer is a
  ///   double. A boolean is 0 or 1.
  /// - With a decimal, the other number counts as the shortest decimal that names it. What a
  ///   decimal cannot hold and a division by zero are errors.
  /// - Any other numbers make a double, by the rules of IEEE 754: `1.0 / 0` is infinity.
  /// - A date and a number of seconds make a date; the difference of two dates is seconds.
  public enum Function: String, Hashable, Sendable, CaseIterable {
    /// `a + b`
    case add = "add:to:"
    /// `a - b`
    case subtract = "from:subtract:"
    /// `a * b`
    case multiply = "multiply:by:"
    /// `a / b`
    case divide = "divide:by:"
    /// `a ** b`. A fraction as exponent is an error, but for a half.
    case power = "raise:toPower:"
    /// `-a`
    case negate = "negate:"
    /// The remainder, with the sign of the dividend.
    case modulus = "modulus:by:"
    /// The number without its sign.
    case absolute = "abs:"
    /// The next whole number up.
    case ceiling = "ceiling:"
    /// The next whole number down.
    case floor = "floor:"
    /// Towards zero.
    case truncated = "trunc:"
    /// A double; of a negative number not a number.
    case squareRoot = "sqrt:"
    /// The bits that both integers have.
    case bitwiseAnd = "bitwiseAnd:with:"
    /// The bits that one of the integers has, or both.
    case bitwiseOr = "bitwiseOr:with:"
    /// The bits that one of the integers has and the other has not.
    case bitwiseXor = "bitwiseXor:with:"
    /// The integer's bits moved up by so many positions.
    case leftShift = "leftshift:by:"
    /// The integer's bits moved down by so many positions.
    case rightShift = "rightshift:by:"
    /// The bits that the integer does not have.
    case onesComplement = "onesComplement:"

    // The arguments of these are values or collections of values.
    /// The sum of the numbers. Absent values count as 0.
    case sum = "sum:"
    /// Absent values count as 0.
    case average = "average:"
    /// Absent values are skipped; NaN is chosen only if there is nothing else.
    case minimum = "min:"
    /// The largest value, by the rules of ``minimum``.
    case maximum = "max:"
    /// The middle one of the numbers as a double, or halfway between the middle two; absent of
    /// none.
    case median = "median:"
    /// Of the whole population.
    case standardDeviation = "stddev:"
    /// The number of members of a collection.
    case count = "count:"

    /// The text in capital letters.
    case uppercase = "uppercase:"
    /// The text in small letters.
    case lowercase = "lowercase:"
    /// Without differences of case and diacritics.
    case canonical = "canonical:"
    /// The number of UTF-16 units of a text, as in Core Data.
    case length = "length:"
    /// The value itself. In Core Data: without the help of an index.
    case withoutIndex = "noindex:"

    // Parts of a date in UTC, as integers, those of Foundation's Gregorian calendar. Of another
    // zone, its seconds are added before: `month:(taken + 3600)`.
    /// The year of a date.
    case year = "year:"
    /// The month of a date, 1 to 12.
    case month = "month:"
    /// The day of a date in its month, 1 to 31.
    case day = "day:"
    /// The day of a date in its week, from 1 for Sunday to 7 for Saturday.
    case weekday = "weekday:"
    /// The hour of a date, 0 to 23.
    case hour = "hour:"
    /// The minute of a date.
    case minute = "minute:"
    /// The second of a date, a whole number.
    case second = "second:"

    /// The date and time of the evaluation.
    case now = "now"
    /// A double from 0 up to 1.
    case random = "random"
    /// An integer from 0 up to the argument.
    case randomBelow = "random:"
    /// `CAST(a, "NSDate")`: a value as another type. Dates are seconds since the reference date.
    case cast = "castObject:toType:"
    /// `a[0]`: the member of an array, or of an ordered relationship, at an index; an absent value
    /// where the array has no such position.
    case element = "objectFrom:withIndex:"
    /// `a[FIRST]`: the first member of an array; an absent value when it is empty.
    case first = "[FIRST]"
    /// `a[LAST]`
    case last = "[LAST]"

    /// `a UNION b`, a set.
    case union = "UNION"
    /// `a INTERSECT b`, a set.
    case intersection = "INTERSECT"
    /// `a MINUS b`, a set.
    case difference = "MINUS"
  }
}

extension FetchExpression.Function {
  /// The number of arguments of the function; `nil` for one or more.
  package var argumentCount: Int? {
    switch self {
    case .now, .random: 0
    case .sum, .average, .minimum, .maximum, .median, .standardDeviation: nil
    case .negate, .absolute, .ceiling, .floor, .truncated, .squareRoot, .onesComplement, .count,
      .uppercase, .lowercase, .canonical, .length, .year, .month, .day, .weekday, .hour, .minute,
      .second, .withoutIndex, .randomBelow, .first, .last:
      1
    case .add, .subtract, .multiply, .divide, .power, .modulus, .bitwiseAnd, .bitwiseOr,
      .bitwiseXor, .leftShift, .rightShift, .cast, .element, .union, .intersection, .difference:
      2
    }
  }

  package func takes(_ count: Int) -> Bool { argumentCount.map { $0 == count } ?? (count > 0) }

  /// The sign between the two arguments, if the function is written with one, and its precedence.
  var infix: (sign: String, precedence: Int)? {
    switch self {
    case .union, .intersection, .difference: (rawValue, 0)
    case .add: ("+", 1)
    case .subtract: ("-", 1)
    case .multiply: ("*", 2)
    case .divide: ("/", 2)
    case .power: ("**", 3)
    default: nil
    }
  }

  /// Binds closer than every operator between two operands.
  static let operandPrecedence = 4

  /// The function that is written with this selector and parentheses, in any case of letters.
  init?(selector: String) {
    guard let function = Self.selectors[selector.lowercased()] else { return nil }
    self = function
  }

  private static let selectors: [String: FetchExpression.Function] = {
    var selectors: [String: FetchExpression.Function] = [:]
    for function in allCases
    where function.infix?.precedence != 0 && ![.first, .last].contains(function) {
      let selector = function.rawValue.lowercased()
      selectors[selector] = function
      let parts = selector.split(separator: ":")
      if parts.count == 1, function != .randomBelow { selectors[String(parts[0])] = function }
    }
    return selectors
  }()
}
