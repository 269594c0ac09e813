import QuireSimulation

/// One thing that happens around a fetched results controller. Objects are named by numbers that
/// count around those that there are.
enum ResultsOperation: ShrinkableOperation {
  case insert(genre: Int?, rank: Int, isHit: Bool)
  case delete(Int)
  case genre(Int, Int?)
  case rank(Int, Int)
  case note(Int, Int)
  case mood(Int, Int)
  case album(Int, Int?)
  case rename(album: Int, Int)
  case refresh(Int, mergeChanges: Bool)
  case process, save, rollback, undo, redo, refreshAll
  /// The context forgets all, and the controller fetches anew.
  case reset
  /// Somebody else changes something and saves; or has it merged late.
  indirect case other(ResultsOperation)
  case fetch

  var simpler: [ResultsOperation] {
    switch self {
    case .insert(_?, let rank, let isHit): [.insert(genre: nil, rank: rank, isHit: isHit)]
    case .insert(nil, let rank, _) where rank > 0: [.insert(genre: nil, rank: 0, isHit: false)]
    case .other(let operation): [operation] + operation.simpler.map(ResultsOperation.other)
    case .genre(let song, let genre) where song > 0: [.genre(song / 2, genre)]
    case .rank(let song, let rank) where song > 0: [.rank(song / 2, rank)]
    case .delete(let song) where song > 0: [.delete(song / 2)]
    default: []
    }
  }

  static func sequence(seed: UInt64, count: Int) -> [ResultsOperation] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in any(&generator, isOwn: true) }
  }

  private static func any(_ generator: inout SeededGenerator, isOwn: Bool) -> ResultsOperation {
    func number(_ limit: Int) -> Int { generator.below(limit) }
    func maybe(_ limit: Int) -> Int? { number(8) == 0 ? nil : number(limit) }
    let song = number(40)
    switch number(isOwn ? 30 : 14) {
    case 0...3: return .insert(genre: maybe(4), rank: number(10), isHit: number(3) == 0)
    case 4, 5: return .delete(song)
    case 6, 7: return .genre(song, maybe(4))
    case 8, 9: return .rank(song, number(10))
    case 10: return .note(song, number(5))
    case 11, 12: return .album(song, maybe(3))
    case 13: return .rename(album: number(3), number(4))
    case 14: return .mood(song, number(3))
    case 15: return .refresh(song, mergeChanges: number(2) == 0)
    case 16...19: return .process
    case 20, 21: return .save
    case 22: return .rollback
    case 23: return .undo
    case 24: return .redo
    case 25: return number(3) == 0 ? .reset : .refreshAll
    case 26: return .fetch
    default: return .other(any(&generator, isOwn: false))
    }
  }
}
