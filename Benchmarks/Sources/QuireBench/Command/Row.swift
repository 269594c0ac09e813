/// The runs of one workload in one mode.
struct Row {
  let workload: Workload
  let mode: Mode
  let count: Int
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

  /// Whether ours reaches the goal; `nil` when there is none.
  var meetsGoal: Bool? {
    guard let rate = rate(.quire), let goal = workload.goal else { return nil }
    return switch goal {
    case .atLeast(let wanted): rate >= wanted
    case .within(let milliseconds): 1_000 / rate <= milliseconds
    }
  }

  /// The element in the middle; of an even number the upper one.
  private func median<Value>(_ sorted: [Value]) -> Value? {
    sorted.isEmpty ? nil : sorted[sorted.count / 2]
  }
}
