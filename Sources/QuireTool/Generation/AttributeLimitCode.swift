import QuireModel

/// The limits of an attribute as the argument of a declaration: `range: 0...5`, `length: 1...40`.
struct AttributeLimitCode {
  /// `nil` where there are no limits, or none that a range of literals gives as they are.
  let argument: SwiftArgument?
  /// Whether there are limits, and no argument for them.
  let isInexpressible: Bool

  init(_ attribute: AttributeDescription, _ code: ModelCode) {
    let limits = attribute.validation
    let isOfDates = limits.earliestDate != nil || limits.latestDate != nil
    let isOfNumbers = limits.minimum != nil || limits.maximum != nil
    switch (isOfNumbers, isOfDates) {
    case (false, false): argument = nil
    case (true, true): argument = nil
    case (false, true): argument = Self.dates(limits, code)
    case (true, false): argument = Self.numbers(limits, isLength: attribute.type == .string)
    }
    isInexpressible = argument == nil && (isOfDates || isOfNumbers)
  }

  /// One date; two do not have room on a line.
  private static func dates(
    _ limits: AttributeValidation, _ code: ModelCode
  ) -> SwiftArgument? {
    switch (limits.earliestDate, limits.latestDate) {
    case (let first?, nil):
      SwiftArgument("range", .foundation("\(code.date(first))..."))
    case (nil, let last?):
      SwiftArgument("range", .foundation("...\(code.date(last))"))
    default: nil
    }
  }

  private static func numbers(_ limits: AttributeValidation, isLength: Bool) -> SwiftArgument? {
    let texts = [limits.minimum, limits.maximum].compactMap { $0 }
    let integers = texts.compactMap { text in Int(text).flatMap { "\($0)" == text ? $0 : nil } }
    let numbers = texts.compactMap { text in
      Double(text).flatMap { $0.isFinite && "\($0)" == text ? $0 : nil }
    }
    let areWhole = integers.count == texts.count
    guard areWhole || numbers.count == texts.count && !isLength else { return nil }
    if texts.count == 2 {
      let isOrdered = areWhole ? integers[0] <= integers[1] : numbers[0] <= numbers[1]
      guard isOrdered else { return nil }
    }
    // Two signs beside each other would be one operator.
    let largest = limits.maximum.map { $0.hasPrefix("-") ? "(\($0))" : $0 } ?? ""
    let code = "\(limits.minimum ?? "")...\(largest)"
    return SwiftArgument(isLength ? "length" : "range", text: code)
  }
}
