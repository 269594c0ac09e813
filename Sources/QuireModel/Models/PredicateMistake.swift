/// What cannot be meant in a predicate or a key path, and where: a name that leads nowhere, or two
/// values that no object could make equal.
package struct PredicateMistake: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// There is no such name.
    case name
    /// It is there, and no store has it.
    case transient
    /// Values of types that do not go together, a collection where one value is wanted.
    case type
    /// A variable stands for nothing.
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
