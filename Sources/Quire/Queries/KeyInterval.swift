import QuireModel

/// The interval in which an element of an index key must lie, in ascending order.
struct KeyInterval {
  private struct Bound {
    var bytes: [UInt8]
    /// Whether elements that begin with the bytes are inside.
    var isInside: Bool
  }

  // Absent values and NaN have no order, and lie outside.
  private var lower = Bound(bytes: [IndexKeyWriter.Tag.value], isInside: true)
  private var upper = Bound(bytes: [IndexKeyWriter.Tag.value], isInside: true)
  private(set) var isBoundedBelow = false
  private(set) var isBoundedAbove = false
  /// Whether every element inside meets all demands; otherwise it may.
  private(set) var isExact = true

  mutating func narrow(
    by demand: FetchCondition.Demand, _ kind: FieldKind, after prefix: [UInt8]
  ) {
    switch demand {
    // The values could not be searched for one by one. A single one still has bounds.
    case .equal(let values):
      isExact = false
      guard values.count == 1, case .value(let value)? = values[0],
        let bounds = KeyBounds(value, kind, after: prefix)
      else { return }
      raise(to: Bound(bytes: bounds.low, isInside: true))
      reduce(to: Bound(bytes: bounds.high, isInside: true))
    case .greater(let value, let orEqual):
      guard let bounds = bounds(of: value, kind, after: prefix) else { return }
      raise(to: Bound(bytes: bounds.low, isInside: orEqual || !bounds.isExact))
    case .less(let value, let orEqual):
      guard let bounds = bounds(of: value, kind, after: prefix) else { return }
      reduce(to: Bound(bytes: bounds.high, isInside: orEqual || !bounds.isExact))
    case .prefix(let text):
      // A text may begin with the bytes of the prefix, but not with its characters.
      isExact = false
      guard kind == .string else { return }
      var writer = IndexKeyWriter()
      writer.append(contentsOf: prefix)
      writer.append(prefix: text)
      let bytes = Array(writer.bytes[prefix.count...])
      raise(to: Bound(bytes: bytes, isInside: true))
      reduce(to: Bound(bytes: bytes, isInside: true))
    }
  }

  private mutating func bounds(
    of value: AttributeValue, _ kind: FieldKind, after prefix: [UInt8]
  ) -> KeyBounds? {
    let bounds = KeyBounds(value, kind, after: prefix)
    if !(bounds?.isExact ?? false) { isExact = false }
    return bounds
  }

  private mutating func raise(to bound: Bound) {
    isBoundedBelow = true
    if start(lower).lexicographicallyPrecedes(start(bound)) { lower = bound }
  }

  private mutating func reduce(to bound: Bound) {
    isBoundedAbove = true
    if end(bound).lexicographicallyPrecedes(end(upper)) { upper = bound }
  }

  // The first byte is a tag below 255, so that there is always a successor.
  private func start(_ bound: Bound) -> [UInt8] {
    bound.isInside ? bound.bytes : IndexKey.successor(of: bound.bytes) ?? bound.bytes
  }

  private func end(_ bound: Bound) -> [UInt8] {
    bound.isInside ? IndexKey.successor(of: bound.bytes) ?? bound.bytes : bound.bytes
  }

  func range(isAscending: Bool) -> KeyRange {
    if isAscending { return KeyRange(lower: start(lower), upper: end(upper)) }
    func complement(_ bound: Bound) -> Bound {
      Bound(bytes: bound.bytes.map(~), isInside: bound.isInside)
    }
    return KeyRange(lower: start(complement(upper)), upper: end(complement(lower)))
  }
}
