/// A JSON value whose objects keep the order of their keys: the same facts are the same text.
package enum JSONValue: Sendable {
  case null
  case boolean(Bool)
  /// A number by its digits: no number loses any on the way.
  case number(digits: String)
  case string(String)
  case array([JSONValue])
  case object([(key: String, value: JSONValue)])

  package init(_ number: some BinaryInteger) { self = .number(digits: "\(number)") }

  package init(_ flag: Bool) { self = .boolean(flag) }

  package init(_ text: String?) { self = text.map { .string($0) } ?? .null }

  package init(_ texts: [String]) { self = .array(texts.map { .string($0) }) }

  /// A floating-point number in the fewest digits that read back as the same; one that is not
  /// finite is a string, because JSON has no such numbers.
  package init<Number: BinaryFloatingPoint & CustomStringConvertible>(_ number: Number) {
    if number.isFinite {
      self = .number(digits: number.description)
    } else {
      self = .string(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
    }
  }

  /// Counts by name, in the order of the names.
  package init(_ counts: [String: Int]) {
    self = .object(counts.sorted { $0.key < $1.key }.map { ($0.key, JSONValue($0.value)) })
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral,
  ExpressibleByNilLiteral
{
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { ($0.0, $0.1) })
  }
  package init(stringLiteral text: String) { self = .string(text) }
  package init(nilLiteral: ()) { self = .null }
}

// MARK: - Text

extension JSONValue {
  /// The value on one line, without any space outside of strings.
  package var lineText: String {
    var text = ""
    append(to: &text, indent: nil)
    return text
  }

  /// A line for each member, two spaces to a level.
  package var indentedText: String {
    var text = ""
    append(to: &text, indent: 0)
    return text
  }

  private func append(to text: inout String, indent: Int?) {
    switch self {
    case .null: text += "null"
    case .boolean(let flag): text += flag ? "true" : "false"
    case .number(let digits): text += digits
    case .string(let string): Self.appendQuoted(string, to: &text)
    case .array(let values):
      Self.appendMembers(values, "[", "]", to: &text, indent) { value, text, indent in
        value.append(to: &text, indent: indent)
      }
    case .object(let members):
      Self.appendMembers(members, "{", "}", to: &text, indent) { member, text, indent in
        Self.appendQuoted(member.key, to: &text)
        text += indent == nil ? ":" : ": "
        member.value.append(to: &text, indent: indent)
      }
    }
  }

  private static func appendMembers<Member>(
    _ members: [Member], _ opening: String, _ closing: String, to text: inout String,
    _ indent: Int?, _ appendMember: (Member, inout String, Int?) -> Void
  ) {
    let inner = indent.map { $0 + 2 }
    func breakLine(_ indent: Int?) {
      if let indent { text += "\n" + String(repeating: " ", count: indent) }
    }
    text += opening
    for (index, member) in members.enumerated() {
      if index > 0 { text += "," }
      breakLine(inner)
      appendMember(member, &text, inner)
    }
    if !members.isEmpty { breakLine(indent) }
    text += closing
  }

  private static func appendQuoted(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..<" ":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
