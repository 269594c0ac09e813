import QuireSimulation

/// One thing that a user of a store does, to be done to two stores and an oracle.
///
/// Objects and relationships are named by numbers that count around those that there are, so that
/// an operation means something whatever was left out before it.
indirect enum LockstepOperation: ShrinkableOperation {
  case insert(kind: Int)
  case set(Int, Int?)
  case one(Int, Int, to: Int?)
  case add(Int, Int, member: Int, at: Int)
  case remove(Int, Int, member: Int)
  case rotate(Int, Int, by: Int)
  /// Sets all members at once.
  case members(Int, Int, [Int])
  case delete(Int)
  /// Inserts a deleted object again.
  case revive(Int)

  case endEvent, beginGroup, endGroup, undo, redo

  case save, rollback, reset, reopen, refreshAll
  case refresh(Int, mergeChanges: Bool)
  /// Whether somebody holds the objects, or reads them again each time.
  case hold(Bool)
  case fetch(query: Int, Int)

  /// Another context saves changes, of which this one learns by a merge.
  case other(Meeting, [LockstepOperation])
  /// The same of changes that nobody here has made or taken back, so that undo goes on.
  case beside(Meeting, [LockstepOperation])
  /// A child context hands changes to this one.
  case child([LockstepOperation])

  /// How changes of another context come to this one.
  enum Meeting: CaseIterable {
    case automaticMerge, notice, refresh
    /// By a save that meets them, with this policy.
    case error, objectTrump, storeTrump, overwrite, rollback
  }

  var isChange: Bool {
    switch self {
    case .insert, .set, .one, .add, .remove, .rotate, .members, .delete: true
    default: false
    }
  }

  var simpler: [LockstepOperation] {
    switch self {
    case .other(let meeting, let operations):
      operations.indices.map { index in
        var fewer = operations
        fewer.remove(at: index)
        return .other(meeting, fewer)
      }
    case .beside(let meeting, let operations):
      operations.indices.map { index in
        var fewer = operations
        fewer.remove(at: index)
        return .beside(meeting, fewer)
      }
    case .child(let operations):
      operations.indices.map { index in
        var fewer = operations
        fewer.remove(at: index)
        return .child(fewer)
      }
    case .members(let object, let relationship, let members) where !members.isEmpty:
      [.members(object, relationship, Array(members.dropLast()))]
    case .add(let object, let relationship, let member, let place) where place > 0:
      [.add(object, relationship, member: member, at: 0)]
    default: []
    }
  }
}

extension LockstepOperation: CustomStringConvertible {
  /// As Swift, to be pasted into a test.
  var description: String {
    func optional(_ number: Int?) -> String { number.map { "\($0)" } ?? "nil" }
    return switch self {
    case .insert(let kind): ".insert(kind: \(kind))"
    case .set(let object, let value): ".set(\(object), \(optional(value)))"
    case .one(let object, let slot, let to): ".one(\(object), \(slot), to: \(optional(to)))"
    case .add(let object, let slot, let member, let place):
      ".add(\(object), \(slot), member: \(member), at: \(place))"
    case .remove(let object, let slot, let member):
      ".remove(\(object), \(slot), member: \(member))"
    case .rotate(let object, let slot, let count): ".rotate(\(object), \(slot), by: \(count))"
    case .members(let object, let slot, let members): ".members(\(object), \(slot), \(members))"
    case .delete(let object): ".delete(\(object))"
    case .revive(let object): ".revive(\(object))"
    case .endEvent: ".endEvent"
    case .beginGroup: ".beginGroup"
    case .endGroup: ".endGroup"
    case .undo: ".undo"
    case .redo: ".redo"
    case .save: ".save"
    case .rollback: ".rollback"
    case .reset: ".reset"
    case .reopen: ".reopen"
    case .refreshAll: ".refreshAll"
    case .refresh(let object, let mergeChanges):
      ".refresh(\(object), mergeChanges: \(mergeChanges))"
    case .hold(let isHeld): ".hold(\(isHeld))"
    case .fetch(let query, let value): ".fetch(query: \(query), \(value))"
    case .other(let meeting, let operations): ".other(.\(meeting), \(operations))"
    case .beside(let meeting, let operations): ".beside(.\(meeting), \(operations))"
    case .child(let operations): ".child(\(operations))"
    }
  }
}

extension LockstepOperation {
  /// A sequence: the same for the same seed.
  static func sequence(seed: UInt64, count: Int) -> [LockstepOperation] {
    var generator = SeededGenerator(seed: seed)
    // Some things are done to few objects first.
    let start = (0..<generator.below(8)).map { _ in change(insertsOnly: true, &generator) }
    return start + (start.count..<count).map { _ in random(&generator) }
  }

  private static func random(_ generator: inout SeededGenerator) -> LockstepOperation {
    switch generator.below(100) {
    case 0..<52: change(&generator)
    case 52..<58: .save
    case 58..<62: .endEvent
    case 62..<70: .undo
    case 70..<74: .redo
    case 74: .revive(generator.below(64))
    case 75: .beginGroup
    case 76, 77: .endGroup
    case 78: generator.below(3) == 0 ? .rollback : .refreshAll
    case 79: generator.below(3) == 0 ? .reset : .hold(false)
    case 80: generator.below(2) == 0 ? .reopen : .hold(true)
    case 81, 82: .refresh(generator.below(64), mergeChanges: generator.below(2) == 0)
    case 83: .revive(generator.below(64))
    case 84..<88: .fetch(query: generator.below(1 << 10), generator.below(5))
    case 88..<90: .beside(Meeting.allCases.randomElement(using: &generator)!, changes(&generator))
    case 90..<94: .other(Meeting.allCases.randomElement(using: &generator)!, changes(&generator))
    default: .child(changes(&generator))
    }
  }

  private static func changes(_ generator: inout SeededGenerator) -> [LockstepOperation] {
    (0...generator.below(4)).map { _ in change(&generator) }
  }

  private static func change(
    insertsOnly: Bool = false, _ generator: inout SeededGenerator
  ) -> LockstepOperation {
    func number() -> Int { generator.below(64) }
    switch insertsOnly ? 0 : generator.below(32) {
    case 0..<6: return .insert(kind: number())
    case 6..<10: return .set(number(), generator.below(5) == 0 ? nil : generator.below(5))
    case 10..<15:
      return .one(number(), number(), to: generator.below(4) == 0 ? nil : number())
    case 15..<20: return .add(number(), number(), member: number(), at: number())
    case 20..<23: return .remove(number(), number(), member: number())
    case 23..<25: return .rotate(number(), number(), by: number())
    case 25..<28:
      return .members(number(), number(), (0..<generator.below(5)).map { _ in number() })
    default: return .delete(number())
    }
  }
}
