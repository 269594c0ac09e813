import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension AttributeValue {
  /// Whether two values are equal bit by bit, so that a row with one need not be rewritten to have
  /// the other.
  ///
  /// Unlike `==`, which compares by meaning, this distinguishes two encodings of one text, and 0
  /// from -0; NaN is identical to NaN.
  func isIdentical(to other: AttributeValue) -> Bool {
    switch self {
    case .double(let left):
      if case .double(let right) = other { return left.bitPattern == right.bitPattern }
    case .float(let left):
      if case .float(let right) = other { return left.bitPattern == right.bitPattern }
    case .date(let left):
      if case .date(let right) = other {
        return left.timeIntervalSinceReferenceDate.bitPattern
          == right.timeIntervalSinceReferenceDate.bitPattern
      }
    case .string(let left):
      // Equal first: texts that differ mostly differ in what they mean, which is quickly seen.
      if case .string(let right) = other {
        return left == right && left.utf8.elementsEqual(right.utf8)
      }
    case .decimal(let left):
      if case .decimal(let right) = other { return left.rowText == right.rowText }
    case .uri(let left):
      if case .uri(let right) = other { return left.isWritten(like: right) }
    case .objectID(let left):
      if case .objectID(let right) = other { return left.isWritten(like: right) }
    case .composite(let left):
      if case .composite(let right) = other {
        return left.count == right.count
          && left.allSatisfy { name, value in right[name].map(value.isIdentical) ?? false }
      }
    // Equal to the last bit if they are equal.
    case .boolean, .integer, .binary, .uuid, .transformed: return self == other
    }
    return false
  }
}

extension URL {
  fileprivate func isWritten(like other: URL) -> Bool {
    absoluteString.utf8.elementsEqual(other.absoluteString.utf8)
  }
}
