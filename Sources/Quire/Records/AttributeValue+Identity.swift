import QuireModel

extension AttributeValue {
  /// Whether two values are equal bit by bit, so that a row with one need not be rewritten to have
  /// the other.
  ///
  /// Unlike `==`, which compares by meaning, this distinguishes two encodings of one text, and 0
  /// from -0; NaN is identical to NaN.
  func isIdentical(to other: AttributeValue) -> Bool {
    switch (self, other) {
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.date(let left), .date(let right)):
      left.timeIntervalSinceReferenceDate.bitPattern
        == right.timeIntervalSinceReferenceDate.bitPattern
    // Different texts mostly differ in meaning too, which `==` finds quickly.
    case (.string(let left), .string(let right)):
      left == right && left.utf8.elementsEqual(right.utf8)
    case (.decimal(let left), .decimal(let right)): left.rowText == right.rowText
    case (.uri(let left), .uri(let right)), (.objectID(let left), .objectID(let right)):
      left.absoluteString.utf8.elementsEqual(right.absoluteString.utf8)
    case (.composite(let left), .composite(let right)):
      left.count == right.count
        && left.allSatisfy { name, value in right[name].map(value.isIdentical) ?? false }
    default: self == other
    }
  }
}
