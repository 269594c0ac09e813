import Dispatch
import QuireStorage
import Synchronization

/// Runs processes of a simulated disk one step at a time, in every order with few switches from one
/// to another: a step is a read of the disk, or a change to it.
///
/// Most defects of concurrent programs need two or three switches at the right places and no more
/// (Musuvathi and Qadeer, *Iterative context bounding*, 2007): all orders with so few are few
/// enough to be tried.
package enum Interleaving {
  /// A process, and what it does.
  package struct Member: Sendable {
    let process: OtherProcess
    let body: @Sendable () -> Void

    package init(_ process: OtherProcess, _ body: @escaping @Sendable () -> Void) {
      self.process = process
      self.body = body
    }
  }

  /// After so many steps in all, another process goes on.
  package struct Switch: Hashable, Sendable, CustomStringConvertible {
    package let step: Int
    package let target: Int
    package var description: String { "\(step)→\(target)" }
  }

  /// Tries all orders with at most so many switches.
  ///
  /// - Parameters:
  ///   - stride: of how many orders one is tried, besides that without a switch.
  ///   - run: makes a world of its own, runs its members by ``play(_:_:)``, and looks at it.
  /// - Returns: the number of orders that were tried.
  @discardableResult
  package static func explore(
    switches limit: Int, stride: Int = 1, _ run: ([Switch]) throws -> Trace
  ) throws -> Int {
    var (count, number) = (0, 0)
    func visit(_ switches: [Switch]) throws {
      let trace: Trace
      do {
        trace = try run(switches)
      } catch {
        throw Failure(switches: switches, cause: error)
      }
      count += 1
      guard switches.count < limit else { return }
      let first = switches.last.map { $0.step + 1 } ?? 1
      guard first <= trace.steps.count else { return }
      for step in first...trace.steps.count {
        let (owner, running) = trace.steps[step - 1]
        for target in running where target != owner {
          number += 1
          // Those with fewer switches lead to the others, so that more of them are tried.
          let share = switches.count + 1 < limit ? max(1, stride / 40) : stride
          guard number % share == 0 else { continue }
          try visit(switches + [Switch(step: step, target: target)])
        }
      }
    }
    try visit([])
    return count
  }

  package struct Failure: Error, CustomStringConvertible {
    package let switches: [Switch]
    package let cause: any Error
    package var description: String { "\(cause), with the switches \(switches)" }
  }

  /// Which process made each step, and which could have.
  package struct Trace: Sendable {
    fileprivate(set) var steps: [(owner: Int, running: [Int])] = []
  }

  /// Runs the members in one order: each until it ends, but for the switches.
  package static func play(_ members: [Member], _ switches: [Switch]) -> Trace {
    let play = Play(members.count, switches)
    let bodies = members.enumerated().map { number, member -> @Sendable () -> Void in
      let step: @Sendable () -> Void = { play.step(number) }
      member.process.beforeEachRead(step)
      member.process.beforeEachChange(step)
      return {
        play.wait(number)
        member.body()
        play.end(number)
      }
    }
    Threads.run([{ play.begin() }] + bodies)
    for member in members {
      member.process.beforeEachRead(nil)
      member.process.beforeEachChange(nil)
    }
    return play.trace
  }

  private final class Play: Sendable {
    private struct State {
      var trace = Trace()
      var running: [Int]
      var next = 0
    }
    private let state: Mutex<State>
    private let switches: [Switch]
    private let turns: [DispatchSemaphore]

    init(_ count: Int, _ switches: [Switch]) {
      state = Mutex(State(running: Array(0..<count)))
      self.switches = switches
      turns = (0..<count).map { _ in DispatchSemaphore(value: 0) }
    }

    var trace: Trace { state.withLock { $0.trace } }

    func begin() { turns[0].signal() }

    func wait(_ number: Int) { turns[number].wait() }

    func step(_ number: Int) {
      let target = state.withLock { state -> Int? in
        state.trace.steps.append((number, state.running))
        guard state.next < switches.count,
          switches[state.next].step == state.trace.steps.count
        else { return nil }
        state.next += 1
        let target = switches[state.next - 1].target
        return state.running.contains(target) && target != number ? target : nil
      }
      guard let target else { return }
      turns[target].signal()
      turns[number].wait()
    }

    func end(_ number: Int) {
      let next = state.withLock { state -> Int? in
        state.running.removeAll { $0 == number }
        return state.running.first
      }
      if let next { turns[next].signal() }
    }
  }
}
