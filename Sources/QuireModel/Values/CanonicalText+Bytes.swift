/// Order and prefixes of texts from their UTF-8.
///
/// The first byte in which texts differ mostly decides. An ASCII character never composes with one
/// before it; so where both texts go on with ASCII, the text before is composed alike in both, and
/// they differ. A character may still be composed with the one after it, so its order is certain
/// only if that one is ASCII too. In all other cases the texts are composed first.
extension CanonicalText {
  /// The order of one text relative to another by canonical equivalence, which is that of the
  /// scalars of their composed forms.
  ///
  /// Comparing strings gives the same order, except for some that end with a character that
  /// composition replaces, such as the sign for kelvin: strings compare it as it is.
  package static func order(_ left: String, _ right: String) -> ValueOrder {
    // All strings but those of Apple's older frameworks have their bytes in one buffer.
    let order = left.utf8.withContiguousStorageIfAvailable { left -> ValueOrder? in
      right.utf8.withContiguousStorageIfAvailable { right -> ValueOrder in
        CanonicalText.order(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
      }
    }
    return (order ?? nil) ?? composedOrder(left, right)
  }

  package static func order(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> ValueOrder {
    let offset = firstDifference(left, right)
    if offset == left.count, offset == right.count { return .same }
    if stands(offset, in: left), stands(offset, in: right) {
      // If one text is the beginning of the other, the shorter is first.
      if offset == left.count { return .ascending }
      if offset == right.count { return .descending }
      return left[offset] < right[offset] ? .ascending : .descending
    }
    return composedOrder(
      String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self))
  }

  /// Whether a text begins with the characters of another.
  package static func has(_ text: UnsafeRawBufferPointer, prefix: UnsafeRawBufferPointer) -> Bool {
    let offset = firstDifference(text, prefix)
    if stands(offset, in: text), stands(offset, in: prefix) {
      if offset < prefix.count { return false }
      // The character after these bytes must not be part of the prefix's last character.
      if offset == 0 || offset == text.count || endsCharacter(text[offset - 1]) { return true }
    }
    return String(decoding: text, as: UTF8.self)
      .starts(with: String(decoding: prefix, as: UTF8.self))
  }

  /// Byte by byte.
  package static func byteOrder(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> ValueOrder {
    let offset = firstDifference(left, right)
    if offset == left.count || offset == right.count {
      return left.count == right.count
        ? .same : left.count < right.count ? .ascending : .descending
    }
    return left[offset] < right[offset] ? .ascending : .descending
  }

  /// The first position at which two texts differ or one of them ends.
  private static func firstDifference(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Int {
    let count = min(left.count, right.count)
    var offset = 0
    while offset &+ 8 <= count {
      let difference =
        left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        ^ right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if difference != 0 {
        return offset &+ UInt64(littleEndian: difference).trailingZeroBitCount / 8
      }
      offset &+= 8
    }
    while offset < count, left[offset] == right[offset] { offset &+= 1 }
    return offset
  }

  /// Whether the text ends here, or has a character here that composition leaves as it is.
  private static func stands(_ offset: Int, in text: UnsafeRawBufferPointer) -> Bool {
    offset == text.count
      || text[offset] < 0x80 && (offset + 1 == text.count || text[offset + 1] < 0x80)
  }

  /// Whether a character ends with this byte if ASCII follows. A carriage return and a line feed
  /// are one.
  private static func endsCharacter(_ byte: UInt8) -> Bool { byte < 0x80 && byte != 0x0D }
}
