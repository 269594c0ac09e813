import QuireModel

extension AttributeValue {
  /// Whether a row that has this value has to be written to have the other: equal to the last bit.
  ///
  /// Unlike `==`, which compares what values mean, this tells two spellings of one text apart, and
  /// 0 from -0; and what is not a number is identical to its like.
  func isIdentical(to other: AttributeValue) -> Bool {
    switch (self, other) {
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.date(let left), .date(let right)):
      left.timeIntervalSinceReferenceDate.bitPattern
        == right.timeIntervalSinceReferenceDate.bitPattern
    // Equal first: texts that differ mostly differ in what they mean, which is quickly seen.
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
