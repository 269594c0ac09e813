import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Values that are made of the properties of an object: arithmetic, parts of dates, texts in one
// case, and what stands in for an absent value.

// MARK: Arithmetic

extension QueryPath where Value: AggregateNumber & AggregateValue {
  /// The sum of a number of the object and another one.
  public static func + (path: QueryPath, number: Value.Present) -> QueryPath {
    path.with(.add, FetchExpression(number))
  }
  /// The sum of a number and one of the object.
  public static func + (number: Value.Present, path: QueryPath) -> QueryPath {
    path.behind(.add, number)
  }
  /// The difference of a number of the object and another one.
  public static func - (path: QueryPath, number: Value.Present) -> QueryPath {
    path.with(.subtract, FetchExpression(number))
  }
  /// The difference of a number and one of the object.
  public static func - (number: Value.Present, path: QueryPath) -> QueryPath {
    path.behind(.subtract, number)
  }
  /// The product of a number of the object and another one.
  public static func * (path: QueryPath, number: Value.Present) -> QueryPath {
    path.with(.multiply, FetchExpression(number))
  }
  /// The product of a number and one of the object.
  public static func * (number: Value.Present, path: QueryPath) -> QueryPath {
    path.behind(.multiply, number)
  }
  /// The quotient of a number of the object and another one.
  public static func / (path: QueryPath, number: Value.Present) -> QueryPath {
    path.with(.divide, FetchExpression(number))
  }
  /// The quotient of a number and one of the object.
  public static func / (number: Value.Present, path: QueryPath) -> QueryPath {
    path.behind(.divide, number)
  }
  /// The sum of two numbers of the object.
  public static func + (path: QueryPath, other: QueryPath) -> QueryPath {
    path.with(.add, other.key.expression)
  }
  /// The difference of two numbers of the object.
  public static func - (path: QueryPath, other: QueryPath) -> QueryPath {
    path.with(.subtract, other.key.expression)
  }
  /// The product of two numbers of the object.
  public static func * (path: QueryPath, other: QueryPath) -> QueryPath {
    path.with(.multiply, other.key.expression)
  }
  /// The quotient of two numbers of the object.
  public static func / (path: QueryPath, other: QueryPath) -> QueryPath {
    path.with(.divide, other.key.expression)
  }

  private func with(_ function: FetchExpression.Function, _ other: FetchExpression) -> QueryPath {
    QueryPath(Key(.function(function, [single("arithmetic").expression, other])))
  }

  private func behind(_ function: FetchExpression.Function, _ number: Value.Present) -> QueryPath {
    QueryPath(
      Key(.function(function, [FetchExpression(number), single("arithmetic").expression])))
  }
}

/// The number without its sign: `Artwork.where { abs($0.year - 1831) < 5 }`.
public func abs<Value: AggregateNumber & AggregateValue>(
  _ path: QueryPath<Value>
) -> QueryPath<Value> { path.applying(.absolute) }

extension QueryPath {
  /// The value, or another one where there is none: `Artwork.where { ($0.price ?? 0) < 100 }`.
  ///
  /// No index serves it, as none has the value that stands in.
  public static func ?? <Present: ManagedAttribute>(
    path: QueryPath, value: Present
  ) -> QueryPath<Present> where Value == Present? {
    let key = path.single("??")
    return QueryPath<Present>(
      Key(
        .conditional(
          key != FetchExpression(nilLiteral: ()), key.expression, FetchExpression(value))))
  }

  fileprivate func applying<Result>(_ function: FetchExpression.Function) -> QueryPath<Result> {
    QueryPath<Result>(Key(.function(function, [single(function.rawValue).expression])))
  }
}

// MARK: Texts

extension QueryPath where Value: AggregateValue, Value.Present == String {
  /// The text in small letters. To leave case out of a comparison, `equals(_:_:)` and its like take
  /// `.caseInsensitive`.
  public func lowercased() -> QueryPath { applying(.lowercase) }

  /// The text in capital letters.
  public func uppercased() -> QueryPath { applying(.uppercase) }
}

// MARK: Dates

// In UTC, those of Foundation's Gregorian calendar. Of another zone, its seconds are added before:
// `($0.taken + 3600).month`. No index serves a part of a date: a range of dates is found by one.
extension QueryPath where Value == Date {
  /// The year of the date.
  public var year: QueryPath<Int> { applying(.year) }
  /// The month of the date, 1 to 12.
  public var month: QueryPath<Int> { applying(.month) }
  /// The day of the date in its month, 1 to 31.
  public var day: QueryPath<Int> { applying(.day) }
  /// The day of the date in its week, from 1 for Sunday to 7 for Saturday.
  public var weekday: QueryPath<Int> { applying(.weekday) }
  /// The hour of the date, 0 to 23.
  public var hour: QueryPath<Int> { applying(.hour) }
  /// The minute of the date.
  public var minute: QueryPath<Int> { applying(.minute) }
  /// The second of the date, a whole number.
  public var second: QueryPath<Int> { applying(.second) }
}

extension QueryPath where Value == Date? {
  /// The year of the date.
  public var year: QueryPath<Int?> { applying(.year) }
  /// The month of the date, 1 to 12.
  public var month: QueryPath<Int?> { applying(.month) }
  /// The day of the date in its month, 1 to 31.
  public var day: QueryPath<Int?> { applying(.day) }
  /// The day of the date in its week, from 1 for Sunday to 7 for Saturday.
  public var weekday: QueryPath<Int?> { applying(.weekday) }
  /// The hour of the date, 0 to 23.
  public var hour: QueryPath<Int?> { applying(.hour) }
  /// The minute of the date.
  public var minute: QueryPath<Int?> { applying(.minute) }
  /// The second of the date, a whole number.
  public var second: QueryPath<Int?> { applying(.second) }
}

extension QueryPath where Value: AggregateValue, Value.Present == Date {
  /// The date so many seconds later.
  public static func + (path: QueryPath, seconds: Double) -> QueryPath {
    QueryPath(Key(.function(.add, [path.single("+").expression, FetchExpression(seconds)])))
  }
  /// The date so many seconds earlier.
  public static func - (path: QueryPath, seconds: Double) -> QueryPath {
    QueryPath(Key(.function(.subtract, [path.single("-").expression, FetchExpression(seconds)])))
  }
}
