import QuireModel

extension DeclaredClass.Property {
  /// What the property says of itself and a model says otherwise, as the end of a sentence that
  /// begins with its name; `nil` where both say the same.
  ///
  /// Models that are not made of classes say everything; a property need not. What it says is held
  /// against the model, so that the one that is read is not wrong.
  func declarationDifference(_ slot: Int, of binding: EntityBinding) -> String? {
    guard let declaration else { return nil }
    switch (declaration.kind, binding.properties[slot]) {
    case (.attribute(let said, let options), .attribute(let attribute)):
      return defaultDifference(attribute) ?? difference(said, options, attribute, binding)
    case (.relationship(let said, let inverse), .relationship(let relationship)):
      return difference(said, inverse, relationship)
    case (.attribute, .relationship), (.relationship, .attribute):
      return nil
    }
  }

  private func defaultDifference(_ attribute: AttributeDescription) -> String? {
    guard case .constant(let value) = defaultValue else { return nil }
    if let known = attribute.defaultValue, known.isIdentical(to: value) { return nil }
    return "has the default value \(value), in the model "
      + (attribute.defaultValue.map { "\($0)" } ?? "none")
  }

  private func difference(
    _ said: AttributeDescription, _ options: AttributeOptions, _ attribute: AttributeDescription,
    _ binding: EntityBinding
  ) -> String? {
    if options.contains(.unique), !binding.entity.uniquenessConstraints.contains([name]) {
      return "is unique, and the model has no such constraint"
    }
    if options.contains(.indexed),
      !binding.entity.indexes.contains(where: { $0.elements.first?.property == name })
    {
      return "is indexed, and the model has no index that begins with it"
    }
    let facts: [(isSaid: Bool, words: String, isKnown: Bool)] = [
      (said.isTransient, "is transient", attribute.isTransient),
      (
        said.allowsExternalBinaryDataStorage, "may be kept outside its row",
        attribute.allowsExternalBinaryDataStorage
      ),
      (
        said.preservesValueInHistoryOnDeletion, "is kept in the history",
        attribute.preservesValueInHistoryOnDeletion
      ),
    ]
    if let fact = facts.first(where: { $0.isSaid && !$0.isKnown }) {
      return "\(fact.words), and in the model it is not so"
    }
    let (limits, known) = (said.validation, attribute.validation)
    let texts: [(said: String?, words: String, known: String?)] = [
      (limits.minimum, "smallest value", known.minimum),
      (limits.maximum, "largest value", known.maximum),
      (limits.earliestDate?.words, "earliest date", known.earliestDate?.words),
      (limits.latestDate?.words, "latest date", known.latestDate?.words),
      (limits.regularExpression, "pattern", known.regularExpression),
      (said.derivationExpression, "derivation", attribute.derivationExpression),
      (said.valueTransformerName, "transformer", attribute.valueTransformerName),
      (said.renamingIdentifier, "former name", attribute.renamingIdentifier),
      (said.versionHashModifier, "hash modifier", attribute.versionHashModifier),
    ]
    for text in texts {
      guard let said = text.said, said != text.known else { continue }
      return "has the \(text.words) \(said), in the model \(text.known ?? "none")"
    }
    return nil
  }

  private func difference(
    _ said: RelationshipDescription, _ inverse: PropertyDeclaration.Inverse,
    _ relationship: RelationshipDescription
  ) -> String? {
    if said.deleteRule != relationship.deleteRule {
      return "has the delete rule \(said.deleteRule), in the model \(relationship.deleteRule)"
    }
    if relationship.isToMany,
      (said.minCount, said.maxCount) != (relationship.minCount, relationship.maxCount)
    {
      return "has other counts of destinations than in the model, "
        + "\(relationship.minCount) to \(relationship.maxCount)"
    }
    if !relationship.isToMany, said.minCount > 0, said.minCount != relationship.minCount {
      return "has the smallest count \(said.minCount), in the model \(relationship.minCount)"
    }
    if said.isTransient != relationship.isTransient {
      return "is \(said.isTransient ? "" : "not ")transient, and in the model it is otherwise"
    }
    if let formerName = said.renamingIdentifier, formerName != relationship.renamingIdentifier {
      return "has the former name \(formerName), in the model "
        + (relationship.renamingIdentifier ?? "none")
    }
    switch inverse {
    case .named(let name) where name != relationship.inverse:
      return "has the inverse \(name), in the model \(relationship.inverse ?? "none")"
    case .none where relationship.inverse != nil:
      return "has no inverse, in the model \(relationship.inverse ?? "")"
    // A key path takes objects to be read, and the model's inverse holds in any case.
    case .named, .none, .unsaid, .path: return nil
    }
  }
}
