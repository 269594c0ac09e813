import Foundation
import Quire
import QuireModel

extension NSPredicate {
  /// A predicate written as a format, with a list of C's arguments: numbers, as `%d` and `%f` read
  /// them.
  ///
  /// What `%@` and `%K` represent cannot be read of such a list without Objective-C, and stops the
  /// program: ``init(format:argumentArray:file:line:)`` takes any values.
  ///
  /// ```swift
  /// withVaList([1]) { NSPredicate(format: "n == %d", arguments: $0) }
  /// ```
  public convenience init(
    format: String, arguments: CVaListPointer, file: StaticString = #fileID, line: UInt = #line
  ) {
    let values = raising(file, line) { try ArgumentList.numbers(of: format, arguments) }
    self.init(format: format, argumentArray: values, file: file, line: line)
  }
}

/// The numbers in a list of C's arguments.
private enum ArgumentList {
  /// - Throws: for a format that asks for a value which is no number.
  static func numbers(of format: String, _ arguments: CVaListPointer) throws -> [Any?] {
    let specifiers = try specifiers(in: format)
    if specifiers.isEmpty { return [] }
    // C's own function reads the list, which only it knows how to do: doubles as hexadecimal
    // digits, so that none is lost.
    let template = specifiers.map { isFloating($0) ? "%a" : $0 }.joined(separator: " ")
    let texts = NSString(format: template, arguments: arguments).description.split(separator: " ")
    return zip(specifiers, texts).map { specifier, text in
      if isFloating(specifier) { return Double(text) }
      if let number = Int(text) { return number }
      return UInt64(text).map { Decimal($0) }
    }
  }

  private static func isFloating(_ specifier: String) -> Bool {
    specifier.last.map { "fgeFGE".contains($0) } ?? false
  }

  /// The specifiers of a format outside of its texts, as C has them.
  private static func specifiers(in format: String) throws -> [String] {
    var found: [String] = []
    var rest = Substring(format)
    var quote: Character?
    while let character = rest.popFirst() {
      if let open = quote {
        if character == "\\" { _ = rest.popFirst() } else if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "%" {
        let modifiers = rest.prefix { "hlqz".contains($0) }
        rest = rest.dropFirst(modifiers.count)
        guard let conversion = rest.popFirst() else { break }
        switch conversion {
        case "%": continue
        case "d", "i", "u", "f", "g", "e":
          found.append("%" + modifiers.replacing("q", with: "ll") + String(conversion))
        // Signed, as the digits are read again.
        case "x", "X": found.append("%" + modifiers.replacing("q", with: "ll") + "u")
        default:
          throw PersistenceError(
            .unacceptableValue,
            "the argument that %\(conversion) represents cannot be read of a list of C's "
              + "arguments: give the arguments as an array")
        }
      }
    }
    return found
  }
}
