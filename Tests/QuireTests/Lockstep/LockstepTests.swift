import Quire
import QuireSimulation
import Testing

@Suite struct `Three stores and an oracle in lockstep` {
  /// Those after the first ones have failed once.
  private static let seeds =
    Seeds.wanted.map(Array.init)
    ?? Array(1...Amount.of(debug: 4, release: 20, exhaustive: 5000)) + [
      61_215, 61_850, 61_986, 64_140,
    ]
  private static let operationCount = 60

  /// Every second time: a store of another make allows less to others.
  private static func isAlsoElsewhere(_ seed: UInt64) -> Bool { seed % 2 == 0 }

  /// What goes wrong when operations are done one after the other; `nil` when nothing does.
  private static func failure(
    of operations: [LockstepOperation], alsoElsewhere: Bool
  ) -> String? {
    do {
      try withTemporaryFolder {
        try LockstepMachine($0, alsoElsewhere: alsoElsewhere).run(operations)
      }
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func report(
    _ operations: [LockstepOperation], alsoElsewhere: Bool, _ failure: String
  ) -> String {
    var shrinker = OperationShrinker(operations) {
      Self.failure(of: $0, alsoElsewhere: alsoElsewhere) != nil
    }
    shrinker.shrink()
    return """
      \(failure)
      \(shrinker.operations.count) operations are left, which fail with:
      \(Self.failure(of: shrinker.operations, alsoElsewhere: alsoElsewhere) ?? "nothing, now")
        [
      \(shrinker.operations.map { "    \($0),\n" }.joined())  ]
      """
  }

  @Test func `a file, memory, another make and dictionaries agree after each operation`() throws {
    for seed in Self.seeds {
      let operations = LockstepOperation.sequence(seed: seed, count: Self.operationCount)
      let alsoElsewhere = Self.isAlsoElsewhere(seed)
      guard let failure = Self.failure(of: operations, alsoElsewhere: alsoElsewhere) else {
        continue
      }
      let report = Self.report(operations, alsoElsewhere: alsoElsewhere, failure)
      Issue.record("seed \(seed): \(report)")
      return
    }
  }

  /// What many saves leave behind is met by those that come after.
  @Test(arguments: Seeds.upTo(Amount.of(debug: 1, release: 4, exhaustive: 200)))
  func `they agree for a long time`(_ seed: UInt64) throws {
    let count = Amount.of(debug: 220, release: 500, exhaustive: 3000)
    let operations = LockstepOperation.sequence(seed: seed, count: count)
    try withTemporaryFolder { folder in
      let alsoElsewhere = Self.isAlsoElsewhere(seed)
      let machine = try LockstepMachine(folder, alsoElsewhere: alsoElsewhere)
      do {
        try machine.run(operations)
        #expect(machine.saveCount > 0)
      } catch {
        let report = Self.report(operations, alsoElsewhere: alsoElsewhere, "\(error)")
        Issue.record("seed \(seed): \(report)")
      }
    }
  }

  @Test func `a planted failure is shrunk to the operations it needs`() {
    var operations = LockstepOperation.sequence(seed: 3, count: 200)
    operations.insert(.hold(false), at: 40)
    operations.insert(
      .child([.insert(kind: 1), .delete(99), .set(1, 2)]), at: 90)
    operations.insert(.members(77, 1, [1, 2, 3]), at: 150)
    /// Wrong when three things follow each other, of whatever else.
    func fails(_ operations: [LockstepOperation]) -> Bool {
      var stage = 0
      for operation in operations {
        switch operation {
        case .hold(false) where stage == 0: stage = 1
        case .child(let inner) where stage == 1 && inner.contains(.delete(99)): stage = 2
        case .members(77, _, let members) where stage == 2 && !members.isEmpty: return true
        default: break
        }
      }
      return false
    }
    #expect(fails(operations))
    var shrinker = OperationShrinker(operations, fails: fails)
    shrinker.shrink()
    #expect(
      shrinker.operations == [.hold(false), .child([.delete(99)]), .members(77, 1, [1])])
  }
}
