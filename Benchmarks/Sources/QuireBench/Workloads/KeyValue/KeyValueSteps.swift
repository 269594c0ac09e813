/// The steps of the key-value workloads; each engine has all of them.
protocol KeyValueSteps: Sendable {
  /// Puts N entries, 1,000 a commit.
  func put(_ order: KeyOrder) -> Contender.Step
  /// Puts N entries in the order of their keys, by the fastest way the engine has.
  func bulk(_ run: Run) throws
  func get(_ run: Run) throws
  func scan(_ run: Run) throws
  /// Gives a hundredth of N entries new values, 1,000 a commit.
  func update(_ run: Run) throws
  /// Whether the entries are there with what the updates made of them.
  func verifyUpdates(_ run: Run) throws
  /// Whether the N entries are there and no others.
  func verify(_ run: Run) throws

  /// Puts N entries, one a commit.
  func commitOneByOne(_ run: Run) throws
  /// The same, from ``Threads/writerCount`` threads.
  func commitFromThreads(_ run: Run) throws

  func makeConcurrencyFixture(_ run: Run) throws
  func writeAndRead(_ run: Run) throws
  /// Opens the store, and writes until the time is up.
  func write(_ work: Concurrency.Writing, _ run: Run) throws
  /// Opens the store that others write, too, and writes until the time is up.
  func writeInTurn(_ work: Concurrency.Writing, _ run: Run) throws
  /// Opens the store that another process writes, and reads until the time is up.
  func read(_ work: Concurrency.Reading, _ run: Run) throws
  /// Opens the store that another process writes, reads one entry and closes it, until the time is
  /// up.
  func openAndRead(_ work: Concurrency.Reading, _ run: Run) throws
  /// Opens the store that another process writes, and looks for its commits until the time is up.
  func hear(_ work: Concurrency.Hearing, _ run: Run) throws
  /// What is in the store.
  func sum(_ run: Run) throws -> KeyValueSum

  /// Makes a store of `count` entries.
  func makeStore(_ count: Int) -> Contender.Step
  /// Opens it, reads one entry and closes it, N times.
  func openAndClose(_ count: Int) -> Contender.Step
}

extension KeyKind {
  /// Us first, then the peers.
  var engines: [(Contender.Engine, any KeyValueSteps)] { engines(.resident) }

  func engines(_ cache: QuireCache) -> [(Contender.Engine, any KeyValueSteps)] {
    let quire: any KeyValueSteps =
      self == .bytes
      ? QuireKeyValue<ByteKeys>(cache: cache) : QuireKeyValue<IntegerKeys>(cache: cache)
    return [
      (.quire, quire), (.sqlite, SQLiteKeyValue(keys: self, cache: cache)),
      (.lmdb, LMDBKeyValue(keys: self)),
    ]
  }
}
