/// The result of inspecting the whole store.
public struct CheckReport: Hashable, Sendable, CustomStringConvertible {
  /// One contradiction.
  public struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// The page it is about, if it is about one.
    public var page: PageID?
    /// The tree it is about, if it is about one.
    public var tree: String?
    /// What contradicts what, for people.
    public var message: String

    init(page: PageID? = nil, tree: String? = nil, message: String) {
      self.page = page
      self.tree = tree
      self.message = message
    }

    public var description: String {
      [page.map { "page \($0)" }, tree.map { "tree \($0)" }, message]
        .compactMap { $0 }.joined(separator: ": ")
    }
  }

  /// Everything that was found, in the order in which it was.
  public var findings: [Finding] = []
  /// The number of pages inspected.
  public var pageCount = 0
  /// The entries of all trees.
  public var entryCount = 0

  /// Whether nothing was found.
  public var isSound: Bool { findings.isEmpty }

  public var description: String {
    isSound
      ? "sound: \(pageCount) pages, \(entryCount) entries"
      : findings.map(\.description).joined(separator: "\n")
  }
}

extension [CheckReport.Finding] {
  /// The largest number of findings in a report; more would be of no use.
  private static var limit: Int { 10_000 }

  mutating func addWithinLimit(_ finding: CheckReport.Finding) {
    guard count <= [CheckReport.Finding].limit else { return }
    append(
      count < [CheckReport.Finding].limit
        ? finding : CheckReport.Finding(message: "there is more, which is not told"))
  }
}
