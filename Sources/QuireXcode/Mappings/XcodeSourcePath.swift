import QuireModel

/// The key path of a property's mapping in Xcode's document: `cities`, or `$source.cities`, which
/// is the same; `$source` is the object itself.
struct XcodeSourcePath: CustomStringConvertible {
  /// The variable at the beginning of the path, without its sign.
  private var variable = "source"
  private var names: [String]
  /// The text of the path as it is written.
  let description: String

  init(_ text: String) {
    description = text
    names = FetchExpression.names(in: text)
    if let first = names.first, first.hasPrefix("$") {
      variable = String(first.dropFirst())
      names.removeFirst()
    }
  }

  /// The relationship at the end of the path; empty for the source itself.
  var lastName: String { names.last ?? "" }

  var expression: FetchExpression {
    names.isEmpty ? .variable(variable) : .path(.variable(variable), names)
  }

  /// The entity that a path of relationships refers to; `nil` when it does not begin at the source,
  /// or has a step that is no relationship.
  func target(
    from entity: EntityDescription, in model: ManagedObjectModel
  ) -> EntityDescription? {
    guard variable == "source" else { return nil }
    var target = entity
    for key in names where !key.hasPrefix("@") {
      guard let relationship = target.relationship(named: key),
        let next = model.entity(named: relationship.destination)
      else { return nil }
      target = next
    }
    return target
  }
}
