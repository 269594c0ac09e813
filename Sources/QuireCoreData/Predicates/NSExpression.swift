import Foundation
import Quire
import QuireModel

/// A part of a predicate, and what is computed in a request: an object that wraps a
/// `FetchExpression`. Foundation has a class of this name too; see ``NSPredicate``.
open class NSExpression: NSObject {
  /// Quire's form of the expression.
  public let fetchExpression: FetchExpression

  /// An expression of Quire's.
  public init(_ expression: FetchExpression) { fetchExpression = expression }

  /// The value at a key path of the object that is looked at.
  public convenience init(forKeyPath keyPath: String) {
    self.init(.keyPath(keyPath.split(separator: ".").map(String.init)))
  }

  /// The value of a property of the object that is looked at.
  public convenience init<Object: ManagedObject, Value>(forKeyPath keyPath: KeyPath<Object, Value>)
  {
    self.init(forKeyPath: FetchSortDescriptor(keyPath).key)
  }

  /// A value.
  public convenience init(
    forConstantValue value: Any?, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(
      raising(file, line) {
        try predicateArgument(value).map { Self.constant($0) } ?? .constant(nil)
      })
  }

  /// The value of a variable.
  public convenience init(forVariable name: String) { self.init(.variable(name)) }

  /// A function by Core Data's name of it, such as `average:` or `add:to:`. A name that there is
  /// not stops the program, as an exception does in Core Data.
  public convenience init(
    forFunction name: String, arguments: [Any], file: StaticString = #fileID, line: UInt = #line
  ) {
    guard let function = FetchExpression.Function(rawValue: name) else {
      fatalError("there is no function \(name) of expressions", file: file, line: line)
    }
    let arguments = arguments.map {
      ($0 as? NSExpression ?? NSExpression(forConstantValue: $0, file: file, line: line))
        .fetchExpression
    }
    self.init(.function(function, arguments))
  }

  /// A list of expressions.
  public convenience init(forAggregate members: [NSExpression]) {
    self.init(.aggregate(members.map(\.fetchExpression)))
  }

  /// The members of a collection for which a predicate holds.
  public convenience init(
    forSubquery collection: NSExpression, usingIteratorVariable variable: String,
    predicate: NSPredicate, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(
      .subquery(
        collection.fetchExpression, variable: variable,
        raising(file, line) { try predicate.fetchPredicate() }))
  }

  /// One of two expressions, as a predicate decides.
  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression,
    falseExpression: NSExpression, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(
      .conditional(
        raising(file, line) { try predicate.fetchPredicate() }, trueExpression.fetchExpression,
        falseExpression.fetchExpression))
  }

  /// An expression written as a format, with its arguments.
  public convenience init(
    format: String, _ arguments: Any?..., file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(format: format, argumentArray: arguments, file: file, line: line)
  }

  /// The same with the arguments as an array.
  public convenience init(
    format: String, argumentArray arguments: [Any?], file: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(
      raising(file, line) {
        let arguments = try FormatArguments(arguments)
        return try FetchExpression(formatWithSurplus: format, argumentArray: arguments.values)
          .replacingLeaves { leaf, _ in arguments.expression(for: leaf) }
      })
  }

  /// The object that is looked at.
  public class func expressionForEvaluatedObject() -> NSExpression {
    NSExpression(.evaluatedObject)
  }

  private static func constant(_ value: some PredicateConvertible) -> FetchExpression {
    FetchExpression(value)
  }

  /// The key path; the program stops for an expression of another kind.
  open var keyPath: String {
    guard case .keyPath(let names) = fetchExpression else {
      fatalError("NSExpression.keyPath: \(fetchExpression) is no key path")
    }
    return names.joined(separator: ".")
  }

  /// The value of a constant, or the values of a list of constants; `nil` for an expression of
  /// another kind.
  open var constantValue: Any? {
    switch fetchExpression {
    case .constant: expressionValue(with: nil, context: nil)
    case .aggregate(let members):
      members.allSatisfy(\.isConstant)
        ? members.map { NSExpression($0).constantValue ?? NSNull() } : nil
    default: nil
    }
  }

  /// The value of the expression.
  ///
  /// - Parameters:
  ///   - object: the object that key paths start from.
  ///   - context: a dictionary with the values of variables, or `nil`.
  open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    let bindings = plainValue(context) as? [String: Any] ?? [:]
    return raising("NSExpression.expressionValue(with:context:)") {
      try fetchExpression.expressionValue(with: plainValue(object), context: bindings)
        .map(cocoaNumber)
    }
  }

  /// The expression as a format.
  open override var description: String { fetchExpression.description }

  /// Whether the other object is the same expression.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSExpression)?.fetchExpression == fetchExpression
  }

  /// Equal expressions have equal hashes.
  open override var hash: Int { fetchExpression.hashValue }
}

extension FetchExpression {
  fileprivate var isConstant: Bool {
    if case .constant = self { return true }
    return false
  }
}
