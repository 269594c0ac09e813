/// A mistake in a predicate or a key path, and its location: a name that does not exist, or two
/// values that are equal for no object.
package struct PredicateMistake: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// The name does not exist.
    case name
    /// The property exists, but no store has it.
    case transient
    /// Values of types that do not go together, a collection where one value is wanted.
    case type
    /// A variable has no value.
    case variable
  }

  package var kind: Kind
  /// The entity of the property that the mistake is about.
  package var entityName: String?
  package var key: String?
  package var description: String

  init(_ kind: Kind, _ description: String, entityName: String? = nil, key: String? = nil) {
    self.kind = kind
    self.description = description
    self.entityName = entityName
    self.key = key
  }
}
