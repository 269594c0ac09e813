/// The arguments of a command, checked against its syntax.
///
/// Options are written `--name value` or `--name=value`, in any position, each at most once unless
/// it is repeatable; `--` ends them, for files whose names begin with a hyphen.
struct Arguments {
  private let syntax: CommandSyntax
  /// The operands in the order of the syntax.
  private(set) var operands: [String] = []
  private var allValues: [String: [String]] = [:]

  /// - Throws: for an unknown or repeated option, and for a value or an operand that is missing or
  ///   too many.
  init(_ words: ArraySlice<String>, _ syntax: CommandSyntax) throws(UsageError) {
    self.syntax = syntax
    var words = words
    var optionsMayFollow = true
    while let word = words.popFirst() {
      if optionsMayFollow, word == "--" {
        optionsMayFollow = false
      } else if optionsMayFollow, word.hasPrefix("-"), word != "-" {
        try takeOption(word, &words)
      } else {
        try takeOperand(word)
      }
    }
    if operands.count < syntax.operands.count, !syntax.operands[operands.count].isOptional {
      throw wrong("\(syntax.operands[operands.count].name) is missing.")
    }
    for option in syntax.options where option.isRequired && allValues[option.name] == nil {
      throw wrong("\(option.spelling) is missing.")
    }
  }

  /// Whether the words ask for help instead of a run.
  static func askForHelp(_ words: ArraySlice<String>) -> Bool {
    words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
  }

  func has(flag name: String) -> Bool { allValues[name] != nil }

  /// The value of an option; `nil` when it was not given.
  func value(of name: String) -> String? { allValues[name]?.last }

  /// The values of a repeatable option, in their order.
  func values(of name: String) -> [String] { allValues[name] ?? [] }

  /// The value of an option that the syntax requires.
  func requiredValue(of name: String) -> String {
    guard let value = value(of: name) else {
      preconditionFailure("the syntax of \(syntax.name) does not require --\(name)")
    }
    return value
  }

  /// The value of an option as a number, when it was given.
  func number(of name: String) throws(UsageError) -> UInt64? {
    guard let value = value(of: name) else { return nil }
    guard let number = UInt64(value) else {
      throw wrong("--\(name) takes a whole number from 0, not “\(value)”.")
    }
    return number
  }

  /// The value of an option as a number of objects, when it was given.
  func count(of name: String) throws(UsageError) -> Int? {
    guard let number = try number(of: name) else { return nil }
    guard let count = Int(exactly: number) else {
      throw wrong("--\(name) takes a number up to \(Int.max), not \(number).")
    }
    return count
  }

  /// The words of an option's value, which has commas between them; none when it was not given.
  func list(of name: String) throws(UsageError) -> [String] {
    guard let value = value(of: name) else { return [] }
    let words = value.split(separator: ",", omittingEmptySubsequences: false).map { word in
      String(word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
    if words.contains("") {
      throw wrong("--\(name) has nothing between two commas, or beside one.")
    }
    return words
  }

  // MARK: Parsing

  private mutating func takeOption(
    _ word: String, _ words: inout ArraySlice<String>
  ) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let option = syntax.options.first(where: { "--\($0.name)" == parts[0] }) else {
      let names = (syntax.options.map(\.name) + ["help"]).map { "--\($0)" }
      throw wrong(
        "There is no option \(parts[0])."
          + Suggestion.sentence(for: String(parts[0]), among: names))
    }
    guard option.isRepeatable || allValues[option.name] == nil else {
      throw wrong("--\(option.name) is given twice.")
    }
    guard option.value != nil else {
      guard parts.count == 1 else { throw wrong("--\(option.name) takes no value.") }
      allValues[option.name] = [""]
      return
    }
    let value = parts.count == 2 ? String(parts[1]) : words.first
    // A word with two hyphens is the next option, not a value; --name=--value says otherwise.
    guard let value, !value.isEmpty, parts.count == 2 || !value.hasPrefix("--") else {
      throw wrong("--\(option.name) needs a value.")
    }
    if parts.count == 1 { words.removeFirst() }
    allValues[option.name, default: []].append(value)
  }

  private mutating func takeOperand(_ word: String) throws(UsageError) {
    guard operands.count < syntax.operands.count else {
      throw wrong("“\(word)” is one argument too many.")
    }
    guard !word.isEmpty else { throw wrong("\(syntax.operands[operands.count].name) is empty.") }
    operands.append(word)
  }

  /// The value of an option that is one of a few words, when it was given.
  func choice<Choice: RawRepresentable & CaseIterable>(
    of name: String
  ) throws(UsageError) -> Choice? where Choice.RawValue == String {
    guard let value = value(of: name) else { return nil }
    return try choice(value, of: "--\(name)")
  }

  /// An operand that is one of a few words.
  func choice<Choice: RawRepresentable & CaseIterable>(
    ofOperandAt index: Int
  ) throws(UsageError) -> Choice where Choice.RawValue == String {
    try choice(operands[index], of: syntax.operands[index].name)
  }

  private func choice<Choice: RawRepresentable & CaseIterable>(
    _ word: String, of name: String
  ) throws(UsageError) -> Choice where Choice.RawValue == String {
    if let choice = Choice(rawValue: word) { return choice }
    let words = Choice.allCases.map(\.rawValue)
    let list = words.dropLast().joined(separator: ", ") + " or \(words[words.count - 1])"
    throw wrong(
      "\(name) takes \(list), not “\(word)”." + Suggestion.sentence(for: word, among: words))
  }

  /// A command line that is wrong for this reason.
  func wrong(_ sentence: String) -> UsageError {
    UsageError(sentence, usage: syntax.usage)
  }
}
