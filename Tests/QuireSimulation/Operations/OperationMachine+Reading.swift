import QuireStorage

extension OperationMachine {
  /// Where a view reads, in each store, and what should be there.
  private func readers(
    _ view: StoreOperation.View
  ) throws -> (oracle: StoreOracle, readers: [(subject: Subject, reader: any TreeReader)]) {
    if case .held = view { try letExpiredGo() }
    switch view {
    case .working where working != nil:
      return (working ?? committed, try subjects.map { ($0, try transaction(of: $0)) })
    case .held(let index) where !held.isEmpty:
      let index = Int(index.magnitude) % held.count
      return (held[index], subjects.map { ($0, $0.held[index]) })
    default:
      return (committed, try subjects.map { ($0, try $0.store.snapshot()) })
    }
  }

  /// Calls `body` with the tree in each store; where the oracle has none, there must be none.
  private func read(
    _ view: StoreOperation.View, _ tree: Int,
    _ body: (ModelTree, TreeOracle, Subject) throws -> Void
  ) throws {
    let (oracle, readers) = try readers(view)
    for (subject, reader) in readers {
      if let expected = oracle.trees[tree] {
        try body(try self.tree(tree, expected.kind, in: reader), expected, subject)
      } else {
        let record = try reader.recordTree(names[tree])
        let index = try reader.indexTree(names[tree])
        try expect(record == nil && index == nil, "\(subject.name): tree \(tree) should not exist")
      }
    }
  }

  private func tree(_ tree: Int, _ kind: TreeKind, in reader: any TreeReader) throws -> ModelTree {
    let model: ModelTree
    switch kind {
    case .record:
      model = ModelTree(record: try reader.recordTree(names[tree]), index: nil, keys: keys)
    case .index:
      model = ModelTree(record: nil, index: try reader.indexTree(names[tree]), keys: keys)
    }
    try expect(model.record != nil || model.index != nil, "tree \(tree) is missing")
    return model
  }

  func read(_ operation: StoreOperation) throws {
    switch operation {
    case .get(let view, let tree, let key): try get(view, number(tree), rank(key))
    case .seek(let view, let tree, let key, let isBetween, let steps):
      try seek(view, number(tree), rank(key), isBetween, before: false, steps)
    case .seekBefore(let view, let tree, let key, let isBetween, let steps):
      try seek(view, number(tree), rank(key), isBetween, before: true, steps)
    case .wander(let view, let tree, let key, let moves):
      try wander(view, number(tree), rank(key), moves)
    case .scan(let view, let tree, let backward):
      try read(view, number(tree)) { tree, expected, subject in
        try scan(tree, expected, backward: backward, subject.name)
      }
    case .list(let view): try list(view)
    default: break
    }
  }

  private func get(_ view: StoreOperation.View, _ tree: Int, _ key: Int) throws {
    try read(view, tree) { tree, expected, subject in
      let value = try tree.value(key)
      let entry = expected.entry(for: key)
      let isRight: Bool
      switch (value, entry) {
      case (let value?, let entry?):
        isRight = withExtendedLifetime(value.owner) { areEqual(value.bytes, entry.value) }
      case (nil, nil): isRight = true
      default: isRight = false
      }
      try expect(
        isRight, "\(subject.name): \(value?.bytes.count ?? -1) bytes, not \(describe(entry))")
      let seen = try tree.seenValue(key)
      try expect(
        seen == value?.array, "\(subject.name): looked at, there are \(seen?.count ?? -1) bytes")
      let contains = try tree.contains(key)
      try expect(contains == (entry != nil), "\(subject.name): contains says \(contains)")
    }
  }

  private func describe(_ entry: TreeOracle.Entry?) -> String {
    entry.map { "key \($0.key) with \($0.byteCount) bytes" } ?? "nothing"
  }

  private func seek(
    _ view: StoreOperation.View, _ tree: Int, _ key: Int, _ isBetween: Bool, before: Bool,
    _ steps: Int
  ) throws {
    try read(view, tree) { tree, expected, subject in
      var cursor = tree.cursor()
      var place = try place(cursor: &cursor, in: expected, key, isBetween, before: before, subject)
      for _ in 0..<Int(steps.magnitude) {
        let isAtEntry = try steps < 0 ? cursor.previous() : cursor.next()
        move(&place, backward: steps < 0, in: expected)
        try compare(&cursor, place, isAtEntry, expected, subject.name)
      }
    }
  }

  private func wander(
    _ view: StoreOperation.View, _ tree: Int, _ key: Int, _ moves: UInt32
  ) throws {
    try read(view, tree) { tree, expected, subject in
      var cursor = tree.cursor()
      // A cursor that was never placed enters at the end it moves away from.
      var place: Int
      if moves & 3 == 0 {
        place = moves & 4 == 0 ? -1 : expected.entries.count
      } else {
        place = try self.place(cursor: &cursor, in: expected, key, false, before: false, subject)
      }
      var bits = moves
      while bits > 0 {
        let isAtEntry = try bits & 4 == 0 ? cursor.next() : cursor.previous()
        move(&place, backward: bits & 4 != 0, in: expected)
        try compare(&cursor, place, isAtEntry, expected, subject.name)
        bits >>= 1
      }
    }
  }

  /// Seeks, and compares where that leads.
  ///
  /// - Returns: the place among the oracle's entries: -1 is before all, their number after all.
  private func place(
    cursor: inout ModelCursor, in expected: TreeOracle, _ key: Int, _ isBetween: Bool,
    before: Bool, _ subject: Subject
  ) throws -> Int {
    let isAtEntry = try cursor.seek(key, isBetween: isBetween, before: before)
    var place: Int
    if isBetween {
      // The next key of the universe may be the very bound.
      let isNext = key + 1 < keys.count && isSuccessor(key + 1, of: key, expected.kind)
      let bound = expected.lowerBound(of: key + 1)
      let isHit = isNext && expected.entry(for: key + 1) != nil
      place = before && !isHit ? bound - 1 : bound
    } else {
      place = expected.lowerBound(of: key)
      if before, expected.entry(for: key) == nil { place -= 1 }
    }
    try compare(&cursor, place, isAtEntry, expected, subject.name)
    return place
  }

  private func isSuccessor(_ next: Int, of key: Int, _ kind: TreeKind) -> Bool {
    switch kind {
    case .record: return keys.numbers[key] + 1 == keys.numbers[next]
    case .index:
      let (short, long) = (keys.bytes(key), keys.bytes(next))
      guard long.count == short.count + 1, long.last == 0 else { return false }
      return areEqual(short, UnsafeRawBufferPointer(rebasing: long.dropLast()))
    }
  }

  private func move(_ place: inout Int, backward: Bool, in expected: TreeOracle) {
    place = backward ? max(-1, place - 1) : min(expected.entries.count, place + 1)
  }

  private func compare(
    _ cursor: inout ModelCursor, _ place: Int, _ isAtEntry: Bool, _ expected: TreeOracle,
    _ what: String
  ) throws {
    let isInside = expected.entries.indices.contains(place)
    try expect(
      isAtEntry == isInside && cursor.isAtEntry == isInside,
      "\(what): the cursor is \(isAtEntry ? "" : "not ")at an entry at place \(place) of "
        + "\(expected.entries.count)")
    guard isInside else { return }
    let entry = expected.entries[place]
    try expect(
      try cursor.isAt(entry.key),
      "\(what): the cursor is not at \(describe(entry)), place \(place) of "
        + "\(expected.entries.count)")
    try expect(
      try cursor.holds(entry.value), "\(what): the cursor's value is not of \(describe(entry))")
  }

  private func scan(
    _ tree: ModelTree, _ expected: TreeOracle, backward: Bool, _ what: String
  ) throws {
    let (count, wanted) = (tree.count, expected.entries.count)
    try expect(count == wanted, "\(what): \(count) entries are counted, not \(wanted)")
    var cursor = tree.cursor()
    var place = backward ? wanted : -1
    repeat {
      let isAtEntry = try backward ? cursor.previous() : cursor.next()
      move(&place, backward: backward, in: expected)
      try compare(&cursor, place, isAtEntry, expected, what)
    } while place >= 0 && place < wanted
    let isStillInside = try backward ? cursor.previous() : cursor.next()
    try expect(!isStillInside, "\(what): the cursor came back from the end")
  }

  private func list(_ view: StoreOperation.View) throws {
    let (oracle, readers) = try readers(view)
    for (subject, reader) in readers { try compareNames(reader, oracle, subject.name) }
  }

  private func compareNames(
    _ reader: any TreeReader, _ oracle: StoreOracle, _ what: String
  ) throws {
    let expected = oracle.trees.enumerated().compactMap { number, tree in
      tree.map { "\([UInt8](names[number].utf8)) \($0.kind) \($0.entries.count)" }
    }
    let found = try reader.treeNames().map { "\([UInt8]($0.name.utf8)) \($0.kind) \($0.count)" }
    try expect(found == expected, "\(what): the trees are \(found), not \(expected)")
    for (number, tree) in oracle.trees.enumerated() {
      guard let tree else { continue }
      let what = "\(what): tree \(number) as what it is not"
      switch tree.kind {
      case .record: try expectInvalid(what, try reader.indexTree(names[number]))
      case .index: try expectInvalid(what, try reader.recordTree(names[number]))
      }
    }
  }

  /// Compares everything that a reader shows.
  func compare(_ reader: any TreeReader, _ oracle: StoreOracle, _ what: String) throws {
    try compareNames(reader, oracle, what)
    for (number, expected) in oracle.trees.enumerated() {
      guard let expected else { continue }
      try scan(
        try tree(number, expected.kind, in: reader), expected, backward: number % 2 == 0, what)
    }
  }
}
