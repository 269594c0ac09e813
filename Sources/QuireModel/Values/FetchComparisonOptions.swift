/// The differences that a comparison of strings ignores.
///
/// Values that are not strings are compared the same way with any options. Written into archives of
/// models: add options, never renumber.
public struct FetchComparisonOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `[c]`: `A` is `a`, in the same way in every locale.
  public static let caseInsensitive = FetchComparisonOptions(rawValue: 1)
  /// `[d]`: `é` is `e`.
  public static let diacriticInsensitive = FetchComparisonOptions(rawValue: 2)
  /// `[n]`: the strings are promised to be normalised. Accepted so that formats port; it changes
  /// nothing, because strings are always compared by canonical equivalence.
  public static let normalized = FetchComparisonOptions(rawValue: 4)
  /// `[l]`: orders texts as in a list for reading, by `NaturalOrder`: `file2` before `file10`,
  /// `ä` beside `a`. It does not change which texts are equal. There is no locale: the order is the
  /// same everywhere.
  public static let natural = FetchComparisonOptions(rawValue: 8)

  package static let all: FetchComparisonOptions = [
    .caseInsensitive, .diacriticInsensitive, .normalized, .natural,
  ]

  /// Whether texts are equal, and in the order, that they are without options.
  package var comparesTextAsItIs: Bool { subtracting(.normalized).isEmpty }
}

extension FetchComparisonOptions: CustomStringConvertible {
  /// The letters of a format string, in brackets; empty without options.
  public var description: String { letters.isEmpty ? "" : "[\(letters)]" }

  static let letters: [(letter: Character, option: FetchComparisonOptions)] = [
    ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized), ("l", .natural),
  ]

  var letters: String { String(Self.letters.filter { contains($0.option) }.map(\.letter)) }
}
