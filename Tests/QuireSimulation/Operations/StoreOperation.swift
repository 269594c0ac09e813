import QuireStorage

/// One thing to do to a store, as data: made from a seed or from a fuzzer's bytes, dropped by the
/// shrinker, pasted into a regression test.
///
/// Every operation makes sense in every state: a change without a transaction begins one; what is
/// done to a tree that is not there must be refused as documented. Keys are ranks in the run's
/// ``KeyUniverse``, modulo its size.
package enum StoreOperation: Hashable, Sendable {
  /// Where an operation reads: in the transaction if there is one, in the newest commit, or in a
  /// snapshot held since earlier.
  package enum View: Hashable, Sendable {
    case working
    case committed
    case held(Int)
  }

  case create(tree: Int, TreeKind)
  case drop(tree: Int)
  case rename(tree: Int, to: Int)
  case put(tree: Int, key: Int, byteCount: Int, fill: Int)
  /// Puts so many keys in a row.
  case putRun(tree: Int, key: Int, count: Int, byteCount: Int, fill: Int)
  /// Puts an entry's value under another key, straight from the page it lies in.
  case copy(tree: Int, key: Int, to: Int)
  case remove(tree: Int, key: Int)
  /// Removes so many entries from a key on, each by the key that a cursor lends.
  case removeRun(tree: Int, key: Int, count: Int)
  case removeAll(tree: Int)
  /// Tries a key that is too long.
  case putTooLong(tree: Int)

  case get(View, tree: Int, key: Int)
  /// Seeks at or after a key, or between it and the next; then moves on so many times, backwards if
  /// negative.
  case seek(View, tree: Int, key: Int, isBetween: Bool, steps: Int)
  /// The same, at or before.
  case seekBefore(View, tree: Int, key: Int, isBetween: Bool, steps: Int)
  /// To and fro, by the bits of a number.
  case wander(View, tree: Int, key: Int, moves: UInt32)
  /// Everything in a tree, in one direction.
  case scan(View, tree: Int, backward: Bool)
  /// Lists the trees, and asks for each as what it is not.
  case list(View)
  /// A cursor in the transaction whose tree is changed under it: it says so.
  case overtake(tree: Int, key: Int)

  case commit
  case abort
  /// Takes a snapshot and holds it.
  case hold
  /// Compares everything in a held snapshot.
  case verify(Int)
  case letGo(Int)
  case checkpoint
  /// Closes the store and opens it again.
  case reopen
  /// Opens the store again after it was dropped without being closed.
  case crash
  case check
}

extension StoreOperation: CustomStringConvertible {
  /// The operation as Swift source.
  package var description: String {
    switch self {
    case .create(let tree, let kind): ".create(tree: \(tree), .\(kind))"
    case .drop(let tree): ".drop(tree: \(tree))"
    case .rename(let tree, let other): ".rename(tree: \(tree), to: \(other))"
    case .put(let tree, let key, let byteCount, let fill):
      ".put(tree: \(tree), key: \(key), byteCount: \(byteCount), fill: \(fill))"
    case .putRun(let tree, let key, let count, let byteCount, let fill):
      ".putRun(tree: \(tree), key: \(key), count: \(count), byteCount: \(byteCount), fill: \(fill))"
    case .copy(let tree, let key, let other): ".copy(tree: \(tree), key: \(key), to: \(other))"
    case .remove(let tree, let key): ".remove(tree: \(tree), key: \(key))"
    case .removeRun(let tree, let key, let count):
      ".removeRun(tree: \(tree), key: \(key), count: \(count))"
    case .removeAll(let tree): ".removeAll(tree: \(tree))"
    case .putTooLong(let tree): ".putTooLong(tree: \(tree))"
    case .get(let view, let tree, let key): ".get(.\(view), tree: \(tree), key: \(key))"
    case .seek(let view, let tree, let key, let isBetween, let steps):
      ".seek(.\(view), tree: \(tree), key: \(key), isBetween: \(isBetween), steps: \(steps))"
    case .seekBefore(let view, let tree, let key, let isBetween, let steps):
      ".seekBefore(.\(view), tree: \(tree), key: \(key), isBetween: \(isBetween), steps: \(steps))"
    case .wander(let view, let tree, let key, let moves):
      ".wander(.\(view), tree: \(tree), key: \(key), moves: \(moves))"
    case .scan(let view, let tree, let backward):
      ".scan(.\(view), tree: \(tree), backward: \(backward))"
    case .list(let view): ".list(.\(view))"
    case .overtake(let tree, let key): ".overtake(tree: \(tree), key: \(key))"
    case .commit: ".commit"
    case .abort: ".abort"
    case .hold: ".hold"
    case .verify(let number): ".verify(\(number))"
    case .letGo(let number): ".letGo(\(number))"
    case .checkpoint: ".checkpoint"
    case .reopen: ".reopen"
    case .crash: ".crash"
    case .check: ".check"
    }
  }
}
