/// One engine's side of a workload.
struct Contender: Sendable {
  enum Engine: String, CaseIterable, Sendable { case quire, sqlite }

  /// A step: it works in the run's folder, times what counts, and checks what it read.
  typealias Step = @Sendable (Run) throws -> Void

  let engine: Engine
  /// Makes what the body needs, in a child process, so that its memory does not count.
  var fixture: Step?
  let body: Step
  /// Looks, after everything was measured, whether the files hold what they should.
  var verify: Step?
}
