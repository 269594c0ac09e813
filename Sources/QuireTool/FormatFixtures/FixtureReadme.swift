/// The text that lies beside fixtures and says of each how it was made and what must be true of it.
/// A test reads its table.
enum FixtureReadme {
  static func sound(_ fixtures: [StoreFixture]) -> String {
    text(
      """
      # Stores of file format 2

      Every later release must open these, and find in them what is in them; `FormatFixtureTests`
      compares. They hold trees with keys close together and far apart, names that begin alike,
      values and keys of the lengths where they are stored another way, an empty tree, and the free
      pages of a dropped one; with 512-byte pages more than one group of a page map. Where a file
      `…-log` lies beside a store, the two belong together: its process died.
      """, fixtures)
  }

  static func damaged(_ fixtures: [StoreFixture]) -> String {
    text(
      """
      # Damaged stores

      Something happened to each of these. `FormatFixtureTests` opens every one and compares with
      this table: nothing else may be said, and nothing may be shown that is not true.
      """, fixtures)
  }

  private static func text(_ introduction: String, _ fixtures: [StoreFixture]) -> String {
    """
    \(introduction)

    Paths in errors are given as names of files. `quire fixtures` makes the files and this text; the
    same release makes the same bytes.

    | file | made | opening | checking |
    |---|---|---|---|
    \(fixtures.map(\.row).joined(separator: "\n"))

    """
  }
}
