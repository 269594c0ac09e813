import Foundation
import Quire
import QuireModel

/// A condition on objects, in Core Data's form: an object that wraps a `FetchPredicate`.
///
/// Foundation has a class of this name on every platform. A module that imports both says once
/// which one it means: `typealias NSPredicate = QuireCoreData.NSPredicate`.
///
/// A malformed format, and a comparison of values that have no order, stop the program with the
/// text of the error, where Core Data raises an exception. A predicate made of a block is evaluated
/// in memory; a fetch refuses it, as one in an SQLite store does.
open class NSPredicate: NSObject {
  enum Content {
    case predicate(FetchPredicate)
    case block((Any?, [String: Any]?) -> Bool)
    case compound(NSCompoundPredicate.LogicalType, [NSPredicate])
  }

  let content: Content

  init(_ content: Content) { self.content = content }

  /// A predicate of Quire's.
  public convenience init(_ predicate: FetchPredicate) { self.init(.predicate(predicate)) }

  /// A predicate written as a format, with its arguments: `%@` is any value, `%K` a key path.
  /// Arguments that the format does not ask for are ignored.
  public convenience init(
    format: String, _ arguments: Any?..., file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(format: format, argumentArray: arguments, file: file, line: line)
  }

  /// The same with the arguments as an array.
  public convenience init(
    format: String, argumentArray arguments: [Any?]?, file: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(
      raising(file, line) {
        let arguments = try FormatArguments(arguments ?? [])
        return try FetchPredicate(formatWithSurplus: format, argumentArray: arguments.values)
          .replacingLeaves { leaf, _ in arguments.expression(for: leaf) }
      })
  }

  /// A predicate that is always true or always false.
  public convenience init(value: Bool) { self.init(.constant(value)) }

  /// A predicate that a function evaluates.
  public convenience init(block: @escaping (Any?, [String: Any]?) -> Bool) {
    self.init(.block(block))
  }

  /// Quire's form of the predicate.
  ///
  /// - Throws: error 134091 for a predicate that has a block.
  public func fetchPredicate() throws -> FetchPredicate {
    switch content {
    case .predicate(let predicate): return predicate
    case .block:
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "a predicate made of a block can be evaluated in memory only, not by a fetch")
    case .compound(let type, let parts):
      let parts = try parts.map { try $0.fetchPredicate() }
      switch type {
      case .and: return .and(parts)
      case .or: return .or(parts)
      case .not: return .not(parts.first ?? .constant(true))
      }
    }
  }

  /// Whether the predicate holds for an object.
  open func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  /// Whether the predicate holds for an object, with values of its variables.
  open func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    switch content {
    case .predicate(let predicate):
      // Programs override this, so that it does not know where it was called.
      return raising("\(predicate)") {
        try predicate.evaluate(
          with: plainValue(object), substitutionVariables: (bindings ?? [:]).mapValues(plainValue))
      }
    case .block(let block): return block(object, bindings)
    case .compound(let type, let parts):
      func holds(_ part: NSPredicate) -> Bool {
        part.evaluate(with: object, substitutionVariables: bindings)
      }
      switch type {
      case .and: return parts.allSatisfy(holds)
      case .or: return parts.contains(where: holds)
      case .not: return parts.first.map { !holds($0) } ?? false
      }
    }
  }

  /// A copy with values in the place of variables.
  open func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
    switch content {
    case .predicate(let predicate):
      NSPredicate(
        raising("\(predicate)") {
          try predicate.withSubstitutionVariables(variables.mapValues(predicateArgument))
        })
    case .block(let block):
      // As in Core Data, the block gets them when it is evaluated.
      NSPredicate(
        .block { object, bindings in block(object, variables.merging(bindings ?? [:]) { $1 }) })
    case .compound(let type, let parts):
      NSCompoundPredicate(
        type: type, subpredicates: parts.map { $0.withSubstitutionVariables(variables) })
    }
  }

  /// The predicate as a format without arguments.
  open var predicateFormat: String {
    switch content {
    case .block: "BLOCKPREDICATE"
    case .compound(let type, let parts) where (try? fetchPredicate()) == nil:
      switch type {
      case .and: parts.map(\.predicateFormat).joined(separator: " AND ")
      case .or: parts.map(\.predicateFormat).joined(separator: " OR ")
      case .not: "NOT " + parts.map(\.predicateFormat).joined()
      }
    case .predicate, .compound:
      raising("predicateFormat") { try fetchPredicate().withNumbersForFlags.description }
    }
  }

  /// The predicate as a format.
  open override var description: String { predicateFormat }

  /// Whether the other object is a predicate of the same meaning.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPredicate else { return false }
    if self === other { return true }
    guard let mine = try? fetchPredicate(), let its = try? other.fetchPredicate() else {
      return false
    }
    return mine.withNumbersForFlags == its.withNumbersForFlags
  }

  /// Equal predicates have equal hashes.
  open override var hash: Int { (try? fetchPredicate())?.withNumbersForFlags.hashValue ?? 0 }
}

extension FetchPredicate {
  /// The predicate with 1 and 0 in the place of YES and NO, which are numbers in Core Data.
  fileprivate var withNumbersForFlags: FetchPredicate {
    replacingLeaves { leaf, _ in
      guard case .constant(.value(.boolean(let flag))?) = leaf else { return nil }
      return .constant(.value(.integer(flag ? 1 : 0)))
    }
  }
}

/// Predicates joined by AND, OR or NOT.
public final class NSCompoundPredicate: NSPredicate {
  /// The word that joins predicates.
  public enum LogicalType: UInt, Sendable {
    /// The opposite of the one predicate.
    case not = 0
    /// All of them.
    case and = 1
    /// At least one of them.
    case or = 2
  }

  /// The word that joins the predicates.
  public let compoundPredicateType: LogicalType
  /// The predicates that are joined.
  public let subpredicates: [Any]

  /// Predicates joined by a word.
  public init(type: LogicalType, subpredicates: [NSPredicate]) {
    compoundPredicateType = type
    self.subpredicates = subpredicates
    super.init(.compound(type, subpredicates))
  }

  /// A predicate that holds where all others do.
  public convenience init(andPredicateWithSubpredicates subpredicates: [NSPredicate]) {
    self.init(type: .and, subpredicates: subpredicates)
  }

  /// A predicate that holds where one of the others does.
  public convenience init(orPredicateWithSubpredicates subpredicates: [NSPredicate]) {
    self.init(type: .or, subpredicates: subpredicates)
  }

  /// A predicate that holds where another does not.
  public convenience init(notPredicateWithSubpredicate predicate: NSPredicate) {
    self.init(type: .not, subpredicates: [predicate])
  }
}

/// A comparison of two expressions.
public final class NSComparisonPredicate: NSPredicate {
  /// Whether one member of a collection or all of them are compared.
  public enum Modifier: UInt, Sendable {
    /// The value itself.
    case direct = 0
    /// All members of the left side.
    case all = 1
    /// At least one member of the left side.
    case any = 2
  }

  /// The operator of a comparison.
  public enum Operator: UInt, Sendable {
    /// The left side is less.
    case lessThan = 0
    /// The left side is less, or equal.
    case lessThanOrEqualTo = 1
    /// The left side is greater.
    case greaterThan = 2
    /// The left side is greater, or equal.
    case greaterThanOrEqualTo = 3
    /// Both are equal.
    case equalTo = 4
    /// They are not equal.
    case notEqualTo = 5
    /// A text matches a regular expression as a whole.
    case matches = 6
    /// A text matches a pattern of `*` and `?`.
    case like = 7
    /// A text begins with another.
    case beginsWith = 8
    /// A text ends with another.
    case endsWith = 9
    /// The left side is a member of the right.
    case `in` = 10
    /// The left side has the right as a part or a member.
    case contains = 99
    /// The left side is between the two values of the right.
    case between = 100
  }

  /// How texts are compared.
  public struct Options: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// Options of given bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Upper case and lower case are the same.
    public static let caseInsensitive = Options(rawValue: 1)
    /// Letters with and without marks are the same.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// Texts are compared as they are.
    public static let normalized = Options(rawValue: 4)
  }

  /// The left side.
  public let leftExpression: NSExpression
  /// The right side.
  public let rightExpression: NSExpression
  /// Whether members are compared.
  public let comparisonPredicateModifier: Modifier
  /// The operator.
  public let predicateOperatorType: Operator
  /// How texts are compared.
  public let options: Options

  /// A comparison of two expressions.
  public init(
    leftExpression: NSExpression, rightExpression: NSExpression, modifier: Modifier,
    type: Operator, options: Options = []
  ) {
    self.leftExpression = leftExpression
    self.rightExpression = rightExpression
    comparisonPredicateModifier = modifier
    predicateOperatorType = type
    self.options = options
    super.init(
      .predicate(
        .comparison(
          leftExpression.fetchExpression, type.fetchOperator, rightExpression.fetchExpression,
          options: FetchComparisonOptions(rawValue: UInt8(options.rawValue)),
          modifier: modifier.fetchModifier)))
  }
}

extension NSComparisonPredicate.Operator {
  fileprivate var fetchOperator: FetchPredicate.Operator {
    switch self {
    case .lessThan: .lessThan
    case .lessThanOrEqualTo: .lessThanOrEqual
    case .greaterThan: .greaterThan
    case .greaterThanOrEqualTo: .greaterThanOrEqual
    case .equalTo: .equal
    case .notEqualTo: .notEqual
    case .matches: .matches
    case .like: .like
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .in: .in
    case .contains: .contains
    case .between: .between
    }
  }
}

extension NSComparisonPredicate.Modifier {
  fileprivate var fetchModifier: FetchPredicate.Modifier {
    switch self {
    case .direct: .direct
    case .all: .all
    case .any: .any
    }
  }
}
