/// What a figure of ours has to reach.
struct Goal: Sendable {
  enum Demand: Sendable {
    case rate(atLeast: Double)
    case milliseconds(atMost: Double)
    /// So many times what a peer reaches in the same row.
    case times(Double, Contender.Engine)
    /// So many times what we reach in the row of another name, in the same mode.
    case timesRow(Double, String)
    /// So many times what a peer reaches in the row of another name, in the same mode.
    case timesRowOf(Double, String, Contender.Engine)
    /// No more resident memory at its peak.
    case memory(atMostMegabytes: Int)
    /// No more bytes on disk than a peer.
    case disk(atMostThoseOf: Contender.Engine)
  }

  let demand: Demand
  /// In which mode; `nil` means all.
  var mode: Mode?
  /// Whether it is what we would like, and not what was asked.
  var isStretch = false

  init(_ demand: Demand, in mode: Mode? = nil, isStretch: Bool = false) {
    self.demand = demand
    self.mode = mode
    self.isStretch = isStretch
  }

  /// The goal in a few words.
  var text: String {
    let text =
      switch demand {
      case .rate(let rate): "\(Report.number(rate)) /s"
      case .milliseconds(let limit): "\(Report.number(limit)) ms"
      case .times(let factor, let peer): "\(Report.number(factor)) × \(peer.rawValue)"
      case .timesRow(let factor, let row): "\(Report.number(factor)) × \(row)"
      case .timesRowOf(let factor, let row, let peer):
        "\(Report.number(factor)) × \(row) of \(peer.rawValue)"
      case .memory(let limit): "\(limit) MiB of memory"
      case .disk(let peer): "disk of \(peer.rawValue)"
      }
    return isStretch ? "stretch \(text)" : text
  }

  /// Whether a row reaches it; `nil` when something is missing to compare with.
  ///
  /// - Parameter others: the rows measured before.
  func isMet(by row: Row, _ others: [Row]) -> Bool? {
    switch demand {
    case .rate(let wanted): row.rate(.quire).map { $0 >= wanted }
    case .milliseconds(let limit): row.rate(.quire).map { 1_000 / $0 <= limit }
    case .times(let factor, let peer): row.ratio(to: peer).map { $0 >= factor }
    case .timesRow(let factor, let name):
      if let other = others.first(where: { $0.name == name && $0.mode == row.mode }),
        let (ours, single) = both(row.rate(.quire), other.rate(.quire))
      {
        ours >= factor * single
      } else {
        nil
      }
    case .timesRowOf(let factor, let name, let peer):
      if let other = others.first(where: { $0.name == name && $0.mode == row.mode }),
        let (ours, theirs) = both(row.rate(.quire), other.rate(peer))
      {
        ours >= factor * theirs
      } else {
        nil
      }
    case .memory(let limit): row.peakKilobytes(.quire).map { $0 <= limit << 10 }
    case .disk(let peer): both(row.diskBytes(.quire), row.diskBytes(peer)).map { $0.0 <= $0.1 }
    }
  }

  private func both<Value>(_ first: Value?, _ second: Value?) -> (Value, Value)? {
    if let first, let second { (first, second) } else { nil }
  }
}
