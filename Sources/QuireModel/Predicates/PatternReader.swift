/// Reads the structure of a regular expression that Swift's `Regex` has compiled.
struct PatternReader {
  /// The texts of atoms, each once.
  private(set) var atoms: [String] = []
  /// The flags that have to precede an atom so that it is compiled with its meaning here: `(?i)`.
  private(set) var flags = ""
  /// Whether the structure describes the expression completely, so that an automaton may match it
  /// instead.
  private(set) var isRegular = true

  private let characters: [Character]
  private var position = 0
  private var positions: [String: Int] = [:]

  init(_ pattern: String) { characters = Array(pattern) }

  mutating func read() -> PatternNode {
    while takesFlags() {}
    let node = choice()
    // A parenthesis that closes nothing: `Regex` would not have compiled it.
    if position < characters.count { isRegular = false }
    return node
  }

  private var next: Character? { position < characters.count ? characters[position] : nil }

  private func follows(_ text: String) -> Bool { characters[position...].starts(with: text) }

  private mutating func skip(_ text: String) -> Bool {
    guard follows(text) else { return false }
    position += text.count
    return true
  }

  private mutating func skip(upTo ends: [Character]) {
    while let character = next, !ends.contains(character) { position += 1 }
  }

  /// Flags for all of the pattern at its beginning. Of the others there are some that change what
  /// the structure means.
  private mutating func takesFlags() -> Bool {
    for text in ["(?i)", "(?s)", "(?is)", "(?si)"] where skip(text) {
      flags += text
      return true
    }
    return false
  }

  private mutating func choice() -> PatternNode {
    var parts = [sequence()]
    while next == "|" {
      position += 1
      parts.append(sequence())
    }
    return parts.count == 1 ? parts[0] : .choice(parts)
  }

  private mutating func sequence() -> PatternNode {
    var parts: [PatternNode] = []
    while let character = next, character != "|", character != ")" {
      let node = item(character)
      parts.append(repeated(node))
    }
    return .sequence(parts)
  }

  private mutating func item(_ character: Character) -> PatternNode {
    switch character {
    case "(": return group()
    case "[": return characterClass()
    case "\\": return escape()
    case "^", "$":
      position += 1
      return character == "^" ? .start : .end
    case "\r\n", "\r":
      // A carriage return and a line feed are one character of a text, and two of a pattern.
      isRegular = false
      position += 1
      return .other
    default:
      position += 1
      return atom(String(character))
    }
  }

  private mutating func atom(_ text: String) -> PatternNode {
    if let known = positions[text] { return .atom(known) }
    positions[text] = atoms.count
    atoms.append(text)
    return .atom(atoms.count - 1)
  }

  private mutating func group() -> PatternNode {
    position += 1
    var isClosed = false
    if skip("?:") {
      // A group that is not captured.
    } else if ["?=", "?!", "?<=", "?<!", "?>"].contains(where: { skip($0) }) {
      isClosed = true
      isRegular = false
    } else if follows("?<") || follows("?P<") {
      // A name, up to its end.
      skip(upTo: [">"])
      position += 1
    } else if next == "?" || next == "*" {
      // Flags, comments, conditions: what follows may mean anything.
      isRegular = false
      skip(upTo: [":", ")"])
      if next == ":" { position += 1 }
    }
    position = min(position, characters.count)
    let inner = choice()
    if next == ")" { position += 1 } else { isRegular = false }
    return isClosed ? .closed(inner) : inner
  }

  private mutating func characterClass() -> PatternNode {
    let start = position
    var depth = 0
    while let character = next {
      position += 1
      switch character {
      case "[":
        depth += 1
        if next == "^" { position += 1 }
        // A bracket that is first after the opening one is an ordinary character.
        if next == "]" { position += 1 }
      case "]": depth -= 1
      case "\\":
        if let escaped = next, "QEuxNoc0\r\n".contains(escaped) { isRegular = false }
        position += 1
      case "\r\n", "\r": isRegular = false
      default: break
      }
      if depth <= 0 { break }
    }
    position = min(position, characters.count)
    return atom(String(characters[start..<position]))
  }

  private mutating func escape() -> PatternNode {
    let start = position
    position += 2
    guard start + 1 < characters.count else {
      position = characters.count
      isRegular = false
      return .other
    }
    let character = characters[start + 1]
    switch character {
    case "A": return .start
    case "d", "D", "w", "W", "s", "S", "h", "H", "V", "N", "t", "f", "e", "a": break
    case "p", "P":
      guard next == "{" else {
        isRegular = false
        return .other
      }
      skip(upTo: ["}"])
      position = min(position + 1, characters.count)
    default:
      if character.isLetter || character.isNumber || !character.isASCII || character.isNewline {
        isRegular = false
        return .other
      }
    }
    return atom(String(characters[start..<position]))
  }

  // MARK: Repetitions

  private mutating func repeated(_ node: PatternNode) -> PatternNode {
    guard let (minimum, maximum) = counts() else { return node }
    // `Regex` has rules of its own for how often nothing is matched.
    if node.hasAnchor { isRegular = false }
    // The order in which the ways to match are tried has no effect on whether one of them matches.
    if !skip("?"), skip("+") { isRegular = false }
    if let next, "*+?".contains(next) { isRegular = false }
    return .repetition(node, minimum: minimum, maximum: maximum)
  }

  private mutating func counts() -> (minimum: Int, maximum: Int?)? {
    switch next {
    case "*":
      position += 1
      return (0, nil)
    case "+":
      position += 1
      return (1, nil)
    case "?":
      position += 1
      return (0, 1)
    case "{":
      guard let end = characters[position...].firstIndex(of: "}") else { return nil }
      let parts = characters[(position + 1)..<end].split(
        separator: ",", omittingEmptySubsequences: false)
      let numbers = parts.map { Int(String($0)) }
      guard (1...2).contains(parts.count),
        zip(parts, numbers).allSatisfy({ $0.isEmpty || $1 != nil }),
        let first = numbers.first, let last = numbers.last, first != nil || last != nil,
        first ?? 0 >= 0, last ?? 0 >= first ?? 0 || last == nil
      else {
        // A brace that begins no count is an ordinary character, or a count in another notation.
        isRegular = false
        return nil
      }
      position = end + 1
      return (first ?? 0, last)
    default: return nil
    }
  }
}
