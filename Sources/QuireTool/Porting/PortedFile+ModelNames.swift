extension PortedFile {
  /// Labels of calls that ask for a file, or put its path together.
  private static let labels: Set<String> = [
    "forResource", "inDirectory", "named", "ofType", "subdirectory", "withExtension",
  ]
  private static let calls: Set<String> = [
    "appending", "appendingPathComponent", "appendingPathExtension",
  ]
  private static let extensions = [
    "momd": "xcdatamodeld", "mom": "xcdatamodel", "omo": "xcdatamodel", "cdm": "xcmappingmodel",
  ]

  /// Asks for models as Xcode keeps them, as nothing compiles them; lists other texts that name a
  /// compiled model.
  mutating func portModelNames() {
    guard usesCoreData else { return }
    for index in source.tokens.indices where source.tokens[index].kind == .text {
      guard let text = plainText(index), let name = Self.sourceName(text) else { continue }
      if isResource(index), Self.extensions[text] != nil { continue }
      if isNameOfFile(index) {
        let range = source.tokens[index].range
        edits.replace(range.lowerBound + 1..<range.upperBound - 1, with: name)
      } else if text.hasSuffix("momd") || (text != "mom" && text != "omo" && text != "cdm") {
        record(
          "\"\(text)\"", atToken: index,
          "nothing compiles the model: write \"\(name)\" if it names the file")
      } else if isBesideOthers(index) {
        record(
          "\"\(text)\"", atToken: index,
          "nothing compiles the model: write \"\(name)\" if it is the extension of a file")
      }
    }
  }

  /// `Trips.xcdatamodeld` for `Trips.momd`; `nil` for a text that names no compiled model.
  private static func sourceName(_ text: String) -> String? {
    if let name = extensions[text] { return name }
    guard let dot = text.lastIndex(of: "."),
      let name = extensions[String(text[text.index(after: dot)...])]
    else { return nil }
    return text[...dot] + name
  }

  /// Whether a text is a resource's name, which may be called like an extension.
  private func isResource(_ index: Int) -> Bool {
    guard let colon = source.significant(before: index), source.isPunctuation(colon, ":") else {
      return false
    }
    return source.isWord(source.significant(before: colon), "forResource")
  }

  private func isNameOfFile(_ index: Int) -> Bool {
    guard let before = source.significant(before: index) else { return false }
    if source.isPunctuation(before, "("), let call = source.significant(before: before) {
      return Self.calls.contains(source.text(call))
    }
    guard source.isPunctuation(before, ":"), let label = source.significant(before: before) else {
      return false
    }
    return Self.labels.contains(source.text(label))
      || ["path", "component"].contains(source.text(label)) && isOfPath(label)
  }

  /// Whether a label is the first of a call such as `appending(path:)`.
  private func isOfPath(_ label: Int) -> Bool {
    guard let open = source.significant(before: label), source.isPunctuation(open, "("),
      let call = source.significant(before: open)
    else { return false }
    return Self.calls.contains(source.text(call))
  }

  /// Whether a text of three letters is a value or a case, as in `case version = "mom"`.
  private func isBesideOthers(_ index: Int) -> Bool {
    guard let before = source.significant(before: index) else { return false }
    return source.isPunctuation(before, "=") || source.isPunctuation(before, ",")
      || source.isPunctuation(before, "[")
  }
}
