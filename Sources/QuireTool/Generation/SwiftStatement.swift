/// A call in the braces of a result builder, `Attribute("title", .string)`, and what may follow it.
struct SwiftStatement {
  /// Lines above it.
  var comments: [String] = []
  var name: String
  var arguments: [SwiftArgument]
  /// What stands in its braces.
  var members: [SwiftStatement] = []
  /// Whether it has braces, also with nothing in them.
  var hasBraces = false
  /// Assignments in a closure of `with`: the name of a property and its value.
  var changes: [(property: String, value: SwiftExpression)] = []

  init(_ name: String, _ arguments: [SwiftArgument] = []) {
    self.name = name
    self.arguments = arguments
  }

  var usesFoundation: Bool {
    arguments.contains { $0.value.usesFoundation } || changes.contains { $0.value.usesFoundation }
      || members.contains(where: \.usesFoundation)
  }

  func lines(indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines = comments.flatMap { SwiftFormat.comment($0, indent: indent) }
    let isBare = arguments.isEmpty && (hasBraces || !members.isEmpty)
    let head = "\(margin)\(name)" + (isBare ? "" : "(\(arguments.line))")
    let width = head.count + arguments.width - arguments.line.count
    var last: String
    if hasBraces || !members.isEmpty {
      lines += opened(head, " {", width, indent: indent)
      for member in members { lines += member.lines(indent: indent + 2) }
      last = "\(margin)}"
    } else if changes.isEmpty {
      if width <= SwiftFormat.width { return lines + [head] }
      return lines + ["\(margin)\(name)("] + arguments.lines(before: ")", indent: indent + 2)
    } else {
      let opened = opened(head, ".with {", width, indent: indent)
      lines += opened.dropLast()
      last = String(opened[opened.count - 1].dropLast(".with {".count))
    }
    return lines + (changes.isEmpty ? [last] : changeLines(after: last, indent: indent))
  }

  /// The call with what opens a brace after it. A call that is broken has its last parenthesis on
  /// the line of the brace.
  private func opened(_ head: String, _ brace: String, _ width: Int, indent: Int) -> [String] {
    if width + brace.count <= SwiftFormat.width { return [head + brace] }
    let margin = String(repeating: " ", count: indent)
    return ["\(margin)\(name)("] + arguments.lines(before: "", indent: indent + 2)
      + ["\(margin))\(brace)"]
  }

  private func changeLines(after start: String, indent: Int) -> [String] {
    if changes.count == 1 {
      let line = "\(start).with { $0.\(changes[0].property) = \(changes[0].value.line) }"
      if line.count <= SwiftFormat.width { return [line] }
    }
    let assignments = changes.flatMap { change in
      change.value.lines(after: "$0.\(change.property) =", "", indent: indent + 2)
    }
    return ["\(start).with {"] + assignments + [String(repeating: " ", count: indent) + "}"]
  }
}

/// A stored property with an attribute: `@Managed(.unique) var slug: String = ""`.
struct SwiftProperty {
  var attribute: String
  var arguments: [SwiftArgument] = []
  /// `var slug: String`
  var declaration: String
  var value: SwiftExpression?
  /// Whether its type is one of Foundation's.
  var isOfFoundation = false

  var usesFoundation: Bool {
    isOfFoundation || value?.usesFoundation == true
      || arguments.contains { $0.value.usesFoundation }
  }

  func lines(indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    let head = margin + attribute + (arguments.isEmpty ? "" : "(\(arguments.line))")
    let declared = declaration + (value.map { " = \($0.line)" } ?? "")
    let line = "\(head) \(declared)"
    let comma = arguments.width - arguments.line.count
    if line.count + comma <= SwiftFormat.width { return [line] }
    if arguments.isEmpty, let value {
      return value.lines(after: "\(attribute) \(declaration) =", "", indent: indent)
    }
    if arguments.isEmpty { return [line] }
    let lines =
      head.count + comma <= SwiftFormat.width
      ? [head]
      : ["\(margin)\(attribute)("] + arguments.lines(before: ")", indent: indent + 2)
    return lines
      + (value?.lines(after: "\(declaration) =", "", indent: indent) ?? [margin + declaration])
  }
}
