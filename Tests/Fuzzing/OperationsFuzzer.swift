import QuireSimulation
import QuireStorage

// An input is a byte for the shape of keys and the place of files, then operations: a byte for
// which, and its numbers.

func fuzz(_ bytes: [UInt8]) {
  var input = FuzzInput(bytes)
  let first = input.byte()
  let shapes = KeyShape.allCases
  let configuration = ModelConfiguration(
    pageSize: 512, shape: shapes[first % shapes.count], files: first & 0x80 == 0 ? .none : .memory,
    cacheByteLimit: 64 << 10, checkpointByteLimit: 16 << 10, transactionByteLimit: 32 << 10,
    commitsPerCheck: 4)
  var operations: [StoreOperation] = [.create(tree: 0, .record), .create(tree: 1, .index)]
  while !input.isAtEnd, operations.count < 3000 { operations.append(operation(from: &input)) }
  let run = OperationRun(configuration, operations)
  // Page maps of small pages are many, and stay in memory.
  if let failure = run.failure(), !failure.isTooLarge {
    fatalError("operation \(failure.index): \(failure)\n\(run.source)")
  }
}

private func operation(from input: inout FuzzInput) -> StoreOperation {
  let (code, where_) = (input.byte(), input.byte())
  let tree = where_ & 7
  let view: StoreOperation.View = [.working, .committed, .held(where_ >> 5), .working][
    where_ >> 3 & 3]
  switch code % 28 {
  case 0: return .create(tree: tree, where_ & 8 == 0 ? .record : .index)
  case 1: return .drop(tree: tree)
  case 2: return .rename(tree: tree, to: where_ >> 3)
  case 3, 4, 5: return .put(tree: tree, key: input.word(), byteCount: input.byte(), fill: where_)
  case 6:
    return .put(tree: tree, key: input.word(), byteCount: input.word() % 2700, fill: where_)
  case 7, 8:
    return .putRun(
      tree: tree, key: input.word(), count: input.byte(), byteCount: input.byte(), fill: where_)
  case 9: return .copy(tree: tree, key: input.word(), to: input.word())
  case 10, 11: return .remove(tree: tree, key: input.word())
  case 12, 13: return .removeRun(tree: tree, key: input.word(), count: input.byte())
  case 14: return .removeAll(tree: tree)
  case 15: return .putTooLong(tree: tree)
  case 16: return .get(view, tree: tree, key: input.word())
  case 17:
    return .seek(
      view, tree: tree, key: input.word(), isBetween: where_ & 0x80 != 0, steps: input.byte() - 128)
  case 18:
    return .seekBefore(
      view, tree: tree, key: input.word(), isBetween: where_ & 0x80 != 0, steps: input.byte() - 128)
  case 19: return .wander(view, tree: tree, key: input.word(), moves: UInt32(input.word()))
  case 20: return .scan(view, tree: tree, backward: where_ & 0x80 != 0)
  case 21: return .list(view)
  case 22: return .overtake(tree: tree, key: input.word())
  case 23: return .commit
  case 24: return [.abort, .commit][where_ & 1]
  case 25: return [.hold, .verify(where_ >> 2), .letGo(where_ >> 2), .hold][where_ & 3]
  case 26: return [.checkpoint, .reopen, .crash, .commit][where_ & 3]
  default: return .check
  }
}

func seeds() throws -> [[UInt8]] {
  (0..<14).map { number in
    var generator = SeededGenerator(seed: UInt64(number))
    return [UInt8(number % 7 | (number >= 7 ? 0x80 : 0))] + generator.bytes(60 + number * 60)
  }
}
