import QuireStorage

/// One run of operations: what it does, and what to do when it fails.
package struct OperationRun {
  package var configuration: ModelConfiguration
  package var operations: [StoreOperation]

  package init(_ configuration: ModelConfiguration, _ operations: [StoreOperation]) {
    self.configuration = configuration
    self.operations = operations
  }

  package struct Failure: CustomStringConvertible {
    /// The operation that failed; the number of operations when it was the comparison at the end.
    package var index: Int
    package var description: String
    /// Whether the store has said that the transaction is too large, as it may.
    package var isTooLarge = false
  }

  /// - Returns: what went wrong, or `nil`.
  package func failure() -> Failure? {
    var index = 0
    do {
      let machine = try OperationMachine(configuration)
      while index < operations.count {
        try machine.apply(operations[index])
        index += 1
      }
      try machine.finish()
      return nil
    } catch {
      var failure = Failure(index: index, description: "\(error)")
      if case StorageError.transactionTooLarge = error { failure.isTooLarge = true }
      return failure
    }
  }

  /// The run as Swift source that can be pasted into a test.
  package var source: String {
    let configuration = "\(configuration)".split(separator: "\n").joined(separator: "\n    ")
    let operations = operations.map { "      \($0),\n" }.joined()
    return """
      try expectAgreement(
        OperationRun(
          \(configuration),
          [
      \(operations)    ]))
      """
  }
}

/// An operation of a random sequence. Whatever is left out before it, it means something, or does
/// nothing.
package protocol ShrinkableOperation: Equatable {
  /// The same with less. Every one is smaller, so that this comes to an end.
  var simpler: [Self] { get }
}

/// Makes a failing list of operations as short as it finds time to, by delta debugging: it drops
/// ever smaller pieces for as long as the rest still fails, then tries smaller values.
package struct OperationShrinker<Operation: ShrinkableOperation> {
  private let fails: ([Operation]) -> Bool
  private let deadline: ContinuousClock.Instant
  package private(set) var operations: [Operation]
  /// How often the operations were run.
  package private(set) var attemptCount = 0

  /// - Parameters:
  ///   - operations: a list that fails.
  ///   - seconds: after this time the shortest list so far is good enough.
  package init(
    _ operations: [Operation], seconds: Int = 60,
    fails: @escaping ([Operation]) -> Bool
  ) {
    self.operations = operations
    self.fails = fails
    deadline = .now + .seconds(seconds)
  }

  private var isInTime: Bool { ContinuousClock.now < deadline }

  package mutating func shrink() {
    repeat {
      let before = operations
      dropPieces()
      simplify()
      if operations == before { return }
    } while isInTime
  }

  private mutating func attempt(_ candidate: [Operation]) -> Bool {
    attemptCount += 1
    guard fails(candidate) else { return false }
    operations = candidate
    return true
  }

  private mutating func dropPieces() {
    var length = max(1, operations.count / 2)
    while isInTime {
      var start = 0
      while start < operations.count, isInTime {
        var candidate = operations
        candidate.removeSubrange(start..<min(start + length, candidate.count))
        // What follows has moved up to `start`.
        if !attempt(candidate) { start += length }
      }
      if length == 1 { return }
      length = max(1, length / 2)
    }
  }

  private mutating func simplify() {
    var index = 0
    while index < operations.count, isInTime {
      var isDone = false
      while !isDone, isInTime {
        isDone = true
        for simpler in operations[index].simpler {
          var candidate = operations
          candidate[index] = simpler
          if attempt(candidate) {
            isDone = false
            break
          }
        }
      }
      index += 1
    }
  }
}

extension StoreOperation: ShrinkableOperation {
  /// Smaller values, fewer keys, fewer steps.
  package var simpler: [StoreOperation] {
    switch self {
    case .put(let tree, let key, let byteCount, let fill):
      var all: [StoreOperation] = []
      for smaller in [0, byteCount / 2, byteCount - 1] where smaller >= 0 && smaller < byteCount {
        all.append(.put(tree: tree, key: key, byteCount: smaller, fill: fill))
      }
      if fill > 0 { all.append(.put(tree: tree, key: key, byteCount: byteCount, fill: 0)) }
      return all
    case .putRun(let tree, let key, let count, let byteCount, let fill):
      var all: [StoreOperation] = []
      for fewer in [count / 2, count - 1] where fewer > 0 && fewer < count {
        all.append(
          .putRun(tree: tree, key: key, count: fewer, byteCount: byteCount, fill: fill))
      }
      for smaller in [0, byteCount / 2] where smaller < byteCount {
        all.append(.putRun(tree: tree, key: key, count: count, byteCount: smaller, fill: fill))
      }
      return all
    case .removeRun(let tree, let key, let count):
      return [1, count / 2, count - 1].filter { $0 > 0 && $0 < count }
        .map { .removeRun(tree: tree, key: key, count: $0) }
    case .seek(let view, let tree, let key, let isBetween, let steps) where steps != 0:
      return [
        .seek(view, tree: tree, key: key, isBetween: isBetween, steps: steps - steps.signum())
      ]
    case .seekBefore(let view, let tree, let key, let isBetween, let steps) where steps != 0:
      return [
        .seekBefore(
          view, tree: tree, key: key, isBetween: isBetween, steps: steps - steps.signum())
      ]
    case .wander(let view, let tree, let key, let moves) where moves > 0:
      return [.wander(view, tree: tree, key: key, moves: moves >> 1)]
    default: return []
    }
  }
}
