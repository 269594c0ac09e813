import QuireModel

/// A model as a class diagram in the language of Mermaid, which many wikis and code hosts draw.
enum MermaidDiagram {
  static func text(of model: ManagedObjectModel) -> String {
    let diagram = ModelDiagram(of: model)
    let names = identifiers(of: diagram.boxes.map(\.name))
    var lines = ["classDiagram"]
    for (box, name) in zip(diagram.boxes, names) {
      let label = name == box.name ? "" : "[\"\(escaped(box.name))\"]"
      guard !box.attributes.isEmpty || box.isAbstract else {
        lines.append("  class \(name)\(label)")
        continue
      }
      lines.append("  class \(name)\(label) {")
      if box.isAbstract { lines.append("    <<abstract>>") }
      lines += box.attributes.map { "    \(escaped($0.detail)) \(escaped($0.name))" }
      lines.append("  }")
    }
    lines += diagram.lines.map { "  " + text(of: $0, in: diagram, names) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A filled diamond is Mermaid's mark of an owner, whose parts are deleted with it.
  private static func text(
    of line: ModelDiagram.Line, in diagram: ModelDiagram, _ names: [String]
  ) -> String {
    let (start, end) = (names[line.start.box], names[line.end.box])
    if line.kind == .inheritance { return "\(end) <|-- \(start)" }
    let ends = [line.start, line.end]
    let rows = ends.map { end in end.row.map { diagram.boxes[end.box].rows[$0] } }
    let left = rows[0]?.deleteRule?.deletesDestinations == true ? "*" : ""
    let right = rows[1].map { $0.deleteRule?.deletesDestinations == true ? "*" : "" } ?? ">"
    let counts = ends.map { $0.cardinality.isEmpty ? "" : "\"\($0.cardinality)\" " }
    let isItsOwnInverse = line.start.box == line.end.box && line.start.row == line.end.row
    let words = (isItsOwnInverse ? rows.prefix(1) : rows[...]).compactMap { row in
      row.map { "\(escaped($0.name)), \($0.deleteRule ?? .nullify)" }
    }
    return "\(start) \(counts[0])\(left)--\(right) \(counts[1])\(end) : "
      + words.joined(separator: " / ")
  }

  // MARK: Names

  /// Words of the language, and members that every object of JavaScript has: release 11 stumbles
  /// over classes of these names.
  private static let reserved: Set<String> = [
    "accDescr", "accTitle", "call", "callback", "class", "classDef", "classDiagram", "click",
    "cssClass", "direction", "href", "link", "namespace", "note", "o", "style",
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
    "toString", "valueOf",
  ]

  /// A name is its own identifier if the language can take it for one; else it becomes the label of
  /// a class with a number.
  private static func identifiers(of names: [String]) -> [String] {
    let taken = Set(names)
    return names.enumerated().map { number, name in
      let isPlain = name.utf8.allSatisfy { $0 < 0x80 } && name.allSatisfy(isWordSign)
      if isPlain, name.first?.isLetter == true, !reserved.contains(name) { return name }
      var identifier = "Entity\(number + 1)"
      while taken.contains(identifier) { identifier += "x" }
      return identifier
    }
  }

  private static func isWordSign(_ sign: Character) -> Bool {
    sign.isLetter || sign.isNumber || sign == "_"
  }

  /// The text with every sign that means something in the language written by its number.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      let isPlain =
        scalar.isASCII
        ? isWordSign(Character(scalar)) || scalar == "?"
        : scalar.value >= 0xA0 && !scalar.properties.isWhitespace
      if isPlain {
        result.unicodeScalars.append(scalar)
      } else {
        result += "#\(scalar.value);"
      }
    }
    return result
  }
}
