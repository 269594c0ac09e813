@_spi(_Unicode) import Swift

/// Text in the forms that are compared, hashed and written into index keys.
///
/// The only file that asks the standard library for Unicode normalisation, which it has but does
/// not make public. No function here depends on a locale: what is equal on one machine is equal on
/// all.
package enum CanonicalText {
  /// Appends the UTF-8 of `text` in Unicode's composed form (NFC) to `bytes`.
  ///
  /// Two strings that Swift calls equal append the same bytes, and the order of these bytes is the
  /// order of the strings: that of their composed scalars. Swift's `<` strays from it for a few
  /// texts whose composed form is shorter (the sign for kelvin, `"\u{212A}"`, is equal to `K`, and
  /// after `"K\n"`). Written into version hashes and index keys.
  package static func appendComposed(_ text: String, to bytes: inout [UInt8]) {
    var text = text
    let isASCII = text.withUTF8 { utf8 in
      let isASCII = utf8.allSatisfy { $0 < 0x80 }
      if isASCII { bytes.append(contentsOf: utf8) }
      return isASCII
    }
    if isASCII { return }
    for scalar in text._nfc { bytes.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped) }
  }

  static func composedOrder(_ left: String, _ right: String) -> ValueOrder {
    var left = left._nfc.makeIterator()
    var right = right._nfc.makeIterator()
    while true {
      switch (left.next(), right.next()) {
      case (nil, nil): return .same
      case (nil, _): return .ascending
      case (_, nil): return .descending
      case (let left?, let right?):
        if left != right { return left < right ? .ascending : .descending }
      }
    }
  }

  /// The first eight bytes of `text` in composed form, as a number; missing bytes are zeros.
  ///
  /// The order of these numbers is the order of the texts, unless the numbers are equal.
  package static func leadingBytes(of text: String) -> UInt64 {
    var bits: UInt64 = 0
    var count = 0
    for scalar in text._nfc {
      for byte in UTF8.encode(scalar).unsafelyUnwrapped {
        bits = bits << 8 | UInt64(byte)
        count += 1
        if count == 8 { return bits }
      }
    }
    return bits << UInt64(8 * (8 - count))
  }

  /// `text` without what `options` ignore: folded texts are equal when the texts are alike.
  ///
  /// Ignoring case is Unicode's full case folding (`ß` is `ss`) of the decomposed text; ignoring
  /// diacritics removes the nonspacing marks of the decomposed text (`é` is `e`, `ø` is not `o`).
  ///
  /// - Complexity: O(*n*); without an allocation when there is nothing to fold.
  package static func folded(_ text: String, _ options: FetchComparisonOptions) -> String {
    let ignoresCase = options.contains(.caseInsensitive)
    let ignoresDiacritics = options.contains(.diacriticInsensitive)
    if !ignoresCase && !ignoresDiacritics { return text }
    switch asciiKind(of: text) {
    case .asciiWithoutCapitals: return text
    case .ascii: return ignoresCase ? loweredASCII(text) : text
    case .other: break
    }
    var result = String.UnicodeScalarView()
    for scalar in text._nfd {
      if ignoresDiacritics && scalar.properties.generalCategory == .nonspacingMark { continue }
      if ignoresCase {
        result.append(contentsOf: scalar.properties._caseFolded.unicodeScalars)
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }

  /// The scalars of `text` in decomposed form, each without its case, and which it was before.
  static func forEachFolded(
    _ text: String, _ body: (_ folded: Unicode.Scalar, _ original: Unicode.Scalar) -> Void
  ) {
    for scalar in text._nfd {
      for folded in scalar.properties._caseFolded.unicodeScalars { body(folded, scalar) }
    }
  }

  private enum ASCIIKind { case asciiWithoutCapitals, ascii, other }

  private static func asciiKind(of text: String) -> ASCIIKind {
    var hasCapitals = false
    for byte in text.utf8 {
      if byte >= 0x80 { return .other }
      if byte &- 0x41 < 26 { hasCapitals = true }
    }
    return hasCapitals ? .ascii : .asciiWithoutCapitals
  }

  private static func loweredASCII(_ text: String) -> String {
    String(unsafeUninitializedCapacity: text.utf8.count) { buffer in
      var count = 0
      for byte in text.utf8 {
        buffer[count] = byte &- 0x41 < 26 ? byte | 0x20 : byte
        count += 1
      }
      return count
    }
  }
}
