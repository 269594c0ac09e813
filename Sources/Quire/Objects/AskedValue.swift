/// What lies in a variable: while that stays as it is, nobody has written there. Says so without a
/// look at a type.
struct VariableBits {
  private let words: (UInt, UInt, UInt, UInt)

  @inline(__always)
  init() { words = (0, 0, 0, 0) }

  /// - Parameter byteCount: how many bytes of the value lie in the variable, which has room for
  ///   three words: what is behind them is nobody's, and may be anything.
  @inline(__always)
  init(_ value: inout Any?, _ byteCount: Int) {
    let (first, second, third, type) = withUnsafeBytes(of: &value) {
      $0.loadUnaligned(as: (UInt, UInt, UInt, UInt).self)
    }
    words = (
      first & VariableBits.mask(byteCount), second & VariableBits.mask(byteCount &- 8),
      third & VariableBits.mask(byteCount &- 16), type
    )
  }

  @inline(__always)
  private static func mask(_ byteCount: Int) -> UInt {
    byteCount >= 8 ? .max : byteCount <= 0 ? 0 : .max &>> UInt(64 &- 8 &* byteCount)
  }

  /// Keys that lie elsewhere may be equal all the same.
  @inline(__always)
  init(_ key: String) {
    let text = withUnsafeBytes(of: key) { $0.loadUnaligned(as: (UInt, UInt).self) }
    words = (text.0, text.1, 0, 0)
  }

  @inline(__always)
  func isSame(as other: VariableBits) -> Bool {
    (words.0 ^ other.words.0) | (words.1 ^ other.words.1) | (words.2 ^ other.words.2)
      | (words.3 ^ other.words.3) == 0
  }

  /// How many bytes of a value lie in a variable of any type: a large one is elsewhere, and where
  /// that is lies there.
  static func byteCount(of value: Any?) -> Int {
    func size<Value>(_ value: Value) -> Int { MemoryLayout<Value>.size }
    guard let value else { return 0 }
    let size = size(value)
    return size <= 3 * MemoryLayout<UInt>.size ? size : MemoryLayout<UInt>.size
  }
}

/// The value of a property that a class was asked about, to be known again where it comes back.
struct AskedValue {
  /// `nil` while nobody is asked.
  var object: ObjectIdentifier?
  var slot = 0
  var byteCount = 0
  var value = VariableBits()
  var key = VariableBits()
}
