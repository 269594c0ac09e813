/// A question about an object's entity in a predicate: a function that is called on the object.
package enum KindQuestion: String {
  /// Of the entity or of a descendant of it.
  case isKind = "isKindOfClass:"
  /// Of that entity itself.
  case isMember = "isMemberOfClass:"
}
