/// The room between two columns of a diagram: every line that needs a vertical piece there gets a
/// track for it, which it shares with lines above or below alone.
struct DiagramChannel {
  /// A line through a channel, by the heights at which it enters and leaves.
  struct Wire {
    var left: Double
    var right: Double
    /// Whether it leaves on the side where it has entered, the left one.
    var returns: Bool

    var top: Double { min(left, right) }
    var bottom: Double { max(left, right) }
    var isStraight: Bool { left == right && !returns }
  }

  /// The room on both sides, for the marks at the ends of lines.
  static let margin = 26.0
  /// The distance between tracks.
  static let spacing = 11.0

  let wires: [Wire]
  /// The number of the track of each wire, from the left.
  private(set) var tracks: [Int]
  private var trackCount = 0

  var width: Double { 2 * Self.margin + Double(max(0, trackCount - 1)) * Self.spacing }

  init(_ wires: [Wire]) {
    self.wires = wires
    tracks = Array(repeating: 0, count: wires.count)
    var waiting = Self.order(wires).filter { !wires[$0].isStraight }
    var placed: [Int] = []
    while !waiting.isEmpty {
      // One that enters where another leaves has to turn before it, or both would share a piece.
      // In a circle of such lines two of them do.
      let next = waiting.firstIndex { wire in
        !waiting.contains { $0 != wire && Self.meet(wires[$0].left, wires[wire].right) }
      }
      let wire = waiting.remove(at: next ?? 0)
      tracks[wire] = firstTrack(for: wires[wire], after: placed)
      trackCount = max(trackCount, tracks[wire] + 1)
      placed.append(wire)
    }
  }

  private static func meet(_ left: Double, _ right: Double) -> Bool { abs(left - right) < 4 }

  /// Wires that turn back come first, the short ones nearest to their boxes. Of those that go down
  /// the lowest come first, of those that go up the highest: this way two of them do not cross.
  private static func order(_ wires: [Wire]) -> [Int] {
    func rank(_ number: Int) -> (Int, Double, Int) {
      let wire = wires[number]
      if wire.returns { return (0, wire.bottom - wire.top, number) }
      return wire.right < wire.left ? (1, wire.left, number) : (2, -wire.left, number)
    }
    return wires.indices.sorted { rank($0) < rank($1) }
  }

  /// The first track to the right of all wires that it would overlap.
  private func firstTrack(for wire: Wire, after placed: [Int]) -> Int {
    var track = 0
    for number in placed {
      let other = wires[number]
      let overlaps = other.top < wire.bottom + 8 && wire.top < other.bottom + 8
      if overlaps || Self.meet(other.left, wire.right) { track = max(track, tracks[number] + 1) }
    }
    return track
  }
}
