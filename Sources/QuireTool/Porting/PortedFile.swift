/// A Swift file on its way from Core Data to `QuireCoreData`.
struct PortedFile {
  /// From the folder on.
  let path: String
  let source: SwiftSource
  let declarations: [SwiftDeclaration]
  var edits = SourceEdits()
  var findings: [PortFinding] = []
  /// Whether the file has transformers of values. Those that Core Data uses are often in files that
  /// import Foundation alone, which has them on Apple's platforms only.
  private let usesTransformers: Bool
  /// Whether the file has names of Core Data, which it may see through the import of another
  /// module.
  private let usesNames: Bool

  private static let transformerNames: Set<String> = [
    "NSSecureUnarchiveFromDataTransformer", "NSValueTransformerName", "ValueTransformer",
  ]

  init(path: String, bytes: [UInt8]) throws(SourceFailure) {
    self.path = path
    source = try SwiftSource(bytes)
    declarations = DeclarationParser.declarations(of: source)
    // Quire has a protocol of that name.
    let isWrittenForQuire = declarations.contains {
      $0.kind == .import && ["Quire", "QuireModel"].contains($0.name)
    }
    usesTransformers =
      !isWrittenForQuire
      && source.tokens.indices.contains { [source] index in
        source.tokens[index].kind == .identifier
          && Self.transformerNames.contains(source.text(index))
      }
    usesNames =
      !isWrittenForQuire
      && source.tokens.indices.contains { [source] index in
        source.tokens[index].kind == .identifier && Self.isCoreData(source.text(index))
      }
  }

  /// Whether the file was written for Core Data, or was ported before.
  var usesCoreData: Bool { importsCoreData || usesTransformers || usesNames }

  private static let prefixes = [
    "NSAsynchronousFetch", "NSAttributeDescription", "NSBatchDelete", "NSBatchInsert",
    "NSBatchUpdate", "NSConstraintConflict", "NSDetailedErrorsKey", "NSEntityDescription",
    "NSEntityMapping", "NSEntityMigration", "NSExpressionDescription", "NSFetchIndex",
    "NSFetchRequest", "NSFetchedResults", "NSIncrementalStore", "NSInMemoryStoreType",
    "NSManagedObject", "NSMappingModel", "NSMergePolicy", "NSMigrationManager", "NSPersistent",
    "NSPropertyDescription", "NSPropertyMapping", "NSRelationshipDescription", "NSSQLiteStoreType",
    "NSValidation",
  ]

  /// Whether a name is one of Core Data's.
  private static func isCoreData(_ name: String) -> Bool {
    name.hasPrefix("NS") && prefixes.contains { name.hasPrefix($0) }
  }

  /// Whether the file imports Core Data, or what takes its place.
  var importsCoreData: Bool {
    declarations.contains {
      $0.kind == .import
        && ["CoreData", "QuireCoreData"].contains(String($0.name.prefix { $0 != "." }))
    }
  }

  mutating func record(_ what: String, atToken index: Int, _ remedy: String) {
    findings.append(
      PortFinding(file: path, lines: [source.line(ofToken: index)], what: what, remedy: remedy))
  }

  // MARK: Positions

  func bytes(of tokens: Range<Int>) -> Range<Int> {
    source.tokens[tokens.lowerBound].range
      .lowerBound..<source.tokens[tokens.upperBound - 1].range.upperBound
  }

  /// The lines that a declaration has for itself, with the comments that stand directly above it;
  /// `nil` when it shares a line with something else.
  func lines(of declaration: SwiftDeclaration) -> ClosedRange<Int>? {
    let tokens = declaration.tokens
    var before = tokens.lowerBound - 1
    while before >= 0, source.tokens[before].kind == .whitespace { before -= 1 }
    if before >= 0, source.tokens[before].kind != .newline { return nil }
    var after = tokens.upperBound
    while after < source.tokens.count, source.tokens[after].kind != .newline {
      guard source.tokens[after].isTrivia else { return nil }
      after += 1
    }
    let last = source.line(of: max(0, bytes(of: tokens).upperBound - 1))
    var first = source.line(ofToken: tokens.lowerBound)
    // Over the line's newline, comment by comment.
    while before >= 0, let comment = commentLine(endingAt: before) {
      first = source.line(ofToken: comment)
      before = comment - 1
      while before >= 0, source.tokens[before].kind == .whitespace { before -= 1 }
    }
    return first...last
  }

  /// The first token of the comment that has the line for itself which a newline ends.
  private func commentLine(endingAt newline: Int) -> Int? {
    guard source.tokens[newline].kind == .newline, newline > 0 else { return nil }
    var index = newline - 1
    while index > 0, source.tokens[index].kind == .whitespace { index -= 1 }
    guard [.lineComment, .blockComment].contains(source.tokens[index].kind) else { return nil }
    var before = index - 1
    while before >= 0, source.tokens[before].kind == .whitespace { before -= 1 }
    return before < 0 || source.tokens[before].kind == .newline ? index : nil
  }

  /// The innermost type or extension around a token.
  func declaration(around index: Int) -> SwiftDeclaration? {
    declarations.last {
      guard $0.kind == .type || $0.kind == .extension, let braces = $0.braces else { return false }
      return braces.open < index && index < braces.close
    }
  }

  /// What a line in a body is indented by, more than the line of the body's brace.
  func indentationUnit(in parent: Int?) -> String {
    guard let parent, let braces = declarations[parent].braces else { return "  " }
    let outer = source.indentation(ofLine: source.line(ofToken: declarations[parent].keyword))
    guard let first = source.significant(from: braces.open + 1), first < braces.close else {
      return "    "
    }
    let inner = source.indentation(ofLine: source.line(ofToken: first))
    guard inner.count > outer.count, inner.hasPrefix(outer) else { return "  " }
    return String(inner.dropFirst(outer.count))
  }

  // MARK: Removing

  /// Removes attributes and modifiers, with the space after them, or with their line if nothing
  /// else is on it.
  mutating func remove(words: [Range<Int>]) {
    for line in Set(words.map { source.line(ofToken: $0.lowerBound) }).sorted() {
      let here = words.filter { source.line(ofToken: $0.lowerBound) == line }
      let range = source.range(ofLine: line)
      if here.allSatisfy({ range.contains(bytes(of: $0).upperBound - 1) }),
        tokens(aroundToken: here[0].lowerBound).allSatisfy({ index in
          source.tokens[index].kind == .whitespace || here.contains { $0.contains(index) }
        })
      {
        edits.remove(range)
        continue
      }
      for word in here {
        var end = word.upperBound
        while end < source.tokens.count, source.tokens[end].kind == .whitespace { end += 1 }
        edits.remove(bytes(of: word.lowerBound..<end))
      }
    }
  }

  /// The tokens between the newlines before and after a token.
  func tokens(aroundToken index: Int) -> Range<Int> {
    var (start, end) = (index, index)
    while start > 0, source.tokens[start - 1].kind != .newline { start -= 1 }
    while end < source.tokens.count, source.tokens[end].kind != .newline { end += 1 }
    return start..<end
  }

  /// Removes a declaration with its comments.
  mutating func remove(_ declaration: SwiftDeclaration) {
    if let lines = lines(of: declaration) {
      // The comment at the beginning of a file is the file's.
      let isFirst = lines.lowerBound == 1 && declaration.kind == .extension
      let first = isFirst ? source.line(ofToken: declaration.tokens.lowerBound) : lines.lowerBound
      edits.remove(lines: first...lines.upperBound)
      return
    }
    var end = declaration.tokens.upperBound
    while end < source.tokens.count,
      source.tokens[end].kind == .whitespace || source.isPunctuation(end, ";")
    {
      end += 1
    }
    edits.remove(bytes(of: declaration.tokens.lowerBound..<end))
  }
}
