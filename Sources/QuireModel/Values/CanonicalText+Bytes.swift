/// Texts by their UTF-8.
///
/// They mostly differ first in a byte that says it all. An ASCII character never composes with one
/// before it; so where both go on with ASCII, what is before them is composed alike, and they
/// differ. What follows a character may still become one with it: its order is only certain if that
/// is ASCII too. Everything else is composed first.
extension CanonicalText {
  /// How one text stands to another by canonical equivalence, in the order of the scalars of their
  /// composed forms.
  ///
  /// Strings say the same, but for some that end with a character which is another one when it is
  /// composed, such as the sign for kelvin: they compare it as it is.
  package static func order(_ left: String, _ right: String) -> ValueOrder {
    // All strings but those of Apple's older frameworks have their bytes in one place.
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
    let place = firstDifference(left, right)
    if place == left.count, place == right.count { return .same }
    if stands(place, in: left), stands(place, in: right) {
      // Of a text and one that goes on, the shorter is first.
      if place == left.count { return .ascending }
      if place == right.count { return .descending }
      return left[place] < right[place] ? .ascending : .descending
    }
    return composedOrder(
      String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self))
  }

  /// Whether a text begins with the characters of another.
  package static func has(_ text: UnsafeRawBufferPointer, prefix: UnsafeRawBufferPointer) -> Bool {
    let place = firstDifference(text, prefix)
    if stands(place, in: text), stands(place, in: prefix) {
      if place < prefix.count { return false }
      // What begins with the bytes must not go on with the same character.
      if place == 0 || place == text.count || endsCharacter(text[place - 1]) { return true }
    }
    return String(decoding: text, as: UTF8.self)
      .starts(with: String(decoding: prefix, as: UTF8.self))
  }

  /// Byte by byte.
  package static func byteOrder(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> ValueOrder {
    let place = firstDifference(left, right)
    if place == left.count || place == right.count {
      return left.count == right.count
        ? .same : left.count < right.count ? .ascending : .descending
    }
    return left[place] < right[place] ? .ascending : .descending
  }

  /// Where two texts are equal no longer, or one ends.
  @inline(__always)
  private static func firstDifference(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Int {
    let count = min(left.count, right.count)
    var place = 0
    while place &+ 8 <= count {
      let difference =
        left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        ^ right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if difference != 0 {
        return place &+ UInt64(littleEndian: difference).trailingZeroBitCount / 8
      }
      place &+= 8
    }
    while place < count, left[place] == right[place] { place &+= 1 }
    return place
  }

  /// Whether the text ends here, or goes on with a character that stays as it is.
  @inline(__always)
  private static func stands(_ place: Int, in text: UnsafeRawBufferPointer) -> Bool {
    place == text.count
      || text[place] < 0x80 && (place + 1 == text.count || text[place + 1] < 0x80)
  }

  /// Whether a character ends with this byte if ASCII follows. A carriage return and a line feed
  /// are one.
  @inline(__always)
  private static func endsCharacter(_ byte: UInt8) -> Bool { byte < 0x80 && byte != 0x0D }
}
