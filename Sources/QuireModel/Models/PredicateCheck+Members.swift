// Checks of array members that are asked for by their position, and of questions about entities.
extension PredicateCheck {
  /// Makes sure that the collection has an order if the expression asks for a member by its
  /// position.
  func checkOrder(
    of collection: FetchExpression?, in expression: FetchExpression
  ) throws(PredicateMistake) {
    guard let collection else { return }
    let type = try type(of: collection)
    if !type.isCollection, !type.may(be: .unknown) {
      throw mistake("\(expression) asks \(type) for a member, which only an array has", collection)
    }
    guard let name = try unorderedPart(of: collection) else { return }
    throw mistake(
      "\(expression) asks \(name) for a member by its position, but its members have no order: "
        + "make the relationship ordered, or ask by ANY or SUBQUERY",
      collection)
  }

  /// The part of a collection that leaves it without an order, in words; `nil` for an array.
  private func unorderedPart(of expression: FetchExpression) throws(PredicateMistake) -> String? {
    switch expression {
    case .keyPath(let names):
      return paths.unorderedName(in: names, from: .object(entity: entity.name))
    case .path(let operand, let names):
      if let name = paths.unorderedName(in: names, from: try type(of: operand)) { return name }
      return try type(of: operand).isCollection ? try unorderedPart(of: operand) : nil
    case .subquery(let collection, _, _): return try unorderedPart(of: collection)
    case .function(.union, _), .function(.intersection, _), .function(.difference, _):
      return "the set \(expression)"
    case .function(.withoutIndex, let arguments):
      guard let argument = arguments.first else { return nil }
      return try unorderedPart(of: argument)
    case .conditional(_, let yes, let no):
      if let name = try unorderedPart(of: yes) { return name }
      return try unorderedPart(of: no)
    default: return nil
    }
  }

  /// Makes sure that `isKindOfClass:` has an object as its receiver and an entity that it may be of
  /// as its argument.
  func check(
    _ question: KindQuestion, of type: ExpressionType, _ argument: FetchExpression?,
    in expression: FetchExpression
  ) throws(PredicateMistake) {
    guard case .object(let owner) = type else {
      if type.may(be: .unknown) { return }
      throw mistake("\(expression) asks \(type), but only an object is of an entity", expression)
    }
    guard let argument, case .constant(let value) = argument else { return }
    guard case .value(.string(let name))? = value else {
      throw mistake(
        "\(expression) needs the name of an entity or of its class, but \(argument) is "
          + "\(ExpressionType(value))", expression)
    }
    guard let owner, let entity = paths.entities(owner) else { return }
    let family = descendants(of: entity)
    if family.contains(where: { question.answer(for: $0, name) }) { return }
    let near = NearMisses.of(name, among: family.map(\.name))
    throw mistake(
      "\(expression) can be true of no object of \(owner): no entity there is called \(name)"
        + (near.isEmpty ? "" : "; is \(near.joined(separator: " or ")) meant?"), expression)
  }

  private func descendants(of entity: EntityDescription) -> [EntityDescription] {
    [entity]
      + entity.subentityNames.compactMap { paths.entities($0) }.flatMap { descendants(of: $0) }
  }

  private func mistake(_ message: String, _ side: FetchExpression) -> PredicateMistake {
    PredicateMistake(
      .type, message, entityName: entity.name,
      key: side.keyPaths.first { !$0.isEmpty }?.joined(separator: "."))
  }
}
