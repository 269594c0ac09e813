/// Matches whole texts against a regular expression in time proportional to their length.
///
/// All ways through the expression are followed at once, character by character (Thompson, 1968),
/// so that nothing is ever tried again. Only whether there is a match is found out, not where
/// groups are.
package final class PatternAutomaton {
  private enum Instruction {
    case atom(Int)
    case split(Int, Int)
    case jump(Int)
    case start
    case end
    case accept
  }

  private static let maximumInstructionCount = 5_000

  private var instructions: [Instruction] = []
  /// The ASCII characters that atoms match: a table for each atom, indexed by character.
  private var tables: [[Bool]] = []
  private let atoms: [Regex<AnyRegexOutput>]

  /// - Returns: `nil` when the expression is none that this can match, or is too large.
  init?(_ node: PatternNode, _ reader: PatternReader, ignoringCase: Bool) {
    guard reader.isRegular else { return nil }
    var atoms: [Regex<AnyRegexOutput>] = []
    for text in reader.atoms {
      guard let regex = try? Regex(reader.flags + text) else { return nil }
      atoms.append(regex.ignoresCase(ignoringCase))
    }
    self.atoms = atoms
    guard append(node) else { return nil }
    instructions.append(.accept)
    tables = atoms.map { regex in
      (UInt8(0)..<128).map { Self.isMatch(Character(UnicodeScalar($0)), regex) }
    }
  }

  private static func isMatch(_ character: Character, _ regex: Regex<AnyRegexOutput>) -> Bool {
    ((try? regex.wholeMatch(in: String(character))) ?? nil) != nil
  }

  // MARK: Construction

  /// - Returns: `false` when there are too many instructions.
  private func append(_ node: PatternNode) -> Bool {
    if instructions.count > Self.maximumInstructionCount { return false }
    switch node {
    case .atom(let number): instructions.append(.atom(number))
    case .start: instructions.append(.start)
    case .end: instructions.append(.end)
    case .sequence(let parts): return parts.allSatisfy(append)
    case .choice(let parts):
      var exits: [Int] = []
      for (index, part) in parts.enumerated() {
        let split = instructions.count
        if index < parts.count - 1 { instructions.append(.split(split + 1, 0)) }
        guard append(part) else { return false }
        if index < parts.count - 1 {
          exits.append(instructions.count)
          instructions.append(.jump(0))
          instructions[split] = .split(split + 1, instructions.count)
        }
      }
      for exit in exits { instructions[exit] = .jump(instructions.count) }
    case .repetition(let part, let minimum, let maximum):
      return append(part, minimum: minimum, maximum: maximum)
    case .closed, .other: return false
    }
    return true
  }

  private func append(_ part: PatternNode, minimum: Int, maximum: Int?) -> Bool {
    if max(minimum, maximum ?? 0) > Self.maximumInstructionCount { return false }
    for _ in 0..<minimum where !append(part) { return false }
    guard let maximum else {
      let split = instructions.count
      instructions.append(.split(split + 1, 0))
      guard append(part) else { return false }
      instructions.append(.jump(split))
      instructions[split] = .split(split + 1, instructions.count)
      return true
    }
    var splits: [Int] = []
    for _ in minimum..<maximum {
      splits.append(instructions.count)
      instructions.append(.split(instructions.count + 1, 0))
      guard append(part) else { return false }
    }
    for split in splits { instructions[split] = .split(split + 1, instructions.count) }
    return true
  }

  // MARK: Matching

  /// The positions in the instructions that are reached, each once.
  private struct Positions {
    var list: [Int] = []
    /// The step at which each was reached last.
    var steps: [Int]
    var isAccepted = false
  }

  /// - Complexity: O(*n* × *m*) in the characters of the text and the instructions reached.
  package func matches(_ text: String) -> Bool {
    var now = Positions(steps: Array(repeating: -1, count: instructions.count))
    var waiting: [Int] = []
    var answers: [Character: [Bool?]] = [:]
    var next = Positions(steps: now.steps)
    var rest = text[...]
    reach(0, &now, step: 0, isAtStart: true, isAtEnd: text.isEmpty, &waiting)
    var step = 0
    while let character = rest.popFirst() {
      if now.list.isEmpty { return false }
      step += 1
      next.list.removeAll(keepingCapacity: true)
      next.isAccepted = false
      for position in now.list {
        guard case .atom(let number) = instructions[position],
          isMatch(character, number, &answers)
        else { continue }
        reach(
          position + 1, &next, step: step, isAtStart: false, isAtEnd: rest.isEmpty, &waiting)
      }
      swap(&now, &next)
    }
    return now.isAccepted
  }

  private func isMatch(
    _ character: Character, _ atom: Int, _ answers: inout [Character: [Bool?]]
  ) -> Bool {
    let bytes = character.utf8
    if bytes.count == 1, let byte = bytes.first { return tables[atom][Int(byte)] }
    if let answer = answers[character]?[atom] { return answer }
    let answer = Self.isMatch(character, atoms[atom])
    answers[character, default: Array(repeating: nil, count: atoms.count)][atom] = answer
    return answer
  }

  /// Adds what is reached from a position without a character.
  private func reach(
    _ position: Int, _ positions: inout Positions, step: Int, isAtStart: Bool, isAtEnd: Bool,
    _ waiting: inout [Int]
  ) {
    waiting.append(position)
    while let position = waiting.popLast() {
      if positions.steps[position] == step { continue }
      positions.steps[position] = step
      switch instructions[position] {
      case .atom: positions.list.append(position)
      case .jump(let other): waiting.append(other)
      case .split(let one, let other):
        waiting.append(other)
        waiting.append(one)
      case .start: if isAtStart { waiting.append(position + 1) }
      case .end: if isAtEnd { waiting.append(position + 1) }
      case .accept: positions.isAccepted = true
      }
    }
  }
}
