import QuireModel

/// What a name that does not exist may have been meant to be.
enum Suggestion {
  /// How many names are suggested at most.
  private static let limit = 3

  /// The names that are a typing mistake away from this one, or else those that begin with it.
  static func names(for name: String, among names: [String]) -> [String] {
    let near = NearMisses.of(name, among: names)
    if !near.isEmpty { return Array(near.prefix(limit)) }
    let start = name.lowercased()
    guard start.count > 1 else { return [] }
    let longer = names.filter { $0.lowercased().hasPrefix(start) }
    return longer.count <= limit ? longer : []
  }

  /// “did you mean A or B?”; `nil` when no name is near.
  static func question(for name: String, among names: [String]) -> String? {
    let near = self.names(for: name, among: names)
    return near.isEmpty ? nil : "did you mean \(near.joined(separator: " or "))?"
  }

  /// The question as a sentence of its own, with a space before it; empty when no name is near.
  static func sentence(for name: String, among names: [String]) -> String {
    let near = self.names(for: name, among: names)
    return near.isEmpty ? "" : " Did you mean \(near.joined(separator: " or "))?"
  }
}
