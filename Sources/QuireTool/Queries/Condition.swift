import Foundation
import Quire
import QuireModel

/// A predicate format as it is typed, in which the model says what a text represents.
///
/// `createdAt > 2024-05-01` and `createdAt > "2024-05-01 12:30"` compare with a moment,
/// `objectID == "Artwork/p12"` and `cover == Image/p3` with an object. A number that is compared
/// with a decimal has all its digits.
struct Condition {
  private let context: ManagedObjectContext
  private let model: ManagedObjectModel
  private let entity: EntityDescription

  /// What a comparison compares, as far as a text or a number may represent it.
  private enum Kind: Equatable {
    /// An object of an entity or its subentities.
    case object(EntityDescription)
    case date
    case decimal
    case other
  }

  /// The predicate of a format.
  ///
  /// - Throws: ``Unreadable`` for a text that is no format, and an error for a text that is no date
  ///   or no object where there is to be one.
  static func predicate(
    _ format: String, of entity: EntityDescription, in context: ManagedObjectContext,
    _ model: ManagedObjectModel
  ) throws -> FetchPredicate {
    let quoted = DateText.quotingMoments(in: format)
    let predicate: FetchPredicate
    do {
      predicate = try FetchPredicate(exactFormat: quoted.format)
    } catch {
      let shift = quoted.offsets.count { $0 < error.offset }
      throw Unreadable(
        offset: error.offset - shift, expected: error.expected, found: error.found)
    }
    return try Condition(context: context, model: model, entity: entity).reading(predicate, [:])
  }

  /// Where and why a format cannot be read.
  struct Unreadable: Error {
    /// The number of characters before the mistake.
    let offset: Int
    let expected: String
    let found: String
  }

  // MARK: Comparisons

  /// - Parameter variables: the entities of the objects that variables represent.
  private func reading(
    _ predicate: FetchPredicate, _ variables: [String: EntityDescription]
  ) throws -> FetchPredicate {
    switch predicate {
    case .constant: return predicate
    case .and(let parts): return .and(try parts.map { try reading($0, variables) })
    case .or(let parts): return .or(try parts.map { try reading($0, variables) })
    case .not(let part): return .not(try reading(part, variables))
    case .comparison(var comparison):
      let left = try reading(comparison.left, variables)
      let right = try reading(comparison.right, variables)
      comparison.left = left
      comparison.right = right
      switch comparison.operator {
      case .beginsWith, .endsWith, .like, .matches: break
      default:
        comparison.left = try value(left, as: kind(of: right, variables), in: comparison)
        comparison.right = try value(right, as: kind(of: left, variables), in: comparison)
      }
      return .comparison(comparison)
    }
  }

  /// The same for predicates inside of an expression.
  private func reading(
    _ expression: FetchExpression, _ variables: [String: EntityDescription]
  ) throws -> FetchExpression {
    switch expression {
    case .subquery(let collection, let name, let predicate):
      var inner = variables
      inner[name] = destination(of: collection, variables)
      return .subquery(
        try reading(collection, variables), variable: name, try reading(predicate, inner))
    case .conditional(let predicate, let yes, let no):
      return .conditional(
        try reading(predicate, variables), try reading(yes, variables), try reading(no, variables))
    case .path(let operand, let names): return .path(try reading(operand, variables), names)
    case .function(let function, let arguments):
      return .function(function, try arguments.map { try reading($0, variables) })
    case .constant, .keyPath, .evaluatedObject, .aggregate, .variable, .call, .fetch:
      return expression
    }
  }

  // MARK: Values

  /// What was typed, as a value of the kind that it is compared with.
  private func value(
    _ expression: FetchExpression, as kind: Kind, in comparison: FetchPredicate.Comparison
  ) throws -> FetchExpression {
    if case .aggregate(let members) = expression {
      return .aggregate(try members.map { try value($0, as: kind, in: comparison) })
    }
    switch kind {
    case .decimal: return expression
    case .other: return rounded(expression)
    case .date: return try date(expression, in: comparison)
    case .object(let entity): return try object(expression, of: entity, in: comparison)
    }
  }

  /// A number with more digits than a double has, where a double is compared.
  private func rounded(_ expression: FetchExpression) -> FetchExpression {
    guard case .constant(.value(.decimal(let number))?) = expression,
      DecimalParts(number).map({ $0.exponent < 0 }) ?? false,
      let double = Double(number.description)
    else { return expression }
    return FetchExpression(double)
  }

  private func date(
    _ expression: FetchExpression, in comparison: FetchPredicate.Comparison
  ) throws -> FetchExpression {
    switch expression {
    case .constant(.value(.string(let text))?):
      guard let date = DateText.date(of: text) else {
        throw InputError("\(comparison): \(DateText.mistake(in: text))")
      }
      return FetchExpression(date)
    case .function(.subtract, let parts):
      // 2024-05-01 without quotation marks is a difference.
      guard case .function(.subtract, let first) = parts[0], let year = integer(first[0]),
        let month = integer(first[1]), let day = integer(parts[1])
      else { return expression }
      let text = "\(year)-\(month)-\(day)"
      guard year > 999, let date = DateText.date(of: text) else {
        throw InputError("\(comparison): \(DateText.mistake(in: text))")
      }
      return FetchExpression(date)
    case .function(.divide, let parts):
      guard case .function(.divide, let first) = parts[0], let month = integer(first[0]),
        let day = integer(first[1]), let year = integer(parts[1])
      else { return expression }
      throw InputError("\(comparison): \(DateText.mistake(in: "\(month)/\(day)/\(year)"))")
    case .constant(.value(.integer(let number))?) where number > 0 && number < 10_000:
      throw InputError(
        "\(comparison): a date is compared with \(number). Write a day, as \(number)-01-31, or "
          + "CAST(\(number), 'NSDate') for seconds since 2001")
    default: return expression
    }
  }

  private func integer(_ expression: FetchExpression) -> Int64? {
    guard case .constant(.value(.integer(let number))?) = expression else { return nil }
    return number
  }

  private func object(
    _ expression: FetchExpression, of wanted: EntityDescription,
    in comparison: FetchPredicate.Comparison
  ) throws -> FetchExpression {
    let text: String
    switch expression {
    case .constant(.value(.string(let name))?): text = name
    case .constant(.value(.integer(let key))?):
      throw InputError("\(comparison): \(key) is no object: \(ObjectName.expectation)")
    case .function(.divide, let parts):
      // Artwork/p12 without quotation marks is a quotient.
      guard case .keyPath(let entity) = parts[0], entity.count == 1 else { return expression }
      switch parts[1] {
      case .keyPath(let names) where names.count == 1: text = "\(entity[0])/\(names[0])"
      case .constant(.value(.integer(let number))?): text = "\(entity[0])/\(number)"
      default: return expression
      }
    default: return expression
    }
    guard let name = ObjectName(text) else {
      throw InputError(
        "\(comparison): “\(text.cut(to: 80))” is no object: \(ObjectName.expectation)")
    }
    guard let id = try name.identifier(in: context, model) else { return expression }
    guard model.family(of: wanted).contains(where: { $0.name == id.entity.name }) else {
      throw InputError(
        "\(comparison): \(id) is an object of \(id.entity.name), and never one of \(wanted.name)")
    }
    return FetchExpression(id)
  }

  // MARK: Kinds

  private func kind(
    of expression: FetchExpression, _ variables: [String: EntityDescription]
  ) -> Kind {
    switch expression {
    case .evaluatedObject: return .object(entity)
    case .variable(let name): return variables[name].map { .object($0) } ?? .other
    case .keyPath(let names): return kind(of: names[...], from: entity)
    case .path(let operand, let names):
      return destination(of: operand, variables).map { kind(of: names[...], from: $0) } ?? .other
    case .subquery(let collection, _, _):
      return destination(of: collection, variables).map { .object($0) } ?? .other
    case .function(.add, let arguments), .function(.subtract, let arguments):
      let kinds = arguments.map { kind(of: $0, variables) }
      if kinds.contains(where: { $0 == .decimal }) { return .decimal }
      // Of two dates the difference is a number.
      return kinds.count { $0 == .date } == 1 ? .date : .other
    case .function(.multiply, let arguments), .function(.divide, let arguments),
      .function(.negate, let arguments):
      return arguments.contains { kind(of: $0, variables) == .decimal } ? .decimal : .other
    case .constant, .aggregate, .function, .call, .conditional, .fetch: return .other
    }
  }

  private func kind(of names: ArraySlice<String>, from start: EntityDescription) -> Kind {
    var entity = start
    var names = names
    while let name = names.popFirst() {
      if let attribute = entity.attribute(named: name) { return kind(of: names, in: attribute) }
      if let relationship = entity.relationship(named: name) {
        guard let next = model.entity(named: relationship.destination) else { return .other }
        entity = next
      } else {
        switch CollectionOperator(rawValue: name) {
        case .count: return .other
        case .some: continue
        case nil:
          return name == FetchExpression.objectIDName && names.isEmpty ? .object(entity) : .other
        }
      }
    }
    return .object(entity)
  }

  /// The kind of an attribute, or of the element of a composite that names refer to.
  private func kind(of names: ArraySlice<String>, in attribute: AttributeDescription) -> Kind {
    var attribute = attribute
    for name in names where CollectionOperator(rawValue: name) == nil {
      guard let element = attribute.elements.first(where: { $0.name == name }) else {
        return .other
      }
      attribute = element
    }
    if names.contains(CollectionOperator.count.rawValue) { return .other }
    return switch attribute.type {
    case .date: .date
    case .decimal: .decimal
    default: .other
    }
  }

  /// The entity of the objects that an expression refers to.
  private func destination(
    of expression: FetchExpression, _ variables: [String: EntityDescription]
  ) -> EntityDescription? {
    let start: EntityDescription?
    let names: [String]
    switch expression {
    case .evaluatedObject: return entity
    case .variable(let name): return variables[name]
    case .keyPath(let path): (start, names) = (entity, path)
    case .path(let operand, let path): (start, names) = (destination(of: operand, variables), path)
    case .subquery(let collection, _, _): return destination(of: collection, variables)
    case .function(.first, let arguments), .function(.last, let arguments),
      .function(.element, let arguments):
      return arguments.first.flatMap { destination(of: $0, variables) }
    default: return nil
    }
    return names.reduce(start) { entity, name in
      if CollectionOperator(rawValue: name) != nil { return entity }
      return entity?.relationship(named: name).flatMap { model.entity(named: $0.destination) }
    }
  }
}
