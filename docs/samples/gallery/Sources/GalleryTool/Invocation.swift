import Foundation

/// A command line that was not understood.
struct Usage: Error, CustomStringConvertible {
  var mistake: String
  var description: String {
    """
    \(mistake)

      gallery list                                     all works, by artist
      gallery unsold                                   what is for sale, the dearest first
      gallery find TEXT                                works with the text in title or artist
      gallery add TITLE --artist NAME [--price AMOUNT] [--year YEAR]
      gallery sell TITLE --to BUYER [--price AMOUNT]
      gallery delete TITLE

    --store FILE is the gallery's file, else gallery.quire in this folder.
    """
  }
}

/// The words of a command line.
struct Invocation {
  let command: String
  let operands: [String]
  private let options: [String: String]

  private static let names: Set<String> = ["store", "artist", "price", "year", "to"]

  init(_ arguments: [String]) throws {
    var (words, options): ([String], [String: String]) = ([], [:])
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--") else {
        words.append(argument)
        continue
      }
      let name = String(argument.dropFirst(2))
      guard Self.names.contains(name) else { throw Usage(mistake: "\(argument) is no option") }
      guard let value = rest.popFirst(), !value.hasPrefix("--") else {
        throw Usage(mistake: "\(argument) has no value")
      }
      options[name] = value
    }
    guard let command = words.first else { throw Usage(mistake: "there is no command") }
    self.command = command
    operands = Array(words.dropFirst())
    self.options = options
  }

  /// The gallery's file.
  var store: URL { URL(filePath: options["store"] ?? "gallery.quire") }

  func required(_ name: String) throws -> String {
    guard let value = options[name] else { throw Usage(mistake: "\(command) needs --\(name)") }
    return value
  }

  func number<Number: LosslessStringConvertible>(_ name: String) throws -> Number? {
    try value(name, Number.init)
  }

  /// Decimal, as prices are: 19.99 stays 19.99.
  func amount(_ name: String) throws -> Decimal? {
    try value(name) { text in
      // `Decimal` reads what a text begins with, and passes over the rest.
      text.allSatisfy { $0.isASCII && $0.isNumber || "-.".contains($0) }
        ? Decimal(string: text) : nil
    }
  }

  private func value<Value>(_ name: String, _ read: (String) -> Value?) throws -> Value? {
    try options[name].map { text in
      guard let value = read(text) else {
        throw Usage(mistake: "--\(name) is a number, and “\(text)” is none that fits")
      }
      return value
    }
  }
}
