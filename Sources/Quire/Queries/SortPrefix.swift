import QuireModel

/// The position of a value in a sort order, in 72 bits: the lesser prefix comes first, and of equal
/// prefixes the values decide.
struct SortPrefix: Comparable, Sendable {
  /// The parts of a sort descriptor that prefixes depend on.
  struct Rule: Sendable {
    let ascending: Bool
    fileprivate let comparesTextAsItIs: Bool
    /// The direction for absent values.
    fileprivate let ascendsFromAbsent: Bool

    init(_ descriptor: FetchSortDescriptor) {
      ascending = descriptor.ascending
      ascendsFromAbsent = descriptor.ascending != descriptor.movesAbsentValues
      comparesTextAsItIs = descriptor.options.comparesTextAsItIs
    }
  }

  private var rank: UInt8
  private var certainty: Certainty
  private var bits: UInt64

  /// What the values of two equal prefixes are.
  private enum Certainty: UInt8 {
    /// The values decide.
    case open
    /// Equal if both prefixes are whole: a short text.
    case whole
    /// Equal.
    case exact
  }

  /// Whether equal prefixes mean equal values.
  var isExact: Bool { certainty == .exact }

  /// Whether an equal prefix that is whole as well means an equal value.
  var isWhole: Bool { certainty != .open }

  private init(rank: Int, _ bits: UInt64, _ certainty: Certainty, ascending: Bool) {
    self.rank = ascending ? UInt8(rank) : ~UInt8(rank)
    self.bits = ascending ? bits : ~bits
    self.certainty = certainty
  }

  init(_ value: PredicateValue?, by rule: Rule) {
    let ascending = rule.ascending
    guard let value else {
      self.init(rank: 0, 0, .exact, ascending: rule.ascendsFromAbsent)
      return
    }
    switch value {
    case .value(.double(let number)): self.init(number: number, ascending: ascending)
    case .value(.float(let number)): self.init(number: Double(number), ascending: ascending)
    case .value(.integer(let number)): self.init(integer: number, ascending: ascending)
    case .value(.boolean(let flag)): self.init(integer: flag ? 1 : 0, ascending: ascending)
    case .value(.date(let date)):
      self.init(seconds: date.timeIntervalSinceReferenceDate, ascending: ascending)
    case .value(.string(let text)) where rule.comparesTextAsItIs:
      let bits = CanonicalText.leadingBytes(of: text)
      let isWhole = bits & 0xFF == 0 && !text.utf8.contains(0)
      self.init(rank: SortingRank.text, bits, isWhole ? .whole : .open, ascending: ascending)
    default:
      // The values decide.
      self.init(
        rank: PredicateValue?.some(value).sortingRank, 0, .open, ascending: ascending)
    }
  }

  /// The prefix of a double, or of a float as a double.
  init(number: Double, ascending: Bool) {
    self.init(
      rank: number.isNaN ? SortingRank.notANumber : SortingRank.number, SortPrefix.bits(number),
      .exact, ascending: ascending)
  }

  /// The prefix of a date, given in seconds after the reference date.
  init(seconds: Double, ascending: Bool) {
    self.init(
      rank: seconds.isNaN ? SortingRank.notADate : SortingRank.date, SortPrefix.bits(seconds),
      .exact, ascending: ascending)
  }

  /// The prefix of an integer, which is rounded to a double. Rounding may make two integers equal,
  /// but never changes their order.
  init(integer: Int64, ascending: Bool) {
    self.init(
      rank: SortingRank.number, SortPrefix.bits(Double(integer)),
      integer.magnitude < 1 << 53 ? .exact : .open, ascending: ascending)
  }

  /// The prefix of a text; `nil` if normalisation may change its first bytes.
  init?(utf8: UnsafeRawBufferPointer, by rule: Rule) {
    guard rule.comparesTextAsItIs else { return nil }
    var bits: UInt64 = 0
    // A text that ends in NUL has the bits of one without.
    var isWhole = utf8.count < 8
    // Normalisation does not change an ASCII character that is followed by another one.
    for index in 0..<min(9, utf8.count) {
      let byte = utf8[index]
      if byte >= 0x80 { return nil }
      if byte == 0 { isWhole = false }
      if index < 8 { bits |= UInt64(byte) << UInt64(56 - 8 * index) }
    }
    self.init(
      rank: SortingRank.text, bits, isWhole ? .whole : .open, ascending: rule.ascending)
  }

  /// The number that the prefix was made of, or the seconds of a date; `nil` of other values.
  func number(ascending: Bool) -> Double? {
    let rank = Int(ascending ? self.rank : ~self.rank)
    guard rank == SortingRank.number || rank == SortingRank.date else { return nil }
    let bits = ascending ? self.bits : ~self.bits
    return Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
  }

  static func < (left: SortPrefix, right: SortPrefix) -> Bool {
    left.rank != right.rank ? left.rank < right.rank : left.bits < right.bits
  }

  static func == (left: SortPrefix, right: SortPrefix) -> Bool {
    left.rank == right.rank && left.bits == right.bits
  }

  /// The bits of a number, with the order of numbers.
  private static func bits(_ number: Double) -> UInt64 {
    // NaN has a rank of its own, and both zeros are equal.
    if number.isNaN { return 0 }
    let bits = number == 0 ? 0 : number.bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }
}
