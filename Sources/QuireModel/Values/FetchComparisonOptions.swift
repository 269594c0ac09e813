/// What a comparison of strings ignores.
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
}

extension FetchComparisonOptions: CustomStringConvertible {
  /// The letters of a format string, in brackets; empty without options.
  public var description: String {
    let letters =
      (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
      + (contains(.normalized) ? "n" : "")
    return letters.isEmpty ? "" : "[\(letters)]"
  }
}
