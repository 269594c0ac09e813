/// The bits of a variable. While they stay equal, the variable was not written to. Compared without
/// a look at the value's type.
struct VariableBits {
  private let words: (UInt, UInt, UInt, UInt)

  init() { words = (0, 0, 0, 0) }

  /// - Parameter byteCount: the number of bytes of the value that are in the variable, which has
  ///   room for three words; the rest is padding and is ignored.
  init(_ value: inout Any?, _ byteCount: Int) {
    let (first, second, third, type) = withUnsafeBytes(of: &value) {
      $0.loadUnaligned(as: (UInt, UInt, UInt, UInt).self)
    }
    words = (
      first & VariableBits.mask(byteCount), second & VariableBits.mask(byteCount &- 8),
      third & VariableBits.mask(byteCount &- 16), type
    )
  }

  private static func mask(_ byteCount: Int) -> UInt {
    byteCount >= 8 ? .max : byteCount <= 0 ? 0 : .max &>> UInt(64 &- 8 &* byteCount)
  }

  /// The bits of a text. Equal texts may have different bits, when they are stored elsewhere.
  init(_ key: String) {
    let text = withUnsafeBytes(of: key) { $0.loadUnaligned(as: (UInt, UInt).self) }
    words = (text.0, text.1, 0, 0)
  }

  func isSame(as other: VariableBits) -> Bool {
    (words.0 ^ other.words.0) | (words.1 ^ other.words.1) | (words.2 ^ other.words.2)
      | (words.3 ^ other.words.3) == 0
  }

  /// The number of bytes of a value that are stored in an `Any` itself. A large value is stored in
  /// a box, and the `Any` has the box's address.
  static func byteCount(of value: Any?) -> Int {
    func size<Value>(_ value: Value) -> Int { MemoryLayout<Value>.size }
    guard let value else { return 0 }
    let size = size(value)
    return size <= 3 * MemoryLayout<UInt>.size ? size : MemoryLayout<UInt>.size
  }
}

/// The value for which ``ManagedObject/validateValue(_:forKey:)`` is being called, so that the base
/// class recognises it when an override passes it on unchanged.
struct AskedValue {
  /// `nil` while no such call runs.
  var object: ObjectIdentifier?
  var slot = 0
  var byteCount = 0
  var value = VariableBits()
  var key = VariableBits()
}
