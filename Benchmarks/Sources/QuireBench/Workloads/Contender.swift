/// One engine's side of a workload.
struct Contender: Sendable {
  enum Engine: String, CaseIterable, Sendable {
    case quire, sqlite
    /// SQLite with more cache than our stores have; measured only when asked for.
    case tuned
    case lmdb
    /// The disk alone, without an engine: what the machine allows.
    case machine

    /// Beside whom we are measured when nobody says otherwise.
    static let usualPeers: [Engine] = [.sqlite, .lmdb, .machine]

    static var peerNames: String {
      allCases.filter { $0 != .quire }.map(\.rawValue).joined(separator: ", ")
    }
  }

  /// A step: it works in the run's folder, times what counts, and checks what it read.
  typealias Step = @Sendable (Run) throws -> Void

  let engine: Engine
  /// Makes what the body needs, in a child process, so that its memory does not count.
  var fixture: Step?
  let body: Step
  /// Looks, after everything was measured, whether the files hold what they should.
  var verify: Step?

  func runs(in mode: Mode) -> Bool { engine != .lmdb || mode != .memory }
}
