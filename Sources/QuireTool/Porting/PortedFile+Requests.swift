extension PortedFile {
  /// Makes a request of another type where one is cast, as generic classes of Swift are not cast
  /// into each other; lists casts whose operand is not plain to see.
  mutating func portRequestCasts() {
    guard usesCoreData else { return }
    for index in source.tokens.indices where source.isWord(index, "as") {
      guard index + 1 < source.tokens.count,
        source.isPunctuation(index + 1, "!") || source.isPunctuation(index + 1, "?"),
        let name = source.significant(from: index + 2), source.isWord(name, "NSFetchRequest"),
        source.isPunctuation(name + 1, "<"), let end = endOfAngles(name + 1)
      else { continue }
      portCast(at: index, to: name..<end + 1)
    }
  }

  private func endOfAngles(_ open: Int) -> Int? {
    var depth = 0
    for index in open..<source.tokens.count {
      if source.isPunctuation(index, "<") { depth += 1 }
      if source.isPunctuation(index, ">"), !source.isPunctuation(index - 1, "-") { depth -= 1 }
      if depth == 0 { return index }
    }
    return nil
  }

  /// Functions that return a request or `nil`.
  private static let optionalRequests: Set<String> = [
    "fetchRequestFromTemplate", "fetchRequestTemplate",
  ]

  private mutating func portCast(at index: Int, to type: Range<Int>) {
    let isForced = source.isPunctuation(index + 1, "!")
    let text = source.text(of: bytes(of: type))
    guard let last = source.significant(before: index), let start = startOfOperand(endingAt: last)
    else { return listCast(index, text) }
    // A copy of a copy is one too many.
    var end = last
    if let copy = source.significant(before: source.partners[last]), source.isWord(copy, "copy"),
      source.significant(from: source.partners[last] + 1) == last,
      let dot = source.significant(before: copy), source.isPunctuation(dot, "."), dot > start
    {
      end = source.significant(before: dot) ?? end
    }
    let call = source.significant(before: source.partners[end])
    let isOptional = call.map { Self.optionalRequests.contains(source.text($0)) } ?? false
    let (from, to) = (
      source.tokens[start].range.lowerBound, source.tokens[type.upperBound - 1].range.upperBound
    )
    let tail = source.tokens[end].range.upperBound..<to
    if isForced {
      edits.insert("\(text)(", at: from)
      edits.replace(tail, with: isOptional ? "!)" : ")")
    } else if isOptional {
      edits.replace(tail, with: ".map({ \(text)($0) })")
    } else {
      listCast(index, text)
    }
  }

  private mutating func listCast(_ index: Int, _ type: String) {
    record(
      "as\(source.text(index + 1)) \(type)", atToken: index,
      "requests are not cast into each other: write \(type)(request), which is a copy")
  }

  /// Words that end the search for the beginning of an expression.
  private static let keywords: Set<String> = [
    "as", "await", "case", "else", "guard", "if", "in", "is", "let", "return", "try", "var",
    "where", "while",
  ]

  /// The first token of an expression of names, members, calls and subscripts.
  private func startOfOperand(endingAt last: Int) -> Int? {
    var index = last
    while true {
      if source.isPunctuation(index, "!") || source.isPunctuation(index, "?") {
        guard index > 0, !source.tokens[index - 1].isTrivia else { return nil }
        index -= 1
        continue
      }
      if source.isPunctuation(index, ")") || source.isPunctuation(index, "]") {
        index = source.partners[index]
        let isCall =
          index > 0
          && (source.tokens[index - 1].kind == .identifier
            || [")", "]", "!", "?", ">"].contains { source.isPunctuation(index - 1, $0) })
        guard isCall, !Self.keywords.contains(source.text(index - 1)) else { return index }
        if source.isPunctuation(index - 1, ">") { return nil }
        index -= 1
        continue
      }
      guard source.tokens[index].kind == .identifier, !Self.keywords.contains(source.text(index))
      else { return nil }
      guard let before = source.significant(before: index), source.isPunctuation(before, ".")
      else { return index }
      guard let owner = source.significant(before: before) else { return nil }
      index = owner
    }
  }

  // MARK: IDs

  /// Takes the name of an entity of Quire's as it is: it is never `nil`.
  mutating func portEntityNames() {
    guard usesCoreData else { return }
    for index in source.tokens.indices
    where source.isWord(index, "name") && source.isPunctuation(index - 1, ".")
      && source.isWord(index - 2, "entity") && source.isPunctuation(index - 3, ".")
      && index >= 4 && Self.isOfQuire(source.text(index - 4))
    {
      if source.isPunctuation(index + 1, "!"), !source.isPunctuation(index + 2, "=") {
        edits.remove(source.tokens[index + 1].range)
      } else if let first = source.significant(from: index + 1), source.isPunctuation(first, "?"),
        source.isPunctuation(first + 1, "?"),
        let value = source.significant(from: first + 2), plainText(value) != nil
      {
        edits.remove(bytes(of: index + 1..<value + 1))
      }
    }
  }

  /// Whether a name is that of an ID, or of the object of a conflict: both have Quire's entities.
  private static func isOfQuire(_ name: String) -> Bool {
    name == "sourceObject" || name.lowercased().hasSuffix("objectid")
  }

  // MARK: History

  /// Encodes history tokens, which are `Codable` values and no objects of an archive. What a file
  /// archives is taken for the token that it reads from an archive.
  mutating func portHistoryTokens() {
    guard usesCoreData else { return }
    var readings: [(call: Range<Int>, data: String)] = []
    var writings: [(call: Range<Int>, value: String)] = []
    for index in source.tokens.indices
    where source.isPunctuation(index + 1, ".") && index + 3 < source.tokens.count
      && source.isPunctuation(index + 3, "(")
    {
      let (open, close) = (index + 3, source.partners[index + 3])
      let call = index..<close + 1
      if source.isWord(index, "NSKeyedUnarchiver"), source.isWord(index + 2, "unarchivedObject"),
        let type = token(labelled: "ofClass", in: open),
        source.isWord(type, "NSPersistentHistoryToken"),
        let data = token(labelled: "from", in: open)
      {
        readings.append((call, source.text(of: bytes(of: data..<close))))
      } else if source.isWord(index, "NSKeyedArchiver"), source.isWord(index + 2, "archivedData"),
        let value = token(labelled: "withRootObject", in: open),
        let comma = (value..<close).first(where: { source.isPunctuation($0, ",") })
      {
        writings.append((call, source.text(of: bytes(of: value..<comma))))
      }
    }
    guard !readings.isEmpty else { return listArchives() }
    for (call, data) in readings {
      edits.replace(
        bytes(of: call), with: "JSONDecoder().decode(NSPersistentHistoryToken.self, from: \(data))")
    }
    for (call, value) in writings {
      edits.replace(bytes(of: call), with: "JSONEncoder().encode(\(value))")
    }
  }

  /// Lists archives in files that speak of tokens of the history.
  private mutating func listArchives() {
    guard source.tokens.indices.contains(where: { source.isWord($0, "NSPersistentHistoryToken") })
    else { return }
    for index in source.tokens.indices
    where source.isWord(index, "NSKeyedArchiver") || source.isWord(index, "NSKeyedUnarchiver") {
      record(
        source.text(index), atToken: index,
        "a history token is a Codable value: JSONEncoder and JSONDecoder; archives have objects")
    }
  }
}
