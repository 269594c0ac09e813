import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension FetchPredicate {
  /// A fetch predicate made of Foundation's `#Predicate` over a class of managed objects, whose
  /// names and types the compiler has checked.
  ///
  /// ```swift
  /// request.predicate = try FetchPredicate(
  ///   #Predicate<Artwork> { $0.price > limit && $0.artist?.name == "Hokusai" }, in: context)
  /// ```
  ///
  /// The meaning is that of Swift. A store can evaluate:
  ///
  /// - Properties of the model, also behind to-one relationships; `objectID`; `count`, `isEmpty`,
  ///   `first` and `last` of relationships, `utf16.count` and `isEmpty` of texts.
  /// - `==` `!=` `<` `<=` `>` `>=`, `&&` `||` `!`, `? :`, `??`, `if let`, `!` behind an optional,
  ///   arithmetic, ranges, `is`.
  /// - `contains`, `contains(where:)`, `allSatisfy`, `filter`, `min()` and `max()` of relationships
  ///   and of constant arrays and sets; `contains` and `starts(with:)` of texts.
  ///
  /// An absent number is neither less nor greater than another. Objects are compared by their IDs,
  /// as `#Predicate` takes nothing that is not `Sendable`: `$0.artist?.objectID == id`.
  ///
  /// - Parameter context: a context of the model that has the properties, and of the coordinator at
  ///   which the classes are registered.
  /// - Throws: ``PersistenceError/Code/invalidExpression`` for an expression that no store can
  ///   evaluate, such as the number of a text's characters, and
  ///   ``PersistenceError/Code/undefinedKey`` for a property that is not in the model.
  /// - Complexity: one or two objects are made for each property, to find its name.
  public init<Object: ManagedObject>(
    _ predicate: Predicate<Object>, in context: ManagedObjectContext
  ) throws {
    let translation = try PredicateTranslation(context)
    translation.bind(predicate.variable.key, to: .evaluatedObject)
    self = try translation.predicate(of: predicate.expression)
  }
}

/// The translation of a part of a `#Predicate`.
enum TranslatedExpression {
  case predicate(FetchPredicate)
  case value(FetchExpression)
  /// True or false if a condition holds, otherwise absent.
  case optional(FetchPredicate, where: FetchPredicate)
  /// A range by its bounds, with or without the upper one.
  case range(FetchExpression, FetchExpression, isClosed: Bool)
}

/// A part of a `#Predicate` that fetches can evaluate.
protocol TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression
}

/// The state of one translation: the expressions that variables stand for.
final class PredicateTranslation {
  private let model: ModelBinding
  private let classes: ObjectClasses
  private var variables: [PredicateExpressions.VariableID: FetchExpression] = [:]
  private var variableCount = 0

  init(_ context: ManagedObjectContext) throws {
    guard let model = context.modelBinding,
      let classes = context.persistentStoreCoordinator?.classes
    else {
      throw PersistenceError(
        .persistentStoreOperation, "the context has no coordinator, whose model would have names")
    }
    (self.model, self.classes) = (model, classes)
  }

  // MARK: Variables

  func bind(_ variable: PredicateExpressions.VariableID, to expression: FetchExpression) {
    variables[variable] = expression
  }

  func expression(of variable: PredicateExpressions.VariableID) throws -> FetchExpression {
    guard let expression = variables[variable] else {
      throw Self.unsupported("a variable that stands for nothing here")
    }
    return expression
  }

  /// Calls `body` with the name of a new variable that a closure's parameter stands for.
  func withVariable<Result>(
    _ variable: PredicateExpressions.VariableID, _ body: (String) throws -> Result
  ) rethrows -> Result {
    variableCount += 1
    let name = "x\(variableCount)"
    variables[variable] = .variable(name)
    defer { variables[variable] = nil }
    return try body(name)
  }

  // MARK: Names

  /// The name of the property that a key path of a class reads.
  func names<Root, Value>(of property: KeyPath<Root, Value>) throws -> [String] {
    if Value.self == ManagedObjectID.self { return [FetchExpression.objectIDName] }
    guard let type = Root.self as? ManagedObject.Type else {
      throw Self.unsupported("\(property), which is asked of a value and not of an object")
    }
    guard let binding = classes.entity(of: type) else {
      throw PersistenceError(
        .undefinedKey,
        "\(type) is registered for no entity with the coordinator, so that \(property) has no name")
    }
    return try PropertyProbe.names(of: property, from: binding, in: model, classes)
  }

  // MARK: Parts

  func translated(_ expression: any PredicateExpression) throws -> TranslatedExpression {
    guard let expression = expression as? any TranslatableExpression else {
      let name = "\(type(of: expression))".prefix { $0 != "<" }
      throw Self.unsupported("\(name)")
    }
    return try expression.translated(by: self)
  }

  func predicate(of expression: any PredicateExpression) throws -> FetchPredicate {
    switch try translated(expression) {
    case .predicate(let predicate): return predicate
    case .value(.constant(.value(.boolean(let flag))?)): return .constant(flag)
    case .value(let value): return .comparison(value, .equal, FetchExpression(true))
    case .optional(let predicate, let condition): return condition && predicate
    case .range: throw Self.misplacedRange
    }
  }

  func value(of expression: any PredicateExpression) throws -> FetchExpression {
    try value(of: translated(expression))
  }

  func value(of translated: TranslatedExpression) throws -> FetchExpression {
    switch translated {
    case .value(let value): return value
    case .optional(let predicate, let condition):
      return .conditional(condition, try value(of: .predicate(predicate)), nil)
    case .predicate(.constant(let flag)): return FetchExpression(flag)
    case .predicate(let predicate):
      return .conditional(predicate, FetchExpression(true), FetchExpression(false))
    case .range: throw Self.misplacedRange
    }
  }

  static func unsupported(_ what: String) -> PersistenceError {
    PersistenceError(
      .invalidExpression,
      "a #Predicate has \(what), for which a fetch has no counterpart: write a format or a Key, or "
        + "filter what is fetched")
  }

  private static var misplacedRange: PersistenceError { unsupported("a range for a value") }
}

extension FetchExpression {
  /// The expression for the value at a path from this one.
  func appending(_ names: [String]) -> FetchExpression {
    switch self {
    case .evaluatedObject: .keyPath(names)
    case .keyPath(let before): .keyPath(before + names)
    case .path(let start, let before): .path(start, before + names)
    default: .path(self, names)
    }
  }
}
