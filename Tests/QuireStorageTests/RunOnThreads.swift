import Foundation

/// Runs `body` on so many threads at once, whatever the number of cores, and returns when all have
/// ended.
func runOnThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    Thread {
      body(number)
      group.leave()
    }.start()
  }
  group.wait()
}

/// Runs `body` on a thread that nobody waits for; an error ends the process.
func runOnThread(_ body: @escaping @Sendable () throws -> Void) {
  Thread {
    do { try body() } catch { fatalError("\(error)") }
  }.start()
}
