/// The order of version names: first that of the model itself, then those that Xcode suggests, then
/// others. Of these, names with a version in them (`Model_search_v12`) are last, by that version,
/// whatever words stand before it; else words and numbers count in turn.
struct XcodeVersionOrder {
  private let modelName: String

  init(_ modelName: String) { self.modelName = modelName }

  /// Each name is taken apart once: a hundred versions are compared some eight hundred times.
  func sorted(_ names: [String]) -> [String] {
    names.map { Key($0, of: modelName) }.sorted { $0.isBefore($1) }.map(\.name)
  }

  /// A name, taken apart.
  private struct Key {
    let name: String
    private let rank: Int
    private let parts: [String]
    private let version: [String]

    init(_ name: String, of modelName: String) {
      self.name = name
      parts = XcodeVersionOrder.parts(name)
      let version = XcodeVersionOrder.version(parts)
      self.version = version ?? []
      rank =
        name == modelName
        ? 0 : name.hasPrefix(modelName + " ") ? 1 : version == nil ? 2 : 3
    }

    func isBefore(_ other: Key) -> Bool {
      if rank != other.rank { return rank < other.rank }
      if rank == 3, let order = XcodeVersionOrder.order(version, other.version) { return order }
      return XcodeVersionOrder.order(parts, other.parts) ?? (name < other.name)
    }
  }

  /// The last version in a name, as of `v2.10` or `version 3`: numbers, and what separates them.
  private static func version(_ parts: [String]) -> [String]? {
    for index in parts.indices.reversed() where isNumber(parts[index]) && index > 0 {
      let words = parts[index - 1]
      let letters = words.reversed().drop { " _-.".contains($0) }.prefix(while: \.isLetter)
      guard ["v", "ver", "version"].contains(String(letters.reversed())) else { continue }
      return Array(parts[index...])
    }
    return nil
  }

  /// - Returns: `nil` if they are the same.
  private static func order(_ left: [String], _ right: [String]) -> Bool? {
    for (one, other) in zip(left, right) where one != other { return isBefore(one, other) }
    return left.count == right.count ? nil : left.count < right.count
  }

  /// Runs of digits and of other characters, in turn.
  private static func parts(_ name: String) -> [String] {
    var result: [String] = []
    var isDigits: Bool?
    for character in name.lowercased() {
      let isDigit = character.isASCII && character.isNumber
      if isDigit == isDigits {
        result[result.count - 1].append(character)
      } else {
        result.append(String(character))
        isDigits = isDigit
      }
    }
    return result
  }

  private static func isNumber(_ part: String) -> Bool {
    part.allSatisfy { $0.isASCII && $0.isNumber }
  }

  private static func isBefore(_ one: String, _ other: String) -> Bool {
    let (first, second) = (one.drop { $0 == "0" }, other.drop { $0 == "0" })
    let areNumbers = isNumber(one + other)
    if areNumbers, first.count != second.count { return first.count < second.count }
    return areNumbers ? first < second : one < other
  }
}
