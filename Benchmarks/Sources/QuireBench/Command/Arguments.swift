/// The words of the command line: options by name, the others in order.
struct Arguments {
  private(set) var words: [String] = []
  private var values: [String: String] = [:]
  private var flags: Set<String> = []

  private static let valued: Set<String> = [
    "--filter", "--size", "--runs", "--peer", "--directory", "--largest", "--docs",
  ]
  private static let plain: Set<String> = [
    "--short", "--json", "--leaks", "--help", "--from-results", "--check",
  ]

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if Arguments.valued.contains(word) {
        guard let value = rest.popFirst() else { throw BenchmarkError("\(word) needs a value") }
        values[word] = value
      } else if Arguments.plain.contains(word) {
        flags.insert(word)
      } else if word.hasPrefix("--") {
        throw BenchmarkError("there is no option \(word)")
      } else {
        words.append(word)
      }
    }
  }

  subscript(flag: String) -> Bool { flags.contains(flag) }

  func text(_ option: String) -> String? { values[option] }

  /// - Throws: when the option was given and its value is no such number above 0.
  func number<Number: LosslessStringConvertible & Comparable & ExpressibleByIntegerLiteral>(
    _ option: String, default value: Number
  ) throws -> Number {
    guard let text = values[option] else { return value }
    guard let number = Number(text), number > 0 else {
      throw BenchmarkError("\(option) needs a number above 0, not \(text)")
    }
    return number
  }
}
