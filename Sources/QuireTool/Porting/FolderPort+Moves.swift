extension FolderPort {
  /// A member that goes from an extension into the body of its class.
  private struct Move {
    var file: Int
    var declaration: Int
    var location: ManagedClasses.Location
    var text: String
    /// Whether a blank line parts the member from one before it.
    var hasBlankLineBefore: Bool
  }

  /// Moves properties and overrides from extensions into their classes; removes extensions that
  /// have nothing left.
  mutating func moveMembers(_ classes: ManagedClasses) {
    var moves: [Move] = []
    for (index, file) in files.enumerated() {
      for (number, declaration) in file.declarations.enumerated() {
        let isProperty =
          declaration.kind == .property && declaration.attribute("NSManaged") != nil
          && declaration.type != nil && declaration.braces == nil
          && !file.source.isPunctuation(
            file.source.significant(from: declaration.tokens.upperBound), ",")
        guard isProperty || file.isHook(declaration, classes),
          let parent = declaration.parent, file.declarations[parent].kind == .extension,
          file.reasonNotToMove(declaration, classes) == nil,
          let found = classes.declarations(of: file.declarations[parent].name, near: file.path)
            .first
        else { continue }
        warnOfAccess(declaration, file: index, to: found.location)
        addAccess(declaration, file: index)
        moves.append(
          Move(
            file: index, declaration: number, location: found.location,
            text: text(of: declaration, file: index, to: found.location),
            hasBlankLineBefore: file.hasBlankLineBefore(declaration)))
      }
    }
    var locations: [ManagedClasses.Location] = []
    for move in moves where !locations.contains(move.location) {
      locations.append(move.location)
    }
    for location in locations {
      insert(moves.filter { $0.location == location }, at: location)
    }
    for (index, group) in Dictionary(grouping: moves, by: \.file) {
      removeMoved(group.map(\.declaration), file: index)
    }
  }

  private func isHook(_ move: Move) -> Bool {
    files[move.file].declarations[move.declaration].attribute("NSManaged") == nil
  }

  // MARK: The text

  /// Writes the access of an extension before a member that has none of its own.
  private mutating func addAccess(_ declaration: SwiftDeclaration, file index: Int) {
    let file = files[index]
    guard let parent = declaration.parent, file.access(of: declaration) == nil,
      let access = file.access(of: file.declarations[parent]), access != "internal"
    else { return }
    let first = declaration.modifiers.first ?? declaration.keyword
    files[index].edits.insert(
      access == "private" ? "fileprivate " : "\(access) ",
      at: file.source.tokens[first].range.lowerBound)
  }

  private mutating func warnOfAccess(
    _ declaration: SwiftDeclaration, file index: Int, to location: ManagedClasses.Location
  ) {
    let file = files[index]
    guard location.file != index,
      ["private", "fileprivate"].contains(
        file.access(of: declaration)
          ?? declaration.parent.flatMap { file.access(of: file.declarations[$0]) } ?? "")
    else { return }
    files[index].record(
      "private \(declaration.name)", atToken: declaration.keyword,
      "it is moved to \(files[location.file].path): let it be seen here")
  }

  /// The lines of a member with its comments, indented as those of the class and with its newlines.
  private func text(
    of declaration: SwiftDeclaration, file index: Int, to location: ManagedClasses.Location
  ) -> String {
    let (file, target) = (files[index], files[location.file])
    let inner = target.indentation(ofMembers: location.declaration, unit: file, declaration.parent)
    guard let lines = file.lines(of: declaration) else {
      return inner + file.edits.text(of: file.bytes(of: declaration.tokens), in: file.source)
    }
    let start = file.source.range(ofLine: lines.lowerBound).lowerBound
    let range = start..<file.source.range(ofLine: lines.upperBound).upperBound
    var text = file.edits.text(of: range, in: file.source)
    while let last = text.last, Self.newlines.contains(last) { text.removeLast() }
    let outer = file.source.indentation(ofLine: lines.upperBound)
    // Lines of a text keep their indentation, which is a part of it.
    let hasText = declaration.tokens.contains { index in
      let token = file.source.tokens[index]
      return token.kind == .text && file.source.bytes[token.range].contains(0x0A)
    }
    let parts = text.split(omittingEmptySubsequences: false) { Self.newlines.contains($0) }.map {
      hasText ? String($0) : Self.indented($0, from: outer, to: inner)
    }
    return parts.joined(separator: target.source.newline)
  }

  /// What ends a line of Swift; Unicode has more, which are a part of a text or a comment.
  private static let newlines: Set<Character> = ["\n", "\r", "\r\n"]

  /// A line with one indentation in the place of another; with tabs in the place of spaces at each
  /// level, or the reverse.
  private static func indented(_ line: Substring, from outer: String, to inner: String) -> String {
    if outer == inner || outer.isEmpty || !line.hasPrefix(outer) { return String(line) }
    var rest = line.dropFirst(outer.count)
    if rest.isEmpty { return String(line) }
    var indentation = inner
    while !inner.isEmpty, inner.first != outer.first, rest.hasPrefix(outer) {
      rest = rest.dropFirst(outer.count)
      indentation += inner
    }
    return indentation + rest
  }

  /// Inserts members at the beginning of a class, properties first.
  private mutating func insert(_ moves: [Move], at location: ManagedClasses.Location) {
    let file = files[location.file]
    let source = file.source
    guard let (open, close) = file.declarations[location.declaration].braces else { return }
    let newline = source.newline
    var text = ""
    let properties = moves.filter { !isHook($0) }
    for move in properties + moves.filter(isHook) {
      let hasBlankLineBefore = move.hasBlankLineBefore || isHook(move)
      text += text.isEmpty ? move.text : (hasBlankLineBefore ? newline : "") + newline + move.text
    }
    let outer = source.indentation(ofLine: source.line(ofToken: close))
    let body = source.tokens[open].range.upperBound..<source.tokens[close].range.lowerBound
    if source.bytes[body].allSatisfy({ $0 <= 0x20 }) {
      files[location.file].edits.replace(body, with: newline + text + newline + outer)
      return
    }
    let line = source.line(ofToken: open)
    let rest = source.tokens[(open + 1)...].prefix { $0.kind != .newline }
    guard rest.allSatisfy(\.isTrivia), source.line(ofToken: close) > line else {
      let space = source.bytes[body].prefix { $0 == 0x20 || $0 == 0x09 }
      let inner = text.prefix { $0 == " " || $0 == "\t" }
      files[location.file].edits.replace(
        body.lowerBound..<space.endIndex, with: newline + text + newline + inner)
      return
    }
    let next = source.significant(from: open + 1)
    let continues = file.declarations.contains {
      $0.tokens.lowerBound == next && $0.attribute("NSManaged") != nil
    }
    let isSeparated = source.isBlank(line: line + 1) || continues && properties.count == moves.count
    files[location.file].edits.insert(
      text + newline + (isSeparated ? "" : newline), at: source.range(ofLine: line).upperBound)
  }

  // MARK: What is left

  private mutating func removeMoved(_ moved: [Int], file index: Int) {
    let file = files[index]
    var losing: [Int: [Int]] = [:]
    for number in moved {
      if let parent = file.declarations[number].parent {
        losing[parent, default: []].append(number)
      }
    }
    for (parent, members) in losing {
      if file.hasNothing(but: members, in: parent) {
        files[index].remove(file.declarations[parent])
      } else {
        for member in members { files[index].remove(file.declarations[member]) }
      }
    }
    filesWithRemovals.insert(index)
  }
}

extension PortedFile {
  private static let accessWords: Set<String> = [
    "fileprivate", "internal", "open", "package", "private", "public",
  ]

  /// The access modifier of a declaration; `nil` when none is written.
  func access(of declaration: SwiftDeclaration) -> String? {
    declaration.modifiers.first {
      Self.accessWords.contains(source.text($0)) && !source.isPunctuation($0 + 1, "(")
    }.map(source.text)
  }

  /// The indentation of the members of a type, by its first member, or by that of an extension.
  func indentation(ofMembers index: Int, unit file: PortedFile, _ parent: Int?) -> String {
    let outer = source.indentation(ofLine: source.line(ofToken: declarations[index].keyword))
    guard let braces = declarations[index].braces,
      let first = source.significant(from: braces.open + 1), first < braces.close,
      source.line(ofToken: first) > source.line(ofToken: braces.open)
    else { return outer + file.indentationUnit(in: parent) }
    return source.indentation(ofLine: source.line(ofToken: first))
  }

  /// Whether a blank line is before a declaration, and another member before that.
  fileprivate func hasBlankLineBefore(_ declaration: SwiftDeclaration) -> Bool {
    guard let lines = lines(of: declaration), lines.lowerBound > 1 else { return false }
    let before = source.significant(before: declaration.tokens.lowerBound)
    return source.isBlank(line: lines.lowerBound - 1)
      && before != declaration.parent.flatMap { declarations[$0].braces?.open }
  }

  /// Whether an extension without conformances has these members and nothing else, no comments.
  fileprivate func hasNothing(but members: [Int], in parent: Int) -> Bool {
    guard let braces = declarations[parent].braces, declarations[parent].inherited.isEmpty else {
      return false
    }
    let ranges = members.map { member in
      let declaration = declarations[member]
      guard let lines = lines(of: declaration) else { return bytes(of: declaration.tokens) }
      let start = source.range(ofLine: lines.lowerBound).lowerBound
      return start..<source.range(ofLine: lines.upperBound).upperBound
    }.sorted { $0.lowerBound < $1.lowerBound }
    var next = 0
    for token in source.tokens[braces.open + 1..<braces.close] {
      while next < ranges.count, ranges[next].upperBound <= token.range.lowerBound { next += 1 }
      if next < ranges.count, ranges[next].contains(token.range.lowerBound) { continue }
      let isSeparator = source.bytes[token.range.lowerBound] == UInt8(ascii: ";")
      if token.kind != .whitespace, token.kind != .newline, !isSeparator { return false }
    }
    return true
  }
}
