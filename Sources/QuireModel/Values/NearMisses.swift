/// Suggestions for a name that does not exist.
package enum NearMisses {
  /// The names that differ from `name` in the case of letters, or in a typing mistake or two; the
  /// nearest first.
  ///
  /// - Complexity: O(*n* · *m*²) in the number of names and their length.
  package static func of(_ name: String, among names: some Sequence<String>) -> [String] {
    let limit = max(1, min(3, name.count / 3))
    let wanted = Array(name.lowercased())
    return names.compactMap { other -> (distance: Int, name: String)? in
      let distance = distance(wanted, Array(other.lowercased()), limit: limit)
      return distance.map { ($0, other) }
    }
    .sorted { $0 < $1 }.map(\.name)
  }

  /// The number of letters to insert, remove, change or exchange with the next one that turns one
  /// text into the other; `nil` when it is more than `limit`.
  ///
  /// The optimal string alignment distance, row by row of its table.
  private static func distance(
    _ left: [Character], _ right: [Character], limit: Int
  ) -> Int? {
    if abs(left.count - right.count) > limit { return nil }
    var former: [Int] = []
    var last = Array(0...right.count)
    for row in 0..<left.count {
      var next = [row + 1]
      for column in 0..<right.count {
        var best = min(
          last[column] + (left[row] == right[column] ? 0 : 1), last[column + 1] + 1,
          next[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          best = min(best, former[column - 1] + 1)
        }
        next.append(best)
      }
      (former, last) = (last, next)
    }
    return last[right.count] <= limit ? last[right.count] : nil
  }
}
