extension PortedFile {
  /// Gives initialisers the form that they have in `QuireCoreData`.
  mutating func portInitializers(_ classes: ManagedClasses) {
    for declaration in declarations where declaration.kind == .initializer {
      guard let parent = declaration.parent else { continue }
      if classes.isManaged(declarations[parent], in: self) {
        portManagedInitializer(declaration)
      }
    }
    for declaration in declarations where isTransformer(declaration) {
      portTransformer(declaration)
    }
  }

  // MARK: Managed objects

  /// `init(entity:insertInto:)` is a convenience initialiser there: one that only calls it goes, as
  /// it is inherited, and one that begins with it becomes a convenience initialiser as well.
  private mutating func portManagedInitializer(_ declaration: SwiftDeclaration) {
    guard let braces = declaration.braces,
      let call = superCall(in: braces), let first = source.significant(from: braces.open + 1)
    else { return }
    let isOverride = declaration.modifiers.contains { source.isWord($0, "override") }
    let end = source.partners[call + 3]
    let isAlone = source.significant(from: end + 1) == braces.close
    if isOverride {
      guard first == call, isAlone, passesOn(call + 3, declaration) else {
        return record(
          "override init(entity:insertInto:)", atToken: declaration.keyword,
          "it is a convenience initializer there: use awakeFromInsert(), or one of your own")
      }
      remove(declaration)
    } else if first == call {
      edits.insert("convenience ", at: source.tokens[declaration.keyword].range.lowerBound)
      edits.replace(source.tokens[call].range, with: "self")
    } else {
      record(
        "super.init(entity:insertInto:)", atToken: call,
        "write convenience init, and self.init(…) before anything else is done")
    }
  }

  /// The token of `super` in `super.init(entity:insertInto:)` or `super.init(context:)`.
  private func superCall(in braces: (open: Int, close: Int)) -> Int? {
    (braces.open..<braces.close).first { index in
      source.isWord(index, "super") && source.isPunctuation(index + 1, ".")
        && source.isWord(index + 2, "init") && source.isPunctuation(index + 3, "(")
        && (token(labelled: "insertInto", in: index + 3) != nil
          || token(labelled: "context", in: index + 3) != nil)
    }
  }

  /// Whether a call gets the parameters of the initialiser as they are.
  private func passesOn(_ open: Int, _ declaration: SwiftDeclaration) -> Bool {
    let values = source.compactText(open + 1..<source.partners[open])
    guard let parameters = declaration.parameters else { return false }
    let words = source.compactText(parameters.open + 1..<parameters.close)
    let names =
      words.hasPrefix("context")
      ? ["context:context"] : ["entity:entity,insertInto:context", "entity:entity,insertInto:moc"]
    return names.contains(values)
  }

  // MARK: Transformers

  private func isTransformer(_ declaration: SwiftDeclaration) -> Bool {
    declaration.kind == .type && source.isWord(declaration.keyword, "class")
      && declaration.inherited.first.map(Self.transformerClasses.contains) ?? false
  }

  static let transformerClasses: Set<String> = [
    "NSSecureUnarchiveFromDataTransformer", "ValueTransformer",
  ]

  /// A transformer may be made by the name of its class, so that `init()` is required.
  private mutating func portTransformer(_ type: SwiftDeclaration) {
    let own = declarations.filter {
      $0.kind == .initializer && $0.parent.map { declarations[$0].tokens == type.tokens } ?? false
    }
    let plain = own.first { initializer in
      initializer.parameters.map { source.significant(from: $0.open + 1) == $0.close } ?? false
    }
    if let plain {
      let override = plain.modifiers.first { source.isWord($0, "override") }
      let isRequired = plain.modifiers.contains { source.isWord($0, "required") }
      guard let override, !isRequired else { return }
      edits.replace(source.tokens[override].range, with: "required")
      return
    }
    let designated = own.first { initializer in
      !initializer.modifiers.contains { source.isWord($0, "convenience") }
    }
    guard let designated, let lines = lines(of: designated) else { return }
    let access = access(of: type).map { $0 == "open" ? "public " : "\($0) " } ?? ""
    let indentation = source.indentation(ofLine: lines.upperBound)
    let name = type.name.split(separator: ".").last ?? ""
    let text =
      "\(source.newline)\(indentation)\(access == "private " ? "" : access)required init() { "
      + "fatalError(\"\(name) is made with an initializer of its own\") }\(source.newline)"
    edits.insert(text, at: source.range(ofLine: lines.upperBound).upperBound)
  }
}
