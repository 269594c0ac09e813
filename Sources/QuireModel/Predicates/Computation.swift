#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Computes the functions of expressions, in a fetch and in memory alike.
///
/// ``FetchExpression/Function`` describes each of them.
package struct Computation {
  package let function: FetchExpression.Function

  package init(_ function: FetchExpression.Function) { self.function = function }

  /// - Throws: ``FetchPredicateError/Reason/function(_:message:)`` when there is no answer.
  package func value(
    _ arguments: [PredicateValue?]
  ) throws(FetchPredicateError) -> PredicateValue? {
    guard function.takes(arguments.count) else {
      throw error("it was given \(arguments.count) arguments")
    }
    switch function {
    case .add, .subtract, .multiply, .divide, .power, .modulus, .bitwiseAnd, .bitwiseOr,
      .bitwiseXor, .leftShift, .rightShift:
      guard let left = arguments[0], let right = arguments[1] else { return nil }
      return .value(try binary(left, right))
    case .negate, .absolute, .ceiling, .floor, .truncated, .squareRoot, .onesComplement:
      guard let operand = arguments[0] else { return nil }
      return .value(try unary(try number(operand)).value(or: self))
    case .sum, .average, .minimum, .maximum, .median, .standardDeviation:
      return try aggregate(arguments.flatMap(Self.members))
    case .uppercase, .lowercase, .canonical, .length:
      guard let operand = arguments[0] else { return nil }
      guard case .value(.string(let text)) = operand else {
        throw error("\(operand) is not a text")
      }
      return .value(try transformed(text))
    case .year, .month, .day, .weekday, .hour, .minute, .second:
      guard let operand = arguments[0] else { return nil }
      guard case .value(.date(let date)) = operand else {
        throw error("\(operand) is not a date")
      }
      return try part(of: date).map { .value(.integer($0)) }
    case .count:
      switch arguments[0] {
      case nil: return .value(.integer(0))
      case .collection(let members)?: return .value(.integer(Int64(members.count)))
      case let other?: throw error("\(other) is not a collection")
      }
    case .withoutIndex: return arguments[0]
    case .now: return .value(.date(Date()))
    case .random: return .value(.double(.random(in: 0..<1)))
    case .randomBelow: return .value(.integer(.random(in: 0..<(try bound(arguments[0])))))
    case .cast:
      guard case .value(.string(let type))? = arguments[1] else {
        throw error("its second argument is not the name of a type")
      }
      return try CastTarget.cast(arguments[0], to: type)
    case .element, .first, .last:
      let members = try members(of: arguments[0])
      let index = try index(arguments.count == 2 ? arguments[1] : nil, of: members.count)
      return index.flatMap { members[$0] }
    case .union, .intersection, .difference:
      return try .collection(
        combined(members(of: arguments[0]), members(of: arguments[1])))
    }
  }

  package func error(_ message: String) -> FetchPredicateError {
    FetchPredicateError(.function(function, message: message))
  }

  /// The members of a collection; any other value is the only one.
  private static func members(of value: PredicateValue?) -> [PredicateValue?] {
    if case .collection(let members)? = value { members } else { [value] }
  }

  private func transformed(_ text: String) throws(FetchPredicateError) -> AttributeValue {
    switch function {
    case .uppercase: return .string(text.uppercased())
    case .lowercase: return .string(text.lowercased())
    case .canonical:
      return .string(CanonicalText.folded(text, [.caseInsensitive, .diacriticInsensitive]))
    case .length: return .integer(Int64(text.utf16.count))
    default: throw error("it is no function of a text")
    }
  }

  private func part(of date: Date) throws(FetchPredicateError) -> Int64? {
    guard let date = CivilDate(date) else { return nil }
    switch function {
    case .year: return date.year
    case .month: return date.month
    case .day: return date.day
    case .weekday: return date.weekday
    case .hour: return date.hour
    case .minute: return date.minute
    case .second: return date.second
    default: throw error("it is no part of a date")
    }
  }

  private func bound(_ value: PredicateValue?) throws(FetchPredicateError) -> Int64 {
    guard case .value(.integer(let bound))? = value, bound > 0 else {
      throw error("it needs a positive integer")
    }
    return bound
  }

  // MARK: Collections

  private func members(of value: PredicateValue?) throws(FetchPredicateError) -> [PredicateValue?] {
    switch value {
    case .collection(let members)?: return members
    case nil: return []
    case let other?: throw error("\(other) is not a collection")
    }
  }

  /// The index of the member that the function gives of an array with `count` members; `nil` if the
  /// array has no such member.
  ///
  /// - Parameter value: the second argument, which only `objectFrom:withIndex:` has.
  package func index(
    _ value: PredicateValue?, of count: Int
  ) throws(FetchPredicateError) -> Int? {
    switch function {
    case .first: return count > 0 ? 0 : nil
    case .last: return count > 0 ? count - 1 : nil
    case .element:
      guard case .value(.integer(let number))? = value, number >= 0 else {
        throw error("\(value?.description ?? "nil") is no index of an array")
      }
      return number < count ? Int(number) : nil
    default: throw error("it gives no member of an array")
    }
  }

  /// The set that the function makes of two, each member once, in the order of the arguments.
  package func combined<Member: Hashable>(_ left: [Member], _ right: [Member]) -> [Member] {
    var seen: Set<Member> = []
    let others = Set(right)
    return (function == .union ? left + right : left).filter { member in
      switch function {
      case .intersection: others.contains(member) && seen.insert(member).inserted
      case .difference: !others.contains(member) && seen.insert(member).inserted
      default: seen.insert(member).inserted
      }
    }
  }
}
