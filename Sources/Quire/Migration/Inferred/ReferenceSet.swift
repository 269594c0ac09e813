/// A set of references with one bit for each key of the ranges in use.
///
/// Keys are assigned from 1 upwards, so that a set of a million objects of one entity takes 125 KB;
/// a `Set` takes 16 MB.
struct ReferenceSet {
  private static let wordsPerChunk = 512
  private static let keysPerChunk = UInt64(wordsPerChunk * UInt64.bitWidth)

  private var chunkIndexes: [UInt64: Int] = [:]
  private var words: [UInt64] = []
  /// The chunk used last, as consecutive look-ups mostly have neighbouring keys.
  private var last: (number: UInt64, start: Int)?

  func contains(_ reference: Reference) -> Bool {
    let number = reference.rawValue / ReferenceSet.keysPerChunk
    let start: Int
    if let last, last.number == number {
      start = last.start
    } else if let known = chunkIndexes[number] {
      start = known
    } else {
      return false
    }
    let bit = Int(reference.rawValue % ReferenceSet.keysPerChunk)
    return words[start + bit >> 6] & 1 << UInt64(bit & 63) != 0
  }

  /// - Returns: whether the reference was not in the set.
  @discardableResult
  mutating func insert(_ reference: Reference) -> Bool {
    let start = makeChunk(reference.rawValue / ReferenceSet.keysPerChunk)
    let bit = Int(reference.rawValue % ReferenceSet.keysPerChunk)
    let (word, mask) = (start + bit >> 6, UInt64(1) << UInt64(bit & 63))
    if words[word] & mask != 0 { return false }
    words[word] |= mask
    return true
  }

  private mutating func makeChunk(_ number: UInt64) -> Int {
    if let last, last.number == number { return last.start }
    let start: Int
    if let known = chunkIndexes[number] {
      start = known
    } else {
      start = words.count
      words += repeatElement(0, count: ReferenceSet.wordsPerChunk)
      chunkIndexes[number] = start
    }
    last = (number, start)
    return start
  }
}
