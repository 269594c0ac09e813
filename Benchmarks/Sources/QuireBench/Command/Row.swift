/// The runs of one row of the table: a workload, or one of its parts, in one mode.
struct Row {
  let name: String
  let unit: Workload.Unit
  let mode: Mode
  let count: Int
  let goals: [Goal]
  var results: [Contender.Engine: [Measurement]] = [:]

  func rates(_ engine: Contender.Engine) -> [Double] {
    (results[engine] ?? []).map(\.operationsPerSecond).sorted()
  }

  func rate(_ engine: Contender.Engine) -> Double? { median(rates(engine)) }

  /// Ours by theirs; above 1 we are faster.
  func ratio(to peer: Contender.Engine) -> Double? {
    guard let ours = rate(.quire), let theirs = rate(peer) else { return nil }
    return ours / theirs
  }

  /// The distance between the best and the worst run, as a part of the median.
  func spread(_ engine: Contender.Engine) -> Double? {
    let rates = rates(engine)
    guard let least = rates.first, let most = rates.last, let middle = median(rates) else {
      return nil
    }
    return (most - least) / middle
  }

  func diskBytes(_ engine: Contender.Engine) -> Int? {
    median((results[engine] ?? []).map(\.diskBytes).sorted())
  }

  func peakKilobytes(_ engine: Contender.Engine) -> Int? {
    median((results[engine] ?? []).map(\.peakKilobytes).sorted())
  }

  /// The goals of this mode, and whether each is met; `nil` when there is nothing to compare with.
  ///
  /// - Parameter others: the rows measured before.
  func verdicts(_ others: [Row]) -> [(goal: Goal, isMet: Bool?)] {
    goals.filter { $0.mode == nil || $0.mode == mode }.map { ($0, $0.isMet(by: self, others)) }
  }

  /// The element in the middle; of an even number the upper one.
  private func median<Value>(_ sorted: [Value]) -> Value? {
    sorted.isEmpty ? nil : sorted[sorted.count / 2]
  }
}
