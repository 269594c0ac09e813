/// What is disputed of an order, said by what happens to each pair of members.
enum OrderOracle {
  /// Whether two changes of an order dispute it: each has moved members among each other, or added
  /// some, and not both have added at the end only.
  static func areDisputed(_ old: [Int], _ here: [Int], _ there: [Int]) -> Bool {
    let (one, two) = (change(old, here), change(old, there))
    return one > 0 && two > 0 && one + two > 2
  }

  /// - Returns: 0 if nothing but removals, 1 if additions at the end, 2 for anything else.
  private static func change(_ old: [Int], _ new: [Int]) -> Int {
    let kept = old.filter(new.contains)
    if new == kept { return 0 }
    return Array(new.prefix(kept.count)) == kept ? 1 : 2
  }
}
