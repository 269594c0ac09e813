/// The order of texts in lists for reading: `file2` before `file10`, `a` before `B`, `ä` beside
/// `a`.
///
/// It is one order for all regions, without tables of a language, after the levels of Unicode's
/// collation algorithm (UTS #10). Texts are compared, in turn, by:
///
/// 1. Characters without case and diacritics. First white space; then punctuation and symbols,
///    those of ASCII in the order of Unicode's root collation, others by scalar; then digits, runs
///    of which are numbers of any length; then letters by scalar. `æ` counts as `ae`, `œ` as `oe`,
///    `ß` as `ss`, and `ø ł đ ð ħ ŧ ŋ ı` as the letters that they are made of. If one text is the
///    beginning of the other, the shorter is first.
/// 2. Diacritics: `cote` before `côte`, the first difference counts.
/// 3. Case, small letters first, and zeros before a number, fewer first.
/// 4. Scalars of the composed form, so that two texts are the same here if Swift treats them as
///    equal.
///
/// It differs from a language's own order where that has additional letters: Swedish `ö` is beside
/// `o`, and not after `z`.
package enum NaturalOrder {
  /// - Complexity: O(*n*); without an allocation for texts of ASCII.
  package static func order(_ left: String, _ right: String) -> ValueOrder {
    var (left, right) = (left, right)
    let quick = left.withUTF8 { left in right.withUTF8 { asciiOrder(left, $0) } }
    if let quick { return quick }
    let (leftKey, rightKey) = (key(of: left), key(of: right))
    if leftKey == rightKey { return CanonicalText.order(left, right) }
    return leftKey.lexicographicallyPrecedes(rightKey) ? .ascending : .descending
  }

  // MARK: Weights

  private enum Class {
    /// Ends a text, so that it is before every longer text with the same beginning.
    static let end: UInt8 = 0
    static let space: UInt8 = 1
    static let sign: UInt8 = 2
    static let otherSign: UInt8 = 3
    static let digit: UInt8 = 4
    static let letter: UInt8 = 5
  }

  /// The class in the upper byte, and the rank in it.
  private static let asciiWeights: [UInt16] = {
    let signs = Array("_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$".utf8)
    return (UInt8(0)..<128).map { byte in
      let rank: (UInt8, UInt8) =
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): (Class.digit, byte)
        case UInt8(ascii: "a")...UInt8(ascii: "z"): (Class.letter, byte)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): (Class.letter, byte | 0x20)
        default:
          signs.firstIndex(of: byte).map { (Class.sign, UInt8($0)) } ?? (Class.space, byte)
        }
      return UInt16(rank.0) << 8 | UInt16(rank.1)
    }
  }()

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  // MARK: Texts of ASCII

  /// `nil` where one of the texts has other characters, before a difference was found or after it.
  private static func asciiOrder(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> ValueOrder? {
    guard left.allSatisfy({ $0 < 0x80 }), right.allSatisfy({ $0 < 0x80 }) else { return nil }
    var (leftOffset, rightOffset) = (0, 0)
    // The first difference of case or of zeros.
    var later = ValueOrder.same
    while leftOffset < left.count, rightOffset < right.count {
      let (a, b) = (left[leftOffset], right[rightOffset])
      if isDigit(a), isDigit(b) {
        let leftRun = Number(left, from: &leftOffset)
        let rightRun = Number(right, from: &rightOffset)
        let order = leftRun.order(comparedTo: rightRun)
        if order != .same { return order }
        if later == .same { later = ValueOrder(leftRun.zeros, rightRun.zeros) }
        continue
      }
      let (weight, other) = (asciiWeights[Int(a)], asciiWeights[Int(b)])
      if weight != other { return ValueOrder(weight, other) }
      // Small letters have the greater codes.
      if later == .same, a != b { later = ValueOrder(b, a) }
      (leftOffset, rightOffset) = (leftOffset + 1, rightOffset + 1)
    }
    let order = ValueOrder(left.count - leftOffset, right.count - rightOffset)
    return order != .same ? order : later
  }

  /// A run of digits.
  private struct Number {
    let digits: Slice<UnsafeBufferPointer<UInt8>>
    let zeros: Int

    init(_ text: UnsafeBufferPointer<UInt8>, from offset: inout Int) {
      let start = offset
      while offset < text.count, text[offset] == UInt8(ascii: "0") { offset += 1 }
      zeros = offset - start
      let first = offset
      while offset < text.count, isDigit(text[offset]) { offset += 1 }
      digits = text[first..<offset]
    }

    func order(comparedTo other: Number) -> ValueOrder {
      if digits.count != other.digits.count { return ValueOrder(digits.count, other.digits.count) }
      for (digit, other) in zip(digits, other.digits) where digit != other {
        return ValueOrder(digit, other)
      }
      return .same
    }
  }

  // MARK: Texts of any characters

  /// The keys of the first three levels, one after the other, as bytes.
  private static func key(of text: String) -> [UInt8] {
    var levels = Levels()
    CanonicalText.forEachFolded(text) { folded, original in levels.append(folded, original) }
    return levels.bytes
  }

  private struct Levels {
    private var characters: [UInt8] = []
    private var marks: [UInt8] = []
    private var cases: [UInt8] = []
    /// The number that is being read: where it begins, its digits, and the zeros before them.
    private var number: (start: Int, digits: Int, zeros: Int)?

    mutating func append(_ scalar: Unicode.Scalar, _ original: Unicode.Scalar) {
      let properties = scalar.properties
      switch properties.generalCategory {
      case .nonspacingMark, .enclosingMark: return append(mark: scalar.value)
      case .format: return
      case .decimalNumber: return append(digit: UInt8(properties.numericValue ?? 0))
      default: break
      }
      endNumber()
      if let letters = Self.letters[scalar] {
        for (index, letter) in letters.utf8.enumerated() {
          append(Class.letter, UInt32(letter), original)
          if index == 0 { append(mark: scalar.value) }
        }
        return
      }
      if scalar.isASCII {
        let weight = asciiWeights[Int(scalar.value)]
        return append(UInt8(weight >> 8), UInt32(weight & 0xFF), original)
      }
      append(Self.group(of: properties), scalar.value, original)
    }

    private static func group(of properties: Unicode.Scalar.Properties) -> UInt8 {
      switch properties.generalCategory {
      case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control: Class.space
      case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
        .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol,
        .modifierSymbol, .otherSymbol:
        Class.otherSign
      default: Class.letter
      }
    }

    /// Letters that Unicode does not take apart, and what they are made of.
    private static let letters: [Unicode.Scalar: String] = [
      "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n",
      "ı": "i",
    ]

    private mutating func append(_ group: UInt8, _ value: UInt32, _ original: Unicode.Scalar) {
      characters.append(group)
      append(value, to: \.characters)
      marks.append(1)
      cases.append(original.properties.isUppercase ? 2 : 1)
    }

    private mutating func append(_ value: UInt32, to bytes: WritableKeyPath<Levels, [UInt8]>) {
      for shift in [16, 8, 0] { self[keyPath: bytes].append(UInt8(value >> shift & 0xFF)) }
    }

    /// Adds a mark with a larger weight than the next character, so that a text with the mark comes
    /// after one without it.
    private mutating func append(mark value: UInt32) {
      marks.append(2)
      append(value, to: \.marks)
    }

    private mutating func append(digit: UInt8) {
      if number == nil {
        // The number of digits is filled in later, when it is known.
        characters.append(Class.digit)
        number = (characters.count, 0, 0)
        characters += [0, 0, 0, 0]
        marks.append(1)
      }
      guard var current = number else { return }
      if digit == 0, current.digits == 0 {
        current.zeros += 1
      } else {
        current.digits += 1
        characters.append(digit)
      }
      number = current
    }

    private mutating func endNumber() {
      guard let ended = number else { return }
      number = nil
      for (offset, shift) in [24, 16, 8, 0].enumerated() {
        characters[ended.start + offset] = UInt8(truncatingIfNeeded: ended.digits >> shift)
      }
      // Before cases, which are 1 and 2, nothing but another number's zeros stands at this
      // position.
      for shift in [24, 16, 8, 0] { cases.append(UInt8(truncatingIfNeeded: ended.zeros >> shift)) }
    }

    var bytes: [UInt8] {
      var levels = self
      levels.endNumber()
      return levels.characters + [Class.end] + levels.marks + [0] + levels.cases
    }
  }
}
