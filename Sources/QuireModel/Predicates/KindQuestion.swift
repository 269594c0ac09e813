/// A question about an object's entity in a predicate: a function that is called on the object.
package enum KindQuestion: String {
  /// Whether the object is of the entity or of a descendant of it.
  case isKind = "isKindOfClass:"
  /// Whether the object is of that entity itself.
  case isMember = "isMemberOfClass:"
}
